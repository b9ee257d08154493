// tasks.mjs - a modern server by stdio, written by hand, whose tool `later` becomes a task (the extension
// io.modelcontextprotocol/tasks, which no SDK has): it asks for a name, then it is done. `later` for a client that did
// not declare the extension answers at once.
import { createInterface } from 'node:readline';

const version = '2026-07-28', extension = 'io.modelcontextprotocol/tasks';
const tasks = new Map();
const out = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const complete = (more) => ({ resultType: 'complete', ...more });
const text = (words) => ({ content: [{ type: 'text', text: words }] });
const time = { createdAt: '2026-07-28T00:00:00Z', lastUpdatedAt: '2026-07-28T00:00:00Z', ttlMs: 60000 };
const question = {
	method: 'elicitation/create',
	params: { mode: 'form', message: 'Your name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } },
};

class Refusal extends Error {
	constructor(code, message) {
		super(message);
		this.code = code;
	}
}

function call({ _meta }) {
	if (!_meta['io.modelcontextprotocol/clientCapabilities'].extensions?.[extension]) return complete(text('at once'));
	const taskId = `task-${tasks.size + 1}`;
	tasks.set(taskId, { status: 'input_required', inputRequests: { who: question } });
	return { resultType: 'task', taskId, status: 'working', ...time };
}

function find({ taskId }) {
	if (!tasks.has(taskId)) throw new Refusal(-32602, `no task ${taskId}`);
	return tasks.get(taskId);
}

const methods = {
	'server/discover': () => complete({
		supportedVersions: [version], capabilities: { tools: {}, extensions: { [extension]: {} } }, ttlMs: 0, cacheScope: 'private',
	}),
	'tools/list': () => complete({ tools: [{ name: 'later', inputSchema: { type: 'object' } }], ttlMs: 0, cacheScope: 'private' }),
	'tools/call': call,
	'tasks/get': (params) => complete({ taskId: params.taskId, ...time, ...find(params) }),
	'tasks/update': (params) => {
		find(params);
		const { name } = params.inputResponses.who.content;
		tasks.set(params.taskId, { status: 'completed', result: complete(text(`hello ${name}`)) });
		return complete({});
	},
	'tasks/cancel': (params) => {
		find(params);
		tasks.set(params.taskId, { status: 'cancelled' });
		return complete({});
	},
};

createInterface({ input: process.stdin }).on('line', (line) => {
	const { id, method, params } = JSON.parse(line);
	if (id === undefined) return;
	try {
		if (!methods[method]) throw new Refusal(-32601, `no ${method}`);
		out({ id, result: methods[method](params) });
	} catch (why) {
		out({ id, error: { code: why.code ?? -32603, message: why.message } });
	}
});
