// hostile_ws.mjs MODE [PORT] - WebSocket servers that misbehave, one way each, on npm `ws`. Every mode starts
// from the well-behaved legacy server below (one tool, echo) and changes one thing; what reached it goes into the
// file $TEST_NOTES.
import { appendFileSync } from 'node:fs';
import { WebSocketServer } from 'ws';
import { createServer } from './http.mjs';

const [mode, port = '0'] = process.argv.slice(2);
const note = (words) => process.env.TEST_NOTES && appendFileSync(process.env.TEST_NOTES, `${words}\n`);
const text = (words) => ({ content: [{ type: 'text', text: words }] });
const answers = {
	initialize: ({ protocolVersion }) => ({
		protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: mode, version: '1' },
	}),
	ping: () => ({}),
	'tools/list': () => ({
		tools: [{ name: 'echo', inputSchema: { type: 'object', properties: { message: { type: 'string' } } } }],
	}),
	'tools/call': ({ arguments: args }) => text(`Echo: ${args?.message}`),
};
const answerTo = ({ id, method, params }) => JSON.stringify({
	jsonrpc: '2.0', id,
	...(answers[method] ? { result: answers[method](params ?? {}) }
		: { error: { code: -32601, message: 'Method not found' } }),
});

let upgrade = () => false; // (req, socket): true: it was dealt with
let protocols = () => 'mcp';
let opened = () => {};
let received = () => false; // (socket, message): true: it was dealt with

const refuse = (status, more = '') => {
	upgrade = (_, socket) => !!socket.end(`HTTP/1.1 ${status} No\r\n${more}Content-Length: 5\r\nConnection: close\r\n\r\nsorry`);
};
const onCall = (act) => {
	received = (socket, message) => message.method === 'tools/call' && (act(socket, message), true);
};
// As fast as it is taken, for as long as somebody is there.
const pour = (socket, words) => {
	const more = () => socket.readyState === 1 && (socket.bufferedAmount > 1 << 20 ? setTimeout(more, 1)
		: (Array.from({ length: 1000 }, () => socket.send(words)), setImmediate(more)));
	more();
};

const modes = {
	plain() {},
	401: () => refuse(401, 'WWW-Authenticate: Bearer realm="here"\r\n'),
	503: () => refuse(503, 'Retry-After: 1\r\n'),
	redirect: () => refuse(307, 'Location: http://127.0.0.1:1/mcp\r\n'),
	page: () => refuse(200, 'Content-Type: text/html\r\n'),
	'no-protocol'() {
		protocols = () => false;
	},
	silent() {
		received = () => true;
	},
	binary() {
		opened = (socket) => socket.send(Buffer.alloc(1000, 0x9f));
	},
	garbage() {
		opened = (socket) => ['', '{"jsonrpc":', '[]', 'hello', '{"hello": ["world"]}'].forEach((words) => socket.send(words));
	},
	reset() { // each connection, once it is in use
		received = (socket, { method }) => void (method === 'tools/list' && setTimeout(() => socket._socket.resetAndDestroy(), 100));
	},
	'call-close': () => onCall((socket) => socket.close(1011, 'out of memory')),
	'call-cut': () => onCall((socket) => socket.terminate()),
	'call-huge': () => onCall((socket, { id }) => { // a gigabyte in pieces
		socket.send(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`, { fin: false });
		const block = Buffer.alloc(1 << 20, 'x');
		let left = 1024;
		const more = () => socket.readyState === 1 && (left-- ? socket.send(block, { fin: false, binary: false }, more)
			: socket.send('"}]}}', { fin: true, binary: false }));
		more();
	}),
	floods() {
		opened = (socket) => pour(socket, '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}');
	},
};

if (!modes[mode]) {
	console.error(`modes: ${Object.keys(modes).join(' ')}`);
	process.exit(2);
}
modes[mode]();
const server = createServer((_, res) => res.writeHead(426).end());
const sockets = new WebSocketServer({ noServer: true, handleProtocols: (offered) => protocols(offered) });
server.on('upgrade', (req, socket, head) => {
	note('upgrade');
	socket.on('error', () => {});
	if (upgrade(req, socket)) return;
	sockets.handleUpgrade(req, socket, head, (ws) => {
		ws.on('error', () => {}).on('close', (code) => note(`closed ${code}`));
		ws.on('message', (data) => {
			const message = JSON.parse(data);
			note(message.method ?? 'answer');
			if (!received(ws, message) && message.id !== undefined) ws.send(answerTo(message));
		});
		opened(ws);
	});
});
server.listen(Number(port), '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
