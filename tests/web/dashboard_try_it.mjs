// dashboard_try_it.mjs - tools, resources and prompts of server-everything, called by hand.
import { approve, dialog, everything, field, must, node, status, visit } from './dashboard.mjs';

const result = (page) => page.locator('.try-result');
const said = (page, text) => result(page).getByText(text).first().waitFor();
const press = (page, action) => page.locator('.schema-foot .button', { hasText: action }).click();

async function choose(page, name, kind = '')
{
	await visit(page, `#/server/every?tool=${encodeURIComponent(name)}${kind && `&kind=${kind}`}`);
	await page.locator(`.offer.on:has-text("${name.slice(0, 40)}")`).waitFor();
}

async function cancelled(page)
{
	await choose(page, 'trigger-long-running-operation');
	await field(page, 'duration').fill('600');
	await field(page, 'steps').fill('3000');
	await press(page, 'Call');
	await said(page, /^\d+ of 3000$/);
	await page.waitForFunction(() => document.querySelector('.running progress')?.value > 1 / 3000);
	await result(page).getByRole('button', { name: 'Cancel' }).click();
	await said(page, 'You cancelled it. The server was told.');
	must(await result(page).locator('.running').count() === 0, 'it still runs');
}

async function answered(page)
{
	await choose(page, 'echo');
	await field(page, 'message').fill('Grüße <b>aus</b> Ulm');
	await page.keyboard.press('Control+Enter');
	await said(page, 'Echo: Grüße <b>aus</b> Ulm');
	await choose(page, 'get-tiny-image');
	await press(page, 'Call');
	await page.waitForFunction(() => document.querySelector('.result-picture img')?.naturalWidth > 0);
	await choose(page, 'get-structured-content');
	await page.locator('.field select').selectOption({ label: 'Chicago' }).catch(() => page.getByRole('radio', { name: 'Chicago' }).click());
	await press(page, 'Call');
	await said(page, 'Light rain / drizzle');
	await result(page).getByRole('radio', { name: 'Structured' }).click();
	await said(page, 'humidity');
}

// What was called until now is the same before and after, so nothing was sent.
async function invalid(page)
{
	await choose(page, 'get-sum');
	const { calls } = await status('every');

	await field(page, 'a').fill('one');
	await field(page, 'b').fill('2');
	await page.locator('.schema-foot .button').click({ force: true });
	await page.locator('.field-error', { hasText: 'must be a number' }).waitFor();
	await page.getByText('Fix 1 field to call').waitFor();
	must(await field(page, 'a').getAttribute('aria-invalid') === 'true', 'the field is not marked');
	must(await result(page).locator('.empty').count() === 1, 'there is a result');
	must((await status('every')).calls === calls, 'it was called');
	await field(page, 'a').fill('1');
	await press(page, 'Call');
	await said(page, 'The sum of 1 and 2 is 3.');
	must((await status('every')).calls === calls + 1, 'it was not called once');
}

async function asked(page)
{
	await choose(page, 'trigger-elicitation-request');
	await press(page, 'Call');
	await dialog(page).getByText('every asks you').waitFor();
	await dialog(page).locator(`[data-path='["name"]']`).fill('Ada Lovelace');
	await dialog(page).getByRole('button', { name: 'Send answer' }).click();
	await said(page, 'Ada Lovelace');
	await press(page, 'Call');
	await dialog(page).getByRole('button', { name: 'Decline' }).click();
	await said(page, /declined/);
}

async function others(page)
{
	await visit(page, '#/server/every?kind=resources');
	await page.locator('.offer').first().click();
	await press(page, 'Read');
	await page.locator('.try-result .resource .words').waitFor();
	await choose(page, 'args-prompt', 'prompts');
	await page.locator('.schema-foot .button').click({ force: true });
	await page.locator('.field-error', { hasText: 'is missing' }).waitFor();
	await field(page, 'city').fill('Ulm');
	await press(page, 'Fill in');
	await said(page, "What's weather in Ulm?");
}

export default async function tryIt(t)
{
	// A legacy server may ask only if its session is known: hence serial.
	await approve({ every: { command: node, args: [everything], mode: 'serial' } });
	const page = await t.logIn();

	for (const step of [answered, invalid, asked, others])
		await step(page);
	await t.audit('#/server/every?tool=get-sum', async (tab) => {
		await field(tab, 'a').fill('one');
		await tab.locator('.schema-foot .button').click({ force: true });
		await tab.locator('.field-error').first().waitFor();
	});
	await t.audit('#/server/every?tool=trigger-elicitation-request', async (tab) => {
		await press(tab, 'Call');
		await dialog(tab).getByText('every asks you').waitFor();
	});
	await cancelled(page); // then the server may ask no other page for a while: it still works on this call
}
