// otlp_steps.mjs - the calls of test_otlp.sh.
import { ask, init, is, text } from "./talk.mjs";

const { PARENT } = process.env;
const call = (name, args, traceparent) => ask("tools/call", { name, arguments: args, _meta: traceparent ? { traceparent } : {} });

export async function calls() {
	await init();
	const r = await call("mcp__a__echo", { message: "one" }, `${PARENT}-01`);
	is(r.result, JSON.stringify(r));
	await call("mcp__a__fail", {}, `${PARENT}-01`);
	await call("mcp__a__echo", { message: "unsampled" }, `${PARENT}-00`);
	is(await text("mcp__a__echo", { message: "two" }) === "two", "an answer");
}
