// mock_hub.mjs - a hub of invented data for work on the page and its pictures: serves the built page with the hub's CSP and speaks
// doc/protocol.md "Dashboard". node tests/web/mock_hub.mjs FOLDER [--port N] [--scene normal|first|empty|hostile|many] [--rate N] [--still]
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocketServer } from 'ws';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';
import { World } from './mock_data.mjs';
import { addTools, mockAnswer, mockVerb } from './mock_verbs.mjs';

export const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
const TYPES = { '/': ['index.html', 'text/html'], '/dashboard.js': ['dashboard.js', 'text/javascript'], '/dashboard.css': ['dashboard.css', 'text/css'],
	'/dashboard.svg': ['dashboard.svg', 'image/svg+xml'] };

function serveFile(folder, request, response)
{
	const [file, type] = TYPES[new URL(request.url, 'http://x').pathname] ?? [];

	if (!file) {
		response.writeHead(404).end();
		return;
	}
	response.writeHead(200, { 'Content-Type': `${type}; charset=utf-8`, 'Content-Security-Policy': CSP, 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
	response.end(readFileSync(join(folder, file)));
}

// One connection of a page
class Peer {
	constructor(socket, world)
	{
		this.socket = socket;
		this.world = world;
		this.isWatching = this.hasCalls = this.hasEvents = false;
		this.asked = new Map();
		this.aborts = new Map();
		socket.on('message', (text) => this.onMessage(JSON.parse(text)));
	}

	send(message)
	{
		if (this.socket.readyState === 1)
			this.socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
	}

	async onMessage(m)
	{
		if (m.method === undefined) {
			this.asked.get(m.id)?.(m.result ?? m.error);
			return;
		}
		if (m.method === 'notifications/cancelled')
			this.aborts.get(m.params.requestId)?.abort();
		if (m.id === undefined)
			return;
		if (m.method === 'mcpool/hello' && m.params.proof !== 'proof') {
			this.socket.close(4401, 'no valid login');
			return;
		}
		try {
			this.send({ id: m.id, result: await this.answer(m) });
		} catch (e) {
			this.send({ id: m.id, error: { code: e.code ?? -32603, message: e.message, data: { code: 'failed' } } });
		}
	}

	// A request of the hub to the page
	ask(method, params)
	{
		const id = `hub-${this.asked.size + 1}`;

		return new Promise((answer) => {
			this.asked.set(id, answer);
			this.send({ id, method, params });
		});
	}

	async answer({ method, params, id })
	{
		const w = this.world;

		switch (method) {
		case 'mcpool/hello':
			return w.hello();
		case 'mcpool/watch':
			await w.holdWatch;
			this.isWatching = true;
			return w.watch();
		case 'mcpool/calls':
			this.hasCalls = true;
			setTimeout(() => w.records.filter((r) => r.number >= (params.since ?? Infinity)).forEach((r) => this.send({ method: 'mcpool/calls/record', params: r })), 0);
			return { last: w.records.at(-1)?.number ?? 0 };
		case 'mcpool/events':
			this.hasEvents = true;
			setTimeout(() => w.events.filter((r) => r.number >= (params.since ?? Infinity)).forEach((r) => this.send({ method: 'mcpool/event', params: r })), 0);
			return { last: w.events.at(-1)?.number ?? 0 };
		case 'mcpool/verb':
			return mockVerb(w, params) ?? w.verb(params, (line) => this.send({ method: 'mcpool/verb/line', params: { id, line } }));
		default: {
			const progress = (p) => this.send({ method: 'notifications/progress', params: { progressToken: id, ...p } });
			const abort = new AbortController();

			this.aborts.set(id, abort);
			const mine = await mockAnswer(w, method, params, { progress, signal: abort.signal, notify: (name, p) => this.send({ method: name, params: p }), ask: (name, p) => this.ask(name, p) });

			return mine ?? w.answer(method, params, progress);
		}
		}
	}
}

// startMock({folder, port, scene, rate, still}): {url, world, stop()}; still: nothing moves, for pictures
export async function startMock({ folder, port = 0, scene = 'normal', rate, still = false })
{
	const world = addTools(new World({ scene, rate }));
	const peers = new Set();
	const server = createServer((request, response) => {
		const { pathname } = new URL(request.url, 'http://x');
		const isIn = /mcpool_mock=1/.test(request.headers.cookie ?? '');

		if (pathname === '/dashboard/login' && !/^Code /.test(request.headers.authorization ?? ''))
			response.writeHead(403).end();
		else if (pathname === '/dashboard/login')
			response.writeHead(200, { 'Set-Cookie': 'mcpool_mock=1; HttpOnly; SameSite=Strict; Path=/dashboard', 'Content-Type': 'application/json' })
				.end(JSON.stringify({ proof: 'proof', until: Date.now() + 7 * 86400e3 }));
		else if (pathname === '/dashboard/session')
			response.writeHead(isIn ? 204 : 401).end();
		else if (pathname === '/dashboard/logout')
			response.writeHead(204, { 'Set-Cookie': 'mcpool_mock=; Path=/dashboard; Max-Age=0' }).end();
		else
			serveFile(folder, request, response);
	});
	const ws = new WebSocketServer({ server, path: '/dashboard/control', handleProtocols: () => 'mcpool.control' });

	ws.on('connection', (socket) => {
		if (world.isAway) {
			socket.terminate();
			return;
		}
		const peer = new Peer(socket, world);

		peers.add(peer);
		socket.on('close', () => peers.delete(peer));
	});
	await new Promise((done) => server.listen(port, '127.0.0.1', done));
	const tell = (member, method, params) => peers.forEach((p) => p[member] && p.send({ method, params }));
	const timers = still ? [] : [
		setInterval(() => world.callSome(0.05).forEach((r) => tell('hasCalls', 'mcpool/calls/record', r)), 50),
		setInterval(() => tell('isWatching', 'mcpool/watch/changed', world.change()), 1000),
	];

	return {
		url: `http://127.0.0.1:${server.address().port}`,
		world,
		// The hub goes; with ms it is back after that time, and answers mcpool/watch when the promise is done.
		restart(ms, holdWatch)
		{
			world.isAway = true;
			for (const p of peers)
				p.socket.terminate();
			world.holdWatch = holdWatch;
			if (ms !== undefined)
				setTimeout(() => {
					world.isAway = false;
					world.pid++;
				}, ms);
		},
		change: (changes) => tell('isWatching', 'mcpool/watch/changed', changes),
		stop()
		{
			timers.forEach(clearInterval);
			for (const p of peers)
				p.socket.terminate();
			server.close();
		},
	};
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
	const { values, positionals } = parseArgs({ allowPositionals: true, options: { port: { type: 'string', default: '8099' }, scene: { type: 'string' }, rate: { type: 'string' }, still: { type: 'boolean' } } });
	const mock = await startMock({ folder: positionals[0], port: Number(values.port), scene: values.scene, rate: values.rate && Number(values.rate), still: values.still });

	console.log(`${mock.url}/#login=CODE`);
	process.on('SIGUSR1', () => mock.restart(5000));
}
