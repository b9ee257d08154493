// play.mjs FILE NAME - one case of a replay: the function NAME that FILE exports.
import { writeFileSync } from "node:fs";
import * as replay from "./replay.mjs";

const [file, name] = process.argv.slice(2);
try {
	await (await import(`./${file}`))[name]();
	if (replay.hub && replay.hub.exitCode === null) await replay.down();
} catch (e) {
	const at = /_cases\.mjs:(\d+)/.exec(e.stack ?? "")?.[1] ?? "?";
	console.log(`${e.message ?? e} (line ${at})`.slice(0, 3000));
	if (process.env.REPLAY_DEBUG) // a file
		writeFileSync(process.env.REPLAY_DEBUG, [e.stack, replay.hub?.err, ...replay.events.map((v) => JSON.stringify(v))].join("\n"));
	process.exitCode = 1;
}
for (const server of replay.fars) server.kill("SIGKILL");
process.exit();
