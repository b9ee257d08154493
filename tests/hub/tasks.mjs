// tasks.mjs - tasks of both generations through the hub, by every way in; see tests/servers/tasks.mjs and tasks_legacy.mjs.
//   node tasks.mjs WAY ERA    environment: MCPOOL, HUB_URL
import { Agent } from './either.mjs';

const [way, era] = process.argv.slice(2);
const hub = { url: process.env.HUB_URL, mcpool: process.env.MCPOOL };
const must = (ok, words) => {
	if (!ok) throw new Error(JSON.stringify(words) ?? 'nothing was said');
};
const said = ({ result }) => result?.content?.[0].text;
const tool = 'mcp__t__later';
const isOurs = (name) => /^[0-9a-f]{32}$/.test(name);
// Over HTTP a modern request has no session: a task belongs to every client that knows its id.
const knowsAll = way === 'http' && era === 'modern';

async function enter(name, can) {
	const agent = new Agent(name, way, era, can);
	await agent.open(hub);
	for (let tries = 0; !(await agent.list('tools')).some((one) => one.name === tool); tries++) {
		must(tries < 400, 'no such tool');
		await new Promise((done) => setTimeout(done, 20));
	}
	return agent;
}

// The server's own names, other agents' and invented ones are the same: unknown, whatever is asked of them.
async function hides(who, names, methods) {
	for (const taskId of names)
		for (const method of methods) {
			const answer = await who.ask(method, { taskId, inputResponses: {} });
			must(answer.error?.code === -32602 && !/theirs|task-/.test(answer.error.message), [method, taskId, answer]);
		}
}

// --- 2026-07-28 -----------------------------------------------------------------------------------

async function modern() {
	const extension = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
	const [a, b, plain] = [await enter('A', extension), await enter('B', extension), await enter('C', {})];
	const begin = async (who) => {
		const { result } = await who.call(tool);
		must(result?.resultType === 'task' && result.status === 'working' && result.ttlMs === 60000 && isOurs(result.taskId), result);
		return result.taskId;
	};
	const answer = (who, taskId, name) => who.ask('tasks/update', { taskId, inputResponses: { who: { action: 'accept', content: { name } } } });
	const mine = [await begin(a), await begin(a), await begin(a)], other = await begin(b); // at once, and each its own

	must(new Set([...mine, other]).size === 4, 'two tasks with one name');
	for (const [i, taskId] of mine.entries()) {
		const asks = await a.ask('tasks/get', { taskId });
		must(asks.result?.taskId === taskId && asks.result.inputRequests.who.method === 'elicitation/create', asks);
		must((await answer(a, taskId, `A${i}`)).result, 'update');
	}
	for (const [i, taskId] of mine.entries()) {
		const done = await a.ask('tasks/get', { taskId });
		must(done.result?.status === 'completed' && said(done.result) === `hello A${i}` && done.result.taskId === taskId, done);
	}
	await hides(b, ['task-1', 'f'.repeat(32), ...(knowsAll ? [] : mine)], ['tasks/get', 'tasks/update', 'tasks/cancel']);
	must((await b.ask('tasks/get', { taskId: other })).result?.status === 'input_required', 'it was touched');
	must((await b.ask('tasks/cancel', { taskId: other })).result, 'cancel');
	must((await b.ask('tasks/get', { taskId: other })).result?.status === 'cancelled', 'cancelled');
	must((await a.ask('tasks/get', { taskId: mine[0] })).result?.status === 'completed', 'another one was cancelled');
	must((await plain.ask('tasks/get', { taskId: mine[0] })).error?.code === -32021, 'not declared');
	must(said(await plain.call(tool)) === 'at once', 'without the extension');
	must((await a.ask('tasks/list')).error?.code === -32601, 'there is no such method in this era');
	return [a, b, plain];
}

// --- 2025-11-25 -----------------------------------------------------------------------------------

async function legacy() {
	const [a, b] = [await enter('A'), await enter('B')];
	const begin = async (who, message, ms) => {
		const { result } = await who.ask('tools/call', { name: tool, arguments: { message, ms }, task: { ttl: 60000 } });
		must(result?.task?.status === 'working' && result.task.ttl === 60000 && isOurs(result.task.taskId), result);
		return result.task.taskId;
	};
	const third = await enter('D'), declared = (await third.open(hub)).result.capabilities.tasks; // the server is known by now
	must(declared?.list && declared.cancel && declared.requests.tools.call, declared);
	const mine = [await begin(a, 'one'), await begin(a, 'two', 60000)], other = await begin(b, 'three');

	must(new Set([...mine, other]).size === 3, 'two tasks with one name');
	const state = await a.ask('tasks/get', { taskId: mine[0] });
	must(state.result?.taskId === mine[0] && ['working', 'completed'].includes(state.result.status), state);
	must((await a.ask('tasks/cancel', { taskId: mine[1] })).result?.status === 'cancelled', 'cancel');
	must((await a.ask('tasks/result', { taskId: mine[1] })).error, 'the result of one that was cancelled');
	const done = await a.ask('tasks/result', { taskId: mine[0] });
	must(said(done) === 'later: one', done);
	must(done.result._meta?.['io.modelcontextprotocol/related-task']?.taskId === mine[0], done);
	must(said(await b.ask('tasks/result', { taskId: other })) === 'later: three', 'the other one was cancelled');
	const names = (await a.ask('tasks/list')).result?.tasks.map(({ taskId }) => taskId);
	must(JSON.stringify([...names ?? []].sort()) === JSON.stringify([...mine].sort()), names);
	await hides(b, ['theirs-1', 'f'.repeat(32), '', ...mine], ['tasks/get', 'tasks/result', 'tasks/cancel']);
	must(said(await b.call(tool, { message: 'x' })) === 'at once', 'without a task');
	for (const agent of [a, b])
		for (const told of agent.heard.filter(({ method }) => method === 'notifications/tasks/status'))
			must([...(agent === a ? mine : [other])].includes(told.params.taskId), told);
	return [a, b, third];
}

try {
	const agents = await (era === 'modern' ? modern() : legacy());
	await Promise.all(agents.map((agent) => agent.close()));
	process.exit();
} catch (why) {
	console.log(why.message);
	process.exit(1);
}
