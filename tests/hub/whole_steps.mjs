// whole_steps.mjs - what agents do in test_whole.sh.
import { execFileSync } from "node:child_process";
import { ask, call, init, is, kill, next, text, tools } from "./talk.mjs";

const { HANDLE, MCPOOL } = process.env;
const changed = () => next("notifications/tools/list_changed");
const mcpool = (...args) => execFileSync(MCPOOL, args).toString();

async function echoes(tool, message, wanted = message) {
	const t = await text(tool, { message });
	is(t === wanted, `${tool}: ${t}`);
}

export async function call_each_transport() {
	await init();
	for (const s of "abcdef") await echoes(`mcp__${s}__echo`, s, `Echo: ${s}`);
}

export async function call_by_every_name() {
	await init();
	const names = (await tools()).join();
	is(names === "mcp__my_files__echo,mcp__my_files__time", names);
	for (const n of ["mcp__my_files__echo", "my_files__echo", "my files/echo", "mcp_my_files_echo", "echo"]) await echoes(n, n);
	for (const n of ["mcp__my_files__fail", "my files/add", "mcp__other__echo", "add"]) {
		const r = await call(n, {});
		is(r.error?.code === -32602, `${n}: ${JSON.stringify(r)}`);
	}
}

export async function fail_in_every_way() {
	await init();
	const [tool, server, gone, slow, fine] = await Promise.all([call("mcp__a__fail", { message: "no luck" }),
		call("mcp__b__echo"), call("mcp__c__echo"), call("mcp__a__sleep", { ms: 9000 }), call("mcp__a__echo", { message: "hi" })]);
	is(tool.result.isError && tool.result.content[0].text === "no luck", JSON.stringify(tool));
	is(server.error.code === -32050 && server.error.message === "the file is locked" && server.error.data.path === "a.txt", JSON.stringify(server));
	is(gone.error.data.code === "mcp_unavailable" && gone.error.data.server === "c", JSON.stringify(gone));
	is(slow.error.code === 1004 && slow.error.message.startsWith("MCP error: ") && slow.error.data.outcome === "timeout", JSON.stringify(slow));
	is(fine.result.content[0].text === "hi", JSON.stringify(fine));
	const dead = await call("mcp__a__crash");
	is(dead.error.code === 1003 && dead.error.data.outcome === "unknown", JSON.stringify(dead));
	await echoes("mcp__a__echo", "back");
}

export async function call_once() {
	await init();
	const r = await call("mcp__a__echo", { message: "mine" });
	is(r.result, JSON.stringify(r));
}

export async function list() {
	await init();
	return (await tools()).join();
}

const pid = () => JSON.parse(mcpool("status", "--json")).servers.find((s) => s.name === "p").pid;

export async function see_it_all() {
	let r;
	await init();
	const names = await tools();
	is(names.includes("mcp__p__echo") && names.includes("mcp__a__echo"), names);
	const first = pid();
	is(first > 0, first);
	kill(first);
	do r = await call("mcp__p__echo", { message: "again" });
	while (r.error?.data.outcome === "unknown");
	is(r.result?.content[0].text === "again" && pid() !== first, JSON.stringify(r));
	const off = changed();
	mcpool("disable", "--now", "p");
	await off;
	is(!(await tools()).includes("mcp__p__echo"), "off");
	const on = changed();
	mcpool("enable", "--now", "p");
	await on;
	is((await tools()).includes("mcp__p__echo"), "on");
	const added = changed();
	mcpool("add", "late", "--", MCPOOL, "demo-server");
	await added;
	is((await tools()).includes("mcp__late__echo"), "added");
	const removed = changed();
	mcpool("remove", "late");
	await removed;
	is(!(await tools()).includes("mcp__late__echo"), "removed");
	return "all of it";
}

export async function look_around() {
	const { instructions, capabilities } = await init();
	const crash = (await call("mcp__a__crash")).error.data.outcome;
	let again;
	do again = await call("mcp__a__echo", { message: "hi" });
	while (again.error);
	const gone = (await call("mcp__gone__x")).error.data.code;
	return { instructions, capabilities, tools: await tools(), crash, again: again.result, gone };
}

export async function read_the_whole_result() {
	await init();
	const r = await ask("resources/read", { uri: HANDLE });
	const whole = JSON.parse(r.result.contents[0].text).content[0].text;
	is(whole.length === 5000, whole.length);
	return whole;
}

export async function get_a_big_result() {
	await init();
	is((await text("mcp__a__big", { bytes: 5000 })).length === 5000, "untouched");
}

// Head and tail of a big one, which is read again; a tool without a limit; another session reads it, too.
export async function get_a_shortened_result() {
	await init();
	const shown = await text("a__big", { bytes: 5000 });
	is(shown.length < 1200 && shown.includes("TRUNCATED 4000 bytes"), shown);
	const [, uri] = /\[all of it: (mcpool:\/\/results\/[0-9a-f]{32})\]/.exec(shown);
	const r = await ask("resources/read", { uri });
	const whole = JSON.parse(r.result.contents[0].text).content[0].text;
	is(whole.length === 5000, whole.length);
	is(shown.startsWith(whole.slice(0, 500)) && shown.endsWith(whole.slice(-500)), shown);
	const long = "x".repeat(3000);
	is((await text("a__echo", { message: long })).includes(long), "toolResults 0");
}
