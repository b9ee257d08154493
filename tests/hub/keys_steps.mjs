// keys_steps.mjs - what agents do in test_keys.sh.
import { call, init, is, now, sleep, tools } from "./talk.mjs";

export async function instructions() {
	const { instructions } = await init();
	return { instructions };
}

export async function echo_of_each() {
	await init();
	const names = await tools();
	const of = (server) => call(`mcp__${server}__echo`, { message: "hi" });
	return { names, quiet: await of("quiet"), chatty: await of("chatty"), brief: await of("brief") };
}

// The hub that runs hears of an approval, and its agents see the tool again.
export async function wait_for_the_accepted_tool() {
	await init();
	const until = now() + 10000;
	while (!(await tools()).includes("mcp__brief__echo") && now() < until) await sleep(50);
	const r = await call("mcp__brief__echo", { message: "again" });
	is(r.result?.content[0].text === "Echo: again", JSON.stringify(r));
}
