// dashboard.mjs CASE - one case of test_dashboard.sh: the page in Chromium, over a hub and servers that are real. Each dashboard_CASE.mjs
// exports a function that gets what is here. What every page must keep is watched throughout: no error on its console, no violation
// of its policy, no request to another origin; each screen that a case names is looked at by axe.
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

export const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
	'--disable-component-update', '--disable-sync', '--no-proxy-server'];
const PATIENT_MS = 30000; // of an idle machine nothing takes a tenth of it
const WIDE = { width: 1440, height: 900 };
const axe = () => readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const tree = join(import.meta.dirname, '../..');
export const node = join(tree, 'node_modules/.bin/node');
export const demo = process.env.DEMO_SERVER;
export const everything = join(tree, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
export const wait = (ms) => new Promise((done) => setTimeout(done, ms));

export function must(is, why)
{
	if (!is)
		throw new Error(why);
}

// eventually(look, words): what look() gives, once that is something
export async function eventually(look, words)
{
	for (const end = Date.now() + PATIENT_MS; Date.now() < end; await wait(50)) {
		const seen = await look();

		if (seen)
			return seen;
	}
	throw new Error(typeof words === 'function' ? words() : words);
}

// --- mcpool, its files and agents ------------------------------------------------------------------------

// mcpool(ARGUMENTS...): {code, out, err, json}
export const mcpool = (...args) => new Promise((done) => {
	execFile(process.env.MCPOOL, args, { cwd: process.env.HOME, maxBuffer: 64 << 20 }, (error, out, err) => {
		let json = null;

		try {
			json = JSON.parse(out);
		} catch { /* text for people */ }
		done({ code: error ? error.code : 0, out, err, json });
	});
});

export async function run(...args)
{
	const r = await mcpool(...args);

	must(r.code === 0, `mcpool ${args.join(' ')}: code ${r.code}: ${r.err || r.out}`);
	return r;
}

export const userFile = join(process.env.XDG_CONFIG_HOME, 'mcpool/mcp.json');
export const hubPid = () => Number(readFileSync(join(process.env.XDG_RUNTIME_DIR, 'mcpool/hub.lock'), 'utf8'));
export const status = async (name) => (await run('status', '--json')).json.servers.find((s) => s.name === name);

// write(FILE, VALUE): text, or anything as JSON; put in place at once
export function write(file, value)
{
	mkdirSync(dirname(file), { recursive: true });
	writeFileSync(`${file}.new`, typeof value === 'string' ? value : `${JSON.stringify(value, null, '\t')}\n`);
	renameSync(`${file}.new`, file);
}

export const configure = (mcpServers) => write(userFile, { mcpServers });

// with_servers({...}): in the user's file, approved
export async function approve(mcpServers)
{
	configure(mcpServers);
	await run('trust', '--user-file', '--yes');
}

// demoServer(NAME): two that would open the same connection are one
export const demoServer = (name) => ({ [name]: { command: demo, env: { WHO: name } } });

// agent(NAME, OPTIONS): an agent behind `mcpool stdio`
export async function agent(name, { cwd = process.env.HOME, version = '1', capabilities = {} } = {})
{
	const child = spawn(process.env.MCPOOL, ['stdio'], { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
	const open = new Map();
	let last = 0;
	const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
	const ask = (method, params) => new Promise((done) => {
		open.set(++last, done);
		send({ id: last, method, params });
	});

	createInterface({ input: child.stdout }).on('line', (line) => {
		const m = JSON.parse(line);

		if (m.method === undefined)
			open.get(m.id)?.(m);
	});
	await ask('initialize', { protocolVersion: '2025-06-18', capabilities, clientInfo: { name, version } });
	send({ method: 'notifications/initialized' });
	return {
		ask, pid: child.pid,
		call: (tool, args = {}) => ask('tools/call', { name: tool, arguments: args }),
		leave: () => new Promise((done) => child.on('exit', done).stdin.end()),
	};
}

// --- the browser -----------------------------------------------------------------------------------------

// null: a tab that is not there yet
function pageOf(request)
{
	try {
		return request.frame().page();
	} catch {
		return null;
	}
}

// What is watched on all pages of a context; wrong: what was not so. allowed: what a case brings about itself
function watch(context, t)
{
	const isOurs = (page) => page?.url().startsWith(`${t.base}/`);

	context.setDefaultTimeout(PATIENT_MS);
	context.on('console', (m) => {
		const isBad = m.type() === 'error' || /Content Security|Trusted|^policy: /.test(m.text());

		if (isBad && isOurs(m.page()) && !t.allowed.some((words) => words.test(m.text())))
			t.wrong.push(`console of ${m.page().url().slice(0, 100)}: ${m.text().slice(0, 400)}`);
	});
	context.on('weberror', (e) => isOurs(e.page()) && t.wrong.push(`page: ${e.error().stack.slice(0, 600)}`));
	context.on('dialog', (d) => {
		t.wrong.push(`a dialog: ${d.message().slice(0, 100)}`);
		d.dismiss();
	});
	context.on('request', (r) => t.requests.push({ url: r.url(), method: r.method(), page: pageOf(r) }));
	context.on('page', (page) => page.on('websocket', (ws) => t.sockets.push({ url: ws.url(), page })));
}

const reportViolations = () => addEventListener('securitypolicyviolation', (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`));

export class Dashboard
{
	wrong = [];
	allowed = [];
	requests = []; // {url, method, page}
	sockets = [];

	// address(): a new one; starts the hub if none runs
	async address()
	{
		const { url } = (await run('dashboard', '--no-browser', '--json')).json;

		this.base = new URL(url).origin;
		return url;
	}

	async newContext(options = {})
	{
		const context = await this.browser.newContext({ viewport: WIDE, reducedMotion: 'reduce', ...options });

		await context.addInitScript(reportViolations);
		watch(context, this);
		return context;
	}

	// logIn(): the first page, in a context of its own or in this one
	async logIn(context)
	{
		const address = await this.address();

		this.context ??= await this.newContext();
		const page = await (context ?? this.context).newPage();

		await page.goto(address);
		await this.isLive(page);
		return page;
	}

	// tab(HASH): another one of this login
	async tab(hash = '#/')
	{
		const page = await this.context.newPage();

		await page.goto(`${this.base}/${hash}`);
		await this.isLive(page);
		return page;
	}

	isLive(page)
	{
		return page.locator('.live:has-text("Live")').waitFor();
	}

	// aside(): a page beside the others, where the policy lets axe in
	async aside()
	{
		this.auditors ??= await this.newContext({ bypassCSP: true, storageState: await this.context.storageState() });
		return this.auditors.newPage();
	}

	// look(PAGE): axe looks at it, in both colours
	async look(page, words)
	{
		this.axe ??= axe();
		await page.evaluate(this.axe);
		for (const colorScheme of ['dark', 'light']) {
			await page.emulateMedia({ colorScheme });
			const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));

			for (const v of violations.filter((x) => /serious|critical/.test(x.impact)))
				this.wrong.push(`axe, ${words} ${colorScheme}: ${v.id} ${v.nodes[0].target} ${v.nodes[0].failureSummary.split('\n')[1]?.trim()}`);
		}
	}

	// audit(HASH, act): axe looks at that screen
	async audit(hash, act)
	{
		const page = await this.aside();

		await page.goto(`${this.base}/${hash}`);
		await this.isLive(page);
		await act?.(page);
		await this.look(page, hash);
		await page.close();
	}

	checkRequests()
	{
		const isElsewhere = (url) => /^(http|ws)s?:/.test(url) && new URL(url).host !== new URL(this.base).host;

		for (const { url } of [...this.requests, ...this.sockets])
			if (isElsewhere(url) && !this.foreign?.(url))
				this.wrong.push(`a request to ${url.slice(0, 200)}`);
	}
}

export const row = (page, name) => page.locator(`.server-row[data-name="${name}"]`);
export const hasState = (page, name, state) => row(page, name).locator(`.state:has-text("${state}")`).waitFor();
export const field = (page, ...path) => page.locator(`[data-path='${JSON.stringify(path)}']`);
export const dialog = (page) => page.locator('.dialog-layer.shown');
export const closed = (page) => page.waitForFunction(() => !document.querySelector('.dialog-layer'));

export async function visit(page, hash)
{
	await page.evaluate((to) => { location.hash = to; }, hash);
}

// --- one case --------------------------------------------------------------------------------------------

async function main(name)
{
	const t = new Dashboard();

	t.browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
	try {
		await (await import(`./dashboard_${name}.mjs`)).default(t);
		t.checkRequests();
	} catch (e) {
		t.wrong.push(e.stack.split('\n').slice(0, 8).join(' '));
		for (const [i, page] of t.browser.contexts().flatMap((c) => c.pages()).entries())
			await page.screenshot({ path: join(tree, `build/dashboard-${name}-${i}.png`) }).catch(() => 0);
	}
	await t.browser.close();
	for (const words of new Set(t.wrong))
		console.log(words);
	process.exit(t.wrong.length ? 1 : 0);
}

if (import.meta.filename === process.argv[1])
	main(process.argv[2]); // not awaited here, because the case imports this file
