// toml.mjs - a second opinion on our TOML reader: the npm package smol-toml on the table of cases and
// on documents made from a fixed seed, whole and damaged. Both accept with the same values, or both
// refuse; where smol-toml differs from TOML 1.0, the reason is given below, counted and printed.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, TomlDate } from 'smol-toml';
import { failures, report, seeded } from './lib/seeded.mjs';

const probe = fileURLToPath(new URL('../../build-asan/tests/toml_probe', import.meta.url));
const table = fileURLToPath(new URL('../toml/cases.txt', import.meta.url));
const { random, below, pick } = seeded(20261116);
const many = (n, make) => Array.from({ length: n }, make);

// --- documents --------------------------------------------------------------------------------

const names = ['a', 'b', 'c', 'd', 'a-b', '_', '7', '"a"', "'b'", '""', '"x y"', '"\\u0061"', "'é.€'"];
const blank = () => pick(['', '', ' ', ' ', '\t', '  ']);
const key = (parts) => many(1 + below(parts), () => pick(names)).join(pick(['.', '.', ' . ', '.\t']));

const strings = ['""', "''", '"text"', "'C:\\dir'", '"tab\there"', '"\\b\\t\\n\\f\\r\\"\\\\"', '"\\u00e9\\U0001F600"',
	'"€ 😀"', "'it \"is\"'", '"""one"""', '"""\nfirst\nsecond\n"""', '"""go \\\n   on"""', '"""a""b"""""',
	"'''\nraw \\n\n'''", "''''quoted'''''", '"#[]{}=,"', '""""""', '"""\\\n\n  x \\  \n  y"""'];
const numbers = ['0', '+0', '-0', '7', '-17', '+99', '1_000', '9223372036854775807', '-9223372036854775808',
	'0xDEAD_beef', '0o755', '0b1101', '0.0', '-0.0', '3.25', '+1.5', '1e6', '-2E-2', '6.626e-34', '9_1.2_5e+1_0',
	'1e400', 'inf', '+inf', '-inf', 'nan', '-nan', '0e0', '5e-324'];
const times = ['1979-05-27T07:32:00Z', '1979-05-27t00:32:00.999-07:00', '1979-05-27 07:32:00', '2000-02-29',
	'0001-01-01', '2024-12-31T23:59:59.123456', '00:00:00', '23:59:59.5', '2016-12-31T23:59:60Z'];
const doubtful = ['01', '1_', '0x', '1.', '.5', '+0x1', 'tru', 'True', '"\\q"', '"\\e"', '"\\x41"', '"\\ud800"',
	'2001-02-29', '2000-13-01', '24:00:00', '07:32', '1979-05-27 07:32', '9223372036854775808',
	"'open", '[1,,2]', '{a=1,}', '{\na=1}', '{a=1,a=2}', '{a=1,a.b=2}', '{a={},a.b=2}', '1 2', ''];

function value(depth) {
	const kind = below(depth > 0 ? 12 : 8);
	if (kind < 3) return pick(strings);
	if (kind < 5) return pick(numbers);
	if (kind === 5) return pick(['true', 'false']);
	if (kind === 6) return pick(times);
	if (kind === 7) return random() < 0.06 ? pick(doubtful) : pick(numbers);
	if (kind < 10) return array(depth - 1);
	return inlineTable(depth - 1);
}

function array(depth) {
	const gap = () => pick(['', '', ' ', '\n', '\t', ' # c ]\n', '\r\n']);
	const inner = many(below(4), () => gap() + value(depth) + gap()).join(',');
	return `[${inner}${inner && random() < 0.3 ? ',' : ''}${gap()}]`;
}

// Mostly with a key of its own for each pair, because a key that stands twice ends the document.
function inlineTable(depth) {
	const pairs = many(below(4), (_, i) =>
		`${blank()}${random() < 0.15 ? key(2) : key(2) + i}${blank()}=${blank()}${value(depth)}${blank()}`);
	return `{${pairs.map((p) => p.replace(/(["'])(\d)/, '$1.k$2')).join(',')}${blank()}}`;
}

let fresh = 0;
function line() {
	const kind = below(12);
	const comment = random() < 0.2 ? ' # comment' : '';
	if (kind === 0) return `${blank()}# a line of its own`;
	if (kind === 1) return blank();
	if (kind === 2) return `${blank()}[${blank()}${key(3)}${blank()}]${comment}`;
	if (kind === 3) return `[t${fresh++}.${key(2)}]${comment}`;
	if (kind === 4) return `[[${blank()}${key(2)}${blank()}]]${comment}`;
	if (kind === 5) return `[[list.k${below(2)}]]${comment}`;
	if (kind < 8) return `${blank()}${key(3)}${blank()}=${blank()}${value(2)}${comment}`;
	return `k${fresh++}${random() < 0.3 ? '.' + key(2) : ''} = ${value(3)}${comment}`;
}

function document() {
	const end = pick(['\n', '\n', '\n', '\r\n']);
	const text = many(below(9), line).join(end) + pick(['', end]);
	return Buffer.from(random() < 0.03 ? '\ufeff' + text : text);
}

const bytes = ['"', "'", '[', ']', '{', '}', '=', ',', '.', '#', '\\', '\n', '\r', ' ', '0', '9', '_', '-', '+', 'e',
	'x', ':', 'T', 'Z', '\0', '\x7f', '\x1f'];
function damage(text) {
	if (random() < 0.5 || text.length === 0) return text;
	const at = below(text.length);
	const how = below(4);
	const piece = random() < 0.1 ? Buffer.from([128 + below(128)]) : Buffer.from(pick(bytes));
	if (how === 0) return text.subarray(0, at);
	return Buffer.concat([text.subarray(0, at), how === 1 ? Buffer.alloc(0) : piece, text.subarray(at + (how < 3 ? 1 : 0))]);
}

// --- the table of cases, spelled as its head says ----------------------------------------------

function expand(text) {
	const steps = /\\\{(\d+):((?:\\.|[^}\\])*)\}|\\x(..)|\\(.)/gs;
	return text.replace(steps, (_, times, inner, hex, letter) => {
		if (times) return expand(inner).repeat(Number(times));
		if (hex) return String.fromCharCode(parseInt(hex, 16));
		return { t: '\t', n: '\n', r: '\r' }[letter] ?? letter;
	});
}

function readCases() {
	const lines = readFileSync(table, 'latin1').split('\n').filter((l) => l && !l.startsWith('#'));
	return lines.map((l) => Buffer.from(expand(l.split('\t')[2]), 'latin1'));
}

// --- two opinions ------------------------------------------------------------------------------

function ask(documents) {
	const input = Buffer.concat(documents.flatMap((d) => [Buffer.from(`toml ${d.length}\n`), d]));
	const run = spawnSync(probe, { input, maxBuffer: 1 << 30 });
	if (run.status !== 0) throw new Error(`the probe ended with ${run.status}: ${run.stderr}`);
	return run.stdout.toString().split('\n').slice(0, -1);
}

function readOurs(answer) {
	const refused = /^refuse (\d+):(\d+): (.*)$/s.exec(answer);
	if (refused) return { line: Number(refused[1]), column: Number(refused[2]), why: refused[3] };
	const whole = (_, v, context) =>
		typeof v === 'number' && /^-?\d+$/.test(context.source) ? BigInt(context.source) : v;
	return { value: JSON.parse(answer.slice('accept '.length), whole) };
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
function readTheirs(text) {
	try {
		return { value: parse(strictUtf8.decode(text), { integersAsBigInt: true }) };
	} catch (error) {
		return { why: error.message.split('\n')[0], line: error.line };
	}
}

// inf and nan, dates and times are strings in ours, and lines of a text end in LF.
const lf = (text) => text.replaceAll('\r\n', '\n');
function same(ours, theirs) {
	if (theirs instanceof TomlDate) return typeof ours === 'string' &&
		parse(`d = ${ours}`).d.toISOString() === theirs.toISOString();
	if (typeof theirs === 'number' && !Number.isFinite(theirs))
		return ours === String(theirs).toLowerCase().replace('infinity', 'inf') || Object.is(ours, theirs);
	if (typeof theirs === 'string')
		return typeof ours === 'string' && lf(ours) === lf(theirs);
	if (typeof theirs !== 'object') return Object.is(ours, theirs);
	if (Array.isArray(theirs)) return Array.isArray(ours) && ours.length === theirs.length &&
		theirs.every((v, i) => same(ours[i], v));
	const keys = Object.keys(theirs);
	return typeof ours === 'object' && !Array.isArray(ours) && Object.keys(ours).length === keys.length &&
		keys.every((k) => Object.hasOwn(ours, k) && same(ours[k], theirs[k]));
}

// --- where they differ, and why ----------------------------------------------------------------

const reasons = new Map();
const because = (reason) => reasons.set(reason, (reasons.get(reason) ?? 0) + 1);

const placeOf = (text, { line, column }) =>
	[...text.toString().replace(/^\ufeff/, '').split('\n')[line - 1]].slice(column - 1).join('');

// What has the outline of a date is left to JavaScript's Date, which knows a 29th of February 2001.
function isInDate(text, { line, column }) {
	const outlines = /\d{4}-..-..([Tt ]..:..(:..)?(\.\d*)?([+-].{4,5})?)?/gs;
	const there = text.toString().split('\n')[line - 1];
	return [...there.matchAll(outlines)].some((m) =>
		column > m.index && column <= m.index + m[0].length);
}

// smol-toml accepts what we refuse.
function whyAccepted(text, ours) {
	const there = placeOf(text, ours);
	if (ours.why.includes('braces ends on the line')) return 'TOML 1.1: inline tables over many lines';
	if (ours.why.includes("',' must not stand before a '}'")) return 'TOML 1.1: a comma before }';
	if (ours.why === 'there is no such escape' && /^\\[ex]/.test(there)) return 'TOML 1.1: \\e and \\xHH';
	if (ours.why.includes("':' is expected in a time") && /^([\s,\]}#Zz.+-]|$)/.test(there))
		return 'TOML 1.1: times without seconds';
	if (ours.why.includes('does not fit into 64 bits')) return 'whole numbers beyond 64 bits';
	if (ours.why.includes('nested too deeply')) return 'our limit of nesting';
	if (isInDate(text, ours)) return 'dates that only JavaScript knows';
}

// We accept what smol-toml refuses.
function whyRefused(text, theirs) {
	const calm = Buffer.from(text.toString('latin1').replaceAll(':60', ':59'), 'latin1');
	if (theirs.why.includes('invalid date') && 'value' in readTheirs(calm)) return 'leap seconds';
	const there = text.toString().split('\n')[theirs.line - 1];
	if (theirs.why.includes('redefine') && /^[^[=]*\./.test(there)) return 'dotted keys that add to a table on the way of a header';
}

function compare(documents) {
	const answers = ask(documents);
	let accepted = 0;
	for (let i = 0; i < documents.length; i++) {
		const ours = readOurs(answers[i]);
		const theirs = readTheirs(documents[i]);
		const shown = JSON.stringify(documents[i].toString());
		if ('value' in ours && 'value' in theirs) {
			accepted++;
			if (!same(ours.value, theirs.value)) return { why: `${shown} is read as ${answers[i]}` };
		} else if ('value' in ours || 'value' in theirs) {
			const why = 'value' in ours ? whyRefused(documents[i], theirs) : whyAccepted(documents[i], ours);
			if (!why)
				return { why: `${shown}: we say ${answers[i]}, they say ${theirs.why ?? 'it is TOML'}` };
			because(why);
		}
	}
	return { accepted };
}

function generated() {
	const { why, accepted } = compare(many(6000, () => damage(document())));
	if (why) return why;
	if (accepted < 1500 || accepted > 4500) return `${accepted} of 6000 accepted is no good mixture`;
}

report('smol_toml_agrees_on_the_table', compare(readCases()).why);
report('smol_toml_agrees_on_6000_documents', generated());
for (const [reason, n] of reasons) console.log(`not TOML 1.0 in smol-toml: ${reason}: ${n}`);
process.exit(failures ? 1 : 0);
