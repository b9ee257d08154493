// replay.mjs - what the replays are made of: a configuration, a hub whose events are read, agents, verbs, servers.
// `node play.mjs FILE NAME` runs one case. All processes inherit MCPOOL_TEST_MARK, so that lib.sh finds what is left.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

export const { MCPOOL: mcpool, DEMO: demo, WORK: work, HOME: home, ROOT: root } = process.env;
export const node = process.execPath;
export const servers = `${root}/tests/servers`;
export const user = `${process.env.XDG_CONFIG_HOME}/mcpool/mcp.json`;
export const state = `${process.env.XDG_STATE_HOME}/mcpool`;
export const run_folder = `${process.env.XDG_RUNTIME_DIR}/mcpool`;
export const here = `${work}/here`; // the folder of agents and verbs, a project of its own
mkdirSync(`${here}/.git`, { recursive: true });

// --- what was seen ---------------------------------------------------------------------------------

// saw(KEY, WORDS): a line of the table; NNN.tsv names it as CASE#KEY
export const saw = (key, words) =>
	appendFileSync(process.env.SEEN, `${key}\t${String(words).replaceAll(work, "WORK").replaceAll(/\s*\n\s*/g, " / ")}\n`);
export const is = (ok, words) => {
	if (!ok) throw new Error(`not so: ${typeof words === "string" ? words : JSON.stringify(words)}`);
};
export const equal = (got, wanted, words = "") => is(JSON.stringify(got) === JSON.stringify(wanted),
	`${words} ${JSON.stringify(got)} is not ${JSON.stringify(wanted)}`);
export const has = (text, ...parts) => {
	for (const part of parts) is(part instanceof RegExp ? part.test(text) : String(text).includes(part), `no ${part} in ${String(text).slice(0, 1500)}`);
};
export const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
export const now = () => Date.now();
// What test() returns, once it is true
export const until = async (words, test, seconds = 40) => {
	for (const end = now() + seconds * 1000; ; await sleep(20)) {
		const r = await test();
		if (r) return r;
		is(now() < end, `within ${seconds} s: ${words}`);
	}
};
export const read = (file) => (existsSync(file) ? readFileSync(file, "utf8") : "");
export const lines = (file) => read(file).split("\n").filter(Boolean);

// --- processes -------------------------------------------------------------------------------------

export function lives(pid) {
	try {
		return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
	} catch {
		return false; // it ended, perhaps just now
	}
}
export const dead = (pid) => until(`${pid} is gone`, () => !lives(pid));
// All processes of this case that have such a text in their environment
export const processes = (text) =>
	readdirSync("/proc").filter((p) => /^\d+$/.test(p)).filter((p) => {
		try {
			const env = readFileSync(`/proc/${p}/environ`, "utf8");
			return env.includes(`MCPOOL_TEST_MARK=${work}`) && env.includes(text) && lives(p);
		} catch {
			return false;
		}
	}).map(Number);

const collect = (child) => {
	child.out = child.err = "";
	child.stdout?.on("data", (b) => (child.out += b));
	child.stderr?.on("data", (b) => (child.err += b));
	child.ended = new Promise((resolve) => child.on("close", (code, signal) => resolve(code ?? signal)));
	return child;
};
export const program = (command, args, env = {}, cwd = here) =>
	collect(spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] }));

// verb(CODE, ...ARGUMENTS): mcpool with these; its output, checked for the exit code (null: any)
export const verb = async (wanted, ...args) => {
	const options = typeof args.at(-1) === "object" ? args.pop() : {};
	const child = program(mcpool, args, options.env, options.cwd);
	const code = await child.ended;
	is(wanted === null || code === wanted, `mcpool ${args.join(" ")}: exit code ${code} and not ${wanted}: ${child.err}${child.out}`);
	return { code, out: child.out, err: child.err, json: /^\{/.test(child.out) ? JSON.parse(child.out) : undefined };
};
export const status = async (name) => (await verb(null, "status", "--json", ...(name ? [name] : []))).json;
export const server_status = async (name) => (await status()).servers.find((s) => s.name === name);

// --- the hub ---------------------------------------------------------------------------------------

// entry(KNOBS, MEMBERS): the demo server; knobs as in its --help, without MCPOOL_DEMO_
export const entry = (knobs = {}, { env, ...members } = {}) => ({
	command: demo, env: { ...Object.fromEntries(Object.entries(knobs).map(([k, v]) => [`MCPOOL_DEMO_${k}`, String(v)])), ...env }, ...members,
});
// Each name is a server of its own (two equal connections would be one), and is found if it is left over.
const named = (entries) => Object.fromEntries(Object.entries(entries).map(([name, e]) =>
	[name, typeof e.command === "string" ? { ...e, env: { WHO: name, MCPOOL_TEST_MARK: work, ...e.env } } : e]));
export const put = (file, text) => {
	mkdirSync(file.replace(/\/[^/]*$/, ""), { recursive: true });
	writeFileSync(`${file}.new`, text);
	renameSync(`${file}.new`, file);
};
export const write_config = (entries, settings = {}, file = user) =>
	put(file, JSON.stringify({ mcpServers: named(entries), mcpool: { profile: process.env.PROFILE, ...settings } }, null, 1));
// configure(ENTRIES, SETTINGS): the user's file, approved
export const configure = async (entries, settings) => {
	write_config(entries, settings);
	await verb(0, "trust", "--user-file", "--yes");
};

export const events = []; // of all hubs of this case
export let hub;
export const log = () => hub.err.split("\n");
// serve(ENTRIES, SETTINGS, ...OPTIONS): the hub of this user, in the foreground; resolves when the gate is open
export const serve = async (entries, settings, ...options) => {
	if (entries) await configure(entries, settings);
	const child = (hub = spawn(mcpool, ["serve", "--json", ...options], { cwd: here, stdio: ["ignore", "pipe", "pipe"] }));
	child.err = "";
	child.stderr.on("data", (b) => (child.err += b));
	child.ended = new Promise((resolve) => child.on("close", (code, signal) => resolve(code ?? signal)));
	createInterface({ input: child.stdout }).on("line", (line) => {
		const m = JSON.parse(line);
		if (m.number) events.push(m);
		else if (m.gate) child.gate = m.gate;
	});
	await until(`the hub listens`, () => existsSync(`${run_folder}/hub.sock`));
	return child;
};
export const gate = () => until("the gate is open", () => hub.gate, 90);
export const of = (server, what, after = -1) => events.filter((e) => e.server === server && (!what || e.what === what) && e.number > after);
// The nth event of that kind (from 1), once it is there
export const event = (server, what, nth = 1, seconds = 60) => until(`${what} ${nth} of ${server}: ${of(server).map((e) => e.what)}`, () => of(server, what)[nth - 1], seconds);
export const up = (...names) => Promise.all(names.map((n) => event(n, "up")));
// Everything goes with the hub: lib.sh looks for what is left.
export const down = async () => {
	await verb(0, "down");
	equal(await hub.ended, 0, "exit code of the hub");
};

// --- what servers note, and what events say --------------------------------------------------------

export const ledger = (name) => `${work}/${name}.calls`;
export const pids = (name) => lines(ledger(name)).map((l) => Number(l.split(" ")[0]));
export const starts_file = (name) => `${work}/${name}.starts`;
export const starts = (name) => read(starts_file(name)).length;
// A server that counts its starts; legacy, so that an attempt is one process
export const counted = (name, knobs, members) => entry({ STATE: starts_file(name), ...knobs }, { era: "legacy", ...members });

// The delay before each attempt after the first failure behind the event `after`: from the failure to the next attempt
export const delays = (name, after = 0) =>
	of(name, "clearing", after).map((c) => of(name, "preparing", c.number)[0]?.time - c.time).filter((d) => d >= 0);
// Never shorter than the schedule; how much longer depends on the machine
export const follows = (name, schedule, after = 0) => {
	const seen = delays(name, after);
	is(seen.length === schedule.length && seen.every((d, i) => d >= schedule[i] * 0.95), `${name}: ${seen} is not ${schedule}`);
	return `${name}: attempts ${seen.join(", ")} ms after the failures (schedule ${schedule.join(", ")})`;
};
export const log_lines = (pattern) => log().filter((l) => pattern.test(l));

// --- agents ----------------------------------------------------------------------------------------

export class Agent {
	heard = []; // notifications and requests so far
	#waiting = new Map();
	#last = 0;

	constructor(options = [], { cwd = here, env = {} } = {}) {
		this.bridge = spawn(mcpool, ["stdio", ...options], { cwd, env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "inherit"] });
		this.ended = new Promise((resolve) => this.bridge.on("exit", (code, signal) => resolve(code ?? signal)));
		createInterface({ input: this.bridge.stdout }).on("line", (line) => {
			const m = JSON.parse(line);
			if ("method" in m) this.heard.push(m);
			else {
				is(this.#waiting.has(m.id), `an answer without a request: ${line}`);
				this.#waiting.get(m.id)(m);
				this.#waiting.delete(m.id);
			}
		});
	}
	ask(method, params = {}, id = ++this.#last) {
		return new Promise((resolve) => {
			this.#waiting.set(id, resolve);
			this.bridge.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
		});
	}
	tell(method, params = {}) {
		this.bridge.stdin.write(JSON.stringify({ jsonrpc: "2.0", method, params }) + "\n");
	}
	async init(capabilities = {}) {
		const r = await this.ask("initialize", { protocolVersion: "2025-06-18", capabilities, clientInfo: { name: "replay", version: "1" } });
		this.tell("notifications/initialized");
		return r.result;
	}
	call(name, args = {}, id = undefined) {
		return this.ask("tools/call", { name, arguments: args }, id);
	}
	async echo(server, message = "hi", id = undefined) {
		return this.call(`${process.env.PREFIX}${server}${process.env.SEPARATOR}echo`, { message }, id);
	}
	async list() {
		return (await this.ask("tools/list")).result.tools;
	}
	async tools() {
		return (await this.list()).map((t) => t.name);
	}
	tools_until(words, fit, seconds) {
		return until(words, async () => {
			const names = await this.tools();
			return fit(names) && names;
		}, seconds);
	}
	heard_of(method) {
		return this.heard.filter((m) => m.method === method).length;
	}
	leave() {
		this.bridge.stdin.end();
		return this.ended;
	}
}
export const agent = async (options, more) => {
	const a = new Agent(options, more);
	a.result = await a.init();
	return a;
};
export const text_of = (r) => r.result?.content?.[0]?.text ?? JSON.stringify(r);

// --- servers over the network ----------------------------------------------------------------------

// far(FILE, ...ARGUMENTS): a server of tests/servers that prints `listening on PORT`
export const fars = [];
export const far = async (file, args, env = {}) => {
	const child = program(node, [`${servers}/${file}.mjs`, ...args.map(String)], env);
	fars.push(child);
	child.port = Number((await until(`${file} listens: ${child.err}`, () => /listening on (\d+)/.exec(child.out)))[1]);
	child.stop = async () => {
		child.kill("SIGKILL");
		await child.ended;
	};
	return child;
};
