// failure_steps.mjs - what agents do in test_failures.sh.
import { call, init, is, sleep, tools } from "./talk.mjs";

const { ARGUMENTS, TOOL } = process.env;
// While it is still being started no one knows more than that.
const starts = ({ error }) => /is pending/.test(error?.message) && error.data.retryable && /call again/.test(error.data.nextStep);

export async function fail() {
	let r;
	await init();
	while (starts((r = await call(TOOL, JSON.parse(ARGUMENTS))))) await sleep(100);
	return { error: r.error };
}

// Until the restarts are given up.
export async function crash_until_it_stays_down() {
	let r;
	await init();
	await call("mcp__x__crash");
	do r = await call("mcp__x__echo", { message: "hi" });
	while (r.error.data.code === "mcp_outcome_unknown");
	return { error: r.error };
}

export async function fill_the_queue() {
	await init();
	await tools();
	const all = await Promise.all([1, 2, 3, 4].map(() => call("mcp__x__sleep", { ms: 400 })));
	const full = all.filter((r) => r.error);
	is(full.length === 2, `${full.length} refused`);
	return { error: full[0].error };
}
