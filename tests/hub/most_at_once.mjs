// most_at_once.mjs - how many servers were starting at the same time at most, by the events of `serve --json` on stdin.
import { readFileSync } from "node:fs";

const starting = new Set();
let most = 0;
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
	const e = JSON.parse(line);
	if (e.what === "starting") starting.add(e.server);
	if (e.what === "up") starting.delete(e.server);
	most = Math.max(most, starting.size);
}
console.log(most);
