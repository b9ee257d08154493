// storm_watch.mjs FILE STOP - reads FILE as often as it can until STOP exists: always whole, always with its comments.
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "jsonc-parser";

const [file, stop] = process.argv.slice(2);
const words = ["// first line", "/* before all */", "// kept", "// the oldest", "// behind it", "// inside", "// last line",
	"12345678901234567890"];
let seen = 0, last = "";

const is_whole = (text) => {
	const wrong = [];
	const d = parse(text, wrong, { allowTrailingComma: true });
	return !wrong.length && d.mcpServers.first && d.mcpServers.second && words.every((w) => text.includes(w));
};

for (;;) {
	const text = readFileSync(file, "utf8");
	if (text !== last) {
		if (!is_whole(text)) {
			console.log(`broken: ${text}`);
			process.exit(1);
		}
		seen++;
		last = text;
	}
	if (existsSync(stop)) break;
	await sleep(2);
}
console.log(seen);
