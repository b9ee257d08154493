// verbs_steps.mjs - what an agent does in test_verbs.sh while somebody looks at the hub.
import { execFileSync } from "node:child_process";
import { call, init, is, sleep, tools_until } from "./talk.mjs";

const look = () => {
	const { servers } = JSON.parse(execFileSync(process.env.MCPOOL, ["status", "--json"]).toString());
	return Object.fromEntries(servers.map((s) => [s.name, s]));
};

// One call was answered, one has failed, one runs and one waits for the only slot.
export async function read_the_figures() {
	await init();
	await tools_until((names) => names.includes("mcp__a__echo"));
	await call("mcp__a__echo", { message: "hi" });
	await call("mcp__a__crash", { signal: 9 });
	for (const ms of [60000, 60001]) void call("mcp__a__sleep", { ms }); // they end with the session
	let at = look();
	for (let i = 0; i < 50 && (at.a.waiting !== 1 || !at.a.uptimeMs || at.down.attempt !== 2); i++) {
		await sleep(50);
		at = look();
	}
	const { a, down } = at;
	is(a.calls === 2 && a.failures === 1 && a.open === 1 && a.waiting === 1 && a.restarts === 1 && a.error === null, JSON.stringify(a));
	is(a.pid > 0 && process.kill(a.pid, 0) && a.uptimeMs > 0 && a.p50us > 0 && a.p99us >= a.p50us, JSON.stringify(a));
	is(down.pid === null && down.attempt === 2 && down.nextAt > Date.now(), JSON.stringify(down));
	is(/exited with code 3 \(token=\u2022+/.test(down.error) && !/hunter2/.test(JSON.stringify(at)), JSON.stringify(down));
}
