// hostile_http.mjs MODE [PORT] - servers of Streamable HTTP that misbehave, one way each, without an SDK.
// Every mode starts from the well-behaved legacy server below (a session, one tool, echo) and changes one
// thing. What reached it goes into the file $TEST_NOTES, one line per event.
import { appendFileSync } from 'node:fs';
import { createServer as createTcpServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer } from './http.mjs';

const [mode, port = '0'] = process.argv.slice(2);
const note = (words) => process.env.TEST_NOTES && appendFileSync(process.env.TEST_NOTES, `${words}\n`);
const MiB = Buffer.alloc(1 << 20, 'x');

// --- the server as it should be ---

const session = 'a-session';
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
const json = (res, body, more) => res.writeHead(200, {
	'content-type': 'application/json', 'mcp-session-id': session, ...more,
}).end(body);
const say = (res, status, type, body, more) => res.writeHead(status, { 'content-type': type, ...more }).end(body);
const event = (body) => `event: message\ndata: ${body}\n\n`;
const stream = (res) => {
	res.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': session }).flushHeaders();
	return res;
};

// What a mode may put in the place of these; true: it was dealt with.
let post = (_message, _req, _res) => false;
let get = (_req, res) => void stream(res);
let known = (id) => id === session;

function receive(req, res, message) {
	note(message.method ?? 'answer');
	if (post(message, req, res)) return;
	if (message.id === undefined) return void res.writeHead(202).end();
	if (message.method === 'server/discover') return void say(res, 400, 'application/json', answerTo(message));
	if (message.method !== 'initialize' && !known(req.headers['mcp-session-id']))
		return void say(res, 404, 'text/plain', 'no such session');
	json(res, answerTo(message));
}

async function handle(req, res) {
	const pieces = [];
	for await (const piece of req) pieces.push(piece);
	if (req.method !== 'POST') note(req.method);
	if (mode === 'headers' && req.headers.authorization !== 'Bearer sesame') note(`${req.method} without`);
	if (req.method === 'GET') return get(req, res);
	if (req.method !== 'POST') return void res.writeHead(200).end();
	return receive(req, res, JSON.parse(Buffer.concat(pieces)));
}

// --- what modes are made of ---

const always = (act) => {
	post = (message, req, res) => (act(res, message, req), true);
	get = (req, res) => void act(res, {}, req);
};
const onCall = (act) => {
	post = ({ method, ...rest }, req, res) => method === 'tools/call' && (act(res, { method, ...rest }, req), true);
};
// The first so many that are asked for something, then as it should be.
const atFirst = (times, act, which = () => true) => {
	post = (message, req, res) => which(message) && times-- > 0 && (act(res, message, req), true);
};
const isCall = ({ method }) => method === 'tools/call';
const refuse = (status, more) => (res) => say(res, status, 'text/plain', `sorry, ${status}`, more);

// One byte at a time, for as long as somebody listens.
async function drip(socket, bytes, ms) {
	for (const byte of bytes) {
		if (socket.destroyed) return;
		socket.write(Buffer.from([byte]));
		await sleep(ms);
	}
}
// As fast as the reader takes it.
async function pour(out, block, times) {
	for (let i = 0; i < times && !out.destroyed; i++)
		if (!out.write(block)) await new Promise((go) => (out.once('drain', go), out.once('close', go)));
}
const hugeJson = async (res, { id }) => {
	res.writeHead(200, { 'content-type': 'application/json' });
	res.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`);
	await pour(res, MiB, 1024);
	res.end('"}]}}');
	note('all of it');
};
const hugeEvent = async (res, { id }) => {
	stream(res).write(`event: message\ndata: {"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`);
	await pour(res, MiB, 1024);
	res.end('"}]}}\n\n');
	note('all of it');
};
const endlessHeader = (res) => {
	res.socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Long: ');
	pour(res.socket, MiB, 1024);
};
const endlessHeaders = (res) => {
	res.socket.write('HTTP/1.1 200 OK\r\n');
	pour(res.socket, Buffer.from('X-More: of the same\r\n'.repeat(5000)), 1e6);
};
const lorisHead = (res) => drip(res.socket, Buffer.from(`HTTP/1.1 200 OK\r\nX-Slow: ${'z'.repeat(4000)}`), 100);
const lorisBody = (res, message) => {
	const body = answerTo(message);
	res.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length + 4000 });
	drip(res, Buffer.from(body), 100);
};
const lorisEvent = (res, message) => drip(stream(res), Buffer.from(event(answerTo(message))), 100);
const cut = (res, message) => {
	const body = answerTo(message);
	res.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
	res.write(body.slice(0, body.length / 2), () => res.socket.destroy());
};
const resumeRefused = (status) => {
	onCall((res) => {
		note('executed');
		stream(res).write('id: 1\nretry: 100\ndata:\n\n', () => res.socket.destroy());
	});
	get = (req, res) => void (req.headers['last-event-id'] === '1' ? refuse(status)(res) : stream(res));
};
const page = '<!doctype html><html><head><title>Sign in</title></head><body>password: hunter2</body></html>';

// Where a redirect leads that must not be followed: whatever comes is noted.
function elsewhere() {
	const server = createServer((req, res) => {
		note(`elsewhere ${req.method} ${req.headers.authorization ?? ''}`);
		res.writeHead(200).end();
	}).listen(0, '127.0.0.1');
	return () => `http://127.0.0.1:${server.address().port}/mcp`;
}

const modes = {
	plain() {},
	headers() {}, // notes who comes without what was configured

	// From the first word on.
	'503': () => always(refuse(503)),
	'503-for-a-while': () => atFirst(2, refuse(503, { 'retry-after': '1' })),
	'429-for-a-while': () => atFirst(2, refuse(429, { 'retry-after': '1' })),
	'500': () => always(refuse(500)),
	'502': () => always(refuse(502)),
	'401': () => always(refuse(401, { 'www-authenticate': 'Bearer realm="here", scope="tools"' })),
	'403': () => always(refuse(403)),
	'404': () => always(refuse(404)),
	text: () => always((res) => say(res, 200, 'text/plain', 'hello')),
	html: () => always((res) => say(res, 200, 'text/html', page)),
	'no-json': () => always((res) => json(res, 'hello world')),
	'wrong-json': () => always((res) => json(res, '{"hello": ["world"]}')),
	'empty': () => always((res) => json(res, '')),
	'wrong-type': () => always((res, message) => say(res, 200, 'text/plain', answerTo(message))),
	binary: () => always((res) => say(res, 200, 'application/octet-stream', Buffer.alloc(100000, 0x9f))),
	'loris-head': () => always(lorisHead),
	'loris-body': () => always(lorisBody),
	'loris-event': () => always(lorisEvent),
	'endless-header': () => always(endlessHeader),
	'endless-headers': () => always(endlessHeaders),
	'redirect-elsewhere'() {
		const there = elsewhere();
		always((res) => res.writeHead(307, { location: there() }).end());
	},
	'redirect-same': () => {
		post = (_, req, res) => req.url !== '/moved' && !!res.writeHead(308, { location: '/moved' }).end();
	},
	'redirect-loop': () => always((res, _, req) => res.writeHead(307, { location: `${req.url}x` }).end()),
	'drop': () => always((res) => res.socket.destroy()),
	'silent': () => always(() => {}),

	// It is well until it is called.
	'call-cut': () => onCall(cut),
	'call-drop': () => onCall((res) => res.socket.destroy()),
	'call-503': () => onCall(refuse(503)),
	'call-503-once': () => atFirst(1, refuse(503, { 'retry-after': '1' }), isCall),
	'call-429': () => onCall(refuse(429, { 'retry-after': '7' })),
	'call-500': () => onCall(refuse(500)),
	'call-403': () => onCall(refuse(403)),
	'call-401': () => onCall(refuse(401, { 'www-authenticate': 'Bearer error="expired"' })),
	'call-no-json': () => onCall((res) => json(res, '{"jsonrpc":"2.0","id":')),
	'call-html': () => onCall((res) => say(res, 200, 'text/html', page)),
	'call-huge-json': () => onCall(hugeJson),
	'call-huge-event': () => onCall(hugeEvent),
	'call-megabyte': () => onCall((res, { id }) => json(res, JSON.stringify({ jsonrpc: '2.0', id, result: text('x'.repeat(1 << 20)) }))),
	'call-endless-header': () => onCall(endlessHeader),
	'call-loris': () => onCall(lorisBody),
	'call-silent': () => onCall(() => {}),
	'call-accepted': () => onCall((res) => res.writeHead(202).end()),
	'call-unanswered': () => onCall((res) => stream(res).end(event('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"bye"}}'))),
	'call-twice': () => onCall((res, message) => stream(res).end(event(answerTo(message)).repeat(2))),
	'call-others': () => onCall((res, message) => {
		const strangers = [message.id + 1000, 'nobody', null].map((id) => event(answerTo({ ...message, id, params: { arguments: { message: 'wrong' } } })));
		stream(res).end(strangers.join('') + event(answerTo(message)));
	}),
	// The call is done, its stream is primed and cut, and the GET that resumes it is refused.
	'call-resume-404': () => resumeRefused(404),
	'call-resume-503': () => resumeRefused(503),
	'call-endless': () => onCall((res, message) => {
		stream(res).write(event(answerTo(message)));
		res.on('close', () => note('cut'));
	}),
	'call-flood': () => onCall(async (res, message) => {
		const news = event('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"spam"}}');
		await pour(stream(res), Buffer.from(news.repeat(1000)), 100);
		res.end(event(answerTo(message)));
	}),

	// Sessions and the standing stream.
	'session-404': () => atFirst(1, refuse(404), isCall),
	'session-400': () => atFirst(1, (res) => say(res, 400, 'application/json', '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}'), isCall),
	'session-odd'() { // no such id may be sent back
		known = () => true;
		post = (message, req, res) => message.method === 'initialize' && (json(res, answerTo(message), { 'mcp-session-id': 'a b\u00e9' }), true);
	},
	'session-changes'() {
		let count = 0;
		known = (id) => id === 'session-1';
		post = (message, req, res) => message.id !== undefined && message.method !== 'server/discover' &&
			(message.method === 'initialize' || known(req.headers['mcp-session-id'])) &&
			(json(res, answerTo(message), { 'mcp-session-id': `session-${++count}` }), true);
	},
	'get-ends'() {
		get = (_, res) => void stream(res).end();
	},
	'get-500'() {
		get = (_, res) => void refuse(500)(res);
	},
	'get-html'() {
		get = (_, res) => void say(res, 200, 'text/html', page);
	},
	'get-floods'() { // changes without end, and nothing changed
		const news = event('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}');
		get = (_, res) => void pour(stream(res), Buffer.from(news.repeat(1000)), 1e6);
	},
};

const ready = (server) => server.listen(Number(port), process.env.TEST_HOST ?? '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
if (mode === 'no-http') ready(createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n').on('error', () => {})));
else if (modes[mode]) {
	modes[mode]();
	const server = createServer({ keepAliveTimeout: 60000 }, (req, res) => {
		req.on('error', () => {});
		res.on('error', () => {});
		res.socket.on('error', () => {});
		handle(req, res).catch((why) => note(`error ${why.message}`));
	});
	ready(server);
} else {
	console.error(`modes: no-http ${Object.keys(modes).join(' ')}`);
	process.exit(2);
}
