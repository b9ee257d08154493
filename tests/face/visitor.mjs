// visitor.mjs - visits the hub over HTTP with raw bytes: visitor.mjs CASE ADDRESS TOKEN_FILE
// Prints what is not as it should be, a line each, and exits 1; silent when all is well.
import { readFileSync, writeFileSync, renameSync } from 'node:fs';
import { connect } from 'node:net';
import { randomBytes } from 'node:crypto';
import { within } from '../busy.mjs';

const [, , which, address, tokenFile] = process.argv;
const { hostname, port } = new URL(address);
const host = `${hostname}:${port}`;
const token = () => readFileSync(tokenFile, 'utf8').trim();
let wrong = 0;
const complain = words => { wrong = 1; console.log(words); };

// What is answered to these bytes until the connection ends, or for `patience` ms after the last; or the first
// head and no more.
function say(bytes, patience = 400, headOnly = false) {
	return new Promise(done => {
		const socket = connect(+port, hostname);
		let heard = '', timer;
		const finish = ended => { clearTimeout(timer); socket.destroy(); done({ heard, ended, status: +(/^HTTP\/1.1 (\d+)/.exec(heard)?.[1] ?? 0) }); };
		const wait = () => { clearTimeout(timer); timer = setTimeout(() => finish(false), patience); };
		socket.setEncoding('latin1').on('data', d => { heard += d; headOnly && heard.includes('\r\n\r\n') ? finish(false) : wait(); });
		socket.on('end', () => finish(true)).on('error', () => finish(true));
		socket.write(bytes, 'latin1');
		wait();
	});
}

const auth = () => `Authorization: Bearer ${token()}\r\n`;
const head = (verb, path, headers, hostLine = `Host: ${host}\r\n`) => `${verb} ${path} HTTP/1.1\r\n${hostLine}${headers}\r\n`;
const routes = ['/mcp', '/sse', '/messages', '/ws', '/health', '/readyz', '/metrics'];
const verbs = ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'];
const socketHeaders = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: mcp\r\n';

// V11 V12 V13 V14 V27: every route and verb, every way not to be let in.
async function denial() {
	const ways = [
		['no token', '', undefined, 401],
		['a wrong token', `Authorization: Bearer ${'0'.repeat(64)}\r\n`, undefined, 401],
		['half a token', `Authorization: Bearer ${token().slice(0, 32)}\r\n`, undefined, 401],
		['another scheme', `Authorization: Basic ${token()}\r\n`, undefined, 401],
		['a token in a cookie', `Cookie: token=${token()}\r\n`, undefined, 401],
		['a foreign Host', auth(), `Host: evil.example:${port}\r\n`, 403],
		['a Host without port', auth(), `Host: ${hostname}\r\n`, 403],
		['no Host', auth(), '', 400],
		['two Hosts', auth(), `Host: ${host}\r\nHost: ${host}\r\n`, 400],
		['a foreign Origin', auth() + 'Origin: http://evil.example\r\n', undefined, 403],
		['another local Origin', auth() + 'Origin: http://127.0.0.1:1\r\n', undefined, 403],
		['Origin null', auth() + 'Origin: null\r\n', undefined, 403],
		["another site's page", auth() + 'Sec-Fetch-Site: cross-site\r\n', undefined, 403],
	];
	for (const [words, headers, hostLine, want] of ways)
		for (const path of routes)
			for (const verb of verbs) {
				const more = path === '/ws' ? socketHeaders : '';
				const r = await say(head(verb, path, headers + more, hostLine), 2000, true);
				if (r.status !== want)
					complain(`${verb} ${path} with ${words}: ${r.status} and not ${want}`);
				if (/access-control/i.test(r.heard))
					complain(`${verb} ${path} with ${words}: CORS headers`);
			}
}

// c-dependencies 3: what can be read in two ways is a 400 and the end of the connection.
async function smuggling() {
	const post = headers => `POST /health HTTP/1.1\r\nHost: ${host}\r\n${auth()}${headers}\r\n`;
	const get = headers => `GET /health HTTP/1.1\r\n${headers}Host: ${host}\r\n${auth()}\r\n`;
	const cases = {
		'two lengths': post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n') + '0\r\n\r\nGET /x',
		'two different lengths': post('Content-Length: 1\r\nContent-Length: 2\r\n') + 'ab',
		'a signed length': post('Content-Length: +2\r\n') + 'ab',
		'a bare CR': get('X: a\rb\r\n'),
		'a bare LF': get('X: a\n'),
		'a blank before the colon': get('X : a\r\n'),
		'a NUL': get('X: a\0b\r\n'),
		'a folded line': get('X: a\r\n b\r\n'),
		'a chunk that is too large': post('Transfer-Encoding: chunked\r\n') + 'ffffffffffffffffff\r\n',
		'a chunk without its end': post('Transfer-Encoding: chunked\r\n') + '1\r\nab\r\n0\r\n\r\n',
		'another coding': post('Transfer-Encoding: chunked, identity\r\n') + '0\r\n\r\n',
		'an absolute target': `GET http://${host}/health HTTP/1.1\r\nHost: ${host}\r\n${auth()}\r\n`,
	};
	for (const [words, bytes] of Object.entries(cases)) {
		const r = await say(bytes + get(''));
		if ((r.status !== 400 && r.status !== 405) || !/Connection: close/.test(r.heard) || !r.ended || / 200 /.test(r.heard))
			complain(`${words}: ${r.status}, ended ${r.ended}: ${r.heard.slice(0, 200)}`);
	}
	for (const [words, headers, want] of [['100 kB of a header', `X: ${'x'.repeat(100000)}\r\n`, 431], ['2,000 headers', 'X: y\r\n'.repeat(2000), 431]]) {
		const r = await say(get(headers));
		if (r.status !== want || !r.ended)
			complain(`${words}: ${r.status} and not ${want}`);
	}
}

// Keep-alive, pipelining, chunks, 100-continue, HEAD.
async function manners() {
	const get = `GET /health HTTP/1.1\r\nHost: ${host}\r\n${auth()}\r\n`;
	let r = await say(get.repeat(20));
	if (r.heard.split('HTTP/1.1 200 OK').length !== 21 || r.ended)
		complain(`pipelined: ${r.heard.split('HTTP/1.1 200').length - 1} answers, ended ${r.ended}`);
	const body = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}';
	const json = 'Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n';
	r = await say(head('POST', '/mcp', auth() + json + 'Transfer-Encoding: chunked\r\n') +
		`5;x=y\r\n${body.slice(0, 5)}\r\n${(body.length - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\nTrailer: z\r\n\r\n`);
	if (r.status !== 200 || !/Mcp-Session-Id: [0-9a-f]{32}\r\n/.test(r.heard))
		complain(`chunked: ${r.heard}`);
	r = await say(head('POST', '/mcp', auth() + json + `Expect: 100-continue\r\nContent-Length: ${body.length}\r\n`));
	if (r.status !== 100)
		complain(`Expect: ${r.heard}`);
	r = await say(head('POST', '/mcp', json + `Expect: 100-continue\r\nContent-Length: ${body.length}\r\n`));
	if (r.status !== 401 || !r.ended)
		complain(`Expect without a token: ${r.heard}`);
	r = await say(head('HEAD', '/health', auth()));
	if (r.status !== 200 || r.heard.includes('ok'))
		complain(`HEAD: ${r.heard}`);
	r = await say(head('GET', '/health', auth() + 'Connection: close\r\n'), 5000);
	if (r.status !== 200 || !r.ended)
		complain(`close: ended ${r.ended}`);
	for (const path of ['/register', '/authorize', '/token', '/.well-known/oauth-protected-resource', '/mcp/', '/MCP', '/%6dcp', '/../mcp'])
		if ((r = await say(head('GET', path, ''))).status !== 404)
			complain(`${path}: ${r.status}`);
}

// V19: a changed token is void at once, and who came with it is sent away within a second.
async function rotation() {
	const old = auth();
	const live = [['/ws', socketHeaders, 101], ['/sse', '', 200]].map(([path, headers, want]) => new Promise(done => {
		const socket = connect(+port, hostname);
		let heard = '', since;
		socket.setEncoding('latin1').on('data', d => { heard += d; });
		socket.on('close', () => done({ path, ms: since && Date.now() - since, opened: heard.startsWith(`HTTP/1.1 ${want}`) }));
		socket.on('error', () => {});
		socket.write(head('GET', path, old + headers));
		setTimeout(() => { since = Date.now(); }, 500);
		setTimeout(() => socket.destroy(), 4000);
	}));
	await new Promise(done => setTimeout(done, 500));
	writeFileSync(tokenFile + '.new', randomBytes(32).toString('hex') + '\n', { mode: 0o600 });
	renameSync(tokenFile + '.new', tokenFile);
	let r = await say(head('GET', '/health', old));
	if (r.status !== 401)
		complain(`the old token: ${r.status}`);
	r = await say(head('GET', '/health', auth()));
	if (r.status !== 200)
		complain(`the new token: ${r.status}`);
	for (const { path, ms, opened } of await Promise.all(live))
		if (!opened || !within(ms, 1000))
			complain(`${path}: opened ${opened}, closed after ${ms} ms`);
}

// A client that does not read, and one that says a byte a second, cost other clients nothing.
async function neighbours() {
	const lazy = connect(+port, hostname);
	lazy.on('error', () => {});
	lazy.write(head('GET', '/health', auth()).repeat(5000));
	lazy.pause();
	const slow = connect(+port, hostname);
	slow.on('error', () => {});
	slow.write('GET /hea');
	for (let i = 0; i < 50; i++) {
		const began = Date.now();
		const r = await say(head('GET', '/health', auth() + 'Connection: close\r\n'), 3000);
		const took = Date.now() - began;
		if (r.status !== 200 || !within(took, 2000))
			complain(`a neighbour waited ${took} ms: ${r.status}`);
	}
	lazy.destroy();
	slow.destroy();
}

// What is asked for without a token, and metrics as a scraper reads them: on stdout behind a line "metrics".
async function metrics() {
	const get = async (path, headers = {}) => {
		const r = await fetch(`${address}${path}`, { headers });
		return { status: r.status, text: await r.text() };
	};
	const alive = await get('/healthz');
	if (alive.status !== 200 || alive.text !== 'ok\n')
		complain(`/healthz: ${alive.status} ${alive.text}`);
	const bearer = process.env.BY_ADDRESS ? {} : { Authorization: `Bearer ${token()}` };
	for (let i = 0; i < 100 && (await get('/readyz', bearer)).status !== 200; i++)
		await new Promise(done => setTimeout(done, 50));
	if ((await get('/readyz', bearer)).status !== 200)
		complain('/readyz: not ready');
	const r = await get('/metrics', bearer);
	if (r.status !== 200 || !/^mcpool_server_state\{server="a",state="connected"\} 1$/m.test(r.text))
		complain(`/metrics: ${r.status} ${r.text}`);
	if (process.env.BY_ADDRESS && (await get('/health')).status !== 401)
		complain('/health let an allowed address in');
	if (!wrong)
		writeFileSync(process.env.METRICS, r.text);
}

await { denial, smuggling, manners, rotation, neighbours, metrics }[which]();
process.exit(wrong);
