// claude_cases.mjs - what test_claude.sh replays of seed 001.
import * as fs from "node:fs";
import * as http from "node:http";
import {
	agent, configure, counted, dead, delays, demo, down, entry, equal, event, far, follows, has, here, home, hub, is,
	ledger, mcpool, node, now, of, pids, processes, program, put, read, saw, serve, servers, starts, state, status,
	text_of, until, up, user, verb, work, write_config,
} from "./replay.mjs";

const kinds = { http: ["http", "http", "/mcp"], sse: ["sse", "http", "/sse"], websocket: ["ws", "ws", "/mcp"] };

// Remote servers are lost: five attempts, after 1, 2, 4, 8 and 16 s, then none. A process that is lost stays so.
export async function backoff() {
	const remote = {}, entries = { local: counted("local", { LEDGER: ledger("local") }) };
	await Promise.all([...Object.keys(kinds), "back"].map(async (name) => {
		const [way, scheme, path] = kinds[name] ?? kinds.http;
		remote[name] = await far("sdk1", [way]);
		entries[name] = { type: kinds[name] ? name : "http", url: `${scheme}://127.0.0.1:${remote[name].port}${path}` };
	}));
	await serve(entries);
	const a = await agent();
	for (const name of Object.keys(entries)) has(text_of(await until(`${name} answers`, async () => (r => r.result && r)(await a.echo(name)))), "hi");
	process.kill(pids("local")[0], "SIGKILL");
	await Promise.all(Object.values(remote).map((r) => r.stop()));
	await event("back", "backoff", 3);
	await far("sdk1", ["http", remote.back.port]);
	const lost = await event("local", "failed");
	const back = await event("back", "up", 2);
	saw("back", `a server that listens again: up with attempt ${delays("back").length} (event ${back.number}); a call: ${text_of(await until("it answers", async () => (r => r.result && r)(await a.echo("back"))))}`);
	for (const name of Object.keys(kinds)) {
		await event(name, "failed", 1, 120);
		saw("schedule", follows(name, [1000, 2000, 4000, 8000, 16000]));
		saw("attempts", `${name}: ${of(name, "preparing").length - 1} attempts, then ${of(name, "failed")[0].what}: ${of(name, "failed")[0].text}`);
	}
	equal([starts("local"), of("local", "backoff").length], [1, 0]);
	saw("stdio", `local (stdio) was killed: ${lost.text}; ${now() - lost.time} ms later still 1 start, no attempt`);
	await verb(0, "reconnect", "local");
	await until("local answers", async () => (await a.echo("local")).result);
	saw("manual", `mcpool reconnect local: process ${pids("local").at(-1)} answers (it was ${pids("local")[0]})`);
}

// The five states with what belongs to them; the servers are shared here, so that mcpool status has them.
export async function states() {
	const auth = await far("hostile_http", ["401"]), lost = await far("sdk1", ["http"]);
	await serve({
		connected: entry(), failed: { command: "/bin/sh", args: ["-c", "echo no database >&2; exit 3"] },
		auth: { url: `http://127.0.0.1:${auth.port}/mcp` }, pending: { url: `http://127.0.0.1:${lost.port}/mcp` }, disabled: entry(),
	}, { mode: "shared" });
	await up("connected", "pending", "disabled");
	await lost.stop();
	const before = read(user);
	await verb(0, "disable", "--now", "disabled");
	equal(read(user), before);
	await far("hostile_http", ["silent", lost.port]); // the attempt goes on
	const of_name = async (n) => (await verb(null, "status", n, "--json")).json;
	const c = await of_name("connected");
	is(c.state === "connected" && c.capabilities.tools && c.serverInfo.name === "mcpool-demo" && c.instructions, c);
	saw("connected", `status connected: state ${c.state}, capabilities ${JSON.stringify(c.capabilities)}, serverInfo ${c.serverInfo.name} ${c.serverInfo.version}, instructions "${c.instructions.slice(0, 40)}..."`);
	const f = await of_name("failed");
	is(f.state === "failed" && /no database/.test(f.error) && f.failedAt > 0, f);
	saw("failed", `status failed: state ${f.state}, error ${f.error}, failedAt ${new Date(f.failedAt).toISOString()}`);
	const n = await until("it is known", async () => (s => s.state === "needs-auth" && s)(await of_name("auth")));
	saw("needs_auth", `status auth: state ${n.state}, ${n.error ?? n.message}; attempts since: ${of("auth", "backoff").length}`);
	equal(of("auth", "backoff").length, 0);
	const p = await until("it is pending", async () => (s => s.state === "pending" && s.attempt && s)(await of_name("pending")));
	equal(p.maxAttempts, 5);
	saw("pending", `status pending: state ${p.state}, detail ${p.detail}, attempt ${p.attempt} of ${p.maxAttempts}`);
	const d = await of_name("disabled");
	equal(d.state, "disabled");
	saw("disabled", `status disabled: state ${(await verb(null, "status", "disabled")).out.split("\n").find((l) => l.startsWith("state")).replace(/^state +/, "")}; its file is unchanged`);
	saw("all", `status --json: ${(await status()).servers.map((s) => `${s.name} ${s.state}`).join(", ")}`);
}

// A display is drawn at most once in 16 ms, however many servers change at once.
export async function batches() {
	await configure(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`s${i}`, entry()])), { mode: "shared" });
	const child = program("script", ["-qec", `"${mcpool}" serve`, "/dev/null"], { TERM: "xterm" });
	await until("the first frame", () => child.out.includes("RESTARTS"));
	const began = now();
	await until("all are up", async () => (await status())?.servers?.filter((s) => s.state === "connected").length === 50);
	const shown = (await until("the display has it", () => /mcpool, 50 servers, 50 connected/.exec(child.out)))[0];
	const frames = child.out.split("RESTARTS").length - 1, took = now() - began;
	is(frames <= took / 16 + 2 && frames < 250, `${frames} frames in ${took} ms`);
	saw("frames", `50 servers started at once, each with 5 steps: the display was drawn ${frames} times in ${took} ms, and ends with "${shown}"`);
	const with_display = await (await agent()).tools();
	await verb(0, "down");
	await child.ended;
	await verb(0, "up");
	const without = await (await agent()).tools_until("all", (n) => n.length === with_display.length);
	equal(without, with_display);
	saw("headless", `the same hub in the background: the same ${without.length} tools`);
	await verb(0, "down");
}

// Local files first and without waiting, then the remote source; what is there twice is there once.
export async function phases() {
	const server = (who) => ({ command: "/bin/sh", args: ["-c", `exec "${demo}"`, who], env: { MCPOOL_TEST_MARK: work } });
	let release, asked = 0;
	const held = new Promise((r) => (release = r));
	let hold = false;
	const source = await new Promise((resolve) => {
		const s = http.createServer(async (_, res) => {
			asked++;
			if (hold) await held;
			res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ mcpServers: { distant: server("distant"), twin: server("user") } }));
		}).listen(0, "127.0.0.1", () => resolve(s));
	});
	source.unref();
	put(`${home}/.claude.json`, JSON.stringify({ mcpServers: { user: server("user") }, projects: { [here]: { mcpServers: { local: server("local") } } } }));
	put(`${here}/.mcp.json`, JSON.stringify({ mcpServers: { project: server("project") } }));
	put(`${home}/.claude/plugins/installed_plugins.json`, JSON.stringify({ version: 2, plugins: { "tools@market": [{ scope: "user", installPath: `${home}/plugin` }] } }));
	put(`${home}/plugin/.mcp.json`, JSON.stringify({ mcpServers: { helper: server("helper") } }));
	put(`${work}/dynamic.json`, JSON.stringify({ mcpServers: { dynamic: server("dynamic") } }));
	await configure({}, { remote: [`http://127.0.0.1:${source.address().port}/c.json`] });
	await verb(0, "list");
	await verb(0, "trust", "--all", "--yes", "--config", `${work}/dynamic.json`);
	const all = (await verb(0, "list", "--all", "--json")).json.servers;
	const twin = all.find((s) => s.name === "twin");
	equal(twin.state, "shadowed");
	saw("dedup", `twin of the remote source opens the connection of user in ~/.claude.json: ${twin.state}`);
	fs.rmSync(`${state}/catalogues`, { recursive: true }); // its copy: as if it had never been fetched
	hold = true;
	await serve();
	const a = await agent(["--config", `${work}/dynamic.json`]);
	const local = ["user", "local", "project", "tools_helper", "dynamic"];
	const names = await a.tools_until("the local ones", (n) => local.every((s) => n.includes(`mcp__${s}__echo`)));
	await until("the source was asked", () => asked >= 1);
	is(!names.some((n) => n.startsWith("mcp__distant__")), names);
	saw("first", `while the remote source did not answer (it was asked): tools of ${local.join(", ")} (user, local, project, plugin, --config)`);
	equal(text_of(await a.echo("user")), "hi");
	const heard = a.heard_of("notifications/tools/list_changed");
	release();
	await a.tools_until("the remote one", (n) => n.includes("mcp__distant__echo"));
	await until("it was told", () => a.heard_of("notifications/tools/list_changed") > heard);
	equal(text_of(await a.echo("distant")), "hi");
	saw("second", `the remote source answered: list_changed, and mcp__distant__echo is there, without another session`);
	const shown = (await verb(0, "list", "--json")).json.servers;
	saw("scopes", shown.map((s) => `${s.name} ${s.source.tool} ${s.source.level}`).join(", "));
}

// A server says that its lists changed: they are fetched again, and the session is told.
export async function changes() {
	const file = `${work}/offers.json`, write = (more) => put(file, JSON.stringify({ who: "t", tools: ["one"], prompts: ["p"], resources: ["r://1"], ...more }));
	write({});
	await serve({ t: { command: node, args: [`${servers}/taker.mjs`, file] } });
	const a = await agent();
	await a.tools_until("one", (n) => n.includes("mcp__t__one"));
	const kinds = ["tools", "prompts", "resources"];
	const lists = async () => [await a.tools(), (await a.ask("prompts/list")).result.prompts.map((p) => p.name), (await a.ask("resources/list")).result.resources.map((r) => r.uri)];
	const before = await lists();
	write({ tools: ["one", "two"], prompts: ["p", "q"], resources: ["r://1", "r://2"] });
	for (const k of kinds) await until(`${k} changed`, () => a.heard_of(`notifications/${k}/list_changed`) > 0);
	const after = await until("the new lists", async () => (l => l.every((x) => x.length === 2) && l)(await lists()));
	saw("told", `the session heard ${kinds.map((k) => `notifications/${k}/list_changed`).join(", ")}`);
	saw("fetched", `lists before: ${JSON.stringify(before)}, after: ${JSON.stringify(after)}`);
	const cached = await until("the cache has it", async () => (l => l.length === 2 && l)((await verb(0, "tools", "t", "--json")).json.tools.map((t) => t.tool)));
	saw("cache", `mcpool tools t: ${cached.join(", ")}`);
}

// What is outdated goes: another configuration, a plugin that was removed.
export async function stale() {
	const server = (name, n) => ({ command: demo, env: { WHO: name, N: String(n), MCPOOL_TEST_MARK: work } });
	const plugins = (keys) => put(`${home}/.claude/plugins/installed_plugins.json`, JSON.stringify({ version: 2, plugins: keys }));
	const tools = { "tools@market": [{ scope: "user", installPath: `${home}/plugin` }] };
	plugins(tools);
	put(`${home}/plugin/.mcp.json`, JSON.stringify({ mcpServers: { helper: server("helper", 1) } }));
	await configure({ changed: server("changed", 1), same: server("same", 1) });
	await verb(0, "trust", "--all", "--yes");
	await serve();
	const a = await agent();
	await a.tools_until("all", (n) => ["changed", "same", "tools_helper"].every((s) => n.includes(`mcp__${s}__echo`)));
	const pid = Object.fromEntries(["changed", "same", "helper"].map((n) => [n, processes(`WHO=${n}\0`)[0]]));
	write_config({ changed: server("changed", 2), same: server("same", 1) });
	await dead(pid.changed);
	const next = await until("its successor", () => processes("WHO=changed\0")[0]);
	is(fs.readFileSync(`/proc/${next}/environ`, "utf8").includes("N=2"), "the new entry");
	equal(processes("WHO=same\0"), [pid.same]);
	saw("hash", `the entry of changed was edited: process ${pid.changed} is gone, ${next} runs with the new entry; same is ${pid.same} as before`);
	plugins({});
	await dead(pid.helper);
	await a.tools_until("without the plugin", (n) => !n.some((x) => x.includes("helper")));
	equal(processes("WHO=helper\0"), []);
	saw("plugin", `plugin tools@market was removed: its server (process ${pid.helper}) is gone, its tools left the open session`);
}

// Reconnect and toggle, without a file; files for one session
export async function toggle() {
	await serve({ a: counted("a", { LEDGER: ledger("a") }), b: counted("b", { LEDGER: ledger("b") }) });
	const [x, y] = [await agent(), await agent()];
	for (const s of [x, y]) await s.tools_until("both", (n) => n.includes("mcp__a__echo") && n.includes("mcp__b__echo"));
	equal(text_of(await x.echo("a")), "hi");
	const first = pids("a")[0];
	await verb(0, "reconnect", "a");
	await until("another process", async () => (await x.echo("a")).result && pids("a").at(-1) !== first);
	await dead(first);
	saw("reconnect", `mcpool reconnect a: process ${first} is gone, ${pids("a").at(-1)} answers`);
	const before = read(user);
	const id = (await status()).sessions.find((s) => s.pid === x.bridge.pid).id;
	await verb(0, "disable", "b", "--session", String(id));
	await x.tools_until("without b", (n) => !n.includes("mcp__b__echo"));
	is((await y.tools()).includes("mcp__b__echo"), "the other has it");
	saw("session", `mcpool disable b --session ${id}: that session has no tool of b, the other one keeps it`);
	await verb(0, "enable", "b", "--session", String(id));
	await x.tools_until("with b", (n) => n.includes("mcp__b__echo"));
	await verb(0, "disable", "--now", "a");
	for (const s of [x, y]) await s.tools_until("without a", (n) => !n.includes("mcp__a__echo"));
	const r = await x.echo("a");
	equal(r.error?.data?.code, "mcp_disabled", JSON.stringify(r));
	await until("its processes are gone", () => processes("WHO=a\0").length === 0);
	await verb(0, "enable", "--now", "a");
	for (const s of [x, y]) {
		await s.tools_until("with a", (n) => n.includes("mcp__a__echo"));
		equal(text_of(await until("it answers", async () => (q => q.result && q)(await s.echo("a")))), "hi");
	}
	is(pids("a").at(-1) !== pids("a").at(-2), pids("a")); // each has its own
	equal(read(user), before);
	saw("toggle", `mcpool disable --now a, then enable --now a: its tools left both sessions and came back, each with a process of its own (${pids("a").slice(-2).join(", ")}); a call meanwhile: ${r.error.message}; the file did not change by a byte`);
	const extra = `${work}/extra.json`;
	put(extra, JSON.stringify({ mcpServers: { x: { command: demo, env: { WHO: "x", MCPOOL_TEST_MARK: work } } } }));
	await verb(0, "trust", "--config", extra, "--yes");
	const dynamic = await agent(["--config", extra]);
	await dynamic.tools_until("all three", (n) => ["a", "b", "x"].every((s) => n.includes(`mcp__${s}__echo`)));
	await verb(0, "trust", "--config", extra, "--strict-config", "--yes");
	const strict = await agent(["--config", extra, "--strict-config"]);
	const alone = await strict.tools_until("x", (n) => n.includes("mcp__x__echo"));
	is(alone.every((n) => n.startsWith("mcp__x__")), alone);
	is(!(await x.tools()).some((n) => n.startsWith("mcp__x__")), "others do not have it");
	saw("dynamic", "mcpool stdio --config extra.json: tools of a, b and x; with --strict-config of x alone; other sessions have no x");
}
