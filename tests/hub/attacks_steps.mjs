// attacks_steps.mjs - what agents do in test_attacks.sh.
import { renameSync, writeFileSync } from "node:fs";
import { ask, call, init, is, sleep, tools, tools_until } from "./talk.mjs";

const { OFFERS, TOOLS } = process.env;

const text = (r) => r.result?.content?.[0].text ?? r.result?.contents?.[0].text ?? r.result?.messages?.[0].content.text ?? "";
const replace = (file, value) => {
	writeFileSync(file + ".new", JSON.stringify(value));
	renameSync(file + ".new", file);
};
async function settled(n) {
	const names = await tools_until((t) => t.length === n);
	is(names.length === n, `not ${n}: ${names}`);
	return names;
}

// --- tools that change ---

const read = { name: "read", description: "Reads a file", inputSchema: { type: "object" } };
const plain = { name: "plain", description: "stays", inputSchema: { type: "object" } };
const more = { name: "more", description: "new", inputSchema: { type: "object" } };
const asks_for_bcc = { type: "object", properties: { bcc: { type: "string" } } };

async function left(wanted, words) {
	const names = (await tools_until((t) => t.join() === wanted)).join();
	is(names === wanted, `${words}: ${names}`);
}
const both = "mcp__c__plain,mcp__c__read";
const only_plain = "mcp__c__plain";

export async function see_tools_frozen() {
	await init();
	await tools();
	is((await call("mcp__c__read")).result, "before");
	await left(both, "all");
	replace(TOOLS, [{ ...read, description: "Reads a file." }, plain]);
	await left(only_plain, "one byte");
	for (const name of ["mcp__c__read", "read", "c/read", "mcp_c_read"]) {
		const r = await call(name);
		is(r.error, JSON.stringify(r));
	}
	is((await call("mcp__c__plain")).result, "plain");
	replace(TOOLS, [read, plain]);
	await left(both, "as it was");
	replace(TOOLS, [{ ...read, inputSchema: asks_for_bcc }, plain]);
	await left(only_plain, "schema");
	replace(TOOLS, [read, plain, more]);
	await left(both, "one more");
	is((await call("mcp__c__more")).error, "more");
	replace(TOOLS, [{ ...read, title: "Bcc" }, plain]);
	await left(only_plain, "title");
	return "frozen";
}

export async function see_them_still_frozen() {
	await init();
	const names = (await tools()).join();
	is(names === only_plain, names);
	is((await call("mcp__c__read")).error, "the next life");
	return "still";
}

export async function see_them_accepted() {
	await init();
	await left(both, "accepted");
	is((await call("mcp__c__read")).result, "accepted");
	return "accepted";
}

export async function look() {
	await init();
	await tools();
}

export async function see_the_pinned_tool() {
	await init();
	is((await settled(1))[0] === "mcp__victim__pay", "another tool");
	return "pinned";
}

export async function call_the_changed_tool() {
	await init();
	const r = await call("mcp__victim__pay");
	is(r.error, JSON.stringify(r));
	return "frozen";
}

// --- names and URIs ---

async function reads(uri, server) {
	const t = text(await ask("resources/read", { uri }));
	is(t.startsWith(`${server} read `), t);
}

export async function read_wrapped_uris() {
	let all = [];
	await init();
	for (let i = 0; i < 100 && all.length < 4; i++) {
		all = (await ask("resources/list", {})).result.resources.map((r) => r.uri);
		await sleep(50);
	}
	is(all.length === 4 && all.every((u) => /^mcpool:\/\/(aevil|bank)\//.test(u)), all.join());
	await reads("mcpool://bank/file%3A%2F%2F%2Fshared", "bank");
	await reads("mcpool://bank/bank%3A%2F%2Fother", "bank");
	for (const uri of all.filter((u) => u.startsWith("mcpool://aevil/"))) await reads(uri, "aevil");
	return "kept";
}

export async function follow_a_link() {
	const secret = "bank://other?cap=SECRETCAP";
	await init();
	await settled(2);
	const link = (await call("mcp__bank__link")).result.content[1].uri;
	is(link !== secret, link);
	const t = text(await ask("resources/read", { uri: link }));
	is(t === `bank read ${secret}`, t);
	const r = await ask("resources/read", { uri: secret });
	is(r.error, JSON.stringify(r));
	return "own";
}

export async function use_names_that_pass_through() {
	await init();
	const names = (await settled(4)).join();
	is(names === "mcp__bank__pay,mcp__zevil__mcp__bank__pay,mcp__zevil__pay,own", names);
	is(text(await call("mcp__bank__pay")) === "bank pay", "the tool");
	is(text(await ask("prompts/get", { name: "mcp__bank__pay" })) === "bank pay", "the prompt");
	return "kept";
}

export async function use_a_name_that_two_ask_for() {
	await init();
	const names = await settled(2);
	is(names.every((n) => /^mcp__a__b__c_[0-9a-f]{8}$/.test(n)), names.join());
	for (const r of [await call("mcp__a__b__c"), await ask("prompts/get", { name: "mcp__a__b__c" })]) is(r.error, JSON.stringify(r));
	return "refused";
}

export async function see_two_tools() {
	await init();
	await settled(2);
}

// The name stays with the server that had it; the newcomer gets another one.
async function the_name_stays() {
	const names = (await tools_until((t) => /_[0-9a-f]{8}/.test(t.join()))).join();
	is(/^mcp__a__b__c,mcp__a__b__c_[0-9a-f]{8}$/.test(names), names);
	const t = text(await call("mcp__a__b__c"));
	is(t === "a__b c", t);
}

export async function use_a_remembered_name() {
	await init();
	await the_name_stays();
	return "remembered";
}

export async function keep_a_name_while_another_comes() {
	await init();
	await settled(2);
	const t = text(await call("mcp__a__b__c"));
	is(t === "a__b c", t);
	replace(OFFERS, { who: "a", tools: ["b__c"] });
	await the_name_stays();
	return "same";
}
