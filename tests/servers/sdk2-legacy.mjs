// sdk2-legacy.mjs - SDK 2.x wired by hand to stdio or to HTTP with sessions: the legacy era only.
import { randomUUID } from 'node:crypto';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { how, listen, toNode } from './listen.mjs';
import { makeServer } from './sdk2.mjs';

const sessions = new Map();

async function begin() {
	const transport = new WebStandardStreamableHTTPServerTransport({
		sessionIdGenerator: randomUUID,
		onsessioninitialized: (id) => sessions.set(id, transport),
		onsessionclosed: (id) => sessions.delete(id),
	});
	await makeServer('sdk2-legacy', 'legacy').connect(transport);
	return transport;
}

async function streamable(request) {
	const id = request.headers.get('mcp-session-id');
	if (id && !sessions.has(id)) return new Response('nothing here', { status: 404 });
	const transport = id ? sessions.get(id) : await begin();
	return transport.handleRequest(request);
}

if (how === 'stdio') await makeServer('sdk2-legacy', 'legacy').connect(new StdioServerTransport());
else listen(toNode(streamable));
