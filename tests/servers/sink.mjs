// sink.mjs URL... - somebody who talks to servers of hostile_http.mjs (or hostile_ws.mjs) as the hub would, and
// throws away what comes: the first is called all the time, the others ten times a second, and each has its standing stream.
// For measuring what the servers alone cost a machine.
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';

const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-session-id': 'a-session' };
const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { message: 'sink' } } });

const exchange = (url, method, body, ms) => new Promise((done) => {
	const req = request(url, { method, headers, maxHeaderSize: 1 << 20, timeout: ms }, (res) => res.resume().on('close', done).on('error', done));
	req.on('error', done).on('timeout', () => req.destroy()).on('close', done).end(body);
});
const forever = async (act, ms) => {
	for (;;) await act().then(() => sleep(ms));
};

process.argv.slice(2).forEach((url, place) => {
	if (url.startsWith('ws:')) {
		const socket = new WebSocket(url, 'mcp').on('open', () => forever(async () => socket.send(call), 100));
		return;
	}
	forever(() => exchange(url, 'GET', undefined, 0), 1000);
	forever(() => exchange(url, 'POST', call, 1000), place ? 100 : 5);
});
