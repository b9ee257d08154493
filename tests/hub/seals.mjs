// seals.mjs - a legacy server asks a modern agent, whose call is parked; what it is to bring back is attacked (V42).
//   node seals.mjs WAY    environment: MCPOOL, HUB_URL, TEST_NOTES
import { Agent } from './either.mjs';

const [way] = process.argv.slice(2);
const hub = { url: process.env.HUB_URL, mcpool: process.env.MCPOOL };
const tool = 'mcp__q__elicit';
const must = (ok, words) => {
	if (!ok) throw new Error(typeof words === 'string' ? words : JSON.stringify(words));
};
const [a, b] = [new Agent('A', way, 'modern'), new Agent('B', way, 'modern')];
let last = 0;

async function park(who) {
	const about = `${who.name}${++last}`;
	const { result } = await who.begin('tools/call', { name: tool, arguments: { about } }).answer;
	must(result?.resultType === 'input_required' && result.requestState, result);
	const [[key, question]] = Object.entries(result.inputRequests);
	must(question.method === 'elicitation/create', question);
	return { about, state: result.requestState, responses: { [key]: { action: 'accept', content: { name: who.name } } } };
}
const bring = (who, { about, state, responses }, more = {}) =>
	who.begin('tools/call', { name: tool, arguments: { about }, inputResponses: responses, requestState: state, ...more }).answer;
const refused = async (answer, words) => {
	const { error, result } = await answer;
	must(error?.code === -32602, [words, error ?? result]);
};

// Its session still has it, or it was ended because of the attack; a forged state never uses it.
async function settle(who, one) {
	const back = await bring(who, one);
	must(back.result?.content[0].text === `accept ${who.name}` || back.error?.code === -32602, back);
}

for (const agent of [a, b]) {
	await agent.open(hub);
	for (let tries = 0; !(await agent.list('tools')).some(({ name }) => name === tool); tries++) {
		must(tries < 400, 'no such tool');
		await new Promise((done) => setTimeout(done, 20));
	}
}
try {
	const good = await park(a), done = await bring(a, good);
	must(done.result?.content[0].text === 'accept A', done);
	await refused(bring(a, good), 'the same once more');

	const other = await park(a);
	await refused(bring(a, { ...other, about: 'something else' }), 'other arguments');
	await settle(a, other);
	const moved = await park(a);
	await refused(bring(a, moved, { name: 'mcp__q__ask', arguments: {} }), 'another tool');
	await settle(a, moved);

	// One digit at a time: of what says that it is ours, of the id, of the seal itself; and pieces of it.
	for (const at of [0, 3, 7, 8, 9, 20, 39, 40, 41, 60, 90, -2, -1]) {
		const one = await park(a), digits = [...one.state], i = at < 0 ? digits.length + at : at;
		digits[i] = digits[i] === '0' ? '1' : '0';
		await refused(bring(a, { ...one, state: digits.join('') }), `digit ${i} of ${one.state.length}`);
		await settle(a, one);
	}
	for (const cut of [(s) => s.slice(0, -1), (s) => `${s}0`, (s) => s.toUpperCase(), () => '', () => 'mcpool1.', (s) => s.slice(0, 40), (s) => s.repeat(2000)]) {
		const one = await park(a);
		await refused(bring(a, { ...one, state: cut(one.state) }), 'a piece');
		await settle(a, one);
	}
	// Another agent, who got hold of it. Over HTTP a token is who somebody is, so there both are one.
	if (way !== 'http') {
		const stolen = await park(a);
		await refused(bring(b, stolen), 'stolen');
		must((await bring(a, stolen)).result?.content[0].text === 'accept A', 'nobody else can end it');
	}
	const mine = await park(b), theirs = await bring(b, mine);
	must(theirs.result?.content[0].text === 'accept B', theirs);
	await Promise.all([a, b].map((agent) => agent.close()));
	process.exit();
} catch (why) {
	console.log(why.message);
	process.exit(1);
}
