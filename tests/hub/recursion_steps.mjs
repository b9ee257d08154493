// recursion_steps.mjs - what agents do in test_recursion.sh.
import { call, init, is, sleep, tools } from "./talk.mjs";

async function no_tool_of(names) {
	const t = await tools();
	is(t.includes("mcp__a__echo"), t);
	is(t.every((name) => !names.test(name)), t);
}

export async function see_no_copy() {
	await init();
	await no_tool_of(/copy|bare|far/);
	await sleep(1500);
	await no_tool_of(/copy|bare|far/);
	return "fine";
}

export async function see_no_loop() {
	await init();
	await sleep(2000);
	await no_tool_of(/loop/);
	return "fine";
}

export async function call_through_two_hubs() {
	const name = "mcp__chain__mcp__far__echo";
	await init();
	for (let i = 0; i < 100 && !(await tools()).includes(name); i++) await sleep(50);
	const r = await call(name, { message: "through two" });
	return r.result.content[0].text;
}
