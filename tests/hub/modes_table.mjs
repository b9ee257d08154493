// modes_table.mjs - the table of pool modes in mcpool-config(5), made of what matrix.mjs saw.
//   node modes_table.mjs FOLDER PAGE [--write]     FOLDER has one JSON file per kind of server
// Without --write it fails where the page says something else.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

const [folder, page, how] = process.argv.slice(2);
const first = '.\\" modes: made by tests/hub/test_matrix.sh --write', last = '.\\" modes end';
const seen = Object.fromEntries(readdirSync(folder).filter((name) => name.endsWith('.json')).sort()
	.map((name) => [name.slice(0, -5), JSON.parse(readFileSync(`${folder}/${name}`, 'utf8'))]));
const kinds = ['legacy_stdio', 'legacy_sse', 'legacy_ws', 'legacy_http', 'modern_stdio', 'modern_http'];
const modes = ['shared', 'project', 'serial', 'session'];
const agents = ['http-legacy', 'http-modern', 'sse-legacy', 'stdio-legacy', 'stdio-modern', 'ws-legacy', 'ws-modern'];

// Columns, and the word for what one agent saw of them.
const works = (of, ...names) => names.every((name) => of(name) === 'works');
const columns = {
	calls: (of) => (works(of, 'tools', 'resources', 'prompts', 'completion') ? 'yes' : 'no'),
	changes: (of) => (works(of, 'list_changed', 'subscribe') ? 'yes' : 'no'),
	progress: (of) => (works(of, 'progress', 'cancel') ? 'owner' : 'no'),
	logs: (of) => (works(of, 'logging', 'logging_busy') ? 'owner' : works(of, 'logging') ? 'alone' : 'no'),
	questions: (of) => {
		if (!works(of, 'elicitation', 'sampling', 'roots')) return 'no';
		return works(of, 'elicitation_busy', 'elicitation_both') ? 'owner' : 'alone';
	},
};

// All agents see the same, but for those without sessions, who may see less.
function cell(mode, kind, column) {
	const features = seen[kind]?.[mode];
	if (!features) throw new Error(`nothing was seen of ${kind} in mode ${mode}`);
	for (const name of Object.keys(features))
		if (Object.keys(features[name]).sort().join() !== agents.join())
			throw new Error(`${kind} ${mode} ${name}: seen by ${Object.keys(features[name])} only`);
	const words = Object.fromEntries(agents.map((agent) => [agent, columns[column]((name) => features[name]?.[agent])]));
	const { 'http-modern': alone, ...rest } = words;
	const all = new Set(Object.values(rest));

	if (all.size !== 1) throw new Error(`${kind} ${mode} ${column}: agents differ: ${JSON.stringify(words)}`);
	const [word] = all;
	if (alone !== word && alone !== 'alone') throw new Error(`${kind} ${mode} ${column}: ${JSON.stringify(words)}`);
	return alone === word ? word : `${word}*`;
}

// [{names, values}] with those of the same values together
function merge(items) {
	const rows = [];
	for (const { name, values } of items) {
		const same = rows.find((row) => JSON.stringify(row.values) === JSON.stringify(values));
		if (same) same.names.push(name);
		else rows.push({ names: [name], values });
	}
	return rows;
}

const spell = (names) => { // legacy_stdio, legacy_ws: "legacy stdio, ws"; of both eras: "http"; all: "any"
	if (names.length === kinds.length) return 'any';
	const transports = Map.groupBy(names.map((name) => name.split('_')), ([, transport]) => transport);
	const eras = Map.groupBy(transports, ([, pairs]) => (pairs.length === 2 ? '' : `${pairs[0][0]} `));
	return [...eras].map(([era, list]) => era + list.map(([transport]) => transport).join(', ')).join('; ');
};

function draw() {
	const ofMode = (mode) => merge(kinds.map((kind) => ({
		name: kind, values: Object.keys(columns).map((column) => cell(mode, kind, column)),
	})));
	const lines = [['mode', 'server', ...Object.keys(columns)]];
	for (const { names, values } of merge(modes.map((name) => ({ name, values: ofMode(name) }))))
		values.forEach((row, i) => lines.push([i ? '' : names.join(', '), spell(row.names), ...row.values]));
	const width = lines[0].map((_, i) => Math.max(...lines.map((line) => line[i].length)));
	return lines.map((line) => line.map((word, i) => word.padEnd(width[i] + 2)).join('').trimEnd());
}

const text = readFileSync(page, 'utf8');
const from = text.indexOf(`${first}\n`), to = text.indexOf(`${last}\n`);
if (from < 0 || to < from) throw new Error(`${page} has no place for the table`);
const made = `${first}\n.nf\n${draw().join('\n')}\n.fi\n`;
const is = text.slice(from, to);

if (how === '--write') writeFileSync(page, text.slice(0, from) + made + text.slice(to));
else if (is !== made) {
	console.log(`${page} has another table; \`sh tests/hub/test_matrix.sh --write\` makes it:\n${made}`);
	process.exit(1);
}
