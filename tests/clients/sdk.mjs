// sdk.mjs - the clients of both SDKs in front of the hub, each by `mcpool stdio`, by Streamable HTTP and
// (legacy) by HTTP+SSE: what an agent built on them sees of three servers, one of each era and
// server-everything. The SDKs check every answer against their schemas. One line per case.
// URL of the hub's endpoint and token: MCPOOL_URL, MCPOOL_TOKEN; the program: MCPOOL.
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as Sse1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
	ElicitRequestSchema, ResourceUpdatedNotificationSchema, ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';

const me = { name: 'sdk-client', version: '1' };
const legacy = '2025-11-25';
const modern = '2026-07-28';
const patience = 15000;
let failures = 0;

const must = (truth, why) => {
	if (!truth) throw new Error(why);
};
const within = (promise, what) => {
	let timer;
	const late = new Promise((_, no) => {
		timer = setTimeout(() => no(new Error(`${what}: nothing in ${patience} ms`)), patience);
	});
	return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

/* --- who, and on which way ------------------------------------------------------------------ */

const answer = () => ({ action: 'accept', content: { name: 'Ada' } });

function first(news) {
	const client = new Client1(me, { capabilities: { elicitation: {} } });
	client.setRequestHandler(ElicitRequestSchema, answer);
	client.setNotificationHandler(ToolListChangedNotificationSchema, () => news('tools'));
	client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => news(params.uri));
	return client;
}

function second(versionNegotiation) {
	return (news) => {
		const client = new Client2(me, {
			capabilities: { elicitation: { form: {} } }, versionNegotiation,
			listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => news('tools') } },
		});
		client.setRequestHandler('elicitation/create', answer);
		client.setNotificationHandler('notifications/resources/updated', ({ params }) => news(params.uri));
		return client;
	};
}

const kinds = {
	sdk1: { make: first, version: legacy, Stdio: Stdio1, Http: Http1, Sse: Sse1 },
	sdk2_legacy: { make: second(undefined), version: legacy, Stdio: Stdio2, Http: Http2 },
	sdk2_auto: { make: second({ mode: 'auto' }), version: modern, Stdio: Stdio2, Http: Http2 },
	sdk2_modern: { make: second({ mode: { pin: modern } }), version: modern, Stdio: Stdio2, Http: Http2 },
};

const requestInit = { headers: { Authorization: `Bearer ${process.env.MCPOOL_TOKEN}` } };
const ways = {
	stdio: ({ Stdio }) => new Stdio({ command: process.env.MCPOOL, args: ['stdio'], env: process.env, stderr: 'inherit' }),
	http: ({ Http }) => new Http(new URL(process.env.MCPOOL_URL), { requestInit }),
	sse: ({ Sse }) => new Sse(new URL('/sse', process.env.MCPOOL_URL), {
		requestInit,
		eventSourceInit: { fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...requestInit.headers } }) },
	}),
};

/* --- what is done ---------------------------------------------------------------------------- */

const call = ({ client }, name, args = {}, options) => {
	const params = { name, arguments: args };
	return client instanceof Client1 ? client.callTool(params, undefined, options) : client.callTool(params, options);
};
const words = (result) => result.content.map((block) => block.text).join('');
const servers = ['old', 'new', 'every'];

// Those pages there are, as an agent walks them.
async function all(list, what) {
	const found = [];
	let cursor;
	do {
		const page = await list({ cursor });
		found.push(...page[what]);
		cursor = page.nextCursor;
	} while (cursor);
	return found;
}

const cases = {
	async era({ client, kind }) {
		const version = client.getNegotiatedProtocolVersion?.() ?? client.transport?.protocolVersion;
		must(version === undefined || version === kind.version, `agreed on ${version}`);
		must(client.getServerVersion()?.name === 'mcpool', `serverInfo ${JSON.stringify(client.getServerVersion())}`);
		must(client.getServerCapabilities()?.tools, 'no tools declared');
	},
	async list({ client }) {
		const tools = await all((p) => client.listTools(p), 'tools');
		const names = new Set(tools.map((tool) => tool.name));
		for (const server of servers) must(names.has(`mcp__${server}__echo`), `no mcp__${server}__echo`);
		must(names.size === tools.length, 'a name twice');
		must(tools.every((tool) => tool.inputSchema.type === 'object'), 'a tool without a schema');
	},
	async call(on) {
		for (const server of servers) {
			const said = words(await call(on, `mcp__${server}__echo`, { message: 'Grüße 😀' }));
			must(said.includes('Grüße 😀'), `${server} said ${said}`);
		}
		const { structuredContent } = await call(on, 'mcp__old__stats', { numbers: [1, 2, 3] });
		must(structuredContent?.sum === 6, `structured ${JSON.stringify(structuredContent)}`);
	},
	async error(on) {
		must((await call(on, 'mcp__new__fail')).isError === true, 'isError is lost');
		const why = await call(on, 'mcp__new__no-such-tool').then(() => null, (e) => e);
		must(why && /no-such-tool/.test(why.message), `an unknown tool: ${why?.message}`);
	},
	async progress(on) {
		for (const server of ['old', 'new']) {
			const told = [];
			const onprogress = ({ progress }) => told.push(progress);
			const arrived = on.overhear('notifications/progress');
			await call(on, `mcp__${server}__slow`, { ms: 600, steps: 4 }, { onprogress });
			const steps = arrived().map(({ params }) => params.progress).join();
			must(steps === '1,2,3,4', `${server}: progress ${steps}`);
			// Both SDKs forget the handler before they come to what arrived together with the answer; how much that is
			// depends on the load of the machine.
			must(steps.startsWith(told.join()) && told.length >= 1, `${server}: told ${told.join()}`);
		}
	},
	async cancel(on) {
		const stop = new AbortController();
		const ended = call(on, 'mcp__new__slow', { ms: 60000 }, { signal: stop.signal }).then(() => 'done', () => 'aborted');
		setTimeout(() => stop.abort(), 50);
		must((await ended) === 'aborted', 'the call was not cancelled');
		must(words(await call(on, 'mcp__new__echo', { message: 'after' })).includes('after'), 'no echo afterwards');
	},
	async elicitation(on) {
		for (const server of ['old', 'new']) {
			const said = words(await call(on, `mcp__${server}__ask`));
			must(said === 'accept Ada', `${server} said ${said}`);
		}
	},
	async resources({ client }) {
		const uris = (await all((p) => client.listResources(p), 'resources')).map(({ uri }) => uri);
		must(uris.some((uri) => uri.includes('note://number/4') || uri.includes('number%2F4')), `resources ${uris}`);
		const { contents } = await client.readResource({ uri: uris.find((uri) => /number(\/|%2F)4/.test(uri)) });
		must(contents[0].text === 'note 4', `read ${JSON.stringify(contents)}`);
		const templates = await all((p) => client.listResourceTemplates(p), 'resourceTemplates');
		must(templates.length >= 2, `${templates.length} templates`);
	},
	async prompts({ client }) {
		const prompts = await all((p) => client.listPrompts(p), 'prompts');
		const name = prompts.map((prompt) => prompt.name).find((n) => /old__review/.test(n));
		must(name, `prompts ${prompts.map((prompt) => prompt.name)}`);
		const { messages } = await client.getPrompt({ name, arguments: { code: 'main.c' } });
		must(messages[0].content.text === 'Please review main.c', JSON.stringify(messages));
		const { completion } = await client.complete({
			ref: { type: 'ref/prompt', name }, argument: { name: 'code', value: 'main' },
		});
		must(completion.values.join() === 'main.c,main.h', `completion ${completion.values}`);
	},
	async subscribe(on) {
		if (on.kind.version !== legacy) return; // modern clients hear of it by listening
		const resources = await all((p) => on.client.listResources(p), 'resources');
		const { uri } = resources.find((r) => r.uri.includes('old') && r.uri.includes('greeting'));
		const heard = on.hear(uri);
		await on.client.subscribeResource({ uri });
		await call(on, 'mcp__old__touch', { uri: 'note://greeting' });
		await within(heard, 'resources/updated');
		await on.client.unsubscribeResource({ uri });
	},
	async ping({ client, kind }) {
		if (kind.version === legacy) await client.ping();
	},
	async changes(on) {
		const heard = on.hear('tools');
		const said = words(await call(on, 'mcp__new__change'));
		await within(heard, 'list_changed');
		const tools = await all((p) => on.client.listTools(p), 'tools');
		must(tools.some((tool) => tool.name === `mcp__new__${said}`), `no ${said}`);
	},
};

/* --- every kind, every way ------------------------------------------------------------------- */

async function attempt(name, act) {
	try {
		await within(act(), 'the case');
		console.log(`ok clients/${name}`);
	} catch (e) {
		console.log(`FAIL clients/${name}: ${String(e.message ?? e).split('\n')[0]}`);
		failures++;
	}
}

// All that arrives, before the client makes anything of it.
function listenIn(transport) {
	const deliver = transport.onmessage;
	const messages = [];
	transport.onmessage = (message, extra) => {
		messages.push(message);
		deliver(message, extra);
	};
	return (method) => {
		const before = messages.length;
		return () => messages.slice(before).filter((message) => message.method === method);
	};
}

async function drive(name, kind, way) {
	const waiting = [];
	const client = kind.make((what) => waiting.filter((w) => w.what === what).forEach((w) => w.ok()));
	const hear = (what) => new Promise((ok) => waiting.push({ what, ok }));
	const transport = ways[way](kind);
	try {
		await within(client.connect(transport), 'connect');
	} catch (e) {
		console.log(`FAIL clients/${name}/connect: ${e.message}`);
		failures++;
		return;
	}
	const overhear = listenIn(transport);
	for (const [what, act] of Object.entries(cases))
		await attempt(`${name}/${what}`, () => act({ client, kind, hear, overhear }));
	await attempt(`${name}/close`, () => client.close());
}

for (const [name, kind] of Object.entries(kinds))
	for (const way of Object.keys(ways))
		if (way !== 'sse' || kind.Sse) await drive(`${name}_${way}`, kind, way);
process.exit(failures ? 1 : 0);
