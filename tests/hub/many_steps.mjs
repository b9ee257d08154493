// many_steps.mjs - an agent whose one server, many$NUMBER, has 10,000 tools and is killed between two calls.
import { execFileSync } from "node:child_process";
import { ask, init, is, kill, sleep, text } from "./talk.mjs";

const server = `many${process.env.NUMBER}`;
const status = () => JSON.parse(execFileSync(process.env.MCPOOL, ["status", "--json"]).toString()).servers;
const all = async () => {
	const names = [];
	for (let cursor; ;) {
		const { result } = await ask("tools/list", cursor === undefined ? {} : { cursor });
		names.push(...result.tools.map((t) => t.name));
		if ((cursor = result.nextCursor) === undefined) return names;
	}
};

export async function use_many() {
	await init();
	let names = await all();
	for (let i = 0; i < 400 && names.length < 10000; i++) {
		await sleep(50);
		names = await all();
	}
	is(names.length === 10000 && new Set(names).size === 10000, `${names.length} tools`);
	is(names.every((n) => n.startsWith(`mcp__${server}__`)), `of another hub: ${names.find((n) => !n.startsWith(`mcp__${server}__`))}`);
	is((await text(`mcp__${server}__echo`, { message: server })) === server, "echo");
	const [before] = status();
	is(before.name === server && before.restarts === 0, JSON.stringify(before));
	kill(before.pid);
	for (let i = 0; i < 400 && !(status()[0].restarts === 1 && status()[0].state === "connected"); i++) await sleep(50);
	is((await text(`mcp__${server}__echo`, { message: "again" })) === "again", "echo after the kill");
	is(status()[0].pid !== before.pid && status().length === 1, JSON.stringify(status()));
}
