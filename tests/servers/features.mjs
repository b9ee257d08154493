// features.mjs - what the test servers offer, written once for SDK 1.x and 2.x: tools echo, add,
// stats (structured), slow (progress, honours cancel), fail, change (another tool), touch (a
// resource) and log; a resource one can subscribe to, a template and a prompt with completion.
// `of` hides where an SDK keeps things; `of.news` tells everybody, where no session is there to tell.
import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';

const text = (words) => ({ content: [{ type: 'text', text: words }] });

// One line per event into the file that the test named, so that it sees what reached the server.
export const note = (words) => process.env.TEST_NOTES && appendFileSync(process.env.TEST_NOTES, `${words}\n`);

export const capabilities = {
	tools: { listChanged: true }, prompts: {}, resources: { subscribe: true }, completions: {}, logging: {},
};

export async function slow({ ms, steps = 5, tag = '' }, { signal, token, notify }) {
	note(`slow started ${tag}`.trim());
	for (let step = 1; step <= steps; step++) {
		try {
			await sleep(ms / steps, undefined, { signal });
		} catch {
			note(`slow cancelled ${tag}`.trim());
			return text('cancelled');
		}
		if (token !== undefined)
			await notify({
				method: 'notifications/progress',
				params: { progressToken: token, progress: step, total: steps, message: `step ${step} ${tag}`.trim() },
			});
	}
	return text(`slept ${ms} ms`);
}

// What the tools elicit, sample and roots ask for, about somebody; and the answer in words.
export const questions = {
	elicit: {
		request: (about) => ({
			method: 'elicitation/create',
			params: {
				mode: 'form', message: `Who are you? (${about})`,
				requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
			},
		}),
		say: (answer) => `${answer.action} ${answer.content?.name}`,
	},
	sample: {
		request: (about) => ({
			method: 'sampling/createMessage',
			params: { messages: [{ role: 'user', content: { type: 'text', text: `Speak (${about})` } }], maxTokens: 10 },
		}),
		say: (answer) => `heard ${answer.content?.text}`,
	},
	roots: {
		request: () => ({ method: 'roots/list', params: {} }),
		say: (answer) => `in ${answer.roots?.map((root) => root.uri).join()}`,
	},
};

// loose: not on the stream of the call that causes it, where there is such a thing
export const questionInput = z.object({
	about: z.string(), after: z.number().default(0), loose: z.boolean().default(false),
});

const added = []; // tools that `change` brought; known to every server of this process

function addTool(server, name) {
	server.registerTool(name, { description: 'Was not there before', inputSchema: z.object({}) }, () => text(name));
}

// Tools that make something happen beside their answer.
function addNews(server, of) {
	const subscribed = new Set();

	server.registerTool('change', { description: 'Brings another tool', inputSchema: z.object({}) }, () => {
		const name = `added-${added.length + 1}`;
		added.push(name);
		if (of.news) of.news.toolsChanged();
		else addTool(server, name); // which tells
		return text(name);
	});
	server.registerTool('touch', {
		description: 'Says that a resource was updated', inputSchema: z.object({ uri: z.string() }),
	}, async ({ uri }) => {
		if (of.news) of.news.resourceUpdated(uri);
		else if (of.tellsAll || subscribed.has(uri)) await server.server.sendResourceUpdated({ uri });
		return text(`touched ${uri}`);
	});
	server.registerTool('log', {
		description: 'Says something beside its answer', inputSchema: z.object({ words: z.string() }),
	}, async ({ words }, context) => {
		await of(context).log('warning', words);
		return text('logged');
	});
	of.onSubscribe?.(server, (uri) => subscribed.add(uri), (uri) => subscribed.delete(uri));
	added.forEach((name) => addTool(server, name));
}

// A test may have it look otherwise in the next life.
const echo = process.env.TEST_ECHO ? readFileSync(process.env.TEST_ECHO, 'utf8').trim() : 'Says it back';

export function addFeatures(server, ResourceTemplate, of) {
	server.registerTool('echo', {
		title: 'Echo', description: echo, inputSchema: z.object({ message: z.string() }),
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
		inputSchema: z.object({ ms: z.number(), steps: z.number().int().default(5), tag: z.string().optional() }),
	}, (args, context) => slow(args, of(context)));

	server.registerTool('fail', { description: 'Says isError', inputSchema: z.object({}) },
		() => ({ ...text('it went wrong'), isError: true }));

	server.registerResource('greeting', 'note://greeting', { mimeType: 'text/plain' },
		(uri) => ({ contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'hello from a resource' }] }));
	server.registerResource('numbered', new ResourceTemplate('note://number/{n}', { list: undefined }), {},
		(uri, { n }) => ({ contents: [{ uri: uri.href, text: `note ${n}` }] }));

	const files = (start) => ['main.c', 'main.h', 'test.c'].filter((name) => name.startsWith(start));
	server.registerPrompt('review', {
		description: 'Asks for a review', argsSchema: of.promptArgs({ code: of.completable(z.string(), files) }),
	}, ({ code }) => ({
		messages: [{ role: 'user', content: { type: 'text', text: `Please review ${code}` } }],
	}));
	addNews(server, of);
	return server;
}
