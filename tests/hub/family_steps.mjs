// family_steps.mjs - what agents do in test_family.sh.
import { execFile, execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { ask, bridge, call, heard, hub, init, is, kill, next, send, sleep, text, tools_until } from "./talk.mjs";

const { MCPOOL, MCPOOL_TEST_MARK: work } = process.env;
const agent = new URL("agent.mjs", import.meta.url).pathname;
const status = () => JSON.parse(execFileSync(MCPOOL, ["status", "--json"]));
const own = () => status().sessions.find((s) => s.pid === bridge.pid);
const until = async (file) => {
	while (!existsSync(`${work}/${file}`)) await sleep(30);
};
const echo = async (server, word) => is(await text(`mcp__${server}__echo`, { message: word }) === word, word);
// Another agent, below this one; resolves with its words.
const run = async (...args) => {
	const r = await promisify(execFile)(process.execPath, [agent, ...args]).catch((e) => e);
	is(!r.code, r.stdout);
	return r.stdout;
};

export async function call_both() {
	await init({ elicitation: {} });
	await tools_until((n) => n.includes("mcp__a__echo") && n.includes("mcp__b__echo"));
	await echo("a", "x");
	await echo("b", "x");
	return "called";
}

// What the server asks during a call of the child goes to the child.
export async function child() {
	await call_both();
	const asked = next("elicitation/create");
	const answer = call("mcp__a__ask");
	send(JSON.stringify({ jsonrpc: "2.0", id: (await asked).id, result: { action: "accept", content: { answer: "child" } } }));
	is(JSON.stringify(await answer).includes("child"), JSON.stringify(await answer));
	return `home ${own().parent}`;
}

export async function child_with_child() {
	const words = await child();
	return words + " and " + (await run("--parent", "auto", "--", "family_steps.mjs#child"));
}

export async function parent() {
	await call_both();
	const { id, parent } = own();
	is(parent === null, parent);
	writeFileSync(`${work}/id`, String(id));
	// One after the other: what a server asks during calls of two sessions belongs to neither.
	const first = await run("--parent", String(id), "--", "family_steps.mjs#child");
	const all = first + (await run("--parent", "auto", "--", "family_steps.mjs#child_with_child"));
	is(all.match(new RegExp(`home ${id}\\b`, "g")).length === 3, all);
	is(status().hub.serverCount === 2, status().hub.serverCount);
	is(!heard.some((m) => m.method === "elicitation/create"), "the parent was asked");
	await echo("a", "still mine");
	return "family";
}

export async function stay_until_told() {
	await call_both();
	writeFileSync(`${work}/id`, String(own().id));
	await until("leave");
}

export async function outlive() {
	await call_both();
	writeFileSync(`${work}/joined`, "");
	await until("left");
	await echo("a", "alone");
	return "outlived";
}

// The hub dies: child and parent go on, each with servers of a hub that knows no earlier id.
export async function child_of_a_crash() {
	await call_both();
	kill(hub());
	await sleep(300);
	await echo("a", "again");
	await ask("ping");
	return "child survived";
}
export async function parent_of_a_crash() {
	await call_both();
	const words = await run("--parent", String(own().id), "--", "family_steps.mjs#child_of_a_crash");
	await echo("a", "parent");
	return words;
}
