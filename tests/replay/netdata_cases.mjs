// netdata_cases.mjs - what test_netdata.sh replays of seeds 002 and 003.
import * as fs from "node:fs";
import * as net from "node:net";
import {
	Agent, agent, configure, counted, dead, delays, demo, down, entry, equal, event, events, far, follows, has,
	home, hub, is, ledger, lines, lives, log, log_lines, node, now, of, pids, processes, put, read,
	run_folder, saw, serve, server_status, servers, sleep, starts, starts_file, state, status, text_of, until, up,
	verb, work,
} from "./replay.mjs";

// Two sessions: one process of the shared server, two of the private one; who leaves takes the private one along.
export async function shared() {
	await serve({ one: entry({ LEDGER: ledger("one") }), own: entry({ LEDGER: ledger("own") }, { shared: false }) });
	const [a, b] = [await agent(), await agent()];
	for (const x of [a, b]) {
		await x.tools_until("both", (n) => n.includes("one__echo") && n.includes("own__echo"));
		for (const s of ["one", "own"]) equal(text_of(await x.echo(s)), "hi");
	}
	const [one, own] = [[...new Set(pids("one"))], [...new Set(pids("own"))]];
	equal([one.length, own.length], [1, 2], "processes");
	saw("pids", `two sessions: calls of the shared server reached process ${one}, of the one with shared: false ${own.join(" and ")}`);
	const s = await server_status("one");
	equal([s.mode, (await server_status("own")).mode, s.pid], ["shared", "session", one[0]]);
	saw("modes", "status: mode of one shared (nothing was written), of own session");
	const waiting = a.call("one__sleep", { ms: 1500 });
	const open = await until("a call is open", async () => (s => s.open === 1 && s)(await server_status("one")));
	saw("references", `status of one: open ${open.open}, calls ${open.calls}, sessions ${(await status()).sessions.length}`);
	await waiting;
	await a.leave();
	await dead(own[0]);
	is(lives(one[0]) && lives(own[1]), "others live");
	await b.leave();
	await dead(own[1]);
	is(lives(one[0]), "the shared one lives");
	saw("leaving", `first session left: ${own[0]} ended, ${own[1]} and ${one[0]} run; second left: ${own[1]} ended, ${one[0]} runs`);
	const c = await agent();
	equal(text_of(await c.echo("one")), "hi");
	equal([...new Set(pids("one"))], one);
	saw("resident", `a third session was served by ${one[0]}, started once`);
	await down();
	is(!lives(one[0]), "gone with the hub");
}

// Three causes of a failure enter the same loop, and only a switch ends it.
export async function relentless() {
	await serve({
		start: counted("start", { FAIL_STARTS: "1-4" }),
		exit: counted("exit", { FAIL_STARTS: "2-3" }),
		probe: counted("probe", { FAIL_STARTS: "2-3", BLOCK: "forever", FROM_CALL: 1 }, { toolTimeout: 300, healthProbe: "listTools" }),
		stop: counted("stop", { FAIL_STARTS: "1-99" }),
	});
	await up("exit", "probe");
	process.kill((await server_status("exit")).pid, "SIGKILL");
	const a = new Agent();
	await a.init();
	equal((await a.echo("probe")).error?.data?.code, "mcp_timeout");
	await event("stop", "backoff", 4);
	await verb(0, "disable", "stop");
	const stopped = await until("it is switched off", async () => (await server_status("stop")).state === "disabled" && events.at(-1).number);
	const count = starts("stop");
	await Promise.all([event("start", "up"), event("exit", "up", 2), event("probe", "up", 2)]);
	saw("start", follows("start", [0, 1000, 2000, 5000]));
	saw("exit", follows("exit", [0, 1000, 2000]));
	saw("probe", follows("probe", [0, 1000, 2000]));
	equal([starts("start"), starts("exit"), starts("probe")], [5, 4, 4], "starts");
	equal([of("stop", "preparing", stopped).length, starts("stop")], [0, count], "starts after it was switched off");
	saw("stop", `stop: ${count} starts, all failed; after "mcpool disable stop" none, in the running hub`);
	for (const [name, cause] of [["start", "start-failed"], ["exit", "transport-exit"], ["probe", "probe-failed"]]) {
		const first = of(name, "clearing")[0].text;
		is(first.startsWith(cause), first);
		saw(`cause_${name}`, `${name}: event clearing: ${first}`);
	}
	const [attempts, failures] = [log_lines(/ ERR mcp:exit: starting: attempt \d/), log_lines(/ ERR mcp:exit: failed: /)];
	equal([attempts.length, failures.length], [3, 3], "lines at ERR");
	saw("log", `log: ${[failures[0], attempts[0], failures[1], attempts[1]].map((l) => l.slice(25)).join("; ")}`);
	saw("once", `start: ${of("start", "preparing").length} attempts, ${starts("start")} processes: one loop`);
}

// A private server has one retry. A timeout restarts it, each time; it does not restart a shared one.
export async function private_server() {
	await serve({
		bad: counted("bad", { FAIL_STARTS: "1-99" }, { shared: false }),
		own: counted("own", { LEDGER: ledger("own"), FORK: 2 }, { shared: false, toolTimeout: 400 }),
		all: counted("all", { LEDGER: ledger("all") }, { toolTimeout: 400 }),
	});
	const a = await agent();
	await a.tools_until("own and all", (n) => n.includes("own__echo") && n.includes("all__echo"));
	for (const s of ["own", "all"]) {
		const r = await a.call(`${s}__sleep`, { ms: 60000 });
		equal(r.error?.data?.code, "mcp_timeout", JSON.stringify(r));
		has(r.error.message, /\(tool failed: timeout\)$/);
		saw("words", `${s}: ${r.error.message}`);
		await until(`${s} serves`, async () => (await a.echo(s)).result);
	}
	const [own, all] = [pids("own"), pids("all")];
	is(own[0] !== own.at(-1) && all[0] === all.at(-1), `${own} ${all}`);
	is(!lives(own[0]), `${own[0]} lives`);
	saw("timeout", `a call timed out: private server was process ${own[0]} and is ${own.at(-1)}; shared server is ${all[0]} before and after`);
	await until("two starts", () => starts("bad") >= 2);
	await until("it is given up", () => of("bad", "failed")[0]);
	equal(starts("bad"), 2);
	saw("once", `bad with shared: false: ${starts("bad")} starts, then ${of("bad").at(-1).what}: ${of("bad").at(-1).text}`);
	const tree = processes(`MCPOOL_DEMO_STATE=${starts_file("own")}`);
	is(tree.length === 3, `${tree.length} processes`);
	const before = events.at(-1).number;
	for (let i = 0; i < 20; i++) {
		for (const s of ["own", "all"]) {
			void a.call(`${s}__sleep`, { ms: 60000 }, `abort-${s}-${i}`);
			await until("it is there", () => lines(ledger(s)).filter((l) => l.includes(" sleep ")).length === i + 2);
			a.tell("notifications/cancelled", { requestId: `abort-${s}-${i}`, reason: "the user pressed Escape" });
		}
	}
	for (const s of ["own", "all"]) equal(text_of(await a.echo(s)), "hi");
	equal([pids("own").at(-1), pids("all").at(-1)], [own.at(-1), all.at(-1)]);
	equal(events.filter((e) => e.number > before && ["checking", "clearing"].includes(e.what)), []);
	saw("aborts", `20 calls of each aborted: same processes ${own.at(-1)} and ${all.at(-1)}, no probe, no restart`);
	await a.leave();
	for (const p of tree) await dead(p);
	is(lives(all[0]), "the shared one lives");
	saw("teardown", `the session left: its server and 2 descendants (${tree.join(", ")}), deaf to SIGTERM, are gone; shared ${all[0]} runs`);
}

// A slow call ends alone; a hang ends in a restart. What callers read meanwhile.
export async function timeouts() {
	await serve({
		slow: entry({ LEDGER: ledger("slow") }, { toolTimeout: 2000 }),
		hang: counted("hang", { FAIL_STARTS: "2-3", BLOCK: "forever", FROM_CALL: 1, FORK: 2, IGNORE_TERM: 1 }, { toolTimeout: 300 }),
		refuses: { command: node, args: [`${servers}/hostile.mjs`, "refuse-call"] },
	});
	await up("slow", "hang", "refuses");
	const [a, b] = [await agent(), await agent()];
	const tree = processes(`MCPOOL_DEMO_STATE=${starts_file("hang")}`);
	const hung = a.echo("hang");
	const late = a.call("slow__sleep", { ms: 60000 });
	await sleep(1200);
	const other = b.call("slow__sleep", { ms: 1000 }).then((r) => ({ r, at: now() }));
	equal((await hung).error?.data?.code, "mcp_timeout");
	const r = await late;
	equal(r.error?.data?.code, "mcp_timeout");
	const fine = await other;
	is(fine.r.result, fine.r);
	const checked = of("slow", "checking")[0];
	is(checked.time <= fine.at, "the other call was in flight");
	await until("the probe was answered", () => of("slow", "up").length === 2);
	equal(of("slow", "clearing").length, 0);
	equal(new Set(pids("slow")).size, 1);
	saw("slow", `${r.error.message}; event checking: ${checked.text}; event up: ${of("slow", "up")[1].text}; no restart, process ${pids("slow")[0]}`);
	saw("other", `a call of another session, in flight during the probe: ${text_of(fine.r)}`);

	const refused = await a.echo("refuses");
	equal(refused.error.code, -32050);
	equal(of("refuses", "checking").length, 0);
	saw("refused", `answer ${refused.error.code} "${refused.error.message}": no probe, no restart`);

	const [check, clear] = [await event("hang", "checking"), await event("hang", "clearing")];
	is(clear.time - check.time >= 2 * 3000 * 0.95, `${clear.time - check.time} ms`);
	has(clear.text, /^probe-failed: /);
	saw("probe", `hang: checking (${check.text}), ${clear.time - check.time} ms later (two probes of 3000 ms): ${clear.text}`);
	const codes = new Map(); // what callers read until it is back: code -> error, when it was first read
	const ask = async () => {
		const { error } = await b.echo("hang");
		if (error?.data.code.startsWith("mcp_restart") && !codes.has(error.data.code)) codes.set(error.data.code, { ...error, at: now() });
	};
	while (!of("hang", "backoff").length) await Promise.all([ask(), sleep(50)]);
	equal(tree.filter(lives), [], "processes before the next attempt");
	equal(tree.length, 3);
	saw("tree", `hang and its 2 descendants (${tree.join(", ")}) are gone before attempt 1: ${of("hang", "backoff")[0].text}`);
	while (of("hang", "up").length < 2) await Promise.all([ask(), sleep(50)]);
	equal([...codes.keys()], ["mcp_restart_in_progress", "mcp_restart_failed"]);
	is(of("hang", "clearing")[1].time <= codes.get("mcp_restart_failed").at, "a restart had failed before");
	for (const [code, { message, data }] of codes) {
		has(message, `${code}:hang:`);
		saw(code, `${message} (code ${data.code}, server ${data.server}, attempt ${data.attempt}, outcome ${data.outcome}, retryable ${data.retryable})`);
	}
	const told = log_lines(/mcp:hang: .*mcp_restart_failed/)[0];
	is(told, "in the log");
	saw("told", `log: ${told.slice(25)}; event ${of("hang", "call-failed").find((e) => e.text.startsWith("mcp_restart_failed")).what}`);
	is(![...log_lines(/mcp:slow: .*mcp_restart/)].length, "slow was never restarted");
	saw("only", `slow, whose probe was answered: no mcp_restart_failed in log or events`);
	saw("schedule", follows("hang", [0, 1000, 2000]));
	const back = await event("hang", "up", 2);
	saw("recovered", `hang is up again after ${back.time - clear.time} ms (event ${back.number}), ${starts("hang")} starts`);
}

// It exits while nothing is asked of it: it is back before the next call. What we close ourselves starts no loop.
export async function idle_exit() {
	const kinds = { http: ["http", "http", "/mcp"], sse: ["sse", "http", "/sse"], websocket: ["ws", "ws", "/mcp"] };
	const fars = {}, entries = { stdio: counted("stdio", { EXIT_IDLE: 700 }), planned: counted("planned") };
	await Promise.all(Object.entries(kinds).map(async ([type, [way, scheme, path]]) => {
		fars[type] = await far("sdk1", [way]);
		entries[type] = { type, url: `${scheme}://127.0.0.1:${fars[type].port}${path}` };
	}));
	await serve(entries);
	await up(...Object.keys(entries));
	const a = await agent();
	for (const [type, [way]] of Object.entries(kinds)) {
		await fars[type].stop();
		const lost = await event(type, "clearing");
		has(lost.text, /^(transport-exit|probe-failed: its stream broke)/); // a stream of http may end alone: it is probed first
		fars[type] = await far("sdk1", [way, fars[type].port]);
		saw("remote", `${type}, idle, its server ended: ${lost.text}`);
	}
	const gone = await event("stdio", "clearing");
	has(gone.text, /^transport-exit: /);
	const back = await event("stdio", "up", 2);
	saw("stdio", `stdio exits by itself while idle: ${gone.text}; up again ${back.time - gone.time} ms later, without a call`);
	for (const type of Object.keys(kinds)) {
		const again = await event(type, "up", 2);
		const r = await until(`${type} serves`, async () => (await a.echo(type)).result);
		saw("back", `${type}: up again (event ${again.number}), then a call: ${r.content[0].text}`);
	}
	const pid = (await server_status("planned")).pid;
	await verb(0, "reconnect", "planned");
	await event("planned", "up", 2);
	is(!lives(pid), "replaced");
	equal([of("planned", "clearing").length, of("planned", "backoff").length], [0, 0]);
	await down();
	equal([of("planned", "clearing").length, of("planned", "backoff").length, starts("planned")], [0, 0, 2]);
	saw("planned", `"mcpool reconnect planned" and "mcpool down": events ${of("planned").map((e) => e.what).join(", ")}; no clearing, no backoff`);
	saw("shutdown", `at the end of the hub no server was started again: stdio had ${starts("stdio")} starts`);
}

// Twenty agents at once, without a hub: one hub, one start.
export async function warmup() {
	await configure({ slow: counted("slow", { SLOW_START: 500, LEDGER: ledger("slow") }) });
	const all = Array.from({ length: 20 }, () => new Agent());
	await Promise.all(all.map((a) => a.init()));
	await Promise.all(all.map((a) => a.tools_until("its tools", (n) => n.includes("slow__echo"))));
	await Promise.all(all.map(async (a) => equal(text_of(await a.echo("slow")), "hi")));
	equal([starts("slow"), new Set(pids("slow")).size, pids("slow").length], [1, 1, 20]);
	saw("one", `20 agents started at the same time, without a hub: ${starts("slow")} start of the server, ${pids("slow").length} calls of process ${pids("slow")[0]}`);
	await verb(0, "down");
}

// A caller is served, waits for the start under way, is refused, or is served by the next hub.
export async function acquire() {
	const good = await far("hostile_http", ["plain"]);
	const web = { type: "http", url: `http://127.0.0.1:${good.port}/mcp` };
	await configure({ web, local: entry({ LEDGER: ledger("local") }) });
	await verb(0, "tools"); // the names are known from here on
	await good.stop();
	const bad = await far("hostile_http", ["404", good.port], { TEST_NOTES: `${work}/404` });
	await serve();
	await up("local");
	const first = await event("web", "clearing");
	has(first.text, /^start-failed/, "404");
	const a = await agent();
	const began = now();
	equal(text_of(await a.echo("local")), "hi");
	saw("ready", `a call of a running server was answered after ${now() - began} ms, while web fails: ${first.text}`);
	const done = [];
	const waiters = [0, 1].map((i) => a.echo("web", `caller ${i + 1}`).then((r) => done.push({ text: text_of(r), at: now() })));
	await event("web", "preparing", 3);
	waiters.push(a.echo("web", "caller 3").then((r) => done.push({ text: text_of(r), at: now() })));
	equal(done.length, 0, "answers before it is there");
	const asked = lines(`${work}/404`).length;
	await bad.stop();
	const notes = `${work}/good`;
	await far("hostile_http", ["plain", good.port], { TEST_NOTES: notes });
	const back = await event("web", "up");
	await Promise.all(waiters);
	equal(done.map((d) => d.text).sort(), [1, 2, 3].map((i) => `Echo: caller ${i}`));
	is(done.every((d) => d.at >= back.time), "after the start");
	const schedule = delays("web");
	is(schedule.length >= 3 && schedule.every((d, i) => d >= [0, 1000, 2000, 5000, 10000][i] * 0.95), `${schedule}`);
	saw("together", `web answers 404 (${asked} requests): three callers waited, one of them from attempt 2 on, and were answered within ${Math.max(...done.map((d) => d.at)) - Math.min(...done.map((d) => d.at))} ms of each other after its start`);
	saw("goes_on", `attempts went on ${schedule.join(", ")} ms after each failure, by the schedule, until attempt ${schedule.length} succeeded`);
	equal(lines(notes).filter((l) => l === "initialize").length, 1);
	saw("joined", "one initialize served all three");
	const s = await server_status("web");
	equal([s.state, s.error], ["connected", null]);
	saw("cleared", `status afterwards: ${s.state}, error ${s.error}; the next caller: ${text_of(await a.echo("web", "next"))}`);

	const open = a.call("local__sleep", { ms: 3000 }); // this hub leaves when it is answered
	await until("it runs", () => lines(ledger("local")).some((l) => l.includes(" sleep ")));
	const first_hub = hub.pid;
	const going = verb(0, "down");
	const second = await until("another hub", async () => {
		equal(text_of(await a.echo("local", "meanwhile")), "meanwhile");
		const pid = Number(read(`${run_folder}/hub.lock`));
		return pid !== first_hub && pid;
	});
	is((await open).result, "the open call");
	await going;
	equal(await hub.ended, 0);
	saw("leaving", `a call while hub ${first_hub} shut down: not taken there; its bridge started hub ${second}, which answered it. The open call finished`);
	await verb(0, "down");
}

// Real minutes: callers at 0 and 5 s fail together at 60 s, one at 65 s at once, and after the recovery the next is served.
export async function long_acquire() {
	const script = `until [ -e "${work}/free" ]; do sleep 0.2; done; exec "${demo}"`;
	put(`${work}/free`, "");
	await configure({ late: { command: "/bin/sh", args: ["-c", script], timeout: 20000 } });
	await verb(0, "tools");
	fs.rmSync(`${work}/free`);
	await serve();
	const began = (await event("late", "preparing")).time;
	const a = await agent();
	const ask = async (name) => {
		const from = now() - began;
		const r = await a.echo("late");
		return { name, from, to: now() - began, words: r.error?.message ?? text_of(r), error: r.error };
	};
	const first = ask("first");
	await sleep(5000);
	const both = await Promise.all([first, ask("second")]);
	for (const c of both) {
		has(c.words, "initialization timed out after 60s");
		is(c.to >= 57000, JSON.stringify(c));
	}
	is(Math.abs(both[0].to - both[1].to) < 2000, JSON.stringify(both));
	for (const c of both) saw("timed_out", `${c.name} caller came at ${c.from} ms and failed at ${c.to} ms: ${c.words}`);
	await sleep(5000);
	const third = await ask("third");
	has(third.words, /failed \d+s ago/);
	is(third.to - third.from < 5000, JSON.stringify(third));
	saw("short_circuit", `third caller came at ${third.from} ms and failed after ${third.to - third.from} ms: ${third.words}`);
	put(`${work}/free`, "");
	const back = await event("late", "up", 1, 120);
	const fourth = await ask("fourth");
	equal(fourth.words, "hi");
	saw("recovery", `up at ${back.time - began} ms after ${delays("late").length} more attempts; fourth caller: ${fourth.words}`);
}

// At most so many starts at a time, each told with its time; those that failed, too.
export async function start_concurrency() {
	const five = Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`s${n}`, entry({ SLOW_START: 300 })]));
	await serve({ ...five, bad: { command: "/bin/sh", args: ["-c", "echo no database >&2; exit 3"] } }, { initConcurrency: 2 });
	await up(...Object.keys(five));
	const starting = new Set();
	let most = 0;
	for (const e of events) {
		if (e.what === "starting") starting.add(e.server);
		if (["up", "clearing"].includes(e.what)) starting.delete(e.server);
		most = Math.max(most, starting.size);
	}
	equal(most, 2, "at once");
	saw("semaphore", `initConcurrency 2: of 6 servers at most ${most} were starting at the same time`);
	const line = log_lines(/ INF mcp:s1: up: /)[0];
	has(line, /prepare [\d.]+ ms, spawn [\d.]+ ms, handshake [\d.]+ ms, lists [\d.]+ ms/);
	saw("timing", `log: ${line.slice(25)}`);
	const s = await until("bad failed", async () => (x => x.error && x)(await server_status("bad")));
	const failure = of("bad", "clearing")[0].text;
	has(failure, /^start-failed after \d+ ms: .*code 3 \(no database\)/);
	saw("failure", `event of bad: ${failure}`);
	saw("failed", `status of bad: ${s.state}, attempt ${s.attempt}, error: ${s.error}; the five others: connected`);
	equal((await status()).servers.filter((x) => x.state === "connected").length, 5);
	const { out } = await verb(0, "status", "s1");
	has(out, /offers +10 tools/);
	saw("tools", (await verb(0, "status", "s1", "--json")).json.tools + " tools of s1 in status and in the event offers: " + of("s1", "offers")[0].text);
}

// What a server's entry may say, and what it does.
export async function keys() {
	await configure({
		local: { type: "stdio", command: demo, args: [], env: { A: "1" }, toolsAllowed: ["e*"], toolsDenied: ["extra"], shared: false, healthProbe: "listTools", queue: "heavy" },
		web: { type: "http", url: "http://127.0.0.1:9/mcp", headers: { "X-Team": "blue" } },
		socket: { type: "websocket", url: "ws://127.0.0.1:9/mcp" }, stream: { type: "sse", url: "http://127.0.0.1:9/sse" },
		plain: { command: demo },
	}, { queues: { heavy: { slots: 1 } } });
	const show = async (name) => Object.fromEntries((await verb(0, "config", "show", name)).out.split("\n").filter(Boolean).map((l) => /^(\S+) +(.*?)  \((.*)\)$/.exec(l)?.slice(1) ?? [l]).map(([k, v, from]) => [k, `${v} (${from?.replace(/.*mcpool\//, "")})`]));
	const get = async (name) => (await verb(0, "get", name, "--json")).json;
	const local = await show("local");
	for (const [key, value] of [["toolsAllowed", '["e*"]'], ["toolsDenied", '["extra"]'], ["mode", '"session"'], ["healthProbe", '"listTools"'], ["queue", '"heavy"']]) {
		has(local[key] ?? "", value);
		saw(key, `config show local: ${key} ${local[key]}`);
	}
	const plain = await show("plain");
	has(plain.mode, '"shared" (default)');
	saw("shared", `config show plain: mode ${plain.mode}; with shared: false: ${local.mode}`);
	has(plain.healthProbe, '"ping" (default)');
	saw("ping", `config show plain: healthProbe ${plain.healthProbe}`);
	const types = await Promise.all(["local", "web", "socket", "stream"].map(async (n) => (await verb(0, "get", n, "--json")).json.transport));
	equal(types, ["stdio", "http", "websocket", "sse"]);
	saw("type", `get: transport ${types.join(", ")}`);
	const web = await show("web");
	for (const key of ["command", "args", "env"]) saw(key, `config show local: ${key} ${local[key]}`);
	for (const key of ["url", "headers"]) saw(key, `config show web: ${key} ${web[key]}`);
	has(web.headers, '"X-Team"');
	has(local.env, '"A":"1"');
}

// A relay in front of a port that remembers what is sent there
const relay = (port) => new Promise((resolve) => {
	const r = { sent: "", connections: 0 };
	r.server = net.createServer((near) => {
		const far = net.connect(port, "127.0.0.1");
		r.connections++;
		near.on("data", (b) => (r.sent += b.toString("latin1")));
		for (const [x, y] of [[near, far], [far, near]]) x.pipe(y).on("error", () => {}), x.on("error", () => y.destroy());
	}).listen(0, "127.0.0.1", () => ((r.port = r.server.address().port), resolve(r)));
});
const count = (text, pattern) => (text.match(pattern) ?? []).length;

// Each transport once, shared by two sessions.
export async function transports() {
	const relays = {}, entries = { local: { command: "/bin/sh", args: ["-c", `echo "ready to serve" >&2; exec "${demo}"`], env: { TEAM: "blue", MCPOOL_DEMO_LEDGER: ledger("local") } } };
	await Promise.all([["http", "http", "http", "/mcp"], ["sse", "sse", "http", "/sse"], ["websocket", "ws", "ws", "/mcp"]].map(async ([type, way, scheme, path]) => {
		relays[type] = await relay((await far("sdk1", [way])).port);
		entries[type] = { type, url: `${scheme}://127.0.0.1:${relays[type].port}${path}`, headers: { "X-Team": "blue" } };
	}));
	put(`${home}/.claude.json`, JSON.stringify({ mcpServers: { local: { command: "/bin/false" } } }));
	await serve(entries);
	await up(...Object.keys(entries));
	const both = [await agent(), await agent()];
	for (const a of both)
		for (const name of Object.keys(entries)) {
			const r = await a.echo(name);
			has(text_of(r), "hi");
		}
	const s = Object.fromEntries((await status()).servers.map((x) => [x.name, x]));
	for (const name of Object.keys(entries)) {
		equal([of(name, "starting").length, s[name].transport, s[name].calls], [1, name === "local" ? "stdio" : name, 2]);
		saw("once", `${name}: transport ${s[name].transport}, started once, ${s[name].calls} calls of two sessions`);
	}
	const pid = s.local.pid;
	const environ = fs.readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
	is(environ.includes("TEAM=blue") && pids("local")[0] === pid, environ);
	saw("stdio", `local: process ${pid} ${fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim()}, TEAM=blue in its environment`);
	saw("pipes", `local: descriptor 0 is ${fs.readlinkSync(`/proc/${pid}/fd/0`)}, 1 is ${fs.readlinkSync(`/proc/${pid}/fd/1`)}`);
	saw("pid", `status of local: pid ${pid}`);
	const kept = await until("its stderr", () => lines(`${state}/logs/local.log`).find((l) => l.includes("ready to serve")));
	saw("stderr", `logs/local.log: ${kept}`);
	for (const [type, r] of Object.entries(relays)) {
		equal(s[type].pid, null);
		const requests = count(r.sent, /(GET|POST|DELETE) \/\S* HTTP\/1\.1\r/g), headers = count(r.sent, /^x-team: blue\r$/gim);
		is(requests > 0 && requests === headers, `${type}: ${requests} requests, ${headers} headers`);
		saw(`${type}_headers`, `${type}: ${requests} HTTP requests (${count(r.sent, /GET \/\S* HTTP/g)} GET, ${count(r.sent, /POST \/\S* HTTP/g)} POST), each with X-Team: blue`);
		saw(`${type}_process`, `status of ${type}: pid null`);
	}
	has(relays.websocket.sent, /upgrade: websocket/i, /sec-websocket-protocol: mcp/i);
	saw("upgrade", "websocket: GET with Upgrade: websocket, Sec-WebSocket-Protocol: mcp");
	has(relays.http.sent, /^mcp-session-id: /im);
	saw("streamable", "http: POST /mcp with Mcp-Session-Id: Streamable HTTP");
	saw("legacy", `sse: GET /sse, then POST ${/^POST (\/message)/m.exec(relays.sse.sent)[1]}`);
	const list = (await verb(0, "list", "--all", "--json")).json.servers.filter((x) => x.name === "local");
	equal(list.map((x) => [x.state, x.source.tool]), [["connected", "mcpool"], ["shadowed", "claude"]]);
	saw("namesake", `two entries named local: ${list.map((x) => `${x.source.file.replace(work, "WORK")}:${x.source.line} ${x.state}`).join(", ")}`);
}

// Names, filters, and what is said of a tool that is not there
export async function tools() {
	const five = ["search_code", "query_logs", "query_metrics", "delete_all", "Write"].map((name) => ({ name, description: `does ${name}`, inputSchema: { type: "object" } }));
	five[0].instructions = "Search before you write.";
	put(`${work}/tools.json`, JSON.stringify(five));
	const server = (more) => ({ command: node, args: [`${servers}/changing.mjs`], env: { TOOLS: `${work}/tools.json`, TEST_NOTES: `${work}/called` }, ...more });
	const filters = {
		github: {}, star: { toolsAllowed: ["*"] }, any: { toolsAllowed: ["any"] }, nocase: { toolsAllowed: ["SEARCH_CODE", "write"] },
		glob: { toolsAllowed: ["query_*"], toolsDenied: ["QUERY_LOGS"] }, denied: { toolsDenied: ["delete_all"] }, nothing: { toolsDenied: ["*"] },
	};
	await serve({ ...Object.fromEntries(Object.entries(filters).map(([n, f]) => [n, server(f)])), gone: { command: "/bin/sh", args: ["-c", "echo out of disk >&2; exit 3"] } });
	await up(...Object.keys(filters));
	const a = await agent();
	const listed = await a.tools_until("all of them", (n) => n.some((x) => x.startsWith("denied__")));
	const names = Object.fromEntries(Object.keys(filters).map((s) => [s, listed.filter((n) => n.startsWith(`${s}__`)).map((n) => n.slice(s.length + 2)).sort()]));
	const all = five.map((t) => t.name).sort();
	is(listed.includes("github__search_code"), listed);
	equal(text_of(await a.call("github__search_code")), "search_code");
	saw("name", "server github, tool search_code: listed as github__search_code; a call of it reached search_code");
	equal([names.github, names.star, names.any], [all, all, all]);
	saw("default", `no lists: ${names.github.join(", ")}`);
	saw("wildcard", `toolsAllowed ["*"] and ["any"]: all ${names.any.length}`);
	equal(names.nocase, ["Write", "search_code"]);
	saw("case", `toolsAllowed ["SEARCH_CODE", "write"]: ${names.nocase.join(", ")}`);
	equal([names.glob, names.denied, names.nothing], [["query_metrics"], all.filter((n) => n !== "delete_all"), []]);
	saw("combined", `toolsAllowed ["query_*"] with toolsDenied ["QUERY_LOGS"]: ${names.glob.join(", ")}; toolsDenied ["*"]: none`);
	const refused = await a.call("glob__query_logs");
	has(refused.error.message, "toolsAllowed");
	is(!read(`${work}/called`).includes("query_logs"), "not called");
	saw("filtered", `a call of it: ${refused.error.message}`);
	const unknown = await a.call("github__search_cod");
	has(unknown.error.message, "did you mean github__search_code");
	saw("unknown", `a call of github__search_cod: ${unknown.error.message}`);
	const failing = await a.call("gone__echo");
	has(failing.error.message, "gone");
	saw("not_up", `a call of gone__echo: ${failing.error.message}`);
	const s = (await verb(0, "status", "gone", "--json")).json;
	has(s.stderr, "out of disk");
	saw("stderr", `status gone: ${s.error}; stderr: ${s.stderr.trim()}; transport ${s.transport}; environment: ${s.environment}`);
	const t = (await verb(0, "tools", "github", "--json")).json.tools.find((x) => x.tool === "search_code" || x.name === "github__search_code");
	saw("record", `tools --json: name ${t.name}, description "${t.description}", inputSchema ${JSON.stringify(t.inputSchema)}`);
	saw("map", `tools --json: ${t.name} is tool ${t.tool} of server ${t.server}`);
	console.log(JSON.stringify(t));
}

// The instructions of all servers, in the format of netdata
export async function instructions() {
	put(`${work}/tools.json`, JSON.stringify([{ name: "search_code", inputSchema: { type: "object" }, instructions: "Search before you write." }]));
	await serve({
		words: { command: node, args: [`${servers}/sdk1.mjs`], env: { TEST_INSTRUCTIONS: "First read, then write." } },
		github: { command: node, args: [`${servers}/changing.mjs`], env: { TOOLS: `${work}/tools.json`, TEST_NOTES: `${work}/called` } },
	});
	await up("words", "github");
	const { instructions: text } = (await agent()).result;
	has(text, "#### MCP Server: words\n" + "First read, then write.\n", "\nreview: Asks for a review\n", "\n\n##### Tool: github__search_code\nSearch before you write.\n");
	const part = (from, to) => text.slice(text.indexOf(from)).split("\n").slice(0, to).join(" / ");
	saw("server", part("#### MCP Server: words", 2));
	saw("prompts", part("review: Asks for a review", 1));
	saw("tool", part("##### Tool: github__search_code", 2));
	const s = (await verb(0, "status", "words", "--json")).json;
	equal(s.instructions, "First read, then write.");
	saw("record", `status words: name ${s.name}, ${s.tools} tools, instructions "${s.instructions}", entry of ${s.source.file.replace(work, "WORK")}:${s.source.line}`);
}

// The steps of a call, its record, its queue
export async function execution() {
	const at = (name, knobs, members) => entry({ LEDGER: ledger(name), ENDS: ledger(name), ...knobs }, members);
	await serve({
		late: at("late", { SLOW_START: 700 }),
		heavy: at("heavy", {}, { queue: "heavy", toolQueues: { echo: "default" } }),
		extras: { command: node, args: [`${servers}/hostile.mjs`, "extras"] },
	}, { queues: { heavy: { slots: 1, line: 8 } } });
	const [a, b] = [await agent(), await agent()];
	await a.tools_until("all", (n) => n.includes("late__echo") && n.includes("heavy__sleep"));
	const mark = now();
	equal(text_of(await a.echo("late")), "hi");
	is(of("late", "up")[0].time <= now(), mark);
	saw("initialized", `the first list waited for late, up ${of("late", "up")[0].time - of("late", "preparing")[0].time} ms after its start began; then its call was sent`);
	const record = (await verb(0, "call", "--json", "extras/echo", "message=hi")).json;
	equal([record.ok, record.kind, record.namespace, typeof record.latencyMs], [true, "mcp", "extras", "number"]);
	has(record.result, /^onetwo/);
	equal(record.extras, { more: true });
	saw("record", `call --json: ok ${record.ok}, result ${JSON.stringify(record.result.slice(0, 30))}, latencyMs ${record.latencyMs}, kind ${record.kind}, namespace ${record.namespace}, extras ${JSON.stringify(record.extras)}`);
	saw("text", `content of ${record.content.length} parts ("one", "two"), joined: ${JSON.stringify(record.result.slice(0, 30))}`);
	saw("options", `config show late: ${(await verb(0, "config", "show", "late")).out.split("\n").find((l) => l.startsWith("toolTimeout"))}`);
	const sleeps = [a, b].map((x) => x.call("heavy__sleep", { ms: 800 }));
	await until("one runs", () => lines(ledger("heavy")).some((l) => l.includes(" sleep ")));
	const s = await until("one waits", async () => (x => x.waiting === 1 && x)(await server_status("heavy")));
	equal(text_of(await a.echo("heavy")), "hi");
	for (const r of await Promise.all(sleeps)) is(r.result, r);
	const order = lines(ledger("heavy")).filter((l) => / sleep | end /.test(l)).map((l) => (l.includes(" sleep ") ? "begin" : "end"));
	const echo = lines(ledger("heavy")).findIndex((l) => l.includes(" echo ")), second = lines(ledger("heavy")).findLastIndex((l) => l.includes(" sleep "));
	is(echo < second, "echo did not wait");
	saw("queue", `queue heavy with 1 slot, two sessions: one call ran, ${s.waiting} waited (status), the second began after the first had ended`);
	saw("tool_queue", "toolQueues {echo: default}: a call of echo was answered meanwhile");
	is(order.filter((x) => x === "begin").length === 2, order);
	const p = await server_status("heavy");
	saw("counters", `status heavy: calls ${p.calls}, p50 ${p.p50us} us, p99 ${p.p99us} us, restarts ${p.restarts}, open ${p.open}, waiting ${p.waiting}`);
}

// The probe at the start, idle servers, and the log of all this
export async function logs() {
	const hostile = (mode, name, more) => ({ command: node, args: [`${servers}/hostile.mjs`, mode], env: { TEST_NOTES: `${work}/${name}.notes` }, era: "legacy", ...more });
	await serve({
		ping: hostile("plain", "ping"),
		list: hostile("plain", "list", { healthProbe: "listTools" }),
		idle: entry({ LEDGER: ledger("idle") }, { residency: "idle:700" }),
		files: entry({}, { env: { API_TOKEN: "sesame-open-1234" }, toolsDenied: ["crash", "big"], toolTimeout: 300 }),
		gone: counted("gone", { FAIL_STARTS: "1-2" }),
	}, { log: { level: "trace" } });
	await up("ping", "list", "idle", "files", "gone");
	const noted = (name) => lines(`${work}/${name}.notes`);
	const order = noted("ping").join(", ");
	has(order, /initialize, notifications\/initialized, ping, tools\/list/);
	saw("ping", `healthProbe ping: before it was up the server got ${order}`);
	is(!noted("list").includes("ping") && noted("list").includes("tools/list"), noted("list"));
	saw("list", `healthProbe listTools: ${noted("list").join(", ")}`);
	const a = await agent();
	equal(text_of(await a.echo("files", "sesame-open-1234")), "sesame-open-1234");
	await a.call("files__sleep", { ms: 60000 });
	const stop = await event("idle", "idle");
	equal(text_of(await a.echo("idle")), "hi");
	await event("idle", "up", 2);
	saw("idle", `residency idle:700: event idle (${stop.text}); the next call started it again and was answered`);
	await until("the probe was answered", () => log_lines(/mcp:files: up: the probe was answered/)[0]);
	const shows = (key, pattern) => {
		const line = log_lines(pattern)[0];
		is(line, `${pattern} in the log`);
		saw(key, `log: ${line.slice(25, 25 + 220)}`);
	};
	shows("TRC_list", / TRC mcp:files: tools\/list: /);
	shows("TRC_raw", / TRC mcp:files: > .*tools\/call/);
	shows("TRC_answer", / TRC mcp:files: < .*content/);
	shows("TRC_init", / TRC mcp:files: keeper /);
	shows("VRB_filtered", / VRB mcp:files: filtered out 2 of \d+ tools: /);
	shows("VRB_latency", / VRB mcp:files: tools\/call echo: answered in /);
	shows("VRB_timeout", / VRB mcp:files: tools\/call sleep: timeout in /);
	shows("probing", / VRB mcp:files: probing/);
	shows("probe_ok", /mcp:files: up: the probe was answered/);
	shows("WRN", / WRN mcp:files: a call failed: mcp_timeout/);
	shows("ERR", / ERR mcp:(init: gone failed|gone: failed): /);
	shows("attempt", / ERR mcp:gone: starting: attempt 2/);
	shows("start", / TRC mcp:gone: keeper .*starting/);
	shows("up", / INF mcp:files: up: prepare /);
	shows("ended", / VRB mcp:idle: stopped/);
	equal(log().filter((l) => l.includes("sesame-open-1234")), [], "secrets in the log");
	saw("secret", "the value of API_TOKEN, sent as an argument and sent back, is dots in all lines of the log");
}

// The hub goes, and all that it had
export async function cleanup() {
	const web = await far("hostile_http", ["plain"], { TEST_NOTES: `${work}/web.notes` });
	const deaf = { IGNORE_TERM: 1, IGNORE_EOF: 1, FORK: 1 };
	await serve({ a: entry(deaf), b: entry(deaf), web: { url: `http://127.0.0.1:${web.port}/mcp` } });
	await up("a", "b", "web");
	const x = await agent();
	equal(text_of(await x.echo("a")), "hi");
	const trees = processes("MCPOOL_DEMO_FORK");
	equal(trees.length, 4, "processes");
	await x.leave();
	await until("released", async () => (await status()).sessions.length === 0);
	saw("released", "the session left: status has 0 sessions, open 0 of every server");
	await down();
	equal(trees.filter(lives), []);
	saw("killed", `mcpool down: ${trees.length} processes (${trees.join(", ")}), deaf to SIGTERM and the end of stdin, were gone with the hub`);
	for (const n of ["a", "b", "web"]) equal(of(n).at(-1).what, "down", n);
	saw("closed", `last events: ${["a", "b", "web"].map((n) => `${n} ${of(n).slice(-2).map((e) => e.what).join(", ")}`).join("; ")}`);
	is(lines(`${work}/web.notes`).includes("DELETE"), lines(`${work}/web.notes`));
	saw("http", "web: its session was ended by a DELETE");
	is(!fs.existsSync(`${run_folder}/hub.sock`), "socket");
	const { out } = await verb(null, "status", "--json");
	equal(JSON.parse(out).hub ?? null, null);
	saw("cleared", `afterwards: no hub.sock, status --json has hub ${JSON.stringify(JSON.parse(out).hub ?? null)}`);
	await serve();
	await event("a", "up", 2);
	saw("again", `the next hub starts them again: a is process ${(await server_status("a")).pid}`);
}
