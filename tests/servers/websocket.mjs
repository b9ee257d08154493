// websocket.mjs - MCP over WebSocket on npm `ws`, as its clients expect it: subprotocol mcp, one
// message per text frame, the legacy lifecycle. The SDKs have no such server; this is a transport
// for theirs.
import { WebSocketServer } from 'ws';
import { note } from './features.mjs';
import { listen, refuse } from './listen.mjs';

class Transport {
	#socket;

	constructor(socket) {
		this.#socket = socket;
	}
	async start() {
		this.#socket.on('message', (data) => this.onmessage?.(JSON.parse(data.toString())));
		this.#socket.on('close', (code) => {
			note(`closed ${code}`);
			this.onclose?.();
		});
		this.#socket.on('ping', () => note('ping'));
		this.#socket.on('error', (why) => this.onerror?.(why));
	}
	async send(message) {
		this.#socket.send(JSON.stringify(message));
	}
	async close() {
		this.#socket.close(1000);
	}
}

export function listenByWebSocket(makeServer) {
	const http = listen((req, res) => refuse(res, 426, 'WebSocket only'));
	const server = new WebSocketServer({
		server: http, path: '/mcp', handleProtocols: (offered) => (offered.has('mcp') ? 'mcp' : false),
	});
	server.on('connection', (socket, req) => {
		if (socket.protocol === 'mcp') makeServer(req).connect(new Transport(socket));
		else socket.close(1002, 'the subprotocol is mcp');
	});
}
