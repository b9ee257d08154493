// sdk2.mjs - the server that sdk2-legacy, sdk2-dual and sdk2-modern have in common, on
// @modelcontextprotocol/server 2.x. Its tools `ask`, `elicit`, `sample` and `roots` answer input_required
// until they have what they ask for.
import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer, ResourceTemplate, acceptedContent, completable, createMcpHandler, inputRequired } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';
import { addFeatures, capabilities, note, questionInput, questions } from './features.mjs';
import { how, listen, toNode } from './listen.mjs';

const answer = z.object({ name: z.string() });

function ask(_, context) {
	const given = acceptedContent(context.mcpReq.inputResponses, 'who', answer);
	if (given) return { content: [{ type: 'text', text: `accept ${given.name}` }] };
	return inputRequired({
		inputRequests: { who: inputRequired.elicit({ message: 'Your name?', requestedSchema: answer }) },
	});
}

function addQuestions(server) {
	for (const [name, { request, say }] of Object.entries(questions))
		server.registerTool(name, { description: 'Asks', inputSchema: questionInput }, async (args, context) => {
			const given = context.mcpReq.inputResponses?.answer;
			if (given) return { content: [{ type: 'text', text: say(given) }] };
			note(`asks ${args.about}`);
			await sleep(args.after);
			return inputRequired({ inputRequests: { answer: request(args.about) } });
		});
}

// Who subscribes in the legacy era says so by a request; in the modern one by listening, which the
// SDK sees to.
const subscriptions = ({ server }, subscribe, unsubscribe) => {
	server.setRequestHandler('resources/subscribe', ({ params }) => (subscribe(params.uri), {}));
	server.setRequestHandler('resources/unsubscribe', ({ params }) => (unsubscribe(params.uri), {}));
};

// news: how all are told, where each request has a server of its own
export function makeServer(name, era, news) {
	const of = ({ mcpReq }) => ({
		signal: mcpReq.signal, token: mcpReq._meta?.progressToken, notify: mcpReq.notify, log: mcpReq.log,
	});
	of.promptArgs = (shape) => z.object(shape);
	of.completable = completable;
	of.news = news;
	of.tellsAll = era === 'modern';
	of.onSubscribe = era === 'legacy' ? subscriptions : undefined;
	const server = addFeatures(new McpServer({ name, version: '2.0.0' }, { capabilities }), ResourceTemplate, of);

	server.registerTool('ask', { description: 'Asks your name', inputSchema: z.object({}) }, ask);
	addQuestions(server);
	return server;
}

// As the SDK serves by itself; legacy: what it does with those who open with initialize.
export function serve(name, { stdio, http }) {
	if (how === 'stdio') return serveStdio(({ era }) => makeServer(name, era), { legacy: stdio });
	const handler = createMcpHandler(({ era }) => makeServer(name, era, handler.notify), { legacy: http });
	return listen(toNode(handler.fetch));
}
