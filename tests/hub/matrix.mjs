// matrix.mjs - every feature, by every way in, in both eras and every pool mode, for servers of one kind:
//   node matrix.mjs KIND     KIND is ERA_TRANSPORT, such as legacy_stdio; environment: MCPOOL, HUB_URL, TEST_NOTES
// The hub has a server of that kind in each mode, under the mode's name. One line per (mode, agent); what was seen
// is written to OBSERVED/KIND.json, for the table of the manual (modes_table.mjs). ONLY=http-modern and
// FEATURES='cancel' narrow it down.
import { writeFileSync } from 'node:fs';
import { cells, lastCells, lookForForeign, waitForServers } from './cells.mjs';
import { Agent } from './either.mjs';

const [kind] = process.argv.slice(2);
const [era, transport] = kind.split('_');
const hub = { url: process.env.HUB_URL, mcpool: process.env.MCPOOL };
const notes = process.env.TEST_NOTES;
const modes = ['shared', 'project', 'serial', 'session'];
const group = process.env.GROUP ?? 'matrix';
const agents = ['stdio', 'http', 'sse', 'ws']
	.flatMap((way) => [[way, 'legacy'], [way, 'modern']]).filter(([way, of]) => way !== 'sse' || of === 'legacy');

// --- what is to be expected -----------------------------------------------------------------------

const hasOrigin = (mode) => mode === 'serial' || mode === 'session'; // the session that is served
const questions = ['elicitation', 'sampling', 'roots', 'elicitation_busy', 'elicitation_both'];
// Modern requests over HTTP stand alone: to servers they are one session.
const isOneSession = (agent) => agent.way === 'http' && agent.era === 'modern';

function expect(mode, agent, feature) {
	if (feature === 'undeclared') return 'refused';
	if (feature === 'late_question') return 'none';
	// A server of one session each is one server for all of them, who may be there at once.
	if (mode === 'session' && isOneSession(agent) && era + transport !== 'legacyhttp') {
		if (feature === 'logging_busy' && transport !== 'http') return 'none';
		if (era === 'legacy' && ['elicitation_busy', 'elicitation_both'].includes(feature)) return 'refused';
	}
	if (era === 'legacy' && transport !== 'http') {
		if (feature.startsWith('logging')) return hasOrigin(mode) ? 'works' : 'none';
		if (questions.includes(feature) || feature === 'loose') return hasOrigin(mode) ? 'works' : 'refused';
	}
	if (era === 'legacy' && feature === 'loose') return hasOrigin(mode) ? 'works' : 'refused';
	if (era === 'modern' && transport === 'stdio' && feature === 'logging_busy') return hasOrigin(mode) ? 'works' : 'none';
	return 'works';
}

// --- going through it -----------------------------------------------------------------------------

const observed = {};
const wrong = new Map(); // row to words

const rowOf = (mode, agent) => `${kind}_${mode}_${agent.way}-${agent.era}`;
const blame = (row, words) => wrong.set(row, [...(wrong.get(row) ?? []), words]);

async function look(mode, trio, feature) {
	const [a, b, mute] = trio;
	// Whether what a changes is a's alone.
	const isOwn = mode === 'session' && !isOneSession(a) && !(era === 'modern' && transport === 'http');
	const was = await { ...cells, ...lastCells }[feature]({ a, b, mute, mode, notes, isOwn }).catch((why) => `wrong: ${why.message}`);
	const wanted = expect(mode, a, feature);

	((observed[mode] ??= {})[feature] ??= {})[`${a.way}-${a.era}`] = was;
	if (was !== wanted) blame(rowOf(mode, a), `${feature}: ${was} and not ${wanted}`);
}

async function goThrough(way, of, which) {
	const trio = [new Agent('A', way, of), new Agent('B', way, of), new Agent('C', way, of, {})];
	const features = Object.keys(which).filter((name) => !process.env.FEATURES || process.env.FEATURES.split(' ').includes(name));

	await Promise.all(trio.map((agent) => agent.open(hub)));
	await Promise.all(trio.map((agent) => waitForServers(agent, modes)));
	for (const feature of features) {
		const began = performance.now();
		await Promise.all(modes.map((mode) => look(mode, trio, feature)));
		if (process.env.SHOW) console.log(`   ${kind} ${way}-${of} ${feature}: ${Math.round(performance.now() - began)} ms`);
	}
	for (const agent of trio)
		try {
			lookForForeign(agent);
		} catch (why) {
			modes.forEach((mode) => blame(rowOf(mode, agent), why.message));
		}
	await Promise.all(trio.map((agent) => agent.close()));
}

const chosen = agents.filter(([way, of]) => !process.env.ONLY || process.env.ONLY === `${way}-${of}`);
for (const which of [cells, lastCells])
	for (const [way, of] of chosen)
		await goThrough(way, of, which)
			.catch((why) => modes.forEach((mode) => blame(rowOf(mode, { way, era: of }), why.message)));
for (const row of chosen.flatMap(([way, of]) => modes.map((mode) => rowOf(mode, { way, era: of }))))
	console.log(wrong.has(row) ? `FAIL ${group}/${row}: ${wrong.get(row).join('; ').slice(0, 600)}` : `ok ${group}/${row}`);
if (process.env.OBSERVED) writeFileSync(`${process.env.OBSERVED}/${kind}.json`, JSON.stringify(observed));
process.exit(wrong.size ? 1 : 0);
