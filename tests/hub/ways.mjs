// ways.mjs - the ways into a hub, each as a pipe of messages. open(way, era, hub, hear) resolves with
//   send(message)   to the hub; what comes back, answers and all else, goes to hear(message)
//   drop(id)        a request is given up, as that way and era have it
//   close()
// hub: {url, mcpool}; the bridge finds its hub by the environment.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const cancelled = (requestId) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });

async function openStdio(_, { mcpool }, hear) {
	const bridge = spawn(mcpool, ['stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
	const ended = once(bridge, 'exit');
	const send = (message) => bridge.stdin.write(`${JSON.stringify(message)}\n`);

	createInterface({ input: bridge.stdout }).on('line', (line) => hear(JSON.parse(line)));
	return { send, drop: (id) => send(cancelled(id)), close: () => (bridge.stdin.end(), ended) };
}

async function openWebSocket(_, { url }, hear) {
	const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, ['mcp']);
	const send = (message) => socket.send(JSON.stringify(message));

	socket.addEventListener('message', ({ data }) => hear(JSON.parse(data)));
	await new Promise((yes, no) => {
		socket.addEventListener('open', yes);
		socket.addEventListener('error', () => no(new Error('no WebSocket')));
	});
	return {
		send, drop: (id) => send(cancelled(id)),
		close: () => (socket.close(), new Promise((done) => socket.addEventListener('close', done))),
	};
}

// Events of a stream, until it ends; what is cut off ends, too.
async function readEvents(body, take) {
	const decoder = new TextDecoder();
	let text = '';
	try {
		for await (const piece of body) {
			text += decoder.decode(piece, { stream: true });
			for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
				const lines = text.slice(0, end).split('\n');
				const value = (key) => lines.find((line) => line.startsWith(`${key}:`))?.slice(key.length + 1).trim();
				if (value('data')) take(value('event'), value('data'));
			}
		}
	} catch { // ours: dropped or closed
	}
}

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

async function openSse(_, { url }, hear) {
	const leave = new AbortController();
	const stream = await fetch(`${url}/sse`, { headers: { accept: 'text/event-stream' }, signal: leave.signal });
	let place;
	const known = new Promise((done) => {
		readEvents(stream.body, (event, data) =>
			event === 'endpoint' ? done(place = new URL(data, url)) : hear(JSON.parse(data)));
	});
	let last = Promise.resolve(); // in order, as they were said
	const send = (message) => {
		last = last.then(() => fetch(place, { method: 'POST', headers: json, body: JSON.stringify(message) }))
			.then((r) => r.arrayBuffer());
	};

	await known;
	return { send, drop: (id) => send(cancelled(id)), close: async () => (await last, leave.abort()) };
}

// An answer of HTTP as messages.
async function take(response, hear, message) {
	if (response.headers.get('content-type')?.startsWith('text/event-stream'))
		return readEvents(response.body, (_, data) => hear(JSON.parse(data)));
	const text = await response.text().catch(() => '');
	if (text.startsWith('{')) hear(JSON.parse(text));
	else if (message.method && message.id !== undefined)
		hear({ id: message.id, error: { code: response.status, message: `HTTP ${response.status}: ${text}` } });
}

async function openLegacyHttp({ url }, hear) {
	const headers = { ...json, 'mcp-protocol-version': '2025-11-25' };
	const leave = new AbortController();
	const post = async (message) => {
		const response = await fetch(`${url}/mcp`, {
			method: 'POST', headers, body: JSON.stringify(message), signal: leave.signal,
		});
		if (message.method === 'initialize') headers['mcp-session-id'] = response.headers.get('mcp-session-id');
		if (message.method === 'notifications/initialized') listen();
		return take(response, hear, message);
	};
	const listen = async () => {
		const response = await fetch(`${url}/mcp`, { headers: { ...headers, accept: 'text/event-stream' }, signal: leave.signal });
		await readEvents(response.body, (_, data) => hear(JSON.parse(data)));
	};
	const send = (message) => post(message).catch(() => {});

	return {
		send, drop: (id) => send(cancelled(id)),
		close: async () => {
			await fetch(`${url}/mcp`, { method: 'DELETE', headers });
			leave.abort();
		},
	};
}

async function openModernHttp({ url }, hear) {
	const open = new Map(); // requests that are not answered yet, and how to give them up
	const post = async (message) => {
		const leave = new AbortController();
		const { name, uri, taskId } = message.params, subject = name ?? uri ?? taskId;
		open.set(message.id, leave);
		const response = await fetch(`${url}/mcp`, {
			method: 'POST', signal: leave.signal, body: JSON.stringify(message),
			headers: {
				...json, 'mcp-protocol-version': '2026-07-28', 'mcp-method': message.method,
				...(subject && { 'mcp-name': subject }),
			},
		});
		await take(response, hear, message);
		open.delete(message.id);
	};
	return {
		send: (message) => post(message).catch(() => {}),
		drop: (id) => open.get(id)?.abort(),
		close: async () => open.forEach((leave) => leave.abort()),
	};
}

const ways = {
	stdio: openStdio, sse: openSse, ws: openWebSocket,
	http: (era, hub, hear) => (era === 'modern' ? openModernHttp(hub, hear) : openLegacyHttp(hub, hear)),
};

export const open = (way, era, hub, hear) => ways[way](era, hub, hear);
