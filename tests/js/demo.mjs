// demo.mjs - a second opinion on the tests' demo-server and on the small `mcpool demo-server`: the clients of both SDKs
// drive them over stdio, in the legacy era (SDK 1.x, and 2.x by default), by negotiation and pinned to 2026-07-28. The
// SDKs check every answer against their schemas. Arguments are made from what the server says of them.
import { fileURLToPath } from 'node:url';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';

const built = (name) => fileURLToPath(new URL(`../../build/${name}`, import.meta.url));
// The small one has only what these cases ask for.
const servers = {
	demo: { command: built('tests/demo-server'), tools: ['echo', 'add', 'time', 'sleep', 'fail', 'crash', 'big', 'ask', 'log', 'change'] },
	first: {
		command: built('mcpool'), args: ['demo-server'], tools: ['echo', 'add', 'time'],
		only: ['lists_its_tools', 'echoes', 'adds', 'refuses_an_unknown_tool', 'has_resources', 'has_prompts'],
	},
};
const me = { name: 'second-opinion', version: '1' };
const legacy = '2025-11-25';
const modern = '2026-07-28';
let failures = 0;

// Accepts every question; the content is made from the schema that came with it.
const questions = [];
function answer({ params }) {
	questions.push(params);
	const value = { string: 'Ada', number: 1, integer: 1, boolean: true };
	const wanted = Object.entries(params.requestedSchema.properties);
	return { action: 'accept', content: Object.fromEntries(wanted.map(([k, p]) => [k, p.enum?.[0] ?? value[p.type]])) };
}

const kinds = {
	sdk1(changed) {
		const client = new Client1(me, { capabilities: { elicitation: {} } });
		client.setRequestHandler(ElicitRequestSchema, answer);
		client.setNotificationHandler(ToolListChangedNotificationSchema, changed);
		return { client, Stdio: Stdio1, version: legacy };
	},
	sdk2_legacy: (changed) => second(undefined, legacy, changed),
	sdk2_auto: (changed) => second({ mode: 'auto' }, modern, changed),
	sdk2_modern: (changed) => second({ mode: { pin: modern } }, modern, changed),
};

function second(versionNegotiation, version, changed) {
	const client = new Client2(me, {
		capabilities: { elicitation: { form: {} } }, versionNegotiation,
		listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: changed } },
	});
	client.setRequestHandler('elicitation/create', answer);
	return { client, Stdio: Stdio2, version };
}

const must = (truth, why) => {
	if (!truth) throw new Error(why);
};
const words = (result) => result.content.map((c) => c.text).join('');
const call1 = (client, params, options) =>
	client instanceof Client1 ? client.callTool(params, undefined, options) : client.callTool(params, options);
const callTool = (client, name, args = {}, options) => call1(client, { name, arguments: args }, options);
const within = (ms, promise, what) =>
	Promise.race([promise, new Promise((_, no) => setTimeout(() => no(new Error(`${what}: nothing in ${ms} ms`)), ms))]);

const cases = {
	async lists_its_tools({ client, tools, server }) {
		must([...tools.keys()].join() === server.tools.join(), `the tools are ${[...tools.keys()]}`);
		must(client.getServerVersion()?.name, 'the server has no name');
	},
	async echoes({ client, tools }) {
		const [key] = Object.keys(tools.get('echo').inputSchema.properties);
		const text = 'Grüße "\\ 😀 \u0001 \u2028';
		must(words(await callTool(client, 'echo', { [key]: text })).includes(text), 'another text came back');
	},
	async adds({ client }) {
		must(/(^|\D)5(\D|$)/.test(words(await callTool(client, 'add', { a: 2, b: 3 }))), '2 + 3 is not 5');
	},
	async fails_as_a_tool({ client }) {
		must((await callTool(client, 'fail')).isError === true, 'no isError');
	},
	async refuses_an_unknown_tool({ client }) {
		const error = await callTool(client, 'no-such-tool').then(() => null, (e) => e);
		must(error?.code === -32602, `the error is ${error?.code}: ${error?.message}`);
	},
	async sends_a_million_bytes({ client, tools }) {
		const [key] = Object.keys(tools.get('big').inputSchema.properties);
		must(words(await callTool(client, 'big', { [key]: 1000000 })).length === 1000000, 'not a million');
	},
	async asks({ client }) {
		questions.length = 0;
		const said = words(await callTool(client, 'ask'));
		must(questions.length === 1 && questions[0].message, 'it did not ask');
		must(said.includes('Ada') || said.includes('accept'), `it said ${said}`);
	},
	async tells_its_progress({ client, sleep }) {
		const seen = [];
		await callTool(client, 'sleep', sleep(600), { onprogress: (p) => seen.push(p.progress) });
		must(seen.length > 1 && seen.every((p, i) => i === 0 || p > seen[i - 1]), `progress was ${seen}`);
	},
	async can_be_cancelled({ client, sleep }) {
		const abort = new AbortController();
		const began = Date.now();
		const sleeping = callTool(client, 'sleep', sleep(20000), { signal: abort.signal })
			.then(() => 'answered', () => 'cancelled');
		setTimeout(() => abort.abort('enough'), 100);
		must((await sleeping) === 'cancelled' && Date.now() - began < 5000, 'it slept on');
		await within(2000, callTool(client, 'add', { a: 1, b: 1 }), 'after the cancelled call');
	},
	async works_on_several_at_once({ client, sleep }) {
		const began = Date.now();
		await Promise.all(Array.from({ length: 10 }, () => callTool(client, 'sleep', sleep(300))));
		must(Date.now() - began < 2000, 'one after the other');
	},
	async has_resources({ client, server }) {
		const { resources } = await client.listResources();
		must(resources.length > 0, 'none');
		const { contents } = await client.readResource({ uri: resources[0].uri });
		must(contents[0].text?.length > 0 && contents[0].uri === resources[0].uri, 'nothing to read');
		const { resourceTemplates } = await client.listResourceTemplates();
		must(resourceTemplates.length > 0 || server.only, 'no template');
		for (const { uriTemplate } of resourceTemplates) {
			const uri = uriTemplate.replace(/\{[^}]*\}/g, '7');
			must((await client.readResource({ uri })).contents[0].text.includes('7'), 'the template is not filled in');
		}
		const error = await client.readResource({ uri: 'demo:nowhere' }).then(() => null, (e) => e);
		must([-32602, -32002].includes(error?.code), `the error for no resource is ${error?.code}`);
	},
	async has_prompts({ client }) {
		const { prompts } = await client.listPrompts();
		must(prompts.length > 0, 'none');
		for (const { name, arguments: wanted = [] } of prompts) {
			const args = Object.fromEntries(wanted.map((a) => [a.name, 'some words']));
			const { messages } = await client.getPrompt({ name, arguments: args });
			must(messages.length > 0, `${name} is empty`);
			must(!wanted.length || JSON.stringify(messages).includes('some words'), `${name} ignores its arguments`);
		}
	},
	async completes({ client }) {
		const prompt = (await client.listPrompts()).prompts.find((p) => p.arguments?.length);
		const ref = { type: 'ref/prompt', name: prompt.name };
		const { completion } = await client.complete({ ref, argument: { name: prompt.arguments[0].name, value: '' } });
		must(Array.isArray(completion.values), 'no values');
	},
	async tells_of_changes({ client, changed }) {
		await callTool(client, 'change');
		await within(3000, changed, 'list_changed');
	},
	async can_crash({ client }) { // the last case
		const gone = new Promise((resolve) => (client.onclose = resolve));
		const error = await callTool(client, 'crash').then(() => null, (e) => e);
		must(error, 'it answered');
		await within(3000, gone, 'the end of the connection');
	},
};

async function runAll(which, kind) {
	const server = servers[which];
	let tellChanged;
	const changed = new Promise((resolve) => (tellChanged = resolve));
	const { client, Stdio, version } = kinds[kind](() => tellChanged());
	const transport = new Stdio({ command: server.command, args: server.args, stderr: 'ignore' });
	const context = { client, changed, server };
	const step = async (name, work) => {
		const why = await within(30000, work(), 'a case').then(() => null, (e) => e);
		console.log(why ? `FAIL js/${which}_${kind}_${name}: ${String(why.message).split('\n')[0]}` : `ok js/${which}_${kind}_${name}`);
		if (why) failures++;
		return !why;
	};
	const connected = await step('connects', async () => {
		await client.connect(transport);
		const spoken = client.getNegotiatedProtocolVersion?.() ?? legacy;
		must(spoken === version, `it speaks ${spoken}`);
		context.tools = new Map((await client.listTools()).tools.map((t) => [t.name, t]));
		const [key] = Object.keys(context.tools.get('sleep')?.inputSchema.properties ?? {});
		context.sleep = (ms) => ({ [key]: /ms|milli/.test(key) ? ms : ms / 1000 });
	});
	for (const [name, work] of Object.entries(connected ? cases : {}))
		if (!server.only || server.only.includes(name)) await step(name, () => work(context));
	await client.close();
}

for (const which of Object.keys(servers)) for (const kind of Object.keys(kinds)) await runAll(which, kind);
process.exit(failures ? 1 : 0);
