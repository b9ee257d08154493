// storm.mjs - the hub is killed again and again while agents call: node storm.mjs KILLS BRIDGES SLACK
// Every request is answered exactly once: by its own result, or by an error that says what is known of it.
// Service is back within 2 s (times SLACK). How long after a kill the last in-flight id was answered is told.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [kills, bridges, slack] = process.argv.slice(2).map(Number);
const lock = `${process.env.XDG_RUNTIME_DIR}/mcpool/hub.lock`;
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const now = () => performance.now();
const wrong = [];
const count = { calls: 0, results: 0, unknown: 0, not_sent: 0, other: 0 };
let killed = 0; // when, last
let slowest = 0, longest = 0, over = false;

class Agent {
	waiting = new Map();
	last = 0;
	back = true; // has been served since the last kill
	constructor(number) {
		this.number = number;
		this.child = spawn(process.env.MCPOOL, ["stdio"], { stdio: ["pipe", "pipe", "inherit"] });
		this.child.on("exit", (code) => over || wrong.push(`bridge ${number} ended: ${code}`));
		createInterface({ input: this.child.stdout }).on("line", (line) => this.hear(JSON.parse(line)));
	}
	hear(m) {
		if ("method" in m) return;
		const wait = this.waiting.get(m.id);
		if (!wait) return wrong.push(`bridge ${this.number}: an answer nobody waits for: ${JSON.stringify(m)}`);
		this.waiting.delete(m.id);
		wait(m);
	}
	ask(method, params) {
		const id = ++this.last;
		return new Promise((resolve) => {
			this.waiting.set(id, resolve);
			this.child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
		});
	}
	async open() {
		await this.ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "storm", version: "1" } });
		this.child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
		await this.ask("tools/list", {});
	}
	async call() {
		const text = `${this.number}-${count.calls++}`;
		const sent = now();
		const m = await this.ask("tools/call", { name: "mcp__a__echo", arguments: { message: text } });
		if (m.result) {
			count.results++;
			if (m.result.content[0].text !== text) wrong.push(`crossed: ${text} got ${JSON.stringify(m)}`);
			if (!this.back && sent > killed) {
				this.back = true;
				slowest = Math.max(slowest, now() - killed);
			}
		} else if (m.error.code === 1003) {
			count.unknown++;
			longest = Math.max(longest, now() - Math.max(killed, sent));
		} else if (m.error.data?.outcome === "not_sent") count.not_sent++;
		else {
			count.other++;
			wrong.push(`${text}: ${JSON.stringify(m.error)}`);
		}
	}
	async run() {
		while (!over) await Promise.all([this.call(), this.call(), this.call()]);
	}
}

const agents = Array.from({ length: bridges }, (_, i) => new Agent(i));
await Promise.all(agents.map((a) => a.open()));
const runs = agents.map((a) => a.run());
for (let i = 0; i < kills; i++) {
	await sleep(50 + Math.random() * 200);
	for (const a of agents) a.back = false;
	const pid = Number(readFileSync(lock, "utf8"));
	killed = now();
	process.kill(pid, "SIGKILL");
	while (now() - killed < 2000 * slack && !agents.every((a) => a.back)) await sleep(5);
	if (!agents.every((a) => a.back)) wrong.push(`kill ${i + 1}: not back after ${Math.round(now() - killed)} ms`);
}
over = true;
await Promise.race([Promise.all(runs), sleep(5000)]);
for (const a of agents) if (a.waiting.size) wrong.push(`bridge ${a.number}: ${a.waiting.size} never answered`);
if (count.calls !== count.results + count.unknown + count.not_sent + count.other) wrong.push("the count does not close");
console.log(JSON.stringify({ kills, bridges, ...count, slowestBackMs: Math.round(slowest), latestUnknownMs: Math.round(longest) }));
for (const w of wrong.slice(0, 5)) console.log(`WRONG: ${w}`);
for (const a of agents) a.child.stdin.end();
await sleep(200);
process.exit(wrong.length ? 1 : 0);
