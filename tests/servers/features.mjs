// features.mjs - what the test servers on the SDKs offer, written once for SDK 1.x and 2.x: tools
// echo, add, stats (structured), slow (progress, honours cancel) and fail; a resource, a template
// and a prompt. `of(context)` hides where each SDK keeps signal, progress token and notify.
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';

const text = (words) => ({ content: [{ type: 'text', text: words }] });

// One line per event into the file that the test named, so that it sees what reached the server.
const note = (words) => process.env.TEST_NOTES && appendFileSync(process.env.TEST_NOTES, `${words}\n`);

async function slow({ ms, steps }, { signal, token, notify }) {
	note('slow started');
	for (let step = 1; step <= steps; step++) {
		try {
			await sleep(ms / steps, undefined, { signal });
		} catch {
			note('slow cancelled');
			return text('cancelled');
		}
		if (token !== undefined)
			await notify({
				method: 'notifications/progress',
				params: { progressToken: token, progress: step, total: steps, message: `step ${step}` },
			});
	}
	return text(`slept ${ms} ms`);
}

export function addFeatures(server, ResourceTemplate, of) {
	server.registerTool('echo', {
		title: 'Echo', description: 'Says it back', inputSchema: z.object({ message: z.string() }),
	}, ({ message }) => text(`Echo: ${message}`));

	server.registerTool('add', {
		description: 'Adds two numbers',
		inputSchema: z.object({ a: z.number(), b: z.number(), loud: z.boolean().optional() }),
	}, ({ a, b, loud }) => text(`${a + b}${loud ? '!' : ''}`));

	server.registerTool('stats', {
		description: 'Statistics of some numbers',
		inputSchema: z.object({ numbers: z.array(z.number()) }),
		outputSchema: z.object({ count: z.number(), sum: z.number() }),
	}, ({ numbers }) => {
		const stats = { count: numbers.length, sum: numbers.reduce((x, y) => x + y, 0) };
		return { ...text(JSON.stringify(stats)), structuredContent: stats };
	});

	server.registerTool('slow', {
		description: 'Takes its time',
		inputSchema: z.object({ ms: z.number(), steps: z.number().int().default(5) }),
	}, (args, context) => slow(args, of(context)));

	server.registerTool('fail', { description: 'Says isError', inputSchema: z.object({}) },
		() => ({ ...text('it went wrong'), isError: true }));

	server.registerResource('greeting', 'note://greeting', { mimeType: 'text/plain' },
		(uri) => ({ contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'hello from a resource' }] }));
	server.registerResource('numbered', new ResourceTemplate('note://number/{n}', { list: undefined }), {},
		(uri, { n }) => ({ contents: [{ uri: uri.href, text: `note ${n}` }] }));

	server.registerPrompt('review', {
		description: 'Asks for a review', argsSchema: of.promptArgs({ code: z.string() }),
	}, ({ code }) => ({
		messages: [{ role: 'user', content: { type: 'text', text: `Please review ${code}` } }],
	}));
	return server;
}
