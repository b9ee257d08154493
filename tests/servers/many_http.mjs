// many_http.mjs PORT - as many remote servers as there are paths, in one process: /NAME/mcp is a legacy server
// over Streamable HTTP with a session and a standing stream. Answers take a moment, so that what is dialled at
// once overlaps. GET /figures tells how many were in their handshake at once at most, and who is connected.
import { randomUUID } from "node:crypto";
import { createServer } from "./http.mjs";

const delay_ms = 20;
const sessions = new Map(); // id to name
const dialling = new Set(); // names between their first request and the answer to their last list
const streams = new Map(); // name to its open stream
let most = 0;

const later = (fn) => setTimeout(fn, delay_ms);
const json = (res, status, body, headers = {}) =>
	later(() => res.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body)));

const results = {
	initialize: (name) => ({
		protocolVersion: "2025-11-25",
		capabilities: { tools: {} },
		serverInfo: { name, version: "1" },
	}),
	ping: () => ({}),
	"tools/list": (name) => ({ tools: [{ name: "who", inputSchema: { type: "object" } }] }),
	"tools/call": (name) => ({ content: [{ type: "text", text: name }] }),
};

function post(name, message, req, res) {
	const { id, method } = message;
	if (id === undefined) return res.writeHead(202).end();
	if (method === "initialize" || method === "server/discover") {
		dialling.add(name);
		most = Math.max(most, dialling.size);
	}
	if (method !== "initialize" && method !== "server/discover" && sessions.get(req.headers["mcp-session-id"]) !== name)
		return json(res, 404, { error: "no such session" });
	if (!results[method])
		return json(res, 200, { jsonrpc: "2.0", id, error: { code: -32601, message: "no " + method } });
	if (method === "tools/list") later(() => dialling.delete(name));
	let headers = {};
	if (method === "initialize") {
		const session = randomUUID();
		sessions.set(session, name);
		headers = { "Mcp-Session-Id": session };
	}
	json(res, 200, { jsonrpc: "2.0", id, result: results[method](name) }, headers);
}

function stream(name, res) {
	res.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
	streams.set(name, res);
	res.on("close", () => streams.get(name) === res && streams.delete(name));
}

const server = createServer((req, res) => {
	const [, name, end] = req.url.split("/");
	if (name === "figures") return res.end(JSON.stringify({ most, streams: streams.size, sessions: sessions.size }));
	if (end !== "mcp") return res.writeHead(404).end();
	if (req.method === "GET") return stream(name, res);
	let body = "";
	req.on("data", (piece) => (body += piece));
	req.on("end", () => (req.method === "POST" ? post(name, JSON.parse(body), req, res) : res.writeHead(200).end()));
});
server.keepAliveTimeout = 60000;
server.listen(Number(process.argv[2]), "127.0.0.1", 1024, () => console.log("listening on " + server.address().port));
