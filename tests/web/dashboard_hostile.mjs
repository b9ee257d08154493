// dashboard_hostile.mjs - text of servers, of files of a project and of agents wherever the page shows it: it stays text, what would
// deceive is escaped, nothing of it runs and nothing is loaded.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { evil } from '../servers/hostile_page.mjs';
import { agent, approve, closed, dialog, hasState, must, node, tree, visit, write } from './dashboard.mjs';

const page_server = join(tree, 'tests/servers/hostile_page.mjs'), text_server = join(tree, 'tests/servers/hostile_text.mjs');
const bad = (what) => `${what}${evil}end`;
const short = (what) => `${what}<img src=x onerror=evil=1>\u202e\x1b[35m`; // names of servers have 100 characters
const name = short('N-name'), folder = join(process.env.HOME, 'p<img src=x onerror=evil=1>\u202e\x1b[35m');
const shown = '<img'; // the rest may be cut

// What is wrong with the page as it is now: an element that text became, a character that should be escaped
function inspect()
{
	const TRICKS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e0fff}]/u;
	const isOurs = (e) => ({
		SCRIPT: () => new URL(e.src).pathname === '/dashboard.js', LINK: () => new URL(e.href).origin === location.origin,
		IMG: () => e.src.startsWith('blob:'), A: () => /^(#|blob:)/.test(e.getAttribute('href')) || (/^https?:/.test(e.href) && e.target === '_blank' && e.rel === 'noopener noreferrer'),
	})[e.tagName]?.() ?? !/^(IFRAME|OBJECT|EMBED|FORM|BASE|META|VIDEO|AUDIO|STYLE|FRAME|PORTAL)$/.test(e.tagName);
	const wrong = [];

	if (window.evil !== undefined || ({}).polluted !== undefined)
		wrong.push('something ran');
	for (const e of document.querySelectorAll('body *')) {
		if (!isOurs(e) && !(e.tagName === 'FORM' && !e.hasAttribute('action')))
			wrong.push(`an element: ${e.outerHTML.slice(0, 200)}`);
		for (const { name: key, value } of e.attributes)
			if (/^on/i.test(key) || (/href|src|action|data$/i.test(key) && /^\s*(javascript|vbscript|data):/i.test(value)) || (/^(title|aria-label|placeholder|alt)$/.test(key) && TRICKS.test(value)))
				wrong.push(`${e.tagName}: ${key}=${JSON.stringify(value).slice(0, 200)}`);
	}
	const raw = TRICKS.exec(document.body.textContent) ?? TRICKS.exec(document.title);

	if (raw)
		wrong.push(`not escaped: ${JSON.stringify(raw.input.slice(Math.max(0, raw.index - 60), raw.index + 20))}`);
	return wrong;
}

// stays(PAGE, WHERE, WORDS...): each begins such a text, which is there as it was written
async function stays(page, where, ...words)
{
	for (const word of words)
		await page.getByText(`${word}${shown}`).first().waitFor({ state: 'attached' }).catch(async () => {
			const seen = (await page.evaluate(() => document.body.innerText)).replace(/\s+/g, ' ');

			throw new Error(`${where}: no ${word} in ${seen.slice(0, 1500)}`);
		});
	const wrong = await page.evaluate(inspect);

	must(!wrong.length, `${where}: ${wrong.slice(0, 3).join('; ')}`);
}

const called = (page, text = 'Answered') => page.locator('.try-result').getByText(text).first().waitFor();

async function tool(page, of)
{
	await visit(page, `#/server/evil?tool=${encodeURIComponent(of)}`);
	await page.locator('.try-title', { hasText: of.slice(0, 6) }).waitFor();
}

async function call(page, of)
{
	await tool(page, of);
	await page.locator('.schema-foot .button').click();
}

async function results(page)
{
	await call(page, 'rich');
	await called(page);
	await stays(page, 'a result', 'M-head', 'M-bold', 'M-code', 'M-cell', 'M-item', 'M-block', 'C-text', 'C-link', 'C-about', 'C-page', 'C-structured', 'C-type');
	await page.locator('.try-result .json').first().waitFor();
	for (const tab of ['Structured', 'Raw']) {
		await page.locator('.try-result').getByRole('radio', { name: tab }).click();
		await stays(page, tab);
	}
	await page.locator('.try-result').getByRole('radio', { name: 'Rendered' }).click();
	await page.locator('.try-result').getByText('ok', { exact: true }).click(); // a link: its address comes first
	await dialog(page).getByText('http://evil.invalid/shown').waitFor();
	await page.keyboard.press('Escape');
	await closed(page);
	await call(page, 'fail');
	await called(page, 'F-text');
	await stays(page, 'an error', 'F-text');
}

async function forms(page)
{
	await tool(page, 'form');
	await page.locator('.schema-foot .button').click({ force: true });
	await stays(page, 'a form', 'S-key', 'S-choice', 'S-hint', 'S-deep');
	await page.locator('.schema-head').getByRole('radio', { name: 'JSON' }).click();
	await stays(page, 'a form as JSON');
	await tool(page, '__proto__');
	await stays(page, 'a tool called __proto__', 'T-text');
	await tool(page, bad('T-name'));
	await stays(page, 'a tool', 'T-name', 'T-text', 'T-title');
	await call(page, 'ask');
	await dialog(page).waitFor();
	await stays(page, 'a question', 'Q-text', 'S-field');
	await page.keyboard.press('Escape');
	await closed(page);
	await call(page, 'visit');
	await dialog(page).getByText('is not one of the web').waitFor();
	await stays(page, 'a question for an address', 'Q-text');
	must(await dialog(page).locator('a').count() === 0, 'the address can be opened');
	await page.keyboard.press('Escape');
	await closed(page);
}

async function others(page)
{
	await visit(page, '#/server/evil?kind=resources');
	await stays(page, 'resources', 'R-title');
	await page.locator('.schema-foot .button').click();
	await called(page);
	await stays(page, 'a resource', 'R-content', 'R-text');
	await visit(page, '#/server/evil?kind=prompts');
	await stays(page, 'prompts', 'P-title', 'P-text', 'P-hint');
	await page.locator('.schema-foot .button').click();
	await called(page);
	await stays(page, 'a prompt', 'P-content', 'P-role', 'P-said');
	await stays(page, 'standard error', 'E-start', 'E-call');
}

// Names of 1 MB are cut; the whole of them is in no way before the page.
async function huge(page)
{
	await visit(page, '#/server/huge');
	await page.locator('.offer').first().waitFor();
	await page.locator('.offers-problems', { hasText: '1 item cannot be used' }).waitFor();
	await stays(page, 'a server with names of 1 MB');
	await page.locator('.schema-foot .button').click();
	await called(page, 'C-text');
	await stays(page, 'its answer');
	await visit(page, '#/server/huge?kind=resources');
	await page.locator('.offer').first().waitFor();
	await stays(page, 'its resources');
	await visit(page, '#/server/huge?kind=prompts');
	await page.locator('.offers-panel', { hasText: '1 item cannot be used' }).waitFor();
	await stays(page, 'its prompts');
}

async function sessions(page)
{
	await page.locator('.session', { hasText: 'A-name' }).waitFor();
	await stays(page, 'the overview', 'A-name', 'N-name');
	await visit(page, '#/calls');
	await page.locator('.call-row').first().waitFor();
	await page.locator('.call-row', { hasText: 'rich' }).first().click();
	await page.locator('.call-detail').waitFor();
	await stays(page, 'the calls', 'A-name');
	await visit(page, '#/agents');
	await stays(page, 'the agents', 'A-name');
	await page.keyboard.press('/');
	await page.keyboard.type('img');
	await page.locator('.dialog-layer.shown').waitFor();
	await stays(page, 'the search');
	await page.keyboard.press('Escape');
	await closed(page);
	await visit(page, `#/server/${encodeURIComponent(name)}`);
	await page.locator('.server-title .state').waitFor();
	await stays(page, 'a server of that name', 'N-name');
	await visit(page, '#/server/broken');
	await page.locator('.trouble').waitFor();
	await stays(page, 'why a server does not start', 'B-text');
	await visit(page, `#/server/${encodeURIComponent(bad('X-none'))}`);
	await stays(page, 'a server that is not there', 'X-none');
	await visit(page, `#/calls?find=${encodeURIComponent(bad('X-find'))}`);
	await stays(page, 'a search', 'X-find');
}

async function project(page)
{
	await visit(page, `#/?project=${encodeURIComponent(folder)}`);
	await page.locator('.server-row[data-name="good"]').waitFor();
	await stays(page, 'a project');
	await visit(page, `#/waiting?project=${encodeURIComponent(folder)}`);
	await page.locator('.waits-runs', { hasText: 'N-command' }).waitFor();
	await stays(page, 'what waits', 'N-other', 'N-command');
	await page.getByRole('button', { name: /^Review all/ }).click();
	await dialog(page).locator('.approval-foot').waitFor();
	for (const n of [1, 2]) {
		await dialog(page).getByText(`${n} of 2`).waitFor();
		await stays(page, 'an approval');
		if (n < 2)
			await dialog(page).getByRole('button', { name: 'Decide later' }).click();
	}
	await page.keyboard.press('Escape');
	await closed(page);
}

export default async function hostile(t)
{
	mkdirSync(join(folder, '.git'), { recursive: true });
	write(join(folder, '.mcp.json'), {
		mcpServers: {
			[short('N-other')]: { command: 'true' },
			good: { command: bad('N-command'), args: [bad('N-arg')], env: { [bad('N-key')]: bad('N-value') }, cwd: bad('N-cwd') },
			far: { url: `http://127.0.0.1:1/${bad('N-path')}`, headers: { 'X-Header': bad('N-header') } },
		},
	});
	await approve({
		evil: { command: node, args: [page_server], mode: 'serial' }, huge: { command: node, args: [text_server, 'big'] },
		[name]: { command: 'true' }, broken: { command: 'sh', args: ['-c', `printf '%s\\n' "$0" >&2; exit 3`, bad('B-text')] },
	});
	const page = await t.logIn();

	await hasState(page, 'evil', 'connected');
	await hasState(page, 'huge', 'connected');
	const stranger = await agent(bad('A-name'), { cwd: folder, version: bad('A-version') });

	await stranger.call('evil__rich');
	for (const step of [sessions, results, forms, others, huge, project])
		await step(page);
	await t.audit('#/');
	await stranger.leave();
}
