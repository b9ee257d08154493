// storm_compare.mjs FILE LOGS - compares what the workers of test_storm.sh reported in LOGS/log.N with FILE and with
// `list --json` on stdin. Of each name the last word counts; of "maybe" anything may have come.
import { readdirSync, readFileSync } from "node:fs";
import { parse } from "jsonc-parser";

const [file, logs] = process.argv.slice(2);
const words = {};
for (const name of readdirSync(logs).filter((n) => /^log\.[0-9]+$/.test(n)))
	for (const line of readFileSync(`${logs}/${name}`, "utf8").trim().split("\n")) {
		const [word, server] = line.split(" ");
		words[server] = word;
	}

const servers = parse(readFileSync(file, "utf8"), [], { allowTrailingComma: true }).mcpServers;
const list = JSON.parse(readFileSync(0, "utf8")).servers;
const bad = [], count = { there: 0, gone: 0, maybe: 0 };
for (const [name, word] of Object.entries(words)) {
	count[word]++;
	if (word === "there" && (!servers[name] || servers[name].args[0] !== name)) bad.push(`${name} was added and is lost`);
	if (word === "there" && list.find((s) => s.name === name)?.state !== "ready") bad.push(`${name} was added and is not approved`);
	if (word === "gone" && servers[name]) bad.push(`${name} was removed and is there`);
}
for (const name of Object.keys(servers))
	if (!(name in words) && name !== "first" && name !== "second") bad.push(`${name} came from nowhere`);

console.log(JSON.stringify(count));
if (bad.length || !count.there || !count.gone || !count.maybe) {
	console.log(bad.join("; "));
	process.exit(1);
}
