// conformance.mjs - the server that the public conformance suite wants behind the tested program: its
// tools, prompts and resources by exact name, on @modelcontextprotocol/server 2.x, both eras.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
	McpServer, ResourceTemplate, completable, fromJsonSchema, inputRequired,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const text = (words) => ({ content: [{ type: 'text', text: words }] });
const json = (value) => JSON.stringify(value);
const object = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required });
const string = { type: 'string' };

// --- asking ---------------------------------------------------------------------------------------

const elicit = (message, schema) => ({ method: 'elicitation/create', params: { mode: 'form', message, requestedSchema: schema } });
const sample = (words, maxTokens) => ({
	method: 'sampling/createMessage',
	params: { messages: [{ role: 'user', content: { type: 'text', text: words } }], maxTokens },
});
const roots = { method: 'roots/list', params: {} };

const isAnswer = (value) => typeof value === 'object' && value !== null &&
	('action' in value || 'content' in value || 'roots' in value);

// What is missing is asked for (again); all there: finish(answers).
function ask(context, questions, finish, state) {
	const given = context.mcpReq.inputResponses ?? {};
	const missing = Object.entries(questions).filter(([key]) => !isAnswer(given[key]));

	if (missing.length === 0) return finish(given);
	return inputRequired({ inputRequests: Object.fromEntries(missing), ...(state && { requestState: state }) });
}

const key = 'known to this process alone';
const mac = (value) => createHmac('sha256', key).update(value).digest('hex');
const seal = (value) => `${value}.${mac(value)}`;
// What comes back from the client is checked before any tool sees it, and refused as the protocol has it.
function verify(state) {
	const [value, proof = ''] = state.split('.');
	const right = Buffer.from(mac(value));

	if (proof.length !== right.length || !timingSafeEqual(Buffer.from(proof), right)) throw new Error('tampered with');
	return value;
}

const say = (answer) => `action=${answer.action}, content=${json(answer.content ?? {})}`;

function addQuestions(tool) {
	tool('test_sampling', { prompt: string }, ({ prompt }, context) =>
		ask(context, { model: sample(prompt, 100) }, ({ model }) => text(`LLM response: ${model.content?.text}`)));
	tool('test_elicitation', { message: string }, ({ message }, context) =>
		ask(context, {
			user: elicit(message, object({
				username: { type: 'string', description: "User's response" },
				email: { type: 'string', description: "User's email address" },
			})),
		}, ({ user }) => text(`User response: ${say(user)}`)));
	tool('test_elicitation_sep1034_defaults', {}, (_, context) =>
		ask(context, {
			user: elicit('Please confirm', object({
				name: { type: 'string', default: 'John Doe' },
				age: { type: 'integer', default: 30 },
				score: { type: 'number', default: 95.5 },
				status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
				verified: { type: 'boolean', default: true },
			}, [])),
		}, ({ user }) => text(`Elicitation completed: ${say(user)}`)));
	const options = (words) => words.map((title, i) => ({ const: `value${i + 1}`, title }));
	tool('test_elicitation_sep1330_enums', {}, (_, context) =>
		ask(context, {
			user: elicit('Please choose', object({
				untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
				titledSingle: { type: 'string', oneOf: options(['First Option', 'Second Option', 'Third Option']) },
				legacyEnum: {
					type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'],
				},
				untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
				titledMulti: { type: 'array', items: { anyOf: options(['First Choice', 'Second Choice', 'Third Choice']) } },
			}, [])),
		}, ({ user }) => text(`Elicitation completed: ${say(user)}`)));
	tool('test_streaming_elicitation', {}, (_, context) =>
		ask(context, { user: elicit('Go on?', object({ ok: { type: 'boolean' } })) }, () => text('went on')));
}

const askName = (message) => elicit(message, object({ name: string }));

function addRounds(tool) {
	const named = (suffix, run) => tool(`test_input_required_result_${suffix}`, {}, (_, context) => run(context));

	named('elicitation', (context) =>
		ask(context, { user_name: askName('What is your name?') },
			({ user_name: user }) => text(`Hello, ${user.content?.name}!`)));
	named('sampling', (context) =>
		ask(context, { capital_question: sample('What is the capital of France?', 100) },
			({ capital_question: answer }) => text(`It is ${answer.content?.text}`)));
	named('list_roots', (context) =>
		ask(context, { client_roots: roots }, ({ client_roots: { roots: list } }) => text(json(list))));
	named('request_state', (context) =>
		ask(context, { confirm: elicit('Please confirm', object({ ok: { type: 'boolean' } })) },
			() => text(context.mcpReq.requestState() === 'one' ? 'state-ok' : 'no state'), seal('one')));
	named('multiple_inputs', (context) =>
		ask(context, {
			user_name: askName('What is your name?'), greeting: sample('Generate a greeting', 50), client_roots: roots,
		}, () => text('all there'), seal('many')));
	named('multi_round', (context) => {
		if (context.mcpReq.requestState() !== 'second')
			return ask(context, { step1: askName('Step 1: What is your name?') }, () => inputRequired({
				inputRequests: { step2: elicit('Step 2: What is your favorite color?', object({ color: string })) },
				requestState: seal('second'),
			}), seal('first'));
		return ask(context, { step2: elicit('Step 2: What is your favorite color?', object({ color: string })) },
			({ step2 }) => text(`done, ${step2.content?.color}`), seal('second'));
	});
	named('tampered_state', (context) =>
		ask(context, { confirm: elicit('Please confirm', object({ ok: { type: 'boolean' } })) },
			() => text('state-ok'), seal('careful')));
	// Only what this client said it can do.
	named('capabilities', (context) => {
		const can = context.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {};
		const questions = {};
		if (can.elicitation) questions.user_name = askName('What is your name?');
		if (can.sampling) questions.greeting = sample('Generate a greeting', 50);
		if (can.roots) questions.client_roots = roots;
		return ask(context, questions, () => text('all there'));
	});
}

// --- tools ----------------------------------------------------------------------------------------

const embedded = { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource content.' };

function addContents(tool) {
	tool('test_simple_text', {}, () => text('This is a simple text response for testing.'));
	tool('test_image_content', {}, () => ({ content: [{ type: 'image', data: png, mimeType: 'image/png' }] }));
	tool('test_audio_content', {}, () => ({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] }));
	tool('test_embedded_resource', {}, () => ({ content: [{ type: 'resource', resource: embedded }] }));
	tool('test_multiple_content_types', {}, () => ({
		content: [
			{ type: 'text', text: 'Multiple content types test:' },
			{ type: 'image', data: png, mimeType: 'image/png' },
			{
				type: 'resource',
				resource: {
					uri: 'test://mixed-content-resource', mimeType: 'application/json', text: json({ test: 'data', value: 123 }),
				},
			},
		],
	}));
	tool('test_error_handling', {}, () => ({ ...text('This tool intentionally returns an error for testing'), isError: true }));
	tool('test_missing_capability', {}, (_, context) => ask(context, { model: sample('hello', 10) }, () => text('had it')));
	tool('test_reconnection', {}, async () => (await sleep(50), text('came back')));
	tool('test_x_mcp_header', { region: { type: 'string', 'x-mcp-header': 'Region' } }, ({ region }) => text(region));
	tool('json_schema_2020_12_tool', {
		name: string, address: { $ref: '#/$defs/address' },
	}, ({ name }) => text(name), {
		$schema: 'https://json-schema.org/draft/2020-12/schema',
		$defs: { address: { $anchor: 'address', type: 'object', properties: { street: string, city: string } } },
		additionalProperties: false,
		allOf: [{ anyOf: [{ required: ['name'] }, { required: ['address'] }] }],
		if: { properties: { name: { const: 'x' } } },
		then: { required: ['name'] },
		else: {},
	});
}

function addNews(tool, server) {
	const log = async (context, ...words) => {
		for (const word of words) {
			await context.mcpReq.log('info', word);
			await sleep(50);
		}
		return text('logged');
	};
	tool('test_tool_with_logging', {}, (_, context) =>
		log(context, 'Tool execution started', 'Tool processing data', 'Tool execution completed'));
	tool('test_logging_tool', {}, (_, context) => log(context, 'one', 'two'));
	tool('test_tool_with_progress', {}, async (_, context) => {
		const progressToken = context.mcpReq._meta?.progressToken;
		for (const progress of [0, 50, 100]) {
			if (progressToken !== undefined)
				await context.mcpReq.notify({
					method: 'notifications/progress', params: { progressToken, progress, total: 100 },
				});
			await sleep(50);
		}
		return text('progressed');
	});
	let n = 0;
	tool('test_trigger_tool_change', {}, () => {
		tool(`test_added_${++n}`, {}, () => text('added'));
		return text('a tool more');
	});
	tool('test_trigger_prompt_change', {}, () => {
		server.registerPrompt(`test_added_${++n}`, { description: 'Was not there before' }, () => prompt(words('added')));
		return text('a prompt more');
	});
}

// --- prompts and resources ------------------------------------------------------------------------

const words = (said) => ({ type: 'text', text: said });
const prompt = (...contents) => ({ messages: contents.map((content) => ({ role: 'user', content })) });

function addPrompts(server) {
	const suggest = (start) => ['paris', 'park', 'party'].filter((word) => word.startsWith(start));
	const add = (name, argsSchema, run) =>
		server.registerPrompt(name, { description: name, ...(argsSchema && { argsSchema: z.object(argsSchema) }) }, run);

	add('test_simple_prompt', undefined, () => prompt(words('This is a simple prompt for testing.')));
	add('test_prompt_with_arguments', { arg1: completable(z.string(), suggest), arg2: z.string() }, ({ arg1, arg2 }) =>
		prompt(words(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)));
	add('test_prompt_with_embedded_resource', { resourceUri: z.string() }, ({ resourceUri: uri }) => prompt(
		{ type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' } },
		words('Please process the embedded resource above.')));
	add('test_prompt_with_image', undefined, () =>
		prompt({ type: 'image', data: png, mimeType: 'image/png' }, words('Please analyze the image above.')));
	add('test_input_required_result_prompt', undefined, (context) =>
		ask(context, { user_context: elicit('What context should the prompt use?', object({ context: string })) },
			({ user_context: user }) => prompt(words(`In the context of ${user.content?.context}`))));
}

function addResources(server) {
	const add = (name, uri, mimeType, contents) =>
		server.registerResource(name, uri, { description: name, mimeType }, (at, variables) =>
			({ contents: [{ uri: at.href, mimeType, ...contents(variables) }] }));

	add('static-text', 'test://static-text', 'text/plain', () => ({ text: 'This is the content of the static text resource.' }));
	add('static-binary', 'test://static-binary', 'image/png', () => ({ blob: png }));
	add('watched', 'test://watched-resource', 'text/plain', () => ({ text: 'watch me' }));
	add('template', new ResourceTemplate('test://template/{id}/data', { list: undefined }), 'application/json',
		({ id }) => ({ text: json({ id, templateTest: true, data: `Data for ID: ${id}` }) }));
}

function makeServer() {
	const capabilities = {
		tools: { listChanged: true }, prompts: { listChanged: true }, resources: { subscribe: true, listChanged: true },
		completions: {}, logging: {},
	};
	const server = new McpServer({ name: 'conformance', version: '1.0.0' }, { capabilities, requestState: { verify } });
	const tool = (name, properties, run, more = {}) => server.registerTool(name, {
		description: name, inputSchema: fromJsonSchema({ ...object(properties, []), ...more }),
	}, run);

	addContents(tool);
	addNews(tool, server);
	addQuestions(tool);
	addRounds(tool);
	addPrompts(server);
	addResources(server);
	server.server.setRequestHandler('resources/subscribe', () => ({}));
	server.server.setRequestHandler('resources/unsubscribe', () => ({}));
	return server;
}

serveStdio(makeServer, { legacy: 'serve' });
