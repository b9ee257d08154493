// private_steps.mjs - an agent whose server is its own: calls that it gives up, calls that time out.
import { readdirSync, readFileSync } from "node:fs";
import { ask, call, init, is, sleep, tell, tools_until } from "./talk.mjs";

const { STATE, TOOL_PREFIX } = process.env;
const starts = () => readFileSync(STATE).length;
const sleep_tool = `${TOOL_PREFIX}sleep`;
const ready = async () => {
	await init();
	await tools_until((names) => names.includes(sleep_tool));
};

const read = (pid, file) => {
	try {
		return readFileSync(`/proc/${pid}/${file}`, "utf8");
	} catch { // it is gone, or not ours
		return "";
	}
};
// The server's process and its descendants; the first one is the server.
function find_tree() {
	const of = (pid) => Number(read(pid, "stat").split(") ").pop().split(" ")[1]);
	const tree = readdirSync("/proc").filter((p) => /^\d+$/.test(p) && read(p, "environ").includes(`MCPOOL_DEMO_STATE=${STATE}`)).map(Number);
	return tree.sort((a, b) => tree.includes(of(a)) - tree.includes(of(b)));
}

// Fifty calls, each cancelled while the server has it: it stays as it is.
export const abort = async () => {
	await ready();
	for (let i = 0; i < 50; i++) {
		const id = `abort-${i}`;
		void ask("tools/call", { name: sleep_tool, arguments: { ms: 60000 } }, id);
		await sleep(10);
		tell("notifications/cancelled", { requestId: id, reason: "the user pressed Escape" });
	}
	const r = await call(`${TOOL_PREFIX}echo`, { message: "hi" });
	is(JSON.stringify(r.result ?? {}).includes("hi"), JSON.stringify(r));
	is(starts() === 1, `${starts()} starts`);
	return `server: ${find_tree()[0]}`;
};

// Three calls that time out, one after the other; then it serves again. How often was it started?
export const time_out = async () => {
	await ready();
	for (let i = 0; i < 3; i++) {
		const r = await call(sleep_tool, { ms: 60000 });
		is(r.error?.data?.code === "mcp_timeout", JSON.stringify(r));
		is(r.error.message.endsWith("(tool failed: timeout)") === (process.env.NETDATA === "1"), r.error.message);
		for (let n = 0; n < 100; n++) { // restart.callers fail: not while it restarts
			const e = await call(`${TOOL_PREFIX}echo`, { message: "hi" });
			if (e.result) break;
			await sleep(50);
		}
	}
	for (let n = 0; n < 200 && find_tree().length !== 3; n++) await sleep(50); // earlier trees are gone
	is(find_tree().length === 3, `processes: ${find_tree()}`);
	return `starts: ${starts()}`;
};
