// versions_steps.mjs - what agents do in test_versions.sh.
import { within } from "../busy.mjs";
import { call, init, is, next, now, sleep, text, tools } from "./talk.mjs";

const { NAME, SLACK } = process.env;

async function served(tool, args) {
	const r = await call(tool, args);
	is(r.result, JSON.stringify(r));
}
async function be_ready() {
	await init();
	await tools();
	console.log("ready");
}

export async function call_all_the_time() {
	const failed = [];
	let n = 0;
	await be_ready();
	for (const end = now() + 4000; now() < end;) {
		const r = await call("mcp__a__echo", { message: `busy-${n++}` });
		if (!r.result) failed.push(r);
	}
	is(failed.length === 0, JSON.stringify(failed[0]));
	return `busy made ${n} calls`;
}

export async function call_slowly() {
	await be_ready();
	await served("mcp__a__sleep", { ms: 2500, message: "slow" });
	console.log("slow was answered");
	await served("mcp__a__echo", { message: "after" });
	return "slow goes on";
}

export async function call_slowly_once() {
	await be_ready();
	await served("mcp__a__sleep", { ms: 1500, message: "slow" });
	return "answered";
}

export async function only_listen() {
	await be_ready();
	await next("notifications/tools/list_changed", 15000);
	return "idle was told";
}

export async function come_from_the_next_version() {
	const t = now();
	await init();
	const took = now() - t;
	await tools();
	is(within(took, 1500 * SLACK), `waited ${took} ms for the old hub`);
	await served("mcp__a__echo", { message: "new" });
	return "new was served";
}

export async function say_old() {
	await init();
	await tools();
	return text("mcp__a__echo", { message: "old" });
}

export async function list() {
	await init();
	return (await tools()).join();
}

export async function race() {
	await init();
	await tools();
	for (let n = 0; n < 30; n++) {
		await served("mcp__a__echo", { message: `${NAME}-${n}` });
		await sleep(20);
	}
	return "done";
}
