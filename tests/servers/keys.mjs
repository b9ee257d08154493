// keys.mjs - a server of every transport that writes down what its configuration made of it: who it is for (?for=NAME, or the
// variable WHO), the header X-Key or the variable KEY, each probe, and when a held call begins and ends.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { note } from './features.mjs';
import { how, listen, refuse } from './listen.mjs';

const tool = (name) => ({ name, inputSchema: { type: 'object' } });
const text = (words) => ({ content: [{ type: 'text', text: words }] });

async function call(who, { name, arguments: { ms } = {} }) {
	if (name === 'hold') {
		note(`${who} begins`);
		await sleep(ms);
		note(`${who} ends`);
	}
	return text(who);
}

const answers = {
	initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'keys', version: '1' } }),
	ping: () => ({}),
	'tools/list': () => ({ tools: ['echo', 'add', 'hold'].map(tool) }),
};

// Speaks through any transport of the SDK, or what looks like one.
function connect(transport, who, key) {
	transport.onmessage = async ({ id, method, params }) => {
		if (id === undefined || !method) return;
		note(`${who} ${method}${method === 'initialize' ? ` ${key}` : ''}`);
		if (method === 'tools/call') await transport.send({ jsonrpc: '2.0', id, result: await call(who, params) });
		else if (answers[method]) await transport.send({ jsonrpc: '2.0', id, result: answers[method](params) });
		else await transport.send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
	};
	return transport.start();
}
const of = (req) => [new URL(req.url, 'http://localhost').searchParams.get('for'), req.headers['x-key']];

async function by_stdio() {
	const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
	await connect(new StdioServerTransport(), process.env.WHO, process.env.KEY);
}

async function by_http() {
	const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js');
	const sessions = new Map();
	listen(async (req, res) => {
		const id = req.headers['mcp-session-id'];
		let transport = sessions.get(id);
		if (!id && req.method !== 'POST') note(`http begins with ${req.method}`);
		if (id && !transport) return refuse(res, 404, 'nothing here');
		if (!transport) {
			transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (s) => sessions.set(s, transport) });
			await connect(transport, ...of(req));
		}
		return transport.handleRequest(req, res);
	});
}

async function by_sse() {
	const { SSEServerTransport } = await import('@modelcontextprotocol/sdk/server/sse.js');
	const sessions = new Map();
	listen((req, res, { pathname, searchParams }) => {
		const known = sessions.get(searchParams.get('sessionId'));
		if (req.method === 'POST' && known) return known.handlePostMessage(req, res);
		if (req.method !== 'GET') note(`sse begins with ${req.method}`); // its type says otherwise
		if (req.method !== 'GET' || pathname !== '/sse') return refuse(res, 404, 'nothing here');
		const transport = new SSEServerTransport('/message', res);
		sessions.set(transport.sessionId, transport);
		return connect(transport, ...of(req));
	});
}

async function by_websocket() {
	const { listenByWebSocket } = await import('./websocket.mjs');
	listenByWebSocket((req) => ({ connect: (transport) => connect(transport, ...of(req)) }));
}

await { stdio: by_stdio, http: by_http, sse: by_sse, ws: by_websocket }[how]();
