// dashboard_answers.mjs - a server asks an agent that cannot be asked: the user answers in the page, where the setting allows it.
import { join } from 'node:path';
import { agent, closed, dialog, must, node, run, tree, userFile, write } from './dashboard.mjs';

const asks = { command: node, args: [join(tree, 'tests/servers/sdk1.mjs')], mode: 'session' };
const text = (answer) => answer.result?.content?.[0]?.text ?? JSON.stringify(answer);

async function configure(answers)
{
	write(userFile, { mcpool: { dashboard: { answers } }, mcpServers: { asks } });
	await run('trust', '--user-file', '--yes');
}

export default async function answers(t)
{
	await configure(false);
	const page = await t.logIn(), claude = await agent('claude-code');
	const refused = text(await claude.call('asks__ask'));

	must(!/accept/.test(refused) && (await page.locator('.dialog-layer').count()) === 0, `without the setting it was asked: ${refused}`);
	await configure(true);
	await run('reload');
	const answer = claude.call('asks__ask');

	await dialog(page).getByText('asks asks you').waitFor();
	await dialog(page).getByText('Your name?').waitFor();
	await dialog(page).locator('input').first().fill('Ada');
	await dialog(page).getByRole('button', { name: 'Send answer' }).click();
	must(text(await answer) === 'accept Ada', `the server got ${text(await answer)}`);
	await closed(page);
	const second = claude.call('asks__ask');

	await dialog(page).getByText('Your name?').waitFor();
	await page.close();
	must(!/accept/.test(text(await second)), `the answer of a closed page: ${text(await second)}`);
	await claude.leave();
}
