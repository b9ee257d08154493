// hostile_http_so.mjs EXPRESSION - is it so of what `serve --json` said on stdin? In it: ev (all events of "bad"), gate,
// count(WHAT), words(WHAT) of the first such event, at(WHAT, N) the time of the Nth.
import { readFileSync } from "node:fs";

const lines = readFileSync(0, "utf8").split("\n").slice(0, -1).map((l) => JSON.parse(l));
const ev = lines.filter((l) => l.server === "bad");
const all = (what) => ev.filter((e) => e.what === what);
const known = {
	ev,
	gate: lines.find((l) => l.gate)?.gate,
	count: (what) => all(what).length,
	words: (what) => all(what)[0]?.text,
	at: (what, n = 0) => all(what)[n]?.time,
};

process.exit(new Function(...Object.keys(known), `return (${process.argv[2]})`)(...Object.values(known)) ? 0 : 1);
