// bridge_steps.mjs - what agents do in test_bridge.sh.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, readdirSync, renameSync } from "node:fs";
import { within } from "../busy.mjs";
import { answers, ask, bridge, call, ended, heard, hub, init, is, kill, leave, next, now, send, sleep, text, tools, tools_until } from "./talk.mjs";

const { MCPOOL, MCPOOL_TEST_MARK, MODE, USERFILE, XDG_CONFIG_HOME, XDG_RUNTIME_DIR } = process.env;
const changed = (ms) => next("notifications/tools/list_changed", ms);

export async function first_use() {
	const t = now();
	await init();
	console.log(`took ${Math.round(now() - t)}`);
	const names = await tools();
	is(names.includes("mcp__a__echo"), names);
	console.log("listed");
	console.log(await text("mcp__a__echo", { message: "hi" }));
	is(await leave() === 0, "exit code 0");
}

// The times until the open calls are answered and until the next one is, in ms.
async function survive_one(i) {
	const before = heard.length;
	const open = [call("mcp__a__sleep", { ms: 30000 }), call("mcp__a__sleep", { ms: 30000 })];
	await sleep(100);
	const t = now();
	kill(hub());
	const r = await Promise.all(open);
	const answered = now() - t;
	is(r.every((a) => a.error.code === 1003 && a.error.data.outcome === "unknown"), JSON.stringify(r));
	const again = await text("mcp__a__echo", { message: "x" + i });
	is(again === "x" + i, again);
	const back = now() - t;
	is(heard.slice(before).some((m) => m.method === "notifications/tools/list_changed"), "told of lists");
	return [answered, back];
}

export async function survive() {
	const times = [];
	await init();
	await tools();
	for (let i = 0; i < 5; i++) times.push(await survive_one(i));
	const most = (n) => Math.ceil(Math.max(...times.map((t) => t[n])));
	return `survived: answered ${most(0)} back ${most(1)}`;
}

export async function wait_for_the_hub() {
	let answered = 0;
	await init();
	await tools();
	bridge.kill("SIGSTOP"); // or the hub that it starts may have the lock first
	kill(hub());
	const holder = spawn("flock", [`${XDG_RUNTIME_DIR}/mcpool/hub.lock`, "sh", "-c", "echo held; read -r _"]);
	await once(holder.stdout, "data");
	bridge.kill("SIGCONT");
	const sums = [1, 2, 3].map((n) => text("mcp__a__add", { a: n, b: 1 }).finally(() => answered++));
	await sleep(1000);
	is(answered === 0, `${answered} answered while there was no hub`);
	holder.stdin.end();
	return (await Promise.all(sums)).join();
}

export async function call_two_and_stay() {
	await init();
	await tools();
	await call("mcp__a__echo", { message: "x" });
	await call("mcp__b__echo", { message: "x" });
	console.log("ok");
	while (!existsSync(process.env.LEAVE))
		await sleep(50);
}

export async function list() {
	await init();
	return (await tools()).join();
}

export async function send_garbage() {
	await init();
	send("this is not a message");
	await sleep(300);
	is(answers.length === 1 && answers[0].error.code === -32700, JSON.stringify(answers));
	answers.length = 0;
	return text("mcp__a__echo", { message: "fine" });
}

export async function leave_soon() {
	await init();
	const t = now();
	const code = await leave();
	const took = now() - t;
	is(code === 0 && within(took, 1000), `${code} after ${took}`);
}
export async function be_terminated() {
	await init();
	bridge.kill("SIGTERM");
	is(await ended === 0, await ended);
}
export async function stop_reading() {
	await init();
	bridge.stdout.destroy();
	call("mcp__a__echo", { message: "x" });
	is(await ended === 0, "deaf");
}
export async function leave_a_call_open() {
	await init();
	call("mcp__a__sleep", { ms: 30000 });
	await sleep(100);
	is(await leave() === 0, "0");
}

export async function find_no_hub() {
	const t = now();
	const r = await ask("initialize", {});
	is(r.error.data.outcome === "not_sent", JSON.stringify(r));
	is(now() - t < 15000, now() - t);
	return r.error.message;
}

export async function switch_off_and_on() {
	await init();
	const before = await tools_until((n) => n.includes("mcp__b__echo"));
	is(before.includes("mcp__b__echo"), before);
	const off = changed();
	execFileSync(MCPOOL, ["disable", "--now", "b"]);
	await off;
	const after = await tools_until((n) => !n.includes("mcp__b__echo")); // that change may have been another one
	is(!after.includes("mcp__b__echo") && after.includes("mcp__a__echo"), after);
	const on = changed();
	execFileSync(MCPOOL, ["enable", "--now", "b"]);
	await on;
	is((await tools_until((n) => n.includes("mcp__b__echo"))).includes("mcp__b__echo"), "back");
	return "switched";
}

// The id of this agent's session.
const own_id = () => JSON.parse(execFileSync(MCPOOL, ["status", "--json"])).sessions.find((s) => s.pid === bridge.pid).id;

export async function switch_for_itself() {
	await init();
	await tools_until((n) => n.includes("mcp__b__echo"));
	for (const session of [String(own_id()), "auto"]) {
		const off = changed();
		execFileSync(MCPOOL, ["disable", "b", "--session", session]);
		await off;
		const without = await tools();
		is(!without.includes("mcp__b__echo") && without.includes("mcp__a__echo"), without);
		const refused = await call("mcp__b__echo", { message: "x" });
		execFileSync("cmp", [`${XDG_CONFIG_HOME}/mcpool/mcp.json`, `${MCPOOL_TEST_MARK}/before`]);
		is(readdirSync(".").join() === ".git", `files: ${readdirSync(".")}`);
		is(refused.error?.data.code === "mcp_disabled" && /is disabled: switched off for this session/.test(refused.error.message), JSON.stringify(refused));
		const on = changed();
		execFileSync(MCPOOL, ["enable", "b", "--now", "--session", session]);
		await on;
		is(await text("mcp__b__echo", { message: "x" }) === "x", "back");
	}
	return "switched";
}

export async function call_until_told() {
	await init();
	await tools_until((n) => n.includes("mcp__a__echo") && n.includes("mcp__b__echo"));
	await text("mcp__b__echo", { message: "x" }); // its answer follows what tells of both servers
	const before = heard.length;
	while (!existsSync(`${MCPOOL_TEST_MARK}/enough`)) {
		is(await text("mcp__b__echo", { message: "x" }) === "x", "called");
		is((await tools()).includes("mcp__b__echo"), "listed");
	}
	is(!heard.slice(before).some((m) => m.method === "notifications/tools/list_changed"), "told of nothing");
	return "undisturbed";
}

export async function use_short_names() {
	await init();
	const names = await tools_until((n) => n.length);
	is(names.includes("a__echo") && names.every((n) => n.startsWith("a__")), names.join());
	is((await call("a__echo", { message: "hi" })).result, "called");
	return "short";
}

export async function hear_of_another_mode() {
	await init({ elicitation: {}, sampling: {}, roots: {} });
	const before = (await tools()).join();
	is(before === "mcp__q__t", before);
	const told = changed(15000);
	copyFileSync(MODE, USERFILE + ".new");
	renameSync(USERFILE + ".new", USERFILE);
	await told;
	const names = (await tools_until((n) => n.length > 1)).join();
	is(names === "mcp__q__more,mcp__q__t", names);
	return "more";
}
