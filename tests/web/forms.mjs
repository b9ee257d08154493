// forms.mjs - what a person does with forms, approvals and dialogs, in a real browser over mock_hub.mjs: node tests/web/forms.mjs [FOLDER].
// Prints a line for each case; with FOLDER also pictures. Errors of the page, violations of its CSP and serious findings of axe fail a case.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { startMock } from './mock_hub.mjs';

const out = process.argv[2];
const program = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const WIDE = { width: 1440, height: 900 }, PHONE = { width: 390, height: 844 };
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
let failures = 0;

const field = (page, ...path) => page.locator(`[data-path='${JSON.stringify(path)}']`);
const call = (page) => page.locator('.schema-foot .button').click({ force: true });
const said = async (page, text) => page.getByText(text).first().waitFor({ timeout: 6000 });
const closed = async (page) => page.waitForFunction(() => !document.querySelector('.dialog-layer.shown'), null, { timeout: 4000 });
const press = async (page, ...keys) => { for (const k of keys) await page.keyboard.press(k); };
const focused = (page) => page.evaluate(() => document.activeElement.textContent.trim());
function must(is, why)
{
	if (!is)
		throw new Error(why);
}

async function tool(page, name)
{
	await page.evaluate(() => { location.hash = '#/server/memory'; });
	await page.locator('input[placeholder^="Search"]').last().fill(name);
	await page.locator(`.offers :text-is("${name}")`).first().click();
	await page.locator('.tryout').scrollIntoViewIfNeeded();
}

async function issue(page)
{
	await tool(page, 'create_issue');
	await field(page, 'repo').fill('acme/api-gateway');
	await field(page, 'title').fill('Retry after 503 loops');
}

async function open(page, hash, button)
{
	await page.evaluate((h) => { location.hash = h; }, hash);
	await page.locator(button).first().click();
	await page.locator('.dialog-layer.shown').waitFor();
}

const WAITING = '#/waiting', ADD = '.page-head button:has-text("Add server")';
const CASES = {
	async a_call_with_missing_fields_is_not_sent(page) {
		await tool(page, 'create_issue');
		await call(page);
		must(await page.locator('.field-error').count() === 2, 'not two errors');
		must(await page.locator('.try-result .empty').count() === 1, 'something was called');
	},
	async ctrl_enter_calls_and_the_result_is_rendered(page) {
		await issue(page);
		await press(page, 'Control+Enter');
		await said(page, 'Issue #1842 opened');
		await page.getByText('…/issues/1842').click();
		await said(page, 'https://github.com/acme/api-gateway/issues/1842');
		must(await page.locator('a[href^="https://github.com"][rel="noopener noreferrer"]').count() === 1, 'no safe link');
	},
	async what_is_wrong_is_said_and_the_last_result_stays(page, mock) {
		await issue(page);
		await press(page, 'Control+Enter');
		await said(page, 'Issue #1842 opened');
		mock.world.slow = 2000;
		await press(page, 'Control+Enter');
		await said(page, /3[1-9] of 50/);
		await field(page, 'milestone', 'number').fill('twelve');
		await field(page, 'milestone', 'due').focus();
		await said(page, 'must be a whole number');
		await said(page, 'Fix 1 field to call again');
		await said(page, 'Previous call');
	},
	async escape_cancels_a_call(page, mock) {
		mock.world.slow = 2000;
		await issue(page);
		await press(page, 'Control+Enter');
		await said(page, /3[1-9] of 50/);
		await press(page, 'Escape');
		await said(page, 'You cancelled it');
	},
	async form_and_json_are_one_value(page) {
		await issue(page);
		await page.locator('.schema-head [role=radio]').last().click();
		await page.locator('.json-box').fill('{"repo": "a/b", "title": "t", "labels": ["x", "y"]}');
		await page.locator('.schema-head [role=radio]').first().click();
		must(await field(page, 'repo').inputValue() === 'a/b', 'the form has another value');
		must(await page.locator('.pill').count() === 2, 'the list is not there');
		await page.locator('.pills input').fill('z');
		await press(page, 'Enter', 'Backspace');
		must(await page.locator('.pill').count() === 2, 'Backspace did not remove the last');
	},
	async every_kind_of_field_can_be_filled_in(page) {
		await tool(page, 'every_kind');
		await field(page, 'query').fill('x');
		await field(page, 'count').fill('7');
		await page.locator('.field:has-text("target") [role=radio]').last().click();
		await field(page, 'target', 'url').fill('https://example.com');
		await page.getByText('Add an item').first().click();
		await field(page, 'points', 0, 'x').fill('1.5');
		await call(page);
		await said(page, 'Answered');
	},
	async what_a_server_answers_is_shown_by_its_kind(page) {
		await tool(page, 'media');
		await call(page);
		await said(page, 'image of type image/svg+xml');
		must(await page.evaluate(() => document.querySelector('.result-picture img').naturalWidth) === 96, 'the image is not drawn');
	},
	async hostile_answers_stay_text(page) {
		await tool(page, 'hostile');
		await call(page);
		await said(page, '<img src=x onerror=alert(1)>');
		must(await page.locator('.try-result :is(img, script, a[href^="javascript"])').count() === 0, 'it became an element');
	},
	async a_long_list_comes_page_by_page(page) {
		await tool(page, 'rows');
		await call(page);
		await page.getByText('492 more').click();
		must(await page.locator('.json .json > li').count() > 500, 'the rest did not come');
	},
	async a_lost_call_says_what_may_have_happened(page) {
		await tool(page, 'fails');
		await call(page);
		await said(page, 'It may have happened');
	},
	async a_question_is_answered_by_keyboard(page) {
		await tool(page, 'ask');
		await call(page);
		await page.locator('.dialog-layer.shown').waitFor();
		await press(page, 'Tab');
		await page.keyboard.type('Ada');
		await press(page, 'Tab', 'ArrowRight', 'Control+Enter');
		await said(page, '"accept"');
	},
	async a_question_may_be_declined(page) {
		await tool(page, 'ask');
		await call(page);
		await page.getByText('Decline').click();
		await said(page, '"decline"');
	},
	async a_question_for_an_address_shows_its_host(page) {
		await tool(page, 'ask_url');
		await call(page);
		await said(page, 'Open pay.example.com');
	},
	async with_risks_enter_approves_nothing(page) {
		await open(page, WAITING, 'button:has-text("Review change")');
		await page.locator('.approval-foot').waitFor();
		await wait(100);
		must((await focused(page)).startsWith('Keep blocked'), `the focus is on ${await focused(page)}`);
		await press(page, 'Shift+Tab', 'Enter');
		await wait(300);
		must(await page.locator('.dialog-layer.shown').count() === 1, 'Enter approved');
		await press(page, 'Space');
		await closed(page);
	},
	async the_name_of_a_server_never_becomes_an_option(page, mock) {
		const s = mock.world.servers.find((x) => x.name === 'playwright');

		s.name = '--yes';
		mock.change({ servers: [mock.world.clean(s)], gone: ['playwright'] });
		await open(page, WAITING, 'button:has-text("Review change")');
		await page.locator('.approval-foot').waitFor();
		await page.getByText('Approve exactly this').click();
		await closed(page);
		must(mock.world.verbs.every((v) => !/--yes/.test(v) || /^trust --yes --id [0-9a-f]{64} --json$/.test(v)), mock.world.verbs.join('; '));
	},
	async a_login_shows_host_and_rights(page) {
		await open(page, WAITING, '.waiting-row button:has-text("Log in")');
		await said(page, 'issues:create');
		await page.locator('.more-of summary').click();
		await page.fill('#login-back', 'http://127.0.0.1/x');
		await page.getByText('Send', { exact: true }).click();
		await said(page, 'it has no "code"');
		await said(page, 'You are logged in to linear');
	},
	async a_missing_variable_is_kept_as_a_secret(page, mock) {
		const s = mock.world.servers.find((x) => x.name === 'warehouse');

		mock.change({ servers: [{ ...s, source: { ...s.source, tool: 'mcpool' } }] });
		await wait(100);
		await open(page, WAITING, 'button:has-text("Set variable")');
		await said(page, '${secret:DATABASE_URL}');
		await page.keyboard.type('postgres://x');
		await press(page, 'Enter');
		await closed(page);
	},
	async what_a_readme_says_is_added(page) {
		await open(page, WAITING, ADD);
		await page.fill('#paste', '{"mcpServers": {"github": {"command": "npx"}, "exa": {"command": "npx", "args": ["exa"], "env": {"EXA_API_KEY": "<your key>", "EXA_TOKEN": "abcdef123"}}}}');
		await said(page, 'There is a github already');
		await said(page, 'EXA_API_KEY has a placeholder');
		await said(page, '${secret:EXA_TOKEN}');
		await page.locator('input[aria-label="Add github"]').uncheck();
		await page.locator('.dialog-foot .primary').click();
		await closed(page);
	},
	async a_server_is_added_field_by_field(page) {
		await open(page, WAITING, ADD);
		await page.locator('.dialog-head [role=radio]').nth(1).click();
		await field(page, 'command').fill('npx -y @modelcontextprotocol/server-time');
		must(await field(page, 'name').inputValue() === 'time', 'it has no name');
		await page.locator('.dialog .add').click();
		await wait(60);
		await page.keyboard.type('TZ');
		await press(page, 'Tab');
		await page.keyboard.type('UTC');
		await press(page, 'Control+Enter');
		await closed(page);
	},
	async servers_of_other_tools_are_copied(page) {
		await open(page, WAITING, 'button:has-text("Copy from other tools")');
		await said(page, 'Copy 3 servers');
		await page.locator('.dialog-foot .primary').click();
		await closed(page);
	},
	async an_edit_shows_what_changes(page, mock) {
		const s = mock.world.servers.find((x) => x.name === 'jira');

		s.source = { ...s.source, tool: 'mcpool' };
		await open(page, '#/server/jira', 'button:has-text("Edit")');
		await field(page, 'toolTimeout').fill('5m');
		await said(page, 'Save 1 change');
		must((await page.locator('.changes').innerText()).includes('1m'), 'the old value is not shown');
		await press(page, 'Control+Enter');
		await closed(page);
	},
	async an_agent_is_connected_after_a_preview_and_undone(page) {
		await open(page, '#/agents', '.agent:has-text("Gemini") button');
		await said(page, 'gemini mcp add mcpool');
		await page.locator('.dialog-foot .primary').click();
		await closed(page);
		await page.locator('.agent:has-text("Gemini") >> text=Undo').click();
		await page.locator('.dialog-foot >> text=Disconnect').click();
		await page.locator('.agent:has-text("Gemini") >> text=not connected').waitFor();
	},
};

async function run(browser, folder, name, viewport, colorScheme)
{
	const mock = await startMock({ folder, still: true });
	const context = await browser.newContext({ viewport, colorScheme, hasTouch: viewport === PHONE, reducedMotion: 'reduce' });
	const page = await context.newPage(), wrong = [], full = `${name}${viewport === PHONE ? '_on_a_phone' : ''}`;

	page.setDefaultTimeout(5000);
	page.on('console', (m) => (m.type() === 'error' || /Content Security|Trusted/.test(m.text())) && wrong.push(m.text()));
	page.on('pageerror', (e) => wrong.push(e.message));
	try {
		await page.goto(`${mock.url}/#login=CODE`);
		await page.locator('.live:has-text("Live")').waitFor();
		await CASES[name](page, mock);
		await wait(150);
		await page.evaluate(axe);
		const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));

		wrong.push(...violations.filter((v) => /serious|critical/.test(v.impact)).map((v) => `axe ${v.id}: ${v.nodes[0].target}`));
		if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth))
			wrong.push('scrolls sideways');
	} catch (e) {
		wrong.push(e.message.split('\n').slice(0, 3).join(' '));
	}
	if (out)
		await page.screenshot({ path: join(out, `${full}-${colorScheme}.png`) });
	console.log(wrong.length ? `FAIL web/${full}: ${wrong.join('; ')}` : `ok web/${full}`);
	failures += wrong.length ? 1 : 0;
	await context.close();
	mock.stop();
}

if (!program) {
	console.log('SKIP web/forms: there is no Chromium');
	process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), 'page-'));

if (out)
	mkdirSync(out, { recursive: true });
execFileSync(join(import.meta.dirname, '../../tools/build-page'), [folder]);
const browser = await chromium.launch({ executablePath: program, args: FLAGS });

for (const name of Object.keys(CASES)) {
	await run(browser, folder, name, WIDE, 'dark');
	if (out)
		await run(browser, folder, name, WIDE, 'light');
	if (/call|question|risks|login|readme|agent/.test(name) && out)
		await run(browser, folder, name, PHONE, 'light');
}
await browser.close();
process.exit(failures ? 1 : 0);
