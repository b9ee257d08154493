// judge.mjs - was every call carried out as its caller was told? judge.mjs LEDGER RESULTS [ASKED]
// LEDGER is what the servers executed, one line per call: a tag, or a line of the demo server's own
// ledger (PID ID TOOL ARGUMENTS) whose arguments have a `tag`, or else a `message`. It need not exist.
// RESULTS is what the callers were told, one line per call: TAG OUTCOME [PAYLOAD]. ASKED, where it is
// given, has the tags of all calls that were made, one per line, so that a forgotten one is noticed.
// Prints counts; with violations the first ten of them, and exits with 1. Wrong usage: 2.
import { existsSync, readFileSync } from "node:fs";

const SHOWN = 10;
// How often a call with this outcome may have been executed.
const outcomes = {
	answered: [1, 1],
	not_sent: [0, 0],
	unknown: [0, 1],
	refused: [0, 0],
	timeout: [0, 1],
	cancelled: [0, 1],
};

function usage(why) {
	console.error(`judge: ${why}\nusage: judge.mjs LEDGER RESULTS [ASKED]`);
	process.exit(2);
}

const lines = (file) => readFileSync(file, "utf8").split("\n").filter((line) => line !== "");

// The arguments may be cut, so they are not always JSON.
function argumentOf(text, name) {
	try {
		return JSON.parse(text)[name];
	} catch {
		return new RegExp(`"${name}":"([^"\\\\]*)"`).exec(text)?.[1];
	}
}

function tagOf(line) {
	const demo = /^\d+ (?:"(?:[^"\\]|\\.)*"|\S+) \S+ (\{.*)$/.exec(line); // the id is JSON
	if (demo) return argumentOf(demo[1], "tag") ?? argumentOf(demo[1], "message");
	return /^\S+$/.test(line) ? line : undefined;
}

const [ledgerFile, resultsFile, askedFile, ...rest] = process.argv.slice(2);
if (!ledgerFile || !resultsFile || rest.length) usage("wrong arguments");
for (const file of [resultsFile, askedFile]) if (file && !existsSync(file)) usage(`there is no ${file}`);

const violations = [];
const complain = (words) => violations.push(words);

const executed = new Map();
for (const line of existsSync(ledgerFile) ? lines(ledgerFile) : []) {
	const tag = tagOf(line);
	if (typeof tag !== "string") complain(`no tag in the ledger's line: ${line}`);
	else executed.set(tag, (executed.get(tag) ?? 0) + 1);
}

const told = new Map();
const counts = Object.fromEntries(Object.keys(outcomes).map((outcome) => [outcome, 0]));
for (const line of lines(resultsFile)) {
	const [tag, outcome, payload, ...more] = line.split(" ");
	if (!Object.hasOwn(outcomes, outcome ?? "") || more.length) {
		complain(`no result: ${line}`);
		continue;
	}
	counts[outcome]++;
	if (told.has(tag)) complain(`${tag}: ${outcome}, and it was ${told.get(tag)} already`);
	told.set(tag, outcome);
	if (outcome === "answered" && payload !== tag) complain(`${tag}: answered with ${payload ? `that of ${payload}` : "nothing"}`);
	if (outcome !== "answered" && payload !== undefined) complain(`${tag}: ${outcome}, with an answer`);
}

for (const [tag, outcome] of told) {
	const [least, most] = outcomes[outcome];
	const times = executed.get(tag) ?? 0;
	if (times < least || times > most) complain(`${tag}: ${outcome}, and executed ${times} times`);
}
for (const tag of executed.keys()) if (!told.has(tag)) complain(`${tag}: executed, and nobody was told`);
if (askedFile) {
	const asked = lines(askedFile);
	const known = new Set(asked);
	if (known.size !== asked.length) complain(`${asked.length - known.size} tags were given to two calls`);
	for (const tag of known) if (!told.has(tag)) complain(`${tag}: asked, and never told what became of it`);
	for (const tag of told.keys()) if (!known.has(tag)) complain(`${tag}: ${told.get(tag)}, and nobody asked`);
}

const sum = (numbers) => [...numbers].reduce((a, b) => a + b, 0);
console.log(`calls ${told.size} executed ${sum(executed.values())} ` +
	Object.entries(counts).map(([outcome, n]) => `${outcome} ${n}`).join(" "));
for (const words of violations.slice(0, SHOWN)) console.log(`violation: ${words}`);
if (violations.length > SHOWN) console.log(`and ${violations.length - SHOWN} more`);
process.exit(violations.length ? 1 : 0);
