// talk.mjs - one conversation with `mcpool stdio`, line by line, for agent.mjs and the steps in *_steps.mjs.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

export let bridge; // the child
export let ended; // its exit code or signal, once it has ended
export const heard = []; // all notifications and requests so far
export const answers = []; // those that belong to no request of ours: a doubled answer is a failure
const waiting = new Map();
let last = 0;
let listeners = [];

export const open = (options) => {
	bridge = spawn(process.env.MCPOOL, ["stdio", ...options], { stdio: ["pipe", "pipe", "inherit"] });
	ended = new Promise((resolve) => bridge.on("exit", (code, signal) => resolve(code ?? signal)));
	createInterface({ input: bridge.stdout }).on("line", (line) => {
		const m = JSON.parse(line);
		if ("method" in m) {
			heard.push(m);
			listeners = listeners.filter((l) => !l(m));
		} else if (waiting.has(m.id)) {
			waiting.get(m.id)(m);
			waiting.delete(m.id);
		} else answers.push(m);
	});
};
export const leave = async () => {
	bridge.stdin.end();
	return ended;
};

export const send = (text) => bridge.stdin.write(text + "\n");
// A request; resolves with the whole answer.
export const ask = (method, params, id = ++last) =>
	new Promise((resolve) => {
		waiting.set(id, resolve);
		send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
	});
export const tell = (method, params) => send(JSON.stringify({ jsonrpc: "2.0", method, params }));
// initialize and initialized; resolves with the result.
export const init = async (capabilities = {}) => {
	const r = await ask("initialize", {
		protocolVersion: "2025-06-18", capabilities, clientInfo: { name: "test-agent", version: "1" },
	});
	tell("notifications/initialized");
	return r.result;
};
// tools/call; the whole answer.
export const call = (name, args = {}) => ask("tools/call", { name, arguments: args });
export const text = async (name, args) => {
	const r = await call(name, args);
	return r.result?.content[0].text ?? JSON.stringify(r);
};
// The names of all tools.
export const tools = async () => (await ask("tools/list", {})).result.tools.map((t) => t.name);
// The names, once they fit; after 5 s those that there are. The times here and below are those of an idle machine: before
// something counts as missing, a busy one gets five times as long.
export const tools_until = async (fit) => {
	let names = await tools();
	for (let i = 0; i < 500 && !fit(names); i++) {
		await sleep(50);
		names = await tools();
	}
	return names;
};
// The next notification or request of that name.
export const next = (method, ms = 5000) =>
	new Promise((resolve, reject) => {
		setTimeout(() => reject(new Error(`no ${method} within ${ms} ms`)), 5 * ms).unref();
		listeners.push((m) => m.method === method && (resolve(m), true));
	});

export const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
export const now = () => performance.now();
// The pid in hub.lock.
export const hub = () => Number(readFileSync(`${process.env.XDG_RUNTIME_DIR}/mcpool/hub.lock`, "utf8"));
export const kill = (pid, signal = "SIGKILL") => process.kill(pid, signal);
export const is = (ok, words) => {
	if (!ok) throw new Error(`not so: ${words}`);
};
