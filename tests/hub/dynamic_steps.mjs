// dynamic_steps.mjs - what agents do in test_dynamic.sh.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { call, init, is, next, sleep, tools, tools_until } from "./talk.mjs";

const { MCPOOL, MCPOOL_TEST_MARK } = process.env;

export async function wait_for_approval() {
	await init();
	const before = await tools();
	is(before.includes("mcp__a__echo") && !before.some((n) => n.startsWith("mcp__x__")), before);
	const refused = await call("mcp__x__echo", { message: "x" });
	is(refused.error?.data.code === "mcp_needs_approval", JSON.stringify(refused));
	is(refused.error.message.includes(`mcpool trust --config ${MCPOOL_TEST_MARK}/extra.json x`), refused.error.message);
	const told = next("notifications/tools/list_changed");
	execFileSync(MCPOOL, ["trust", "--config", `${MCPOOL_TEST_MARK}/extra.json`, "x", "--yes"]);
	await told;
	console.log("approved");
	return (await tools_until((n) => n.includes("mcp__x__echo"))).join();
}

export async function list_and_stay() {
	await init();
	console.log((await tools_until((n) => n.includes("mcp__x__echo"))).join());
	while (!existsSync(`${MCPOOL_TEST_MARK}/enough`)) await sleep(50);
}
