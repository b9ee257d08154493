// shots.mjs - pictures of the page's screens over mock_hub.mjs, beside those of the design: node tests/web/shots.mjs FOLDER [--only WORD].
// Prints what the browser's console says, violations of the CSP and serious findings of axe; exits with 1 if there are any.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { startMock } from './mock_hub.mjs';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { only: { type: 'string', default: '' } } });
const out = positionals[0];
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'page-'));
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const WIDE = { width: 1440, height: 900 }, MIDDLE = { width: 1024, height: 768 }, PHONE = { width: 390, height: 844 };
let problems = 0;

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

// name, scene, address, sizes, what is done before the picture
const SHOTS = [
	['01-overview', 'normal', '#/', [WIDE, MIDDLE]],
	['01-focus', 'normal', '#/', [WIDE], async (page) => page.hover('[data-name=postgres]')],
	['01-cards', 'normal', '#/?view=cards', [WIDE]],
	['02-server', 'normal', '#/server/github', [WIDE, MIDDLE], async (page) => page.mouse.move(722, 330)],
	['02-server-failed', 'normal', '#/server/warehouse', [WIDE, PHONE]],
	['03-calls', 'normal', '#/calls', [WIDE, MIDDLE, PHONE], async (page) => page.locator('.call-row, .call-row-phone').nth(3).click()],
	['03-no-result', 'normal', '#/calls?find=foo', [WIDE]],
	['05-first-run', 'first', '#/', [WIDE, PHONE]],
	['05-empty', 'empty', '#/', [WIDE]],
	['06-restarting', 'normal', '#/', [WIDE, PHONE], async (page, mock) => {
		mock.restart(900, new Promise(() => 0));
		await wait(3500);
	}],
	['07-phone', 'normal', '#/', [PHONE]],
	['07-phone-server', 'normal', '#/server/github', [PHONE]],
	['09-palette', 'normal', '#/', [WIDE], async (page) => {
		await page.keyboard.press('/');
		await page.keyboard.type('iss');
	}],
	['09-keys', 'normal', '#/', [WIDE], async (page) => page.keyboard.press('?')],
	['10-many', 'many', '#/', [WIDE, PHONE]],
	['10-many-calls', 'many', '#/calls', [WIDE]],
	['11-hostile', 'hostile', '#/', [WIDE, PHONE]],
	['11-hostile-server', 'hostile', 'server', [WIDE]],
	['11-hostile-calls', 'hostile', '#/calls', [WIDE]],
	['12-logged-out', 'normal', 'out', [WIDE]],
];

function watch(page, name)
{
	page.on('console', (m) => {
		if (m.type() !== 'error' && !/Content Security|Trusted/.test(m.text()))
			return;
		if (/WebSocket connection|ERR_CONNECTION/.test(m.text()) && name.startsWith('06'))
			return;
		if (/401/.test(m.text()) && name.startsWith('12'))
			return;
		problems++;
		console.log(`${name}: ${m.text()}`);
	});
	page.on('pageerror', (e) => {
		problems++;
		console.log(`${name}: ${e.stack}`);
	});
}

async function runAxe(page, name)
{
	// A debugger's evaluation is not under the page's CSP.
	await page.evaluate(axe);
	const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));

	for (const v of violations) {
		const isSerious = /serious|critical/.test(v.impact);

		problems += isSerious ? 1 : 0;
		console.log(`${name}: axe ${v.impact} ${v.id} (${v.nodes.length}): ${v.nodes.slice(0, 2).map((n) => `${n.target} ${n.failureSummary?.split('\n')[1]?.trim().slice(0, 160)}`).join(' | ')}`);
	}
}

async function sideways(page, name)
{
	const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

	if (over > 0) {
		problems++;
		console.log(`${name}: scrolls sideways by ${over} px`);
	}
}

async function shoot(browser, [name, scene, address, sizes, act], viewport, theme)
{
	const mock = await startMock({ folder, scene, still: true });
	const context = await browser.newContext({ viewport, colorScheme: theme, hasTouch: viewport === PHONE, reducedMotion: 'reduce' });
	const page = await context.newPage();
	const full = `${name}-${theme}${viewport === WIDE ? '' : `-${viewport.width}`}`;

	watch(page, full);
	if (address === 'out') {
		await page.goto(mock.url);
	} else {
		await page.goto(`${mock.url}/#login=CODE`);
		await page.waitForSelector('.live:has-text("Live"), .first', { timeout: 5000 }).catch(() => 0);
		await page.evaluate((hash) => { location.hash = hash; }, address === 'server' ? `#/server/${encodeURIComponent(mock.world.servers[0].name)}` : address);
	}
	await wait(400);
	mock.change(mock.world.change());
	await wait(400);
	await act?.(page, mock);
	await wait(300);
	await page.screenshot({ path: join(out, `${full}.png`) });
	await sideways(page, full);
	await runAxe(page, full);
	await context.close();
	mock.stop();
}

mkdirSync(out, { recursive: true });
execFileSync(join(import.meta.dirname, '../../tools/build-page'), [folder]);
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });

for (const shot of SHOTS.filter(([name]) => name.includes(values.only)))
	for (const viewport of shot[3])
		for (const theme of ['dark', 'light'])
			await shoot(browser, shot, viewport, theme).catch((e) => {
				problems++;
				console.log(`${shot[0]}: ${e.message}`);
			});
await browser.close();
console.log(problems ? `${problems} problems` : 'no problems');
process.exit(problems ? 1 : 0);
