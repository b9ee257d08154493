// hub_steps.mjs - what agents do in test_hub.sh and test_systemd.sh.
import { execFile, execFileSync } from "node:child_process";
import { within } from "../busy.mjs";
import { call, hub, init, is, kill, next, now, sleep, text, tools } from "./talk.mjs";

const { MCPOOL } = process.env;
const changed = () => next("notifications/tools/list_changed");
const mcpool = (...args) => execFileSync(MCPOOL, args, { stdio: ["ignore", "pipe", "ignore"] });

export async function list() {
	await init();
	return (await tools()).join();
}

async function echo_again() {
	const r = await call("mcp__a__echo", { message: "again" });
	is(r.result, JSON.stringify(r));
	return "back";
}

// A call is under way when the hub is told to go; it is answered, and the next one as well.
export async function stay_while_the_hub_leaves() {
	await init();
	await tools();
	const r = call("mcp__a__sleep", { ms: 1500 });
	await sleep(300);
	const down = new Promise((ok) => execFile(MCPOOL, ["down"], (e, out) => ok(e ? String(e) : out)));
	const answer = await r;
	is(answer.result, JSON.stringify(answer));
	console.log(await down);
	return echo_again();
}

export async function stay_while_the_hub_is_killed() {
	await init();
	await tools();
	const r = call("mcp__a__sleep", { ms: 20000 });
	await sleep(300);
	kill(hub());
	const lost = await r;
	is(lost.error?.code === 1003, JSON.stringify(lost));
	return echo_again();
}

export async function approve_meanwhile() {
	await init();
	is(!(await tools()).includes("mcp__p__echo"), "not approved");
	const told = changed();
	execFileSync(MCPOOL, ["trust", "p", "--yes"]);
	await told;
	is((await tools()).includes("mcp__p__echo"), "approved");
}

// Is its tool there, once the session was told of a change?
async function has_n_after(...args) {
	const told = changed();
	const t = now();
	mcpool(...args);
	await told;
	const took = now() - t;
	is(within(took, 5000), `${args}: after ${took} ms`);
	return (await tools()).includes("mcp__n__echo");
}

export async function change_by_verbs() {
	await init();
	await tools();
	is(await has_n_after("add", "n", "--", MCPOOL, "demo-server"), "added");
	is(!(await has_n_after("disable", "n")), "off");
	is(await has_n_after("enable", "n"), "on");
	is(!(await has_n_after("remove", "n")), "removed");
	return "all four";
}

export async function use_what_was_read_last() {
	await init();
	const names = await tools();
	is(names.includes("a__add") && names.includes("b__add"), names);
	console.log("both are there");
	console.log(await text("a__add", { a: 2, b: 40 }));
	return (await call("a__nosuch", {})).error.message;
}
