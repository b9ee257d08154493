// sdk1.mjs - a server on @modelcontextprotocol/sdk 1.x, the kind most people run today, by stdio,
// Streamable HTTP (/mcp), HTTP+SSE (/sse) or WebSocket (/mcp). It adds to the common features tools that
// ask, whether or not that was declared, and resources in pages of two.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
	CreateMessageResultSchema, ElicitResultSchema, ListResourcesRequestSchema, ListRootsResultSchema,
	SubscribeRequestSchema, UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { addFeatures, capabilities, note, questionInput, questions } from './features.mjs';
import { how, listen, refuse } from './listen.mjs';
import { listenByWebSocket } from './websocket.mjs';

const of = (extra) => ({
	signal: extra.signal, token: extra._meta?.progressToken, notify: extra.sendNotification,
	log: (level, data) => extra.sendNotification({ method: 'notifications/message', params: { level, data } }),
});
of.promptArgs = (shape) => shape;
of.completable = completable;
of.onSubscribe = ({ server }, subscribe, unsubscribe) => {
	server.setRequestHandler(SubscribeRequestSchema, ({ params }) => (subscribe(params.uri), {}));
	server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => (unsubscribe(params.uri), {}));
};

const uris = ['note://greeting', 'note://number/1', 'note://number/2', 'note://number/3', 'note://number/4'];

const results = { elicit: ElicitResultSchema, sample: CreateMessageResultSchema, roots: ListRootsResultSchema };

// They send requests even if the client did not declare them, and report the answer.
function addQuestions(server) {
	for (const [name, { request, say }] of Object.entries(questions))
		server.registerTool(name, { description: 'Asks', inputSchema: questionInput }, async (args, extra) => {
			const ask = args.loose ? server.server.request.bind(server.server) : extra.sendRequest;
			note(`asks ${args.about}`);
			await sleep(args.after);
			const words = await ask(request(args.about), results[name], { timeout: 5000 })
				.then(say, (why) => `refused ${why.code}`);
			return { content: [{ type: 'text', text: words }] };
		});
}

function makeServer() {
	const server = addFeatures(new McpServer({ name: 'sdk1', version: '1.0.0' }, { capabilities, instructions: process.env.TEST_INSTRUCTIONS }), ResourceTemplate, of);

	server.registerTool('ask', { description: 'Asks your name', inputSchema: z.object({}) }, async () => {
		const answer = await server.server.elicitInput({
			message: 'Your name?',
			requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
		});
		return { content: [{ type: 'text', text: `${answer.action} ${answer.content?.name}` }] };
	});
	addQuestions(server);
	server.server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => {
		const start = Number(params?.cursor ?? 0);
		return {
			resources: uris.slice(start, start + 2).map((uri) => ({ uri, name: uri.slice(7) })),
			...(start + 2 < uris.length && { nextCursor: String(start + 2) }),
		};
	});
	return server;
}

const sessions = new Map();

async function begin() {
	const transport = new StreamableHTTPServerTransport({
		sessionIdGenerator: randomUUID,
		onsessioninitialized: (id) => sessions.set(id, transport),
		onsessionclosed: (id) => sessions.delete(id),
	});
	await makeServer().connect(transport);
	return transport;
}

async function streamable(req, res, { pathname }) {
	const id = req.headers['mcp-session-id'];
	if (pathname !== '/mcp' || (id && !sessions.has(id))) return refuse(res, 404, 'nothing here');
	const transport = id ? sessions.get(id) : await begin();
	return transport.handleRequest(req, res);
}

async function sse(req, res, { pathname, searchParams }) {
	const known = sessions.get(searchParams.get('sessionId'));
	if (req.method === 'POST' && pathname === '/message' && known) return known.handlePostMessage(req, res);
	if (req.method !== 'GET' || pathname !== '/sse') return refuse(res, 404, 'nothing here');
	const transport = new SSEServerTransport('/message', res);
	sessions.set(transport.sessionId, transport);
	res.on('close', () => sessions.delete(transport.sessionId));
	return makeServer().connect(transport);
}

if (how === 'stdio') await makeServer().connect(new StdioServerTransport());
else if (how === 'ws') listenByWebSocket(makeServer);
else listen(how === 'sse' ? sse : streamable);
