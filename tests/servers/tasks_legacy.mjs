// tasks_legacy.mjs - a server of 2025-11-25 by stdio, written by hand, whose tool `later` becomes a task for a client that
// asks for that (`task` in the call): it is done 300 ms later (TASK_MS, or the argument ms), or cancelled before. Every
// name it gives is its own. REQUIRED=1: it can only be run as a task. ANSWER_MS: so long after a task has begun the call
// that created it is answered. What becomes of tasks is noted in TEST_NOTES.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const tasks = new Map();
const out = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (words) => ({ content: [{ type: 'text', text: words }] });
const related = (taskId) => ({ 'io.modelcontextprotocol/related-task': { taskId } });
const required = process.env.REQUIRED === '1';
const note = (words) => process.env.TEST_NOTES && appendFileSync(process.env.TEST_NOTES, `${words}\n`);
const shown = ({ taskId, status, ttl }) => ({
	taskId, status, ttl, createdAt: '2025-11-25T00:00:00Z', lastUpdatedAt: '2025-11-25T00:00:00Z', pollInterval: 50,
});

class Refusal extends Error {
	constructor(code, message) {
		super(message);
		this.code = code;
	}
}

function find({ taskId }) {
	if (!tasks.has(taskId)) throw new Refusal(-32602, `no task ${taskId}`);
	return tasks.get(taskId);
}

function settle(task, status) {
	if (task.status !== 'working') return;
	task.status = status;
	note(`${task.taskId} ${status}`);
	task.over.forEach((done) => done());
	out({ method: 'notifications/tasks/status', params: shown(task) });
}

async function call({ arguments: { message, ms }, task: wanted }) {
	if (!wanted && required) throw new Refusal(-32601, 'Tool later requires task augmentation');
	if (!wanted) return text('at once');
	const task = { taskId: `theirs-${tasks.size + 1}`, status: 'working', ttl: wanted.ttl ?? null, message, over: [] };
	tasks.set(task.taskId, task);
	setTimeout(() => settle(task, 'completed'), Number(ms ?? process.env.TASK_MS ?? 300)).unref();
	note(`${task.taskId} begun`);
	if (process.env.ANSWER_MS) await sleep(Number(process.env.ANSWER_MS));
	return { task: shown(task) };
}

const methods = {
	initialize: () => ({
		protocolVersion: '2025-11-25', serverInfo: { name: 'tasks', version: '1' },
		capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
	}),
	ping: () => ({}),
	'tools/list': () => ({ tools: [{ name: 'later', inputSchema: { type: 'object' }, execution: { taskSupport: required ? 'required' : 'optional' } }] }),
	'tools/call': call,
	'tasks/get': (params) => shown(find(params)),
	'tasks/list': () => ({ tasks: [...tasks.values()].map(shown) }),
	'tasks/cancel': (params) => (settle(find(params), 'cancelled'), shown(find(params))),
	'tasks/result': async (params) => {
		const task = find(params);
		if (task.status === 'working') await new Promise((done) => task.over.push(done));
		if (task.status === 'cancelled') throw new Refusal(-32602, 'it was cancelled');
		return { ...text(`later: ${task.message}`), _meta: related(task.taskId) };
	},
};

createInterface({ input: process.stdin }).on('line', async (line) => {
	const { id, method, params } = JSON.parse(line);
	if (id === undefined) return;
	try {
		if (!methods[method]) throw new Refusal(-32601, `no ${method}`);
		out({ id, result: await methods[method](params ?? {}) });
	} catch (why) {
		out({ id, error: { code: why.code ?? -32603, message: why.message } });
	}
});
