// dashboard_live.mjs - what happens is on the page at once, in every tab, and the page asks for nothing.
import { unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { agent, approve, demo, demoServer, hasState, must, row, status, visit, write } from './dashboard.mjs';

// The next life of the server waits for the gate, so that a tab cannot miss that it is gone.
const gate = join(process.env.HOME, 'gate');
const gated = { files: { command: 'sh', args: ['-c', 'until [ -e "$1" ]; do sleep 0.05; done; exec "$0"', demo, gate] } };
const restarts = (page) => row(page, 'files').locator('[role=gridcell]').nth(4);

async function killed(tabs)
{
	const { pid } = await status('files');

	for (const page of tabs) {
		await hasState(page, 'files', 'connected');
		must(await restarts(page).innerText() === '0', 'it was restarted before');
	}
	unlinkSync(gate);
	process.kill(pid, 'SIGKILL');
	for (const page of tabs) {
		await row(page, 'files').locator('.state:has-text("pending"), .state:has-text("failed")').waitFor();
		await row(page, 'files').locator('.reason').waitFor();
		await hasState(page, 'notes', 'connected');
	}
	write(gate, '');
	for (const page of tabs) {
		await hasState(page, 'files', 'connected');
		await restarts(page).getByText('1', { exact: true }).waitFor();
	}
	must((await status('files')).pid !== pid, 'the server has the same process');
}

async function agentComes(first, second)
{
	const claude = await agent('claude-code', { version: '2.0.1' });

	await first.locator('.session:has-text("Claude Code")').waitFor();
	must(await first.locator('path.flow').count() === 0, 'there is a line before a call');
	await visit(second, '#/calls');
	for (const message of ['one', 'two', 'three'])
		must((await claude.call('files__echo', { message })).result?.content?.[0]?.text?.includes(message), 'echo does not answer');
	await first.waitForFunction(() => document.querySelectorAll('path.flow').length === 1);
	await second.waitForFunction(() => document.querySelectorAll('.call-row').length === 3);
	const text = await second.locator('.call-row').first().innerText();

	must(/ok/.test(text) && /files\/\s*echo/.test(text) && /Claude Code/.test(text), `the call is shown as ${text}`);
	await claude.leave();
	await first.locator('.session:has-text("Claude Code")').waitFor({ state: 'detached' });
}

// Each page of a server runs several verbs, of which the hub runs eight at once.
async function hurried(page)
{
	for (let i = 0; i < 12; i++)
		await visit(page, `#/server/${i % 2 ? 'files' : 'notes'}`);
	await page.locator('.offer').first().waitFor();
	await page.locator('.setting', { hasText: 'command' }).waitFor();
	await page.getByText('It has written nothing to its standard error.').waitFor();
}

export default async function live(t)
{
	write(gate, '');
	await approve({ ...gated, ...demoServer('notes') });
	const first = await t.logIn(), second = await t.tab();
	const before = t.requests.length, sockets = t.sockets.length;

	must(sockets === 2, `${sockets} connections for two tabs`);
	await killed([first, second]);
	await agentComes(first, second);
	await hurried(second);
	const after = t.requests.slice(before).filter(({ url }) => !url.endsWith('.svg')); // the browser gets the icon when it likes

	must(!after.length && t.sockets.length === sockets, `the page made requests: ${after.map((r) => `${r.method} ${r.url}`).join(', ')}`);
	await t.audit('#/');
	await t.audit('#/calls');
	await t.audit('#/server/files', (page) => page.locator('.offer').first().waitFor());
	await t.audit('#/agents', (page) => page.locator('.panel-more').waitFor());
}
