// dashboard_approval.mjs - what was written into a file by hand waits; a person sees exactly what would run, and approves that alone.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { closed, configure, demo, dialog, eventually, hasState, mcpool, must, row, status, visit, wait } from './dashboard.mjs';

const ran = join(process.env.HOME, 'ran');
const script = 'touch "$RAN"; exec "$0"';
const entry = (...args) => ({ command: 'sh', args: ['-c', script, demo, ...args], env: { RAN: ran, NODE_OPTIONS: '--require ./x.js' } });
const waiting = async (name) => (await mcpool('trust', '--json')).json.waiting.find((w) => w.name === name);
const focused = (page) => page.evaluate(() => document.activeElement.textContent.trim());

async function open(page, button)
{
	await visit(page, '#/waiting');
	await page.locator('.waiting-row', { hasText: 'tool' }).getByRole('button', { name: button }).click();
	await dialog(page).locator('.approval-foot').waitFor();
}

async function approve(page)
{
	await dialog(page).getByRole('button', { name: 'Approve exactly this' }).click();
}

async function isNew(page)
{
	await open(page, 'Review');
	const { argv, risks } = await waiting('tool'), text = await dialog(page).innerText();
	const command = await dialog(page).locator('.runs').innerText();

	for (const word of ['tool is new here', 'NODE_OPTIONS', 'decides what code runs'])
		must(text.includes(word), `no '${word}' in ${text}`);
	must(command === `$ sh -c 'touch "$RAN"; exec "$0"' ${demo}`, `it would run ${command}, not ${JSON.stringify(argv)}`);
	must(risks.length > 0, 'there are no risks');
	for (const { what, detail } of risks)
		must(text.includes(what.split(process.env.HOME)[0]) && text.includes(detail.split(process.env.HOME)[0]), `the risk '${what}: ${detail}' is not shown in ${text}`);
	await page.waitForFunction(() => document.activeElement.textContent.startsWith('Keep blocked'));
	await page.keyboard.press('Shift+Tab');
	must((await focused(page)).startsWith('Approve'), `the focus is on ${await focused(page)}`);
	await page.keyboard.press('Enter');
	await wait(300);
	must(await dialog(page).count() === 1 && await waiting('tool'), 'Enter approved it');
	must(!existsSync(ran), 'it has run');
	await page.keyboard.press('Escape');
	await closed(page);
	await open(page, 'Review');
	await approve(page);
	await closed(page);
	await visit(page, '#/');
	await hasState(page, 'tool', 'connected');
	must(existsSync(ran), 'it has not run');
}

async function isChanged(page)
{
	configure({ tool: entry('--hidden-pages') });
	await hasState(page, 'tool', 'needs-approval');
	await page.locator('.needs', { hasText: 'was changed' }).waitFor();
	await open(page, 'Review change');
	await dialog(page).locator('.diff ins', { hasText: '--hidden-pages' }).waitFor();
	await dialog(page).locator('.runs ins', { hasText: '--hidden-pages' }).waitFor();
	must(await dialog(page).locator('.diff ins').allInnerTexts().then((all) => all.every((w) => w.includes('--hidden-pages'))), 'more than the change is marked');
}

// The entry changes while it is shown: what was shown is approved, which is not there any more.
async function changesMeanwhile(page)
{
	const before = await waiting('tool');

	configure({ tool: entry('--evil') });
	await eventually(async () => (await waiting('tool')).id !== before.id, 'the file was not read again');
	await approve(page);
	await dialog(page).locator('.runs', { hasText: '--evil' }).waitFor();
	await dialog(page).getByRole('alert').waitFor();
	must((await status('tool')).state === 'needs-approval' && await waiting('tool'), 'another entry was approved');
	await page.keyboard.press('Escape');
	await closed(page);
	await visit(page, '#/');
	must(await row(page, 'tool').locator('.state').innerText() === 'needs-approval', 'it is not shown as waiting');
}

export default async function approval(t)
{
	configure({ tool: entry() });
	const page = await t.logIn();

	await page.locator('.first-step', { hasText: 'Approve what may run' }).waitFor();
	await isNew(page);
	await isChanged(page);
	await t.audit('#/waiting', async (tab) => {
		await tab.locator('.waiting-row').getByRole('button').click();
		await dialog(tab).locator('.approval-foot').waitFor();
	});
	await changesMeanwhile(page);
	await t.audit('#/waiting', (tab) => tab.locator('.waiting-row').waitFor());
}
