// sdk1.mjs - a stdio server on @modelcontextprotocol/sdk 1.x, the kind most people run today. It
// adds to the common features a tool that asks the user, and resources in pages of two.
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ListResourcesRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { addFeatures } from './features.mjs';

const of = (extra) => ({
	signal: extra.signal, token: extra._meta?.progressToken, notify: extra.sendNotification,
});
of.promptArgs = (shape) => shape;

const server = addFeatures(new McpServer({ name: 'sdk1', version: '1.0.0' }), ResourceTemplate, of);

server.registerTool('ask', { description: 'Asks your name', inputSchema: z.object({}) }, async () => {
	const answer = await server.server.elicitInput({
		message: 'Your name?',
		requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
	});
	return { content: [{ type: 'text', text: `${answer.action} ${answer.content?.name}` }] };
});

const uris = ['note://greeting', 'note://number/1', 'note://number/2', 'note://number/3', 'note://number/4'];
server.server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => {
	const start = Number(params?.cursor ?? 0);
	return {
		resources: uris.slice(start, start + 2).map((uri) => ({ uri, name: uri.slice(7) })),
		...(start + 2 < uris.length && { nextCursor: String(start + 2) }),
	};
});

await server.connect(new StdioServerTransport());
