// scale.mjs [SERVERS TOOLS CALLS] - the page over a hub with 1,000 servers, most of them not started, 10,000 tools and about 1,000 calls
// a second: what a person waits for, and what the page costs the hub. Prints figures; a line FAIL for what is grossly beyond.
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { Dashboard, FLAGS, agent, approve, demo, eventually, hasState, hubPid, must, node, run, visit, wait } from './dashboard.mjs';

const isLoad = process.argv[2] === 'load';
const [SERVERS, TOOLS, CALLS] = [1000, 10000, 1000].map((otherwise, i) => Number(process.argv.slice(isLoad ? 3 : 2)[i]) || otherwise);
const BUSY = 10, AGENTS = 4, WINDOW_MS = 10000;
const TICKS = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
let failures = 0;

const say = (name, value) => console.log(`${name.padEnd(44)} ${value}`);

// holds(NAME, VALUE, LIMIT, UNIT): a gross limit
function holds(name, value, limit, unit)
{
	say(name, `${Math.round(value * 100) / 100} ${unit}`);
	if (!(value <= limit)) {
		failures++;
		console.log(`FAIL scale: ${name} is ${value} ${unit}, more than ${limit}`);
	}
}

// --- the load: agents in a process of their own ------------------------------------------------------------

async function load()
{
	const agents = await Promise.all(Array.from({ length: AGENTS }, (_, i) => agent(`agent-${i}`)));
	const names = Array.from({ length: BUSY }, (_, i) => `busy-${i}__echo`);
	let sent = 0, open = 0;
	const began = Date.now();

	setInterval(() => {
		for (const due = (Date.now() - began) * CALLS / 1000; sent < due; sent++) {
			if (open > 4 * CALLS)
				continue; // not that many wait on a machine that is too slow
			open++;
			agents[sent % AGENTS].call(names[sent % BUSY], { message: `call ${sent}` }).then(() => { open--; });
		}
	}, 10);
}

// --- what is measured ------------------------------------------------------------------------------------

const statOf = (pid, task = '') => readFileSync(`/proc/${pid}${task}/stat`, 'utf8').split(') ')[1].split(' ');
// Of the thread that serves the page; that of the store has work of its own every now and then.
const cpuMs = (pid) => {
	const stat = statOf(pid, `/task/${pid}`);

	return (Number(stat[11]) + Number(stat[12])) * 1000 / TICKS;
};
const memoryMib = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

async function share(pid)
{
	const before = cpuMs(pid), began = performance.now();

	await wait(WINDOW_MS);
	return (cpuMs(pid) - before) / (performance.now() - began) * 100;
}

// How long it takes from a key to the rows that it leaves
const filterMs = (page, box, text, isDone) => page.evaluate(async ([selector, value, done]) => {
	const input = document.querySelector(selector), fits = new Function(`return ${done}`), began = performance.now();

	input.value = value;
	input.dispatchEvent(new Event('input', { bubbles: true }));
	do
		await new Promise(requestAnimationFrame);
	while (!fits() && performance.now() - began < 20000);
	return performance.now() - began;
}, [box, text, isDone]);

// Frame times in ms while a list scrolls for so long
const scroll = (page, list) => page.evaluate(async (selector) => {
	const box = document.querySelector(selector), times = [];
	let last = await new Promise(requestAnimationFrame);

	for (let n = 0; n < 180; n++) {
		box.scrollTop = n * 120 % (box.scrollHeight - box.clientHeight);
		const at = await new Promise(requestAnimationFrame);

		times.push(at - last);
		last = at;
	}
	times.sort((a, b) => a - b);
	return { p50: times[90], p95: times[171], worst: times[179] };
}, list);

function scrolled(what, { p50, p95, worst })
{
	say(`${what}: frame p50`, `${p50.toFixed(1)} ms`);
	holds(`${what}: frame p95`, p95, 250, 'ms');
	say(`${what}: worst frame`, `${worst.toFixed(1)} ms`);
}

// The process of the browser that has its connections
function networkProcess(browserPid)
{
	const isOf = (pid) => {
		try {
			return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('network.mojom.NetworkService') && Number(statOf(pid)[1]) && isBelow(pid, browserPid);
		} catch {
			return false;
		}
	};

	return readdirSync('/proc').filter((x) => /^\d+$/.test(x)).map(Number).find(isOf);
}

function isBelow(pid, top)
{
	for (; pid > 1; pid = Number(statOf(pid)[1]))
		if (pid === top)
			return true;
	return false;
}

// --- the steps -------------------------------------------------------------------------------------------

async function paint(page)
{
	await page.waitForFunction(() => document.querySelector('.server-row'));
	const { first, rows } = await page.evaluate(() => ({ first: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0, rows: performance.now() }));

	holds('first paint', first, 5000, 'ms');
	holds('rows of servers', rows, 10000, 'ms');
	must(await page.getByText(new RegExp(`of 1.000 connected|of ${SERVERS} connected`)).count() === 1, 'not all servers are shown');
}

async function use(page)
{
	holds(`filter ${SERVERS} servers`, await filterMs(page, '#filter', 'lazy-777', "document.querySelectorAll('.server-row').length === 1"), 1000, 'ms');
	holds('all of them again', await filterMs(page, '#filter', '', "document.querySelectorAll('.server-row').length > 10"), 1000, 'ms');
	scrolled('scroll servers', await scroll(page, '.server-table .virtual'));
	await visit(page, '#/server/busy-1');
	await page.locator('.offer').first().waitFor();
	holds(`filter ${TOOLS / BUSY} tools`, await filterMs(page, '.offer-list input', 'tool_777', "document.querySelector('.offer')?.textContent.startsWith('tool_777')"), 1000, 'ms');
	await filterMs(page, '.offer-list input', '', "!document.querySelector('.offer')?.textContent.startsWith('tool_777')");
	scrolled('scroll tools', await scroll(page, '.offer-list .virtual'));
	await visit(page, '#/calls');
	await page.locator('.call-row').first().waitFor();
	scrolled('scroll calls', await scroll(page, '.calls-list .virtual'));
}

const newest = (page) => page.locator('.call-row').first().getAttribute('data-key');

async function stall(t, page, pid)
{
	const before = memoryMib(pid), paused = networkProcess(t.pid);

	must(paused, 'the browser has no network process of its own');
	process.kill(paused, 'SIGSTOP');
	try {
		await wait(WINDOW_MS * 0.8); // until then the list samples the calls of the last 5 s
		const seen = await newest(page);

		await wait(WINDOW_MS * 0.2);
		must(await newest(page) === seen, 'the tab has not stalled');
		say('memory of the hub', `${before.toFixed(1)} MiB`);
		holds('and with a tab that has stalled for 10 s', memoryMib(pid) - before, 64, 'MiB more');
	} finally {
		process.kill(paused, 'SIGCONT');
	}
	await t.isLive(page);
	const seen = await newest(page);

	await eventually(async () => await newest(page) !== seen, 'the page does not go on');
}

async function main()
{
	const t = new Dashboard();
	const entries = Array.from({ length: SERVERS - BUSY }, (_, i) => [`lazy-${i}`, { command: demo, start: 'lazy', env: { WHO: String(i) } }]);
	const busy = Array.from({ length: BUSY }, (_, i) => [`busy-${i}`, { command: demo, env: { WHO: `busy ${i}`, MCPOOL_DEMO_TOOLS: String(TOOLS / BUSY) } }]);

	await approve(Object.fromEntries([...entries, ...busy]));
	const address = await t.address(), pid = hubPid(), loader = spawn(node, [import.meta.filename, 'load', ...process.argv.slice(2)], { stdio: ['ignore', 'ignore', 'inherit'] });

	await eventually(async () => (await run('status', '--json')).json.servers.filter((x) => x.state === 'connected').length === BUSY, 'the servers do not start');
	await wait(5000);
	say('servers, tools', `${SERVERS}, ${TOOLS}`);
	const server = await chromium.launchServer({ executablePath: process.env.CHROMIUM, args: FLAGS });

	t.browser = await chromium.connect(server.wsEndpoint());
	t.pid = server.process().pid;
	t.context = await t.newContext();
	const page = await t.context.newPage();

	await page.goto(address);
	await t.isLive(page);
	await paint(page);
	await hasState(page, 'busy-1', 'connected');
	await use(page);
	const calls = await share(pid);

	await visit(page, '#/');
	const overview = await share(pid);

	await visit(page, '#/calls');
	await stall(t, page, pid);
	const perSecond = (await run('status', '--json')).json.hub.callsLastMinute / 60;

	say('calls per second', perSecond.toFixed(0));
	must(perSecond > CALLS / 4, 'the load is not what it should be');
	await page.close();
	const alone = await share(pid);

	say('hub without a page', `${alone.toFixed(1)} % of a core`);
	holds('hub with the overview', overview, alone * 3 + 40, '% of a core');
	holds('hub with the calls', calls, alone * 3 + 40, '% of a core');
	loader.kill('SIGKILL');
	await t.browser.close();
	await server.close();
	t.checkRequests();
	for (const words of new Set(t.wrong)) {
		failures++;
		console.log(`FAIL scale: ${words}`);
	}
	process.exit(failures ? 1 : 0);
}

if (isLoad)
	load();
else
	main().catch((e) => {
		console.log(`FAIL scale: ${e.stack}`);
		process.exit(1);
	});
