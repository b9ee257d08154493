// returns_steps.mjs - an agent that is there before its server: what it hears and gets when the server comes.
// The environment says what to do: LATE (a file of commands to run), AFTER (ms until then), WITHIN (ms until it counts as missing).
import { execFileSync } from "node:child_process";
import { call, init, is, now, sleep, tools } from "./talk.mjs";

const { LATE, AFTER = "300", WITHIN = "30000", TOOL } = process.env;
const arrive = () => execFileSync("sh", [LATE], { stdio: "inherit" });

// Nothing at first; then the server arrives, and this session has its tools and may call them.
export const comes_up = async () => {
	await init();
	is(!(await tools()).includes(TOOL), "there before it came");
	await sleep(Number(AFTER));
	arrive();
	const began = now();
	while (!(await tools()).includes(TOOL)) {
		is(now() - began < Number(WITHIN), `not there within ${WITHIN} ms`);
		await sleep(20);
	}
	const took = now() - began;
	const r = await call(TOOL, { message: "hi" });
	is(JSON.stringify(r.result ?? {}).includes("hi"), JSON.stringify(r));
	return `took ${Math.round(took)} ms`;
};

// Two calls, one at once and one a second later, wait together and are answered when it is there.
export const callers_wait = async () => {
	await init();
	const first = call(TOOL, { message: "hi" });
	await sleep(1000);
	const second = call(TOOL, { message: "hi" });
	await sleep(Number(AFTER));
	arrive();
	const began = now();
	for (const r of [await first, await second])
		is(JSON.stringify(r.result ?? {}).includes("hi"), JSON.stringify(r));
	is(now() - began < Number(WITHIN), `not answered within ${WITHIN} ms`);
};
