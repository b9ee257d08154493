// sdk2.mjs - the server that sdk2-legacy, sdk2-dual and sdk2-modern have in common, on
// @modelcontextprotocol/server 2.x. Its tool `ask` answers input_required until it has a name.
import { McpServer, ResourceTemplate, acceptedContent, inputRequired } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { addFeatures } from './features.mjs';

const of = ({ mcpReq }) => ({
	signal: mcpReq.signal, token: mcpReq._meta?.progressToken, notify: mcpReq.notify,
});
of.promptArgs = (shape) => z.object(shape);

export function makeServer(name) {
	const server = addFeatures(new McpServer({ name, version: '2.0.0' }), ResourceTemplate, of);
	const answer = z.object({ name: z.string() });

	server.registerTool('ask', { description: 'Asks your name', inputSchema: z.object({}) }, (_, context) => {
		const given = acceptedContent(context.mcpReq.inputResponses, 'who', answer);
		if (given) return { content: [{ type: 'text', text: `accept ${given.name}` }] };
		return inputRequired({
			inputRequests: { who: inputRequired.elicit({ message: 'Your name?', requestedSchema: answer }) },
		});
	});
	return server;
}
