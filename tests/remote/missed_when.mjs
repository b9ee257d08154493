// missed_when.mjs - node missed_when.mjs CASE FROM <EVENTS: for each server, how long after FROM it was missed, and its words.
import { readFileSync } from "node:fs";

const [name, from] = process.argv.slice(2);
const seen = new Set();
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
	const event = JSON.parse(line);
	if (event.what !== "clearing" || seen.has(event.server)) continue;
	seen.add(event.server);
	console.log(`   ${name}: ${event.server} after ${event.time - from} ms: ${event.text}`);
}
