// json.mjs - a second opinion on our JSON layer: Node's JSON.parse on strict documents, the npm
// package jsonc-parser on documents with comments and on edited files. Texts are made from a fixed
// seed; bounded, and nothing is written but to the probe's stdin.
import { spawnSync } from 'node:child_process';
import { isDeepStrictEqual } from 'node:util';
import { fileURLToPath } from 'node:url';
import { parse as parseJsonc } from 'jsonc-parser';
import { failures, report, seeded } from './lib/seeded.mjs';

const probe = fileURLToPath(new URL('../../build-asan/tests/json_probe', import.meta.url));
const { random, below, pick } = seeded(20261115);

const strings = ['', 'a', 'key', 'é', '€uro', '😀', 'a"b', 'back\\slash', 'line\nbreak', '\u0001',
	'\ud800', 'x'.repeat(40), '//', '/* no comment */', '__proto__x', '\u2028'];
const numbers = [0, -0, 1, -1, 3.25, 1e21, 1e-7, 123456789, 5e-324, 1.7976931348623157e308];

function makeValue(depth) {
	const kind = below(depth > 0 ? 8 : 5);
	if (kind === 0) return null;
	if (kind === 1) return random() < 0.5;
	if (kind === 2) return pick(numbers);
	if (kind <= 4) return pick(strings);
	const size = below(5);
	if (kind === 5) return Array.from({ length: size }, () => makeValue(depth - 1));
	const object = {};
	for (let i = 0; i < size; i++) object[pick(strings) + below(9)] = makeValue(depth - 1);
	return object;
}

function damage(text) {
	const bytes = Buffer.from(text);
	if (random() < 0.5 || bytes.length === 0) return bytes;
	const at = below(bytes.length);
	const how = below(3);
	if (how === 0) return bytes.subarray(0, at);
	if (how === 1) return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
	bytes[at] = below(256);
	return bytes;
}

const frame = (mode, bytes) => Buffer.concat([Buffer.from(`${mode} ${bytes.length}\n`), bytes]);

function ask(frames) {
	const run = spawnSync(probe, { input: Buffer.concat(frames), maxBuffer: 1 << 30 });
	if (run.status !== 0) throw new Error(`the probe ended with ${run.status}: ${run.stderr}`);
	return run.stdout.toString().split('\n').slice(0, -1);
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
function nodeParse(bytes) {
	try {
		return { value: JSON.parse(strictUtf8.decode(bytes)) };
	} catch {
		return null;
	}
}

function sameVerdicts() {
	const documents = Array.from({ length: 20000 }, () =>
		damage(JSON.stringify(makeValue(4), null, pick([undefined, 1, '\t']))));
	const answers = ask(documents.map((bytes) => frame('strict', bytes)));
	let accepted = 0;
	for (let i = 0; i < documents.length; i++) {
		const theirs = nodeParse(documents[i]);
		const ours = answers[i].startsWith('accept ');
		if (ours !== (theirs !== null))
			return `we ${answers[i].slice(0, 6)} ${JSON.stringify(documents[i].toString())}`;
		if (!ours) continue;
		accepted++;
		if (!isDeepStrictEqual(JSON.parse(answers[i].slice(7)), theirs.value))
			return `we read ${answers[i]}`;
	}
	if (accepted < 5000 || accepted > 19000) return `${accepted} of 20000 accepted is no good mixture`;
}

// Comments and trailing commas put wherever white space may stand.
function withComments(value, indent = '') {
	const gap = () => pick(['', '', ' ', '\n', ' /* c, "x": 1 */ ', ' // ] } \n', '\t', '\r\n']);
	if (Array.isArray(value)) {
		const inner = value.map((v) => gap() + withComments(v, indent) + gap()).join(',');
		return `[${inner || gap()}${value.length && random() < 0.3 ? ',' + gap() : ''}]`;
	}
	if (value && typeof value === 'object') {
		const entries = Object.entries(value);
		const inner = entries.map(([k, v]) =>
			`${gap()}${JSON.stringify(k)}${gap()}:${gap()}${withComments(v, indent)}${gap()}`).join(',');
		return `{${inner || gap()}${entries.length && random() < 0.3 ? ',' + gap() : ''}}`;
	}
	return JSON.stringify(value);
}

function commentsAgree() {
	const values = Array.from({ length: 5000 }, () => makeValue(4));
	const texts = values.map((v) => withComments(v));
	const answers = ask(texts.map((t) => frame('jsonc', Buffer.from(t))));
	for (let i = 0; i < texts.length; i++) {
		const errors = [];
		const theirs = parseJsonc(texts[i], errors, { allowTrailingComma: true });
		if (errors.length) return `jsonc-parser refuses ${JSON.stringify(texts[i])}`;
		if (!answers[i].startsWith('accept ')) return `we refuse ${JSON.stringify(texts[i])}`;
		const ours = JSON.parse(answers[i].slice(7));
		if (JSON.stringify(ours) !== JSON.stringify(theirs))
			return `${JSON.stringify(texts[i])} is read as ${answers[i]}`;
	}
}

// A config file edited by us reads, for jsonc-parser, like the object changed in memory.
function editsAgree() {
	const frames = [];
	const wanted = [];
	for (let i = 0; i < 3000; i++) {
		const config = { mcpServers: {}, mcpool: makeValue(1) };
		for (const name of ['files', 'web', 'db'].slice(0, below(4)))
			config.mcpServers[name] = { command: 'npx', args: ['-y', name], env: makeValue(1) };
		const text = random() < 0.5 ? withComments(config) : JSON.stringify(config, null, pick([0, 2, '\t']));
		const name = pick(['files', 'web', 'new']);
		const value = { command: pick(strings), args: [1, [2]], nested: makeValue(2) };
		frames.push(frame('set', Buffer.from(text)),
			frame('path', Buffer.from(JSON.stringify(['mcpServers', name]))),
			frame('value', Buffer.from(JSON.stringify(value))));
		config.mcpServers[name] = value;
		wanted.push([text, config]);
	}
	const answers = ask(frames);
	for (let i = 0; i < wanted.length; i++) {
		const [before, config] = wanted[i];
		if (!answers[i].startsWith('accept ')) return `not edited: ${JSON.stringify(before)}`;
		const errors = [];
		const after = parseJsonc(JSON.parse(answers[i].slice(7)), errors, { allowTrailingComma: true });
		if (errors.length || JSON.stringify(after) !== JSON.stringify(JSON.parse(JSON.stringify(config))))
			return `${JSON.stringify(before)} became ${answers[i]}`;
	}
}

const major = Number(process.versions.node.split('.')[0]);
report('node_is_the_pinned_one', major === 24 ? undefined : `this is Node ${process.versions.node}`);
report('json_parse_agrees_on_20000_documents', sameVerdicts());
report('jsonc_parser_agrees_on_5000_documents', commentsAgree());
report('jsonc_parser_reads_3000_edited_files', editsAgree());
process.exit(failures ? 1 : 0);
