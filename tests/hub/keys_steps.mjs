// keys_steps.mjs - what two agents do in test_keys.sh, with servers of every transport; see servers/keys.mjs.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { call, init, is, sleep, text, tools_until } from "./talk.mjs";

const kinds = ["stdio", "http", "sse", "websocket"];
const entries = ["all", "own", "few", "narrow", "pinged", "listed"];
const noted = () => readFileSync(process.env.TEST_NOTES, "utf8").split("\n");
const count = (line) => noted().filter((l) => l === line).length;
const name = (kind, entry, tool = "echo") => `mcp__${kind}_${entry}__${tool}`;

async function until(fit, words) {
	for (let i = 0; i < 400 && !fit(); i++) await sleep(50);
	is(fit(), `${words}: ${noted().join("; ")}`);
}

// A probe follows a call that timed out, each in its way.
async function probed(kind, entry, by) {
	const r = await call(name(kind, entry, "hold"), { ms: 20000 });
	is(r.error?.data.code === "mcp_timeout", JSON.stringify(r));
	await until(() => count(`${kind}_${entry} ${by}`) === (by === "ping" ? 1 : 2), `${kind} ${entry}`);
	is(count(`${kind}_${entry} initialize the-key`) === 1, `${kind}_${entry} was restarted`);
}

// Two calls at once begin one after the other where the queue has one slot, and together where it has more.
async function queued(kind, entry, each_ms, wanted) {
	await Promise.all([each_ms, each_ms].map((ms) => call(name(kind, entry, "hold"), { ms })));
	const order = noted().filter((l) => l === `${kind}_${entry} begins` || l === `${kind}_${entry} ends`).map((l) => l.split(" ")[1]);
	is(order.join() === wanted, `${kind} ${entry}: ${order}`);
}

const greet = async (kind) => {
	for (const entry of ["all", "own"]) is((await text(name(kind, entry), {})) === `${kind}_${entry}`, `${kind} ${entry}`);
};

export async function first() {
	await init();
	const names = await tools_until((n) => kinds.every((k) => entries.every((e) => n.includes(name(k, e)))));
	for (const kind of kinds) {
		is(entries.every((e) => names.includes(name(kind, e))), `${kind}: ${names}`);
		is(!names.includes(name(kind, "few", "add")) && !names.includes(name(kind, "few", "hold")), `few: ${names}`);
	}
	await Promise.all(kinds.map(greet));
	is(!noted().some((l) => l.includes(" begins with ")), `not as its type says: ${noted().join("; ")}`);
	execFileSync(process.execPath, [new URL("agent.mjs", import.meta.url).pathname, "keys_steps.mjs#second"]);
	for (const kind of kinds) {
		is(count(`${kind}_all initialize the-key`) === 1, `${kind}: not one connection for both sessions: ${noted().join("; ")}`);
		is(count(`${kind}_own initialize the-key`) === 2, `${kind}: not one for each: ${noted().join("; ")}`);
	}
	await Promise.all(kinds.flatMap((kind) => [queued(kind, "narrow", 200, "begins,ends,begins,ends"), queued(kind, "all", 1500, "begins,begins,ends,ends"),
		probed(kind, "pinged", "ping"), probed(kind, "listed", "tools/list")]));
	for (const kind of kinds) is(count(`${kind}_listed ping`) === 0 && count(`${kind}_pinged tools/list`) === 1, `${kind}: the other probe`);
}

// While the first one is there.
export async function second() {
	await init();
	await tools_until((n) => kinds.every((k) => n.includes(name(k, "own"))));
	await Promise.all(kinds.map(greet));
}
