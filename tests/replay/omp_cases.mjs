// omp_cases.mjs - what test_omp.sh replays of seeds 000 and 004.
import * as fs from "node:fs";
import * as net from "node:net";
import {
	agent, Agent, configure, counted, dead, demo, down, entry, equal, event, events, far, has, here, home, hub,
	is, ledger, lines, lives, log_lines, mcpool, node, now, of, pids, processes, program, put, read,
	run_folder, saw, serve, server_status, servers, sleep, starts, status, text_of, until, up, user, verb, work,
	write_config,
} from "./replay.mjs";

const words = (r) => r.result?.content?.map((c) => c.text).join("") ?? JSON.stringify(r);
// A server that does what a script says before it becomes the demo server
const scripted = (script, members = {}) => ({ command: "/bin/sh", args: ["-c", `${script}; exec "${demo}"`], ...members });

// The first start waits for all, the second has what was cached; late ones replace their slice, or their failure is logged once.
export async function startup() {
	const slow = () => entry({ SLOW_START: 2500 });
	await serve({
		one: slow(), two: slow(), three: slow(),
		bad: { command: "/bin/sh", args: ["-c", "echo no database >&2; exit 3"] },
		grows: scripted(`[ -e "${work}/grow" ] && sleep 1.5 && export MCPOOL_DEMO_TOOLS=1`),
		dies: scripted(`[ -e "${work}/grow" ] && sleep 1.5 && echo no more >&2 && exit 3`),
		off: entry({}, { enabled: false }),
	});
	const a = new Agent();
	await a.init();
	const began = now();
	const names = await a.tools();
	const took = now() - began;
	const ups = ["one", "two", "three"].map((n) => of(n, "up")[0]);
	is(ups.every((e) => e && e.time <= now()), "all are up");
	for (const n of ["one", "two", "three", "grows", "dies"]) is(names.includes(`mcp_${n}_echo`), names);
	is(!names.some((n) => /_(bad|off)_/.test(n)), names);
	saw("blocked", `nothing cached: the first tools/list was answered after ${took} ms, when ${ups.map((e) => e.server).join(", ")} (each slow for 2500 ms) were up`);
	const six = of("one", "starting").concat(of("two", "starting"), of("three", "starting"), of("bad", "starting"));
	is(six.every((e) => e.time <= Math.min(...ups.map((u) => u.time))), "all begin before one is up");
	saw("parallel", `starting: ${six.map((e) => `${e.server} at ${e.time - six[0].time} ms`).join(", ")}; up: ${ups.map((e) => `${e.server} at ${e.time - six[0].time} ms`).join(", ")}`);
	saw("merged", `one list of ${names.length} tools: mcp_one_echo, mcp_two_echo, mcp_three_echo, ...; none of bad and off`);
	is(!processes("WHO=off").length, "off runs");
	saw("disabled", "off (enabled: false): no process, no event, no tool");
	equal(of("off").length, 0);
	const failed = log_lines(/bad#\d+: failed/);
	equal(failed.length, 1);
	saw("failure", `log, once: ${failed[0].slice(25)}`);
	const order = ["preparing", "starting", "listing", "offers", "up"];
	equal(of("one").map((e) => e.what), order);
	saw("pipeline", `events of one: ${order.join(", ")}`);
	const t = (await verb(null, "tools", "--json")).json;
	equal(t.errors.map((e) => e.server), ["bad"]);
	saw("errors", `tools --json: ${t.tools.length} tools, errors ${JSON.stringify(t.errors.map((e) => ({ server: e.server, error: e.error })))}`);
	const label = t.tools.find((x) => x.server === "one");
	has(JSON.stringify(label), "mcp:one via ");
	saw("label", `tools --json: ${JSON.stringify(label).match(/mcp:one via [^"]*/)[0]}, name ${label.name}`);

	put(`${work}/grow`, "");
	const before = events.at(-1).number;
	const b = new Agent();
	await b.init();
	const again = now();
	const second = await b.tools();
	const answered = now();
	saw("window", `cached: the next session's first tools/list was answered after ${answered - again} ms (windowMs ${/windowMs +(\d+)/.exec((await verb(0, "config", "show")).out)?.[1]})`);
	const deferred = b.echo("one", "patience").then((r) => ({ r, at: now() }));
	const failing = b.echo("dies").then((r) => ({ r, at: now() }));
	const late = await until("one is up for it", () => of("one", "up", before)[0]);
	is(late.time >= answered, `up at ${late.time}, answered at ${answered}`);
	equal(second.filter((n) => !names.includes(n)), []);
	for (const n of ["one", "two", "three", "grows", "dies"]) is(second.includes(`mcp_${n}_echo`), second);
	saw("deferred", `that list had ${second.length} tools of servers that were up ${late.time - answered} ms later or failed: cached ones`);
	const r = await deferred;
	equal(words(r.r), "patience");
	is(r.at >= late.time, "after the connection");
	saw("waits", `a call of mcp_one_echo sent at once was answered ${r.at - late.time} ms after the server was up`);
	const grown = await b.tools_until("the new tool", (n) => n.includes("mcp_grows_tool_") || n.some((x) => /^mcp_grows_tool/.test(x)));
	is(b.heard_of("notifications/tools/list_changed") > 0, "it was told");
	saw("replaced", `grows came late with one more tool: list_changed, ${grown.filter((n) => /^mcp_grows_/.test(n)).length} tools instead of 10; the others as before`);
	const dead_one = await failing;
	is(dead_one.r.result?.isError, dead_one.r);
	const told = log_lines(/dies#\d+: failed: start-failed/);
	equal(told.length, 1);
	saw("late_failure", `dies failed after the gate; log, once: ${told[0].slice(25)}`);
	saw("late_call", `the call that waited for it: isError, "${words(dead_one.r).split("\n")[0]}"`);
	const cached = await until("the cache has it", async () => (n => n === 11 && n)((await verb(null, "tools", "grows", "--json")).json.tools.length));
	saw("cache", `the cache has the ${cached} tools of grows: mcpool tools grows`);
}

// A change of the files reaches an open session; what did not change goes on.
export async function reload() {
	const at = (name, more) => entry({ LEDGER: ledger(name), ...more });
	await serve({ same: at("same"), changed: at("changed"), removed: at("removed") });
	const a = await agent();
	const names = await a.tools();
	for (const n of ["same", "changed", "removed"]) equal(words(await a.echo(n)), "hi");
	const pid = Object.fromEntries(["same", "changed", "removed"].map((n) => [n, pids(n)[0]]));
	const heard = a.heard_of("notifications/tools/list_changed");
	write_config({ same: at("same"), changed: at("changed", { TOOLS: 1 }), added: at("added") });
	await verb(0, "reload");
	const after = await a.tools_until("the new set", (n) => n.some((x) => x.startsWith("mcp_added_")) && n.some((x) => /^mcp_changed_tool/.test(x)) && !n.some((x) => x.startsWith("mcp_removed_")));
	const of_server = (list, n) => list.filter((x) => x.startsWith(`mcp_${n}_`)).length;
	equal(["same", "changed", "removed", "added"].map((n) => of_server(after, n)), [10, 11, 0, 10]);
	equal(after.length, 31);
	is(a.heard_of("notifications/tools/list_changed") > heard, "list_changed");
	saw("set", `after mcpool reload: list_changed; ${names.length} tools of same, changed, removed became ${after.length} of same, changed, added`);
	for (const n of ["same", "changed", "added"]) equal(words(await a.echo(n)), "hi");
	await dead(pid.removed);
	is(pids("same").at(-1) === pid.same && pids("changed").at(-1) !== pid.changed && !lives(pid.changed), "processes");
	saw("difference", `same is process ${pid.same} before and after; changed was ${pid.changed} and is ${pids("changed").at(-1)}; removed (${pid.removed}) is gone`);
	saw("callable", `a call of mcp_added_echo in the same session: ${words(await a.echo("added"))}`);
	await verb(0, "reconnect", "all");
	await until("other processes", async () => (await a.echo("same")).result?.isError !== true && pids("same").at(-1) !== pid.same);
	saw("all", `mcpool reconnect all: same was process ${pid.same} and is ${pids("same").at(-1)}`);
	saw("once", `discovery: events reloaded ${events.filter((e) => e.what === "reloaded").length}: ${events.filter((e) => e.what === "reloaded").map((e) => e.text).join("; ")}`);
	await verb(0, "add", "later", "--", demo);
	await a.tools_until("it is there", (n) => n.includes("mcp_later_echo"));
	saw("late", `mcpool add later, while the session is open: mcp_later_echo is listed and answers ${words(await a.echo("later"))}`);
}

// A transport drops: nothing reconnects it but a person. One is stopped while it starts.
export async function drop() {
	await serve({ a: counted("a", { LEDGER: ledger("a") }), b: entry(), slow: entry({ SLOW_START: 60000 }, { timeout: 90000 }) }, { startup: { uncached: "late" } });
	const x = await agent();
	await x.tools_until("a and b", (n) => n.includes("mcp_a_echo") && n.includes("mcp_b_echo"));
	equal(words(await x.echo("a")), "hi");
	process.kill(pids("a")[0], "SIGKILL");
	const lost = await event("a", "failed");
	const since = now();
	const r = await x.echo("a");
	is(r.result?.isError && words(r).startsWith("MCP error: "), r);
	saw("call", `process ${pids("a")[0]} was killed; a call: isError, "${words(r).split("\n")[0]}"`);
	const names = await x.tools();
	is(names.includes("mcp_b_echo") && words(await x.echo("b")) === "hi", names);
	saw("healthy", "b is listed and answers as before");

	const pid = await until("slow runs", () => processes("WHO=slow")[0]);
	await verb(0, "disable", "--now", "slow");
	await dead(pid);
	is(!(await x.tools()).some((n) => n.startsWith("mcp_slow_")), "no tools");
	saw("disconnect", `mcpool disable --now slow, while it was starting: process ${pid} is gone, no pending start, none of its tools; status: ${(await server_status("slow")).state}`);
	const b = processes("WHO=b")[0];
	await verb(0, "disable", "--now", "b");
	await dead(b);
	await x.tools_until("without b", (n) => !n.some((y) => y.startsWith("mcp_b_")));
	saw("closed", `mcpool disable --now b: process ${b} is gone and its tools left the list`);
	await sleep(Math.max(0, 3000 - (now() - since)));
	equal([starts("a"), of("a", "backoff").length, of("a", "preparing").length, of("a", "checking").length], [1, 0, 1, 0]);
	saw("stays", `${now() - since} ms later: ${starts("a")} start of a, no backoff, no probe; last event ${of("a").at(-1).what}: ${of("a").at(-1).text} (${lost.text})`);
	await verb(0, "reconnect", "a");
	await until("a is back", async () => !(await x.echo("a")).result?.isError);
	equal(starts("a"), 2);
	saw("back", `mcpool reconnect a: process ${pids("a").at(-1)} answers`);
}

// The states of a server in three words; they are shared here, so that mcpool status has them.
export async function statuses() {
	await serve({ a: entry({ SLOW_START: 1500 }), lists: entry({ LIST_DELAY: 1500 }), bad: { command: "/bin/sh", args: ["-c", "exit 3"] } }, { mode: "shared" });
	const word = async (n) => (await server_status(n)).status;
	await event("a", "starting");
	equal(await word("a"), "connecting");
	const s = await server_status("a");
	saw("source", `before a is connected: source ${s.source.file.replace(work, "WORK")}:${s.source.line} (${s.source.tool})`);
	saw("pending", `a, handshake in progress: status ${s.status}, detail ${s.detail}`);
	await event("lists", "listing");
	const l = await server_status("lists");
	equal(l.status, "connecting");
	saw("loading", `lists, connected and its tools still loading: status ${l.status}, detail ${l.detail}`);
	await event("bad", "failed");
	const b = await server_status("bad");
	equal(b.status, "disconnected");
	saw("disconnected", `bad: status ${b.status}, state ${b.state}: ${b.error}`);
	await up("a", "lists");
	const c = await server_status("a");
	equal(c.status, "connected");
	saw("connected", `a, up: status ${c.status}, process ${c.pid}, ${c.tools} tools`);
	const x = await agent();
	const names = await x.tools();
	saw("tools", `one list of ${names.length} tools for callers`);
	const one = c.pid;
	await verb(0, "reload");
	equal((await server_status("a")).pid, one);
	saw("skipped", `mcpool reload with a connected: it is skipped, process ${one} stays`);
}

// initialize, its time limit, and what becomes of a server that misses it
export async function handshake() {
	const web = await far("sdk1", ["http"]), stream = await far("sdk1", ["sse"]);
	await serve({
		plain: { command: node, args: [`${servers}/hostile.mjs`, "plain"], env: { TEST_NOTES: `${work}/notes` }, era: "legacy" },
		hangs: entry({ HANG: "forever" }, { timeout: 1000, era: "legacy" }),
		web: { type: "http", url: `http://127.0.0.1:${web.port}/mcp` },
		stream: { type: "sse", url: `http://127.0.0.1:${stream.port}/sse` },
		invalid: { command: demo, url: "http://127.0.0.1:9/" },
	});
	const a = new Agent();
	await a.init();
	const began = now();
	const running = until("it runs", () => processes("WHO=hangs")[0]);
	const names = await a.tools();
	const took = now() - began;
	const pid = await running;
	for (const n of ["plain", "web", "stream"]) has(words(await a.echo(n)), "hi");
	saw("transports", "calls over stdio, http and sse were answered");
	const order = lines(`${work}/notes`).slice(0, 4);
	equal(order.slice(1, 3), ["initialize", "notifications/initialized"]);
	saw("order", `plain got ${order.join(", ")}`);
	const lost = await event("hangs", "clearing");
	is(lost.time - of("hangs", "preparing")[0].time >= 950, lost);
	has(lost.text, "no answer within 1 s");
	await dead(pid);
	saw("timeout", `hangs, timeout 1000: ${lost.text}; its process ${pid} is gone`);
	saw("waited", `nothing was cached: the first list waited ${took} ms, until hangs had failed, and has ${names.length} tools of the others`);
	const def = (await verb(0, "config", "show", "plain")).out.split("\n").find((l) => l.startsWith("timeout "));
	has(def, /30000 +\(default\)/);
	saw("default", `config show plain: ${def}`);
	const e = (await verb(null, "list", "--json")).json.servers.find((s) => s.name === "invalid");
	is(e.state === "failed" && /both/.test(e.error), e);
	saw("invalid", `list: invalid is ${e.state}: ${e.error}; the others work`);
}

// Errors of calls as content; an abort stays an abort. A subagent uses its parent's connections.
export async function calls() {
	await serve({
		a: entry({ LEDGER: ledger("a"), ENDS: ledger("a") }),
		refuses: { command: node, args: [`${servers}/hostile.mjs`, "refuse-call"] },
		extras: { command: node, args: [`${servers}/hostile.mjs`, "extras"] },
	});
	const x = await agent();
	await x.tools();
	equal(words(await x.echo("a")), "hi");
	saw("live", `mcp_a_echo, live: "hi" from process ${pids("a")[0]}`);
	const failed = await x.call("mcp_a_fail", { message: "no luck" });
	is(failed.result.isError && words(failed) === "no luck", failed);
	saw("is_error", `a tool that says isError: ${JSON.stringify(failed.result)}`);
	const refused = await x.echo("refuses");
	saw("refused", `an error of the server: ${JSON.stringify(refused.result ?? refused.error)}`);
	void x.call("mcp_a_sleep", { ms: 60000 }, "abort");
	await until("it runs", () => lines(ledger("a")).some((l) => l.includes(" sleep ")));
	x.tell("notifications/cancelled", { requestId: "abort", reason: "Escape" });
	await until("cancelled", () => lines(ledger("a")).some((l) => l.includes("end cancelled")));
	equal(words(await x.echo("a")), "hi");
	saw("abort", `an aborted call: the server got notifications/cancelled (${lines(ledger("a")).find((l) => l.includes("end cancelled"))}), no result was sent for it`);
	const child = await agent(["--parent", String((await status()).sessions.find((s) => s.pid === x.bridge.pid).id)]);
	await child.tools();
	equal(words(await child.echo("a", "child")), "child");
	equal(new Set(pids("a")).size, 1);
	saw("subagent", `a session with --parent: its call was answered by process ${pids("a").at(-1)}, its parent's`);
	await child.leave();
	const crash = await x.call("mcp_a_crash");
	is(crash.result?.isError && words(crash).startsWith("MCP error: "), crash);
	saw("error", `the server died in the call: isError, "${words(crash).split("\n")[0]}"`);
	const record = (await verb(0, "call", "--json", "extras/echo", "message=hi")).json;
	equal([record.server, record.tool], ["extras", "echo"]);
	saw("details", `call --json: server ${record.server}, tool ${record.tool}, provider ${JSON.stringify(record.provider)}`);
	saw("flat", `its ${record.content.length} parts as one text: ${JSON.stringify(record.result)}`);
	const shown = await verb(1, "call", "a/fail", "message=no luck");
	has(shown.out + shown.err, "Error: no luck");
	saw("error_text", `mcpool call a/fail: ${(shown.out + shown.err).trim().split("\n")[0]}, exit code ${shown.code}`);
	const lost = await verb(5, "call", "a/crash");
	has(lost.err, /^MCP error: /m);
	saw("mcp_error", `mcpool call a/crash: ${lost.err.split("\n")[0]}, exit code ${lost.code}`);
}

// Everything goes, whatever the others do.
export async function teardown() {
	await serve({ deaf: entry({ IGNORE_TERM: 1, IGNORE_EOF: 1, FORK: 1 }), fine: entry(), slow: entry({ SLOW_START: 60000 }, { timeout: 90000 }) }, { startup: { uncached: "late" } });
	const a = await agent();
	await a.tools_until("two", (n) => n.includes("mcp_deaf_echo") && n.includes("mcp_fine_echo"));
	await until("slow runs", () => processes("WHO=slow").length === 1);
	const all = ["deaf", "fine", "slow"].flatMap((n) => processes(`WHO=${n}`));
	equal(all.length, 4);
	const began = now();
	await down();
	equal(all.filter(lives), []);
	saw("all", `mcpool down: 4 processes (one deaf to SIGTERM, its child, a healthy one, one that was starting) were gone after ${now() - began} ms`);
	is(!fs.existsSync(`${run_folder}/hub.sock`), "the socket is gone");
	for (const n of ["deaf", "fine", "slow"]) is(of(n, "down").length === 1, of(n));
	saw("cleared", `last events: deaf ${of("deaf").at(-1).what}, fine ${of("fine").at(-1).what}, slow ${of("slow").at(-1).what}; no socket`);
	await a.leave();
	const b = await agent(); // starts the next hub
	const hub_pid = Number(read(`${run_folder}/hub.lock`));
	await b.tools_until("fine", (n) => n.includes("mcp_fine_echo"));
	const pid = processes("WHO=fine")[0];
	await b.leave();
	await dead(pid);
	saw("session", `a session that leaves ends its servers without a call for it: process ${pid} is gone, hub ${hub_pid} runs`);
	await verb(0, "down");
}

// Which entries there are, where they come from, and what is filtered out
export async function discovery() {
	const server = (name, more = {}) => ({ command: demo, env: { WHO: name }, ...more });
	const file = (path, mcpServers) => put(path, JSON.stringify({ mcpServers }, null, 1));
	file(`${here}/.omp/mcp.json`, { dup: server("project omp"), native: server("native") });
	file(`${home}/.omp/mcp.json`, { dup: server("user omp"), user_omp: server("user_omp") });
	file(`${here}/.claude/mcp.json`, { claude: server("claude") });
	file(`${here}/.cursor/mcp.json`, { dup: server("cursor"), cursor: server("cursor") });
	put(`${here}/.vscode/mcp.json`, JSON.stringify({ servers: { vscode: server("vscode") } }));
	file(`${here}/mcp.json`, { dup: server("root"), root: server("root"), same: server("native") });
	file(`${here}/.mcp.json`, { dotted: server("dotted"), broken: { type: "pigeon" } });
	await configure({
		off: entry({}, { enabled: false }), exa: entry(), search: { url: "https://mcp.exa.ai/mcp" }, npm: { command: "npx", args: ["-y", "exa-mcp-server"] },
		own: entry(), winner: { type: "pigeon" },
	});
	file(`${here}/.windsurf/mcp_config.json`, { winner: server("loser") });
	const all = (await verb(0, "list", "--all", "--json")).json.servers;
	const at = (s) => `${s.name} ${s.source.file.replace(work, "WORK")}:${s.source.line} (${s.source.tool}, ${s.state})`;
	const by = (name) => all.filter((s) => s.name === name);
	equal(by("dup").map((s) => [s.source.file.replace(work, ""), s.state]), [["/here/.omp/mcp.json", "needs-approval"], ["/home/.omp/mcp.json", "shadowed"], ["/here/.cursor/mcp.json", "shadowed"], ["/here/mcp.json", "shadowed"]]);
	saw("sources", `list --all: ${["native", "user_omp", "claude", "cursor", "vscode", "root", "dotted"].map((n) => at(by(n)[0])).join("; ")}`);
	for (const n of ["native", "user_omp", "claude", "cursor", "vscode", "root", "dotted"]) equal(by(n).length, 1, n);
	saw("first", `four entries named dup: ${by("dup").map(at).join("; ")}`);
	is(!JSON.stringify(by("dup")[0]).includes("user omp"), "not merged");
	equal(by("winner").map((s) => s.state), ["failed", "shadowed"]);
	saw("validated", `winner: ${by("winner").map(at).join("; ")}: ${by("winner")[0].error}`);
	saw("off", `off (enabled: false): ${by("off")[0].state}`);
	equal(by("off")[0].state, "disabled");
	const exa = ["exa", "search", "npm"].map((n) => by(n)[0]);
	saw("exa", `exa by name, host and package: ${exa.map((s) => (s ? `${s.name} ${s.state}${s.error ? `: ${s.error}` : ""}` : "not listed")).join("; ")}`);
	is(exa.every((s) => !s || s.state !== "ready"), exa);
	equal(by("broken")[0].state, "failed");
	saw("invalid", `broken: ${by("broken")[0].state}: ${by("broken")[0].error}`);
	const low = all.map((s) => s.source.file.replace(work, ""));
	is(low.indexOf("/here/mcp.json") > low.indexOf("/here/.omp/mcp.json"), low);
	saw("low", `root mcp.json and .mcp.json come behind .omp, .claude, .cursor: ${[...new Set(low)].join(" ")}`);
	await configure({ own: entry() }, { projectConfig: false });
	const without = (await verb(0, "list", "--all", "--json")).json.servers;
	equal(without.filter((s) => s.source.level === "project").length, 0);
	equal(without.filter((s) => s.name === "dup").map((s) => s.source.file.replace(work, "")), ["/home/.omp/mcp.json"]);
	saw("no_project", `projectConfig: false: ${without.length} entries instead of ${all.length}, none of the project's; dup is now ${at(without.find((s) => s.name === "dup"))}`);
	put(`${here}/.mcp.json`, "{ not json");
	await configure({ own: entry() }, { enabled: false });
	const silent = await verb(null, "tools", "--json");
	equal(silent.json?.tools, []);
	is(!(silent.err + silent.out).includes(".mcp.json:"), silent.err);
	saw("switched_off", `mcpool.enabled: false: no tools, and ${here.replace(work, "WORK")}/.mcp.json, which is broken, was not looked at`);
	await configure({ own: entry() });
	const warned = await verb(null, "list");
	has(warned.err, ".mcp.json");
	saw("bad_json", `list with that file: ${warned.err.split("\n").find((l) => l.includes(".mcp.json"))?.slice(0, 200).replace(work, "WORK")}`);
}

// Discovery itself fails: no tools and one error; the session begins nevertheless.
export async function hard_failure() {
	await configure({ a: entry() });
	fs.mkdirSync(`${work}/gone`);
	const child = program("/bin/sh", ["-c", `cd "${work}/gone" && rmdir "${work}/gone" && exec "${mcpool}" tools --json`]);
	const code = await child.ended;
	const r = JSON.parse(child.out);
	equal([code, r.error.message], [3, "the current directory no longer exists"]);
	saw("error", `mcpool tools --json in a folder that was removed: ${JSON.stringify(r)}, exit code ${code}`);
	put(`${home}/.claude.json`, "{ not json");
	const t = (await verb(0, "tools", "--json")).json;
	is(t.tools.length === 10, t);
	saw("file", `a file of another tool that is not valid: ${t.tools.length} tools of the others`);
}

// --- 004 -------------------------------------------------------------------------------------------

// What an entry must have, by every way in; what is refused leaves the file as it was.
export async function validation() {
	await configure({ ok: { command: demo }, web: { type: "http", url: "http://127.0.0.1:9/mcp", headers: { "X-A": "a" } }, stream: { type: "sse", url: "http://127.0.0.1:9/sse" } });
	const before = read(user);
	const refuse = async (key, code, pattern, ...args) => {
		const r = await verb(code, ...args);
		has(r.err, pattern);
		equal(read(user), before, "the file");
		saw(key, `mcpool ${args.join(" ").slice(0, 120)}: ${r.err.trim().split("\n")[0].replace(/^mcpool: /, "")}`);
	};
	await refuse("both", 3, /Invalid server config: .*both "command" and "url"/, "add-json", "x", '{"command":"x","url":"http://a.example.com"}');
	await refuse("command", 3, /Invalid server config: .*command/, "add-json", "x", '{"type":"stdio"}');
	await refuse("url", 3, /Invalid server config: .*url/, "add-json", "x", '{"type":"http"}');
	await refuse("url", 3, /Invalid server config: .*url/, "add-json", "x", '{"type":"sse"}');
	await refuse("type", 3, /Invalid server config: .*unknown server type "pigeon"/, "add-json", "x", '{"type":"pigeon"}');
	await refuse("edit", 3, /Invalid server config: .*unknown server type "pigeon"/, "edit", "ok", "type=pigeon");
	await refuse("empty", null, /name/i, "add", "", "--", demo);
	await refuse("long", 3, /100/, "add", "n".repeat(101), "--", demo);
	await refuse("chars", 3, "Server name can only contain letters, numbers, dash, underscore, and dot", "add", "a b", "--", demo);
	await refuse("exists", null, /Server "ok" already exists in /, "add", "ok", "--", demo);
	await refuse("not_both", 2, "Use either --url or -- <command...>, not both.", "add", "x", "--url", "http://a.example.com", "--", demo);
	await refuse("token", 2, "--token requires --url (HTTP/SSE transport).", "add", "x", "--token", "-", "--", demo);
	await refuse("token_value", 2, /--token/, "add", "x", "--url", "http://a.example.com", "--token", "secret-value-1");
	await verb(0, "add-json", "n".repeat(100), JSON.stringify({ command: demo }));
	const show = async (n) => Object.fromEntries((await verb(0, "config", "show", n)).out.split("\n").map((l) => /^(\S+) +(.*?)  \(/.exec(l)).filter(Boolean).map((m) => [m[1], m[2]]));
	await verb(0, "add-json", "full", JSON.stringify({ command: demo, args: ["--x"], env: { A: "1" }, cwd: work, timeout: 5000, enabled: true }));
	const full = await show("full"), web = await show("web"), stream = await show("stream");
	for (const k of ["command", "args", "env", "cwd", "timeout", "enabled"]) is(full[k], `${k} of ${JSON.stringify(full)}`);
	saw("stdio", `without type: transport ${(await verb(0, "get", "full", "--json")).json.transport}; command ${full.command.replace(/.*\//, "…/")}, args ${full.args}, env ${full.env}, cwd ${full.cwd}`);
	saw("http", `type http: url ${web.url}, headers ${web.headers}`);
	saw("sse", `type sse: transport ${(await verb(0, "get", "stream", "--json")).json.transport}, url ${stream.url}`);
	saw("shared", `enabled ${full.enabled}, timeout ${full.timeout}; auth is a key, too (issue 19 brings logins)`);
	await verb(0, "add-json", "inferred", '{"url":"http://127.0.0.1:9/mcp"}');
	const inferred = (await verb(0, "get", "inferred", "--json")).json.transport;
	equal(inferred, "http");
	saw("inferred", `only a url, no type: transport ${inferred}`);
	saw("reach", `${(await verb(0, "list", "--json")).json.servers.find((s) => s.name === "inferred").state} although nothing listens at its url: the entry alone is validated`);
	await verb(0, "add", "typed", "--", demo);
	has(read(user).slice(before.length - 3), '"type": "stdio"');
	saw("typed", "mcpool add writes the type: \"type\": \"stdio\"");
}

// Variables, commands, names of variables, and what becomes of those without a value
export async function values() {
	Object.assign(process.env, { REPLAY_VAR: "from-the-environment", REPLAY_NAMED: "by-its-name" });
	let sent = "";
	const port = await new Promise((resolve) => {
		const server = net.createServer((s) => s.on("data", (b) => ((sent += b), s.destroy())).on("error", () => {})).listen(0, "127.0.0.1", () => resolve(server.address().port));
		server.unref();
	});
	const env = {
		SET: "${REPLAY_VAR}", DEFAULT: "${REPLAY_MISSING:-a default}", LITERAL: "${REPLAY_MISSING}", COMMAND: "!echo '  from a command '; echo x >>\"" + work + "/ran\"",
		NAMED: "REPLAY_NAMED", PLAIN: "plain words", EMPTY: "!exit 3",
	};
	await serve({
		local: scripted(`env >"${work}/env"`, { env }),
		again: scripted(`env >"${work}/env2"`, { env: { ...env, N: "2" } }),
		web: { type: "http", url: `http://127.0.0.1:${port}/mcp`, headers: { "X-Set": "${REPLAY_VAR}", "X-Command": "!echo from a command", "X-Named": "REPLAY_NAMED", "X-Plain": "plain", "X-Empty": "!exit 3" }, timeout: 2000 },
	});
	put(`${home}/.claude.json`, JSON.stringify({ mcpServers: {} }));
	const a = await agent();
	await a.tools();
	const got = Object.fromEntries(lines(`${work}/env`).map((l) => [l.slice(0, l.indexOf("=")), l.slice(l.indexOf("=") + 1)]));
	equal(["SET", "DEFAULT", "LITERAL", "COMMAND", "NAMED", "PLAIN"].map((k) => got[k]),
		["from-the-environment", "a default", "${REPLAY_MISSING}", "from a command", "by-its-name", "plain words"]);
	is(!("EMPTY" in got), got.EMPTY);
	saw("variable", `"${env.SET}" became ${got.SET}, "${env.DEFAULT}" became ${got.DEFAULT}`);
	saw("literal", `"${env.LITERAL}", which is not set, stayed ${got.LITERAL}`);
	saw("command", `"!echo '  from a command '" became "${got.COMMAND}"; it ran ${lines(`${work}/ran`).length} time for two servers`);
	saw("named", `"REPLAY_NAMED" became ${got.NAMED}; "plain words" stayed ${got.PLAIN}`);
	saw("omitted", `"!exit 3": EMPTY is not in the environment of the server`);
	await until("a request", () => sent.includes("\r\n\r\n"));
	has(sent, /^x-set: from-the-environment\r$/im, /^x-command: from a command\r$/im, /^x-named: by-its-name\r$/im, /^x-plain: plain\r$/im);
	is(!/^x-empty/im.test(sent), sent);
	saw("headers", "X-Set: from-the-environment, X-Command: from a command, X-Named: by-its-name, X-Plain: plain; no X-Empty");
	const warned = log_lines(/EMPTY|exit 3|X-Empty/)[0] ?? (await verb(null, "list")).err.split("\n").find((l) => /EMPTY/.test(l));
	is(warned, hub.err);
	saw("warned", `log: ${warned.replace(/^\S+Z /, "").slice(0, 240)}`);
}

// Wrong types of some values are warnings; a broken file is one; our own files are never written over it.
export async function warnings() {
	put(`${here}/mcp.json`, '{"mcpServers": {"odd": {"command": "x", "enabled": "maybe", "timeout": "soon"}, "fine": {"command": "y"}}}');
	await configure({ ok: entry() });
	const r = await verb(null, "list");
	has(r.err, "enabled", "timeout", "mcp.json:1:");
	saw("types", r.err.trim().split("\n").filter((l) => /enabled|timeout/.test(l)).map((l) => l.replace(/^mcpool: /, "").replace(work, "WORK")).join("; "));
	equal((await verb(null, "list", "--json")).json.servers.map((s) => s.name).sort(), ["fine", "odd", "ok"]);
	put(`${here}/mcp.json`, "{ not json");
	const bad = await verb(null, "list", "--json");
	equal(bad.json.servers.map((s) => s.name), ["ok"]);
	const words_of_it = await verb(null, "list");
	has(words_of_it.err, "not valid JSON");
	saw("file", words_of_it.err.trim().split("\n")[0].replace(/^mcpool: /, "").replace(work, "WORK"));
	put(user, "{ not json");
	const write = await verb(null, "add", "x", "--", demo);
	is(write.code !== 0 && read(user) === "{ not json", write);
	saw("writer", `mcpool add with a broken file of our own: exit code ${write.code}, ${write.err.trim().split("\n")[0].replace(/^mcpool: /, "").replace(work, "WORK")}; the file is unchanged`);
	write_config({ gone: { type: "http", url: "http://127.0.0.1:9/mcp", auth: { type: "oauth", credentialId: "nobody" } }, local: entry({}, { auth: { type: "oauth", credentialId: "nobody" } }) });
	await verb(0, "trust", "--user-file", "--yes");
	const t = await verb(null, "tools", "local", "--json");
	saw("auth", `an entry with auth and no such credential: ${t.json.tools.length} tools of it: it was started without; ${(t.err + (await verb(null, "list")).err).trim().split("\n").filter((l) => /auth|credential/i.test(l)).slice(0, 1).join("") || "no word of it"}`);
}

// Public names: letters and underscores
export async function names() {
	const tools = ["Search_Code", "get2files", "a--b..c", "twin_get", "same"].map((name) => ({ name, inputSchema: { type: "object" } }));
	put(`${work}/tools.json`, JSON.stringify(tools));
	const server = (n) => ({ command: node, args: [`${servers}/changing.mjs`], env: { TOOLS: `${work}/tools.json`, TEST_NOTES: `${work}/called`, N: n } });
	await serve({ twin: server(1), "My-Server": server(2), "my.server": server(3), s3: server(4) });
	const a = await agent();
	const list = await a.list();
	const by = list.map((t) => t.name);
	const of_twin = by.filter((n) => n.startsWith("mcp_twin_"));
	for (const n of ["mcp_twin_search_code", "mcp_twin_get_files", "mcp_twin_a_b_c", "mcp_twin_get", "mcp_twin_same"]) is(by.includes(n), by);
	saw("rules", `server twin, tools ${tools.map((t) => t.name).join(", ")}: ${of_twin.join(", ")}`);
	is(by.every((n) => /^[a-z_]+(_[0-9a-f]{8})?$/.test(n) && !/__/.test(n)), by);
	saw("server", `server s3: ${by.filter((n) => n.startsWith("mcp_s_")).join(", ")}`);
	const collided = by.filter((n) => /^mcp_my_server_/.test(n));
	equal(new Set(collided).size, 10);
	saw("collision", `My-Server and my.server: ${collided.slice(0, 2).join(", ")}, ...: neither takes the other's place, each has a hash`);
	const told = [...events.filter((e) => /my_server/.test(e.text)).map((e) => e.text), ...log_lines(/my_server/)][0];
	saw("told", `the hub reports it: ${String(told).replace(/^\S+Z /, "").slice(0, 200)}`);
	is(told, "the collision is reported");
	const schema = list.find((t) => t.name === "mcp_twin_get").inputSchema;
	equal(schema, { type: "object", properties: {} });
	saw("schema", `inputSchema {"type":"object"} of the server is ${JSON.stringify(schema)} for the agent`);
	equal(text_of(await a.call("mcp_twin_get")), "twin_get");
	saw("call", "a call of mcp_twin_get reached twin_get");
}

// The verbs of an operator, with a session open
export async function operator() {
	await serve({ first: entry() });
	const a = await agent();
	await a.tools();
	const seen = { read: 0, broken: 0 };
	const watch = setInterval(() => {
		seen.read++;
		try {
			JSON.parse(read(user).replace(/^\s*\/\/.*$/gm, ""));
		} catch {
			seen.broken++;
		}
	}, 1);
	const listed = (words, name, wanted) => a.tools_until(words, (n) => n.includes(`mcp_${name}_echo`) === wanted);
	saw("add", (await verb(0, "add", "extra", "--env", "WHO=extra", "--env", `MCPOOL_TEST_MARK=${work}`, "--", demo)).out.trim().split("\n")[0]);
	await listed("added", "extra", true);
	saw("live_add", `the open session lists mcp_extra_echo: ${text_of(await a.echo("extra"))}`);
	saw("disable", (await verb(0, "disable", "extra")).out.trim().split("\n")[0]);
	await listed("disabled", "extra", false);
	const off = await verb(3, "call", "extra/echo", "message=hi");
	has(off.err, 'Server "extra" is disabled. Run `mcpool enable extra` first.');
	saw("is_disabled", off.err.trim().split("\n")[0]);
	saw("enable", (await verb(0, "enable", "extra")).out.trim().split("\n")[0]);
	await listed("enabled", "extra", true);
	saw("test", (await verb(0, "test", "extra")).out.trim().split("\n")[0]);
	saw("reload", (await verb(0, "reload")).out.trim().split("\n")[0] || "mcpool reload: exit code 0");
	saw("remove", (await verb(0, "rm", "extra")).out.trim().split("\n")[0]);
	await listed("removed", "extra", false);
	saw("live_remove", "after each change the session's list followed, without another session");
	for (let i = 0; i < 10; i++) {
		const before = fs.statSync(user).ino; // the one before it may come back, this one cannot
		await verb(0, "add", `n${i}`, "--", "/bin/true");
		is(fs.statSync(user).ino !== before, "the same inode");
	}
	clearInterval(watch);
	is(seen.broken === 0 && seen.read > 10, seen);
	equal(fs.readdirSync(user.replace(/\/[^/]*$/, "")).filter((f) => !/^mcp\.json$/.test(f) && !/lock/.test(f)), []);
	saw("atomic", `15 changes: another inode each time; a reader beside them read the file ${seen.read} times and never half of it; no other file is left`);
	const t = (await verb(0, "tools", "--json")).json;
	saw("headless", `mcpool tools --json: ${t.tools.length} tools, errors ${JSON.stringify(t.errors.map((e) => e.server))}`);
	has(JSON.stringify(t.errors), "n0");
}

// What a failed connection says
export async function failures() {
	const locked = await far("hostile_http", ["401"]), forbidden = await far("hostile_http", ["403"]);
	await configure({
		hangs: entry({ HANG: "forever" }, { timeout: 1000, era: "legacy" }), dies: { command: "/bin/sh", args: ["-c", "echo no database >&2; exit 3"] },
		locked: { url: `http://127.0.0.1:${locked.port}/mcp` }, forbidden: { url: `http://127.0.0.1:${forbidden.port}/mcp` },
	});
	const tests = await Promise.all(["dies", "hangs", "locked", "forbidden"].map((n) => verb(null, "test", n)));
	const [dies, hangs, auth, denied] = tests.map((t) => (t.err + t.out).trim());
	has(dies, 'Failed to connect to "dies": ', "no database");
	saw("failed", dies.split("\n").slice(0, 2).join(" / "));
	has(hangs, 'Failed to connect to "hangs": ', "timeout");
	saw("timeout", hangs.split("\n").filter((l) => /Failed|timeout/i.test(l)).slice(0, 3).join(" / "));
	for (const [n, words] of [["401", auth], ["403", denied]]) {
		has(words, n);
		saw("auth", `${n}: ${words.split("\n").slice(0, 3).join(" / ")}`);
	}
}

// The wizard, on a terminal
export async function wizard() {
	await configure({});
	const child = program(demo.replace(/demo-server$/, "pty"),
		["Name:=wiz", "Where:=", "Transport:=", `arguments=${demo}`, "no more]=", "Test it now?=y", "--", mcpool, "add"]);
	equal(await child.ended, 0, child.out);
	has(child.out, 'Added stdio server "wiz"', "works, 10 tools");
	saw("asks", `mcpool add on a terminal asks: ${[...child.out.matchAll(/^(Name|Where|Transport|Command and arguments|Environment variable|Test it now)/gm)].map((m) => m[1]).join(", ")}`);
	saw("added", child.out.split(/\r?\n/).filter((l) => /works|Added/.test(l)).join(" / "));
}
