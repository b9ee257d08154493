// remote_source.mjs PORT FILE - serves FILE at /c.json with an ETag; what FILE.mode says changes how: "down" 500,
// "garbage", "away" redirects to another host, "near" to /d.json, "huge", "slow". Each request is a line on stdout.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "./http.mjs";

const [port, file] = process.argv.slice(2);
const server = createServer((req, res) => {
	const mode = existsSync(file + ".mode") ? readFileSync(file + ".mode", "utf8").trim() : "";
	const body = readFileSync(file);
	const etag = '"' + createHash("sha256").update(body).digest("hex").slice(0, 16) + '"';
	const same = req.headers["if-none-match"] === etag;
	console.log(`${req.method} ${req.url} ${mode || (same ? "304" : "200")}`);
	if (mode === "down") return res.writeHead(500).end("no");
	if (mode === "slow") return res.on("close", () => console.log("gave up"));
	if (mode === "garbage") return res.end("<html>{]");
	if (mode === "huge") return res.end("{" + " ".repeat(2 << 20) + "}");
	if (mode === "away") return res.writeHead(302, { Location: "http://localhost:1/c.json" }).end();
	if (mode === "near" && req.url !== "/d.json") return res.writeHead(302, { Location: "/d.json" }).end();
	if (same) return res.writeHead(304).end();
	res.writeHead(200, { "Content-Type": "application/json", ETag: etag }).end(body);
});
server.listen(Number(port), "127.0.0.1", () => console.log("listening on " + port));
