// serve_so.mjs EXPRESSION - is it so of what `serve --json` said on stdin? In it: lines, ev (all events), gate, call, at(LINE);
// of(NAME): the words of that server's events, count(NAME, WHAT).
import { readFileSync } from "node:fs";

const lines = readFileSync(0, "utf8").split("\n").slice(0, -1).map((l) => JSON.parse(l));
const ev = lines.filter((l) => l.number);
const of = (name) => ev.filter((e) => e.server === name).map((e) => e.what);
const known = {
	lines, ev, of,
	gate: lines.find((l) => l.gate)?.gate,
	call: lines.find((l) => l.call),
	at: (l) => lines.indexOf(l),
	count: (name, what) => of(name).filter((w) => w === what).length,
};

process.exit(new Function(...Object.keys(known), `return (${process.argv[2]})`)(...Object.values(known)) ? 0 : 1);
