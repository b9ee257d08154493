// tls_visitor.mjs - clients of every manner at a hub over TLS: node tls_visitor.mjs CASE URL TOKEN CA
// URL is https://127.0.0.1:PORT. Prints why and exits with 1 where something is not as it should be.
import { readFileSync } from 'node:fs';
import { connect as plain } from 'node:net';
import { connect as secure } from 'node:tls';
import { within } from '../busy.mjs';

const [name, url, token, authority] = process.argv.slice(2);
const { port, host } = new URL(url);
const ca = readFileSync(authority);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const must = (ok, words) => {
	if (!ok) throw new Error(words);
};

const body = (method, params, id = 1) => JSON.stringify({
	jsonrpc: '2.0', id, method, params: {
		...params, _meta: {
			'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {},
			'io.modelcontextprotocol/clientInfo': { name: 'visitor', version: '1' },
		},
	},
});
const head = (text, method, subject) => [
	'POST /mcp HTTP/1.1', `Host: ${host}`, `Authorization: Bearer ${token}`, 'Content-Type: application/json',
	'Accept: application/json, text/event-stream', 'MCP-Protocol-Version: 2026-07-28', `Mcp-Method: ${method}`,
	...(subject ? [`Mcp-Name: ${subject}`] : []), `Content-Length: ${Buffer.byteLength(text)}`, '', '',
].join('\r\n');
const request = (method, params) => {
	const text = body(method, params);
	return head(text, method, params.name) + text;
};
const echo = (message) => request('tools/call', { name: 'mcp__a__echo', arguments: { message } });

const dial = (options = {}) => new Promise((yes, no) => {
	const s = secure({ host: '127.0.0.1', port, ca, servername: 'localhost', ...options }, () => yes(s));
	s.on('error', no);
});
// the answer to one request, as text, once its body is complete
const answer = (s) => new Promise((yes, no) => {
	let text = '';
	const late = setTimeout(() => no(new Error(`no answer, only ${text.length} bytes`)), 20000);
	const take = (piece) => {
		text += piece;
		const [, length] = /content-length: (\d+)/i.exec(text) ?? [];
		const at = text.indexOf('\r\n\r\n');
		if (at < 0 || (length === undefined ? !text.endsWith('0\r\n\r\n') : text.length < at + 4 + Number(length))) return;
		clearTimeout(late);
		s.off('data', take);
		yes(text);
	};
	s.setEncoding('latin1').on('data', take);
	s.on('close', () => no(new Error(`closed after ${text.slice(0, 100)}`)));
});

const cases = {
	// Tickets: the second handshake is short, and what is said goes on.
	async resuming() {
		for (const maxVersion of ['TLSv1.3', 'TLSv1.2']) {
			let session;
			const first = await dial({ maxVersion });
			first.on('session', (s) => { session = s; });
			first.write(echo('one'));
			must((await answer(first)).includes('one'), 'one');
			session ??= first.getSession();
			first.removeAllListeners('close');
			first.end();
			const second = await dial({ maxVersion, session });
			must(second.isSessionReused(), `${maxVersion} was not resumed`);
			second.write(echo('two'));
			must((await answer(second)).includes('two'), 'two');
			second.removeAllListeners('close');
			second.destroy();
		}
		const old = await dial({ maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' })
			.then(() => 'let in', () => 'refused');
		must(old === 'refused', 'TLS 1.1 is spoken');
	},
	// 8 MiB in and out, in one piece and in pieces that cut records anywhere.
	async large() {
		const text = 'x'.repeat(8 << 20);
		const s = await dial();
		s.write(echo(text));
		must((await answer(s)).includes(text), 'not the same text');
		const all = Buffer.from(echo('y'.repeat(300000)));
		const answered = answer(s);
		for (let at = 0, n = 1; at < all.length; at += n, n = n * 3 % 20011 + 1) {
			s.write(all.subarray(at, at + n));
			if (at % 7 === 0) await sleep(0);
		}
		must((await answered).includes('y'.repeat(300000)), 'in pieces');
		s.removeAllListeners('close');
		s.destroy();
	},
	// Pipelined requests, and a slow reader beside which others are served at once.
	async slow() {
		const s = await dial();
		s.pause();
		for (let i = 0; i < 4; i++) s.write(echo('z'.repeat(4 << 20)));
		await sleep(500);
		const other = await dial(), began = performance.now();
		other.write(echo('quick'));
		must((await answer(other)).includes('quick') && within(performance.now() - began, 3000), 'others wait for a slow one');
		let got = 0;
		const all = new Promise((done, no) => {
			s.on('data', (piece) => { got += piece.length; if (got > 4 * (4 << 20)) done(); });
			s.on('close', () => no(new Error(`cut off after ${got} bytes`)));
			setTimeout(() => no(new Error(`only ${got} bytes`)), 20000).unref();
		});
		s.resume();
		await all;
		s.removeAllListeners('close');
		s.destroy();
		other.removeAllListeners('close');
		other.destroy();
	},
	// A client that does not complete its handshake has 10 s, whatever it begins with.
	async handshake() {
		const begin = [Buffer.alloc(0), Buffer.from([22, 3, 1]), Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3])];
		const ends = await Promise.all(begin.map((bytes) => new Promise((done) => {
			const began = performance.now(), s = plain(port, '127.0.0.1', () => bytes.length && s.write(bytes));
			s.on('error', () => {}).on('close', () => done(performance.now() - began));
			s.resume();
			setTimeout(() => done(Infinity), 25000).unref();
		})));
		must(ends.every((ms) => ms > 8000 && ms < 15000), `closed after ${ends.map(Math.round)} ms`);
	},
	// http:// instead of https:// is told so; what is neither is not.
	async plain() {
		const said = (bytes) => new Promise((done) => {
			let text = '';
			const s = plain(port, '127.0.0.1', () => s.write(bytes));
			s.on('data', (piece) => { text += piece; }).on('close', () => done(text)).on('error', () => {});
		});
		must((await said(`GET /mcp HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).includes('https:// is spoken here only'), 'no word of https');
		must(!(await said('SSH-2.0-x\r\n')).includes('HTTP'), 'words for everybody');
	},
	// A WebSocket inside; with a page's Origin it is refused, without the token too.
	async websocket() {
		const open = (headers) => new Promise((done) => {
			const s = new WebSocket(`${url.replace('https', 'wss')}/ws`, { protocols: ['mcp'], headers });
			s.addEventListener('open', () => done(s));
			s.addEventListener('error', () => done(null));
		});
		const s = await open({ Authorization: `Bearer ${token}` });
		must(s, 'no WebSocket');
		const heard = new Promise((done) => s.addEventListener('message', ({ data }) => done(JSON.parse(data))));
		s.send(body('tools/call', { name: 'mcp__a__echo', arguments: { message: 'w'.repeat(100000) } }));
		must((await heard).result?.content[0].text === 'w'.repeat(100000), 'another answer');
		s.close();
		must(!(await open({})), 'without a token');
		must(!(await open({ Authorization: `Bearer ${token}`, Origin: 'https://evil.example' })), 'for a page of evil.example');
	},
};

try {
	await cases[name]();
	process.exit();
} catch (why) {
	console.log(`${name}: ${why.message}`);
	process.exit(1);
}
