// dashboard_changes.mjs - what a person changes on the page is in the files and runs: servers added, edited, disabled, copied from
// another tool; an agent connected as its preview said, and disconnected again.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { approve, closed, demo, demoServer, dialog, eventually, field, hasState, must, run, status, userFile, visit, write } from './dashboard.mjs';

const cursorFile = join(process.env.HOME, '.cursor/mcp.json');
const theirs = '{\n  // kept as it is\n  "mcpServers": { "theirs": { "command": "DEMO", "env": { "WHO": "theirs" } } }\n}\n'.replace('DEMO', demo);
const read = (file) => readFileSync(file, 'utf8');
const servers = () => JSON.parse(read(userFile).replace(/^\s*\/\/.*$/gm, '')).mcpServers;

async function openAdd(page)
{
	await visit(page, '#/waiting');
	await page.locator('.page-head').getByRole('button', { name: 'Add server' }).click();
	await dialog(page).locator('#paste').waitFor();
}

async function addByForm(page)
{
	await openAdd(page);
	await dialog(page).getByRole('radio', { name: 'Command' }).click();
	await field(page, 'command').fill(`env "WHO=not first" ${demo}`);
	await field(page, 'name').fill('made');
	await dialog(page).getByRole('button', { name: 'Add server' }).click();
	await closed(page);
	await page.locator('.server-title .state', { hasText: 'connected' }).waitFor();
	must(servers().made.command === 'env' && servers().made.args.join() === `WHO=not first,${demo}`, `the file has ${JSON.stringify(servers().made)}`);
}

async function addByPaste(page)
{
	await openAdd(page);
	await page.fill('#paste', JSON.stringify({ servers: { pasted: { type: 'stdio', command: demo, env: { WHO: 'pasted', ACME_TOKEN: 'abcdef-1234567' } } } }));
	await dialog(page).getByText('${secret:ACME_TOKEN}').waitFor();
	await dialog(page).getByRole('button', { name: 'Add server' }).click();
	await closed(page);
	await page.locator('.server-title .state', { hasText: 'connected' }).waitFor();
	must(servers().pasted.env.ACME_TOKEN === '${secret:ACME_TOKEN}' && !read(userFile).includes('abcdef'), `the file has ${read(userFile)}`);
	must((await run('secret', 'list', '--json')).json.secrets.some((s) => s.name === 'ACME_TOKEN'), 'the secret is not kept');
}

async function edit(page)
{
	await visit(page, '#/server/first');
	await page.locator('.actions').getByRole('button', { name: 'Edit' }).click();
	await field(page, 'toolTimeout').fill('5 minutes');
	await dialog(page).locator('.dialog-foot .primary').click({ force: true });
	await dialog(page).locator('.field-error').waitFor();
	await field(page, 'toolTimeout').fill('5m');
	await dialog(page).locator('.changes', { hasText: 'toolTimeout' }).waitFor();
	await dialog(page).getByRole('button', { name: 'Save 1 change' }).click();
	await closed(page);
	await eventually(() => servers().first.toolTimeout === '5m', () => `the file has ${read(userFile)}`);
	must(read(userFile).includes('// a comment') && servers().first.env.WHO === 'first', `the rest is not as it was: ${read(userFile)}`);
	await page.locator('.setting', { hasText: 'toolTimeout' }).getByText('300 s').waitFor();
	must((await status('first')).state === 'connected', 'it is not approved any more');
}

async function disable(page)
{
	await visit(page, '#/server/first');
	await page.locator('.actions').getByRole('button', { name: 'Disable' }).click();
	await dialog(page).getByRole('button', { name: 'Disable' }).click();
	await page.locator('.server-title .state', { hasText: 'disabled' }).waitFor();
	await eventually(async () => (await status('first')).state === 'disabled', 'it runs');
	await page.locator('.actions').getByRole('button', { name: 'Enable' }).click();
	await page.locator('.server-title .state', { hasText: 'connected' }).waitFor();
}

async function copy(page)
{
	await visit(page, '#/');
	await hasState(page, 'theirs', 'needs-approval');
	await visit(page, '#/waiting');
	await page.getByRole('button', { name: 'Copy from other tools' }).click();
	await dialog(page).locator('.found', { hasText: 'theirs' }).getByText('Cursor', { exact: true }).waitFor();
	await dialog(page).getByRole('button', { name: 'Copy 1 server' }).click();
	await closed(page);
	await visit(page, '#/');
	await hasState(page, 'theirs', 'connected');
	must(servers().theirs.command === demo && read(cursorFile) === theirs, 'the files are not as they should be');
}

async function connect(page)
{
	const agent = page.locator('.agent', { hasText: 'Cursor' });

	await visit(page, '#/agents');
	await agent.getByRole('button', { name: 'Connect' }).click();
	await dialog(page).locator('.diff').waitFor();
	const shown = (await dialog(page).locator('.diff-line > span:last-child').allInnerTexts()).join('\n');
	const preview = JSON.parse(shown).mcpServers.mcpool;

	must(read(cursorFile) === theirs, 'the preview wrote something');
	await dialog(page).getByRole('button', { name: 'Connect', exact: true }).click();
	await closed(page);
	await agent.getByText('connected', { exact: true }).waitFor();
	const after = JSON.parse(read(cursorFile).replace(/^\s*\/\/.*$/gm, ''));

	must(JSON.stringify(after.mcpServers.mcpool) === JSON.stringify(preview) && after.mcpServers.theirs.command === demo && read(cursorFile).includes('// kept as it is'),
		`the file is ${read(cursorFile)}, and not as ${shown}`);
	await agent.getByRole('button', { name: 'Undo' }).click();
	await dialog(page).getByRole('button', { name: 'Disconnect' }).click();
	await agent.getByText('not connected').waitFor();
	must(read(cursorFile) === theirs, `undone it is ${read(cursorFile)}`);
}

export default async function changes(t)
{
	await approve(demoServer('first'));
	write(userFile, read(userFile).replace('{', '{\n\t// a comment'));
	write(cursorFile, theirs);
	const page = await t.logIn();

	await hasState(page, 'first', 'connected');
	for (const step of [addByForm, addByPaste, edit, disable, copy, connect])
		await step(page);
	await t.audit('#/waiting', async (tab) => {
		await tab.locator('.page-head, .empty-page').first().waitFor();
		await tab.locator('.page-head').getByRole('button', { name: 'Add server' }).click();
		await tab.fill('#paste', 'claude mcp add exa -e EXA_TOKEN=abcdef-12345 -- npx -y exa');
		await dialog(tab).locator('.found').waitFor();
	});
	await t.audit('#/server/first', async (tab) => {
		await tab.locator('.actions').getByRole('button', { name: 'Edit' }).click();
		await field(tab, 'toolTimeout').fill('1m');
		await dialog(tab).locator('.changes').waitFor();
	});
	await t.audit('#/agents', async (tab) => {
		await tab.locator('.agent', { hasText: 'Cursor' }).getByRole('button', { name: 'Connect' }).click();
		await dialog(tab).locator('.diff').waitFor();
	});
}
