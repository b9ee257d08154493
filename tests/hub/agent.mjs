// agent.mjs - an agent that speaks to `mcpool stdio` line by line, as its arguments say.
// node agent.mjs [--option VALUE ... --] STEP...   options go to `mcpool stdio`. A STEP is JavaScript; in it:
//   init()              initialize and initialized; resolves with the result
//   ask(method, params) a request; resolves with the whole answer
//   call(tool, args)    tools/call; the whole answer
//   tell(method, params), send(text), tools() names, sleep(ms), now()
//   heard               all notifications and requests so far; next(method, ms) the next of that name
//   hub()               the pid in hub.lock;  kill(pid, signal)
//   bridge              the child;  is(condition, words)
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const args = process.argv.slice(2);
const split = args.indexOf("--");
const options = split < 0 ? [] : args.slice(0, split);
const steps = args.slice(split + 1);

const bridge = spawn(process.env.MCPOOL, ["stdio", ...options], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
const heard = [];
const answers = []; // those nobody waits for: a doubled answer is a failure
let last = 0;
let listeners = [];

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

const send = (text) => bridge.stdin.write(text + "\n");
const ask = (method, params, id = ++last) =>
	new Promise((resolve) => {
		waiting.set(id, resolve);
		send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
	});
const tell = (method, params) => send(JSON.stringify({ jsonrpc: "2.0", method, params }));
const init = async (capabilities = {}) => {
	const r = await ask("initialize", {
		protocolVersion: "2025-06-18", capabilities, clientInfo: { name: "test-agent", version: "1" },
	});
	tell("notifications/initialized");
	return r.result;
};
const call = (name, args = {}) => ask("tools/call", { name, arguments: args });
const tools = async () => (await ask("tools/list", {})).result.tools.map((t) => t.name);
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const now = () => performance.now();
const next = (method, ms = 5000) =>
	new Promise((resolve, reject) => {
		setTimeout(() => reject(new Error(`no ${method} within ${ms} ms`)), ms).unref();
		listeners.push((m) => m.method === method && (resolve(m), true));
	});
const hub = () => Number(readFileSync(`${process.env.XDG_RUNTIME_DIR}/mcpool/hub.lock`, "utf8"));
const kill = (pid, signal = "SIGKILL") => process.kill(pid, signal);
const is = (ok, words) => {
	if (!ok) throw new Error(`not so: ${words}`);
};
const ended = new Promise((resolve) => bridge.on("exit", (code, signal) => resolve(code ?? signal)));
const leave = async () => {
	bridge.stdin.end();
	return ended;
};

try {
	for (const step of steps) {
		const fn = new Function(
			"init", "ask", "tell", "send", "call", "tools", "sleep", "now", "next", "hub", "kill", "bridge", "is",
			"heard", "answers", "ended", "leave",
			`return (async () => { ${step.includes("return") || step.includes(";") ? step : `return ${step}`} })()`);
		const r = await fn(init, ask, tell, send, call, tools, sleep, now, next, hub, kill, bridge, is, heard, answers,
			ended, leave);
		if (r !== undefined) console.log(typeof r === "string" ? r : JSON.stringify(r));
	}
	is(answers.length === 0, `nobody waited for ${JSON.stringify(answers[0])}`);
} catch (e) {
	console.log(`FAILED: ${e.message}`);
	process.exitCode = 1;
}
bridge.stdin.end();
await Promise.race([ended, sleep(3000)]);
bridge.kill("SIGKILL");
process.exit();
