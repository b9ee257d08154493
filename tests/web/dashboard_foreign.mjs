// dashboard_foreign.mjs - a page of another port of this machine, in the browser that is logged in. To the browser it is the same
// site, so the cookie goes with its requests, and also to its own server. Nothing is readable, and nothing happens in the hub.
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { approve, demo, eventually, hasState, must, run, visit, wait, write } from './dashboard.mjs';

const ledger = join(process.env.HOME, 'ledger'), planted = join(process.env.HOME, 'planted'), ran = join(process.env.HOME, 'ran');

// --- what the page tries: each resolves with what it could read, or throws --------------------------------

const tries = {
	read: (hub) => Promise.all(['/', '/dashboard.js', '/dashboard/session', '/dashboard/control', '/health', '/mcp'].map((path) =>
		fetch(hub + path, { credentials: 'include' }).then((r) => r.text(), () => ''))).then((all) => all.join('')),
	post: (hub) => Promise.all(['/dashboard/logout', '/dashboard/login', '/dashboard/control', '/mcp'].map((path) =>
		fetch(hub + path, { method: 'POST', credentials: 'include', headers: { authorization: 'Code x' } }).then((r) => r.text(), () => ''))).then((all) => all.join('')),
	blind: (hub, call) => Promise.all(['/dashboard/logout', '/dashboard/login', '/dashboard/control', '/mcp'].map((path) =>
		fetch(hub + path, { method: 'POST', mode: 'no-cors', credentials: 'include', body: call }).then((r) => r.text(), () => ''))).then((all) => all.join('')),
	beacon: (hub, call) => (navigator.sendBeacon(`${hub}/dashboard/logout`, call), navigator.sendBeacon(`${hub}/mcp`, call), ''),
	socket: (hub, call, protocols = ['mcpool.control']) => new Promise((yes, no) => {
		const s = new WebSocket(`${hub.replace('http', 'ws')}/dashboard/control`, protocols);

		s.onopen = () => yes('a connection');
		s.onerror = s.onclose = () => no(new Error('refused'));
	}),
	agent_socket: (hub) => new Promise((yes, no) => {
		const s = new WebSocket(`${hub.replace('http', 'ws')}/ws`, ['mcp']);

		s.onopen = () => yes('a connection');
		s.onerror = s.onclose = () => no(new Error('refused'));
	}),
	frame: (hub) => new Promise((yes) => {
		const f = document.body.appendChild(document.createElement('iframe'));

		f.onload = () => {
			try {
				yes(f.contentDocument.body.innerText);
			} catch {
				yes('');
			}
		};
		f.src = `${hub}/#/waiting`;
	}),
	forms: (hub, call) => Promise.all(['/dashboard/logout', '/dashboard/login', '/mcp'].map((path) => new Promise((yes) => {
		const f = document.createElement('iframe'), form = document.createElement('form'), field = form.appendChild(document.createElement('input'));

		f.name = `f${Math.random()}`;
		document.body.append(f, form);
		Object.assign(form, { action: hub + path, method: 'POST', enctype: 'text/plain', target: f.name });
		[field.name, field.value] = [`${call.slice(0, -1)},"pad":"`, '"}'];
		f.onload = () => {
			try {
				yes(f.contentDocument.location.href === 'about:blank' ? '' : f.contentDocument.body.innerText);
			} catch {
				yes('');
			}
		};
		form.submit();
		setTimeout(yes, 2000, '');
	}))).then((all) => all.join('')),
	script: (hub) => new Promise((yes, no) => {
		const s = document.body.appendChild(document.createElement('script'));

		s.onload = () => yes('a script');
		s.onerror = () => no(new Error('refused'));
		s.src = `${hub}/dashboard.js`;
	}),
	image: (hub) => new Promise((yes, no) => {
		const i = new Image();

		i.onload = () => yes('an image');
		i.onerror = () => no(new Error('refused'));
		i.src = `${hub}/dashboard.svg`;
	}),
	style: (hub) => new Promise((yes, no) => {
		const l = document.head.appendChild(document.createElement('link'));

		l.onload = () => yes('a style sheet');
		l.onerror = () => no(new Error('refused'));
		l.rel = 'stylesheet';
		l.href = `${hub}/dashboard.css`;
	}),
	worker: (hub) => navigator.serviceWorker.register(`${hub}/dashboard.js`).then(() => 'a worker'),
};

const call = JSON.stringify({
	jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'mcp__files__echo', arguments: { message: 'evil' }, _meta: {
		'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {}, 'io.modelcontextprotocol/clientInfo': { name: 'evil', version: '1' },
	} },
});

// stranger(): its server, which gets the cookie, and notes it
async function stranger()
{
	const s = { cookies: [] };

	s.server = createServer((q, a) => {
		if (q.headers.cookie)
			s.cookies.push(q.headers.cookie);
		a.setHeader('content-type', 'text/html');
		a.end('<!doctype html><title>evil</title><body>');
	}).listen(0, '127.0.0.1');
	await new Promise((done) => s.server.once('listening', done));
	s.origin = `http://127.0.0.1:${s.server.address().port}`;
	return s;
}

async function attack(page, hub)
{
	for (const [name, attempt] of Object.entries(tries)) {
		const got = await page.evaluate(`Promise.race([(${attempt})(${JSON.stringify(hub)}, ${JSON.stringify(call)}), new Promise((_, no) => setTimeout(no, 5000, new Error('late')))]).catch(() => '')`);

		must(!got, `${name} could read: ${String(got).slice(0, 200)}`);
	}
	for (const frame of page.frames())
		must(frame === page.mainFrame() || !await frame.locator('#page').count().catch(() => 0), `${frame.url()} is shown in a frame`);
}

// Top-level pages of the hub: the person sees them, the page that opened them does not.
async function navigate(t, page, hub)
{
	const [opened] = await Promise.all([page.context().waitForEvent('page'), page.evaluate((to) => { window.w = open(to); }, `${hub}/#/?project=${encodeURIComponent(planted)}`)]);

	await t.isLive(opened);
	await eventually(async () => opened.url().includes('project='), 'the page did not open');
	const got = await page.evaluate(() => {
		window.w.postMessage({ jsonrpc: '2.0', id: 9, method: 'mcpool/verb', params: { verb: 'add', args: ['evil', 'true'] } }, '*');
		try {
			return window.w.document.body.innerText;
		} catch {
			return window.w.closed ? '' : 'it is not cut off';
		}
	});

	must(got === '', `of a page that it opened it could read: ${got}`);
	must(await opened.evaluate(() => window.opener === null), 'the page knows who opened it');
	await opened.close();
	await page.evaluate((to) => {
		const form = document.body.appendChild(document.createElement('form'));

		Object.assign(form, { action: to, method: 'POST' });
		form.submit();
	}, `${hub}/dashboard/logout`);
	await page.waitForURL(`${hub}/**`);
	await page.goBack();
}

// A program on this machine with the cookie, which looks like the hub's own page
const withCookie = (hub, cookie, origin = hub) => new Promise((done) => {
	const { host, hostname, port } = new URL(hub), hello = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'mcpool/hello', params: { protocol: 1, proof: '0'.repeat(64) } });
	const frame = Buffer.concat([Buffer.from([0x81, 0xfe, hello.length >> 8, hello.length & 255, 0, 0, 0, 0]), Buffer.from(hello)]);
	const s = connect(port, hostname);
	let text = '';

	s.on('data', (bytes) => {
		const isFirst = !text;

		text += bytes.toString('latin1');
		if (isFirst && text.startsWith('HTTP/1.1 101'))
			s.write(frame);
	}).on('close', () => done(text)).on('error', () => done(text));
	s.write(`GET /dashboard/control HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${origin}\r\nCookie: ${cookie}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n` +
		'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: mcpool.control\r\n\r\n');
	setTimeout(() => s.destroy(), 5000);
});

async function stolenCookie(page, s, hub)
{
	await page.goto(`${s.origin}/dashboard/`); // where the cookie's path leads, on any port
	const cookie = s.cookies.find((c) => c.includes(`mcpool_${new URL(hub).port}=`));

	must(cookie, 'the browser does not send the cookie to other ports; then this case tries too little');
	must(/^HTTP\/1.1 403/.test(await withCookie(hub, cookie, s.origin)), 'the origin does not count');
	const said = await withCookie(hub, cookie);

	must(/^HTTP\/1.1 101/.test(said), `the cookie is not taken: ${said.slice(0, 100)}`);
	must(!said.includes('"result"') && said.includes(String.fromCharCode(4401 >> 8, 4401 & 255)), `the cookie alone opens: ${said.slice(-200)}`);
}

export default async function foreign(t)
{
	write(join(planted, '.mcp.json'), { mcpServers: { planted: { command: 'touch', args: [ran] } } });
	write(ledger, '');
	await approve({ files: { command: demo, env: { MCPOOL_DEMO_LEDGER: ledger } } });
	const mine = await t.logIn(), s = await stranger(), hub = t.base;
	const before = readFileSync(join(process.env.XDG_CONFIG_HOME, 'mcpool/mcp.json'), 'utf8');

	t.foreign = (url) => url.startsWith(s.origin) || url.startsWith('http://localhost:');
	await hasState(mine, 'files', 'connected');
	const page = await t.context.newPage();

	for (const origin of [s.origin, s.origin.replace('127.0.0.1', 'localhost')]) {
		await page.goto(`${origin}/`);
		await attack(page, hub);
	}
	await page.goto(`${s.origin}/`);
	t.allowed.push(/status of 40[34]/); // what a form gets that leads to the hub
	await navigate(t, page, hub);
	await stolenCookie(page, s, hub);
	await wait(300);
	const { servers, sessions } = (await run('status', '--json')).json;

	must(servers.map((x) => x.name).join() === 'files' && servers[0].calls === 0, `the servers are ${JSON.stringify(servers.map((x) => [x.name, x.calls]))}`);
	must(sessions.length === 0 && readFileSync(ledger, 'utf8') === '' && !existsSync(ran), 'something happened');
	must(readFileSync(join(process.env.XDG_CONFIG_HOME, 'mcpool/mcp.json'), 'utf8') === before, 'the file was changed');
	await visit(mine, '#/waiting');
	await t.isLive(mine); // no logout came through
	await mine.reload();
	await t.isLive(mine);
	s.server.closeAllConnections();
	s.server.close();
}
