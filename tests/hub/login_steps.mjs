// login_steps.mjs - agents and people around logins, for test_login.sh.
import { spawn } from "node:child_process";
import { ask, call, heard, init, is, sleep, tools, tools_until } from "./talk.mjs";
const mcpool = process.env.MCPOOL;

// Where a browser ends up, without going there.
const last_address = async (url) => (await fetch(url, { redirect: "manual" })).headers.get("location");
const follow = async (url) => fetch(url);
// `mcpool login` of a script: the address, and how it ends
const begin = async () => {
	const child = spawn(mcpool, ["login", "acme", "--no-browser", "--json"], { stdio: ["ignore", "pipe", "inherit"] });
	let text = "";
	const over = new Promise((resolve) => child.on("exit", (code) => resolve({ code, text })));
	child.stdout.on("data", (bytes) => (text += bytes));
	while (!text.includes("\n")) await sleep(20);
	return { url: JSON.parse(text.split("\n")[0]).url, over };
};
// A control call of our own, as verbs make it
const control = async (method, params) => {
	const { connect } = await import("node:net");
	const { createInterface } = await import("node:readline");
	const socket = connect(`${process.env.XDG_RUNTIME_DIR}/mcpool/hub.sock`);
	const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
	const hello = { protocol: 1, role: "control", version: "0", cwd: process.cwd(), env: process.env };
	socket.write(JSON.stringify({ jsonrpc: "2.0", id: 0, method: "mcpool/hello", params: hello }) + "\n");
	await lines.next();
	socket.write(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) + "\n");
	const answer = JSON.parse((await lines.next()).value);
	socket.destroy();
	return answer;
};

export const hears_of_the_tools = async () => {
	await init();
	is(!(await tools()).includes("mcp__acme__echo"), "there before the login");
	const { url, over } = await begin();
	await follow(url);
	const { code, text } = await over;
	is(code === 0 && text.includes('"loggedIn":true'), text);
	const names = await tools_until((n) => n.includes("mcp__acme__echo"));
	is(names.includes("mcp__acme__echo"), `not there: ${names}`);
	is(heard.some((m) => m.method === "notifications/tools/list_changed"), "no list_changed");
};

// Over ssh: the browser is elsewhere and cannot come back to this machine.
export const pastes = async () => {
	const { url, over } = await begin();
	const back = await last_address(url);
	is(back.startsWith("http://127.0.0.1:"), back);
	const answer = await control("mcpool/login/paste", { name: "acme", url: back });
	is(answer.result, JSON.stringify(answer));
	is((await over).code === 0, "the login failed");
};
// A request with a Host of our choice; the status.
const raw = async (method, host, url) => {
	const { request } = await import("node:http");
	return new Promise((resolve, reject) => {
		request({ method, port: url.port, host: "127.0.0.1", path: url.pathname + url.search, headers: { host } }, (r) => {
			r.resume();
			resolve(r.statusCode);
		}).on("error", reject).end();
	});
};
export const pastes_another = async () => {
	const { url, over } = await begin();
	const back = new URL(await last_address(url));
	const other = new URL(back);
	other.searchParams.set("state", "x".repeat(43));
	const no = await control("mcpool/login/paste", { name: "acme", url: other.href });
	is(no.error?.message.includes("not the answer to this login"), JSON.stringify(no));
	const page = await fetch(other);
	is(page.status === 400, `the page says ${page.status}`);
	for (const [method, host] of [["POST", back.host], ["GET", "evil.example"], ["GET", `evil.example:${back.port}`]]) {
		const status = await raw(method, host, back);
		is(status === 404, `${method} for ${host}: ${status}`);
	}
	await fetch(back);
	is((await over).code === 0, "the login failed");
};

export const two_hundred_calls = async () => {
	await init();
	await tools_until((n) => n.includes("mcp__acme__echo"));
	const all = await Promise.all(Array.from({ length: 200 }, (_, i) => call("mcp__acme__echo", { text: `m${i}` })));
	const bad = all.filter((r) => r.error || r.result?.isError);
	is(bad.length === 0, `${bad.length} failed: ${JSON.stringify(bad[0])}`);
};

export const gets_the_address = async () => {
	await ask("initialize", {
		protocolVersion: "2025-11-25", capabilities: { elicitation: { url: {} } }, clientInfo: { name: "test-agent", version: "1" },
	});
	const r = await call("mcp__acme__echo", { text: "hi" });
	is(r.error?.code === -32042, JSON.stringify(r));
	const [e] = r.error.data.elicitations;
	is(e.mode === "url" && e.elicitationId && e.url.startsWith("http://127.0.0.1:") && e.message.includes("acme"), JSON.stringify(e));
	await follow(e.url);
	let again;
	for (let i = 0; i < 200; i++) {
		again = await call("mcp__acme__echo", { text: "hi" });
		if (again.result) break;
		await sleep(50);
	}
	is(again.result, JSON.stringify(again));
};
// Each gets the error at once; the first has tried to begin a login.
export const calls_while_logins_fail = async () => {
	await ask("initialize", {
		protocolVersion: "2025-11-25", capabilities: { elicitation: { url: {} } }, clientInfo: { name: "test-agent", version: "1" },
	});
	for (let i = 0; i < 5; i++) {
		const r = await call("mcp__acme__echo", { text: "hi" });
		is(r.error?.code === 1008 && r.error.data.nextStep.includes("mcpool login acme"), JSON.stringify(r));
	}
};
export const gets_an_error = async () => {
	await init();
	const r = await call("mcp__acme__echo", { text: "hi" });
	is(r.error?.code === 1008, JSON.stringify(r));
	is(r.error.data.nextStep.includes("mcpool login acme"), JSON.stringify(r.error.data));
};
