// tasks.mjs - tasks of 2026 through the hub, by every way in that modern agents have; see tests/servers/tasks.mjs.
//   node tasks.mjs WAY     environment: MCPOOL, HUB_URL
import { Agent } from './either.mjs';

const [way] = process.argv.slice(2);
const hub = { url: process.env.HUB_URL, mcpool: process.env.MCPOOL };
const extension = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const must = (ok, words) => {
	if (!ok) throw new Error(JSON.stringify(words));
};
const [a, b, plain] = [new Agent('A', way, 'modern', extension), new Agent('B', way, 'modern', extension), new Agent('C', way, 'modern', {})];
const said = ({ result }) => result?.content?.[0].text;
const later = 'mcp__t__later';

async function begin(who) {
	const { result } = await who.call(later);
	must(result?.resultType === 'task' && result.status === 'working' && result.ttlMs === 60000, result);
	must(/^[0-9a-f]{32}$/.test(result.taskId), result); // a name of ours
	return result.taskId;
}

for (const agent of [a, b, plain]) {
	const { result } = await agent.open(hub);
	must(result.supportedVersions.includes('2026-07-28'), result);
	for (let tries = 0; !(await agent.list('tools')).some(({ name }) => name === later); tries++) {
		must(tries < 400, 'no such tool');
		await new Promise((done) => setTimeout(done, 20));
	}
}
const taskId = await begin(a);
const asks = await a.ask('tasks/get', { taskId });
must(asks.result?.taskId === taskId && asks.result.inputRequests.who.method === 'elicitation/create', asks);
must((await a.ask('tasks/update', { taskId, inputResponses: { who: { action: 'accept', content: { name: 'A' } } } })).result, 'update');
const done = await a.ask('tasks/get', { taskId });
must(done.result?.status === 'completed' && said(done.result) === 'hello A', done);
must(done.result.taskId === taskId, done);

const other = await begin(b);
must(other !== taskId, 'two tasks with one name');
must((await b.ask('tasks/cancel', { taskId: other })).result, 'cancel');
must((await b.ask('tasks/get', { taskId: other })).result?.status === 'cancelled', 'cancelled');

// The server's own names, other agents' and invented ones are the same: unknown.
const foreign = way === 'http' ? [] : [taskId]; // there, whoever knows a name began it
for (const name of ['task-1', 'f'.repeat(32), ...foreign])
	must((await b.ask('tasks/get', { taskId: name })).error?.code === -32602, name);
must((await plain.ask('tasks/get', { taskId })).error?.code === -32021, 'not declared');
must(said(await plain.call(later)) === 'at once', 'without the extension');
await Promise.all([a, b, plain].map((agent) => agent.close()));
process.exit();
