// dashboard_login.mjs - a server that wants a login: the page says who asks for what, the person consents in another tab.
import { readFileSync } from 'node:fs';
import { approve, closed, dialog, eventually, hasState, must, status, visit } from './dashboard.mjs';

const issuer = () => new URL(process.env.ISSUER);

async function openLogin(page)
{
	await visit(page, '#/waiting');
	await page.locator('.waiting-row', { hasText: 'acme' }).getByRole('button', { name: 'Log in' }).click();
	await dialog(page).locator('.asked').waitFor();
}

async function denied(page)
{
	await openLogin(page);
	const [consent] = await Promise.all([page.context().waitForEvent('page'), dialog(page).getByRole('link', { name: `Open ${issuer().host}` }).click()]);

	await consent.getByRole('button', { name: 'Deny' }).click();
	await dialog(page).getByRole('alert').waitFor();
	must((await status('acme')).state === 'needs-auth', 'it is logged in');
	await consent.close();
	await dialog(page).getByRole('button', { name: 'Try again' }).click();
	await dialog(page).locator('.asked').waitFor();
}

async function consented(page)
{
	const asked = await dialog(page).locator('.asked').innerText(), address = await dialog(page).locator('.address').innerText();

	must(asked.includes(issuer().host) && /mcp:read/.test(asked) && /127\.0\.0\.1:\d+/.test(asked.split('then back to')[1]), `it asks: ${asked}`);
	must(address.startsWith(`${issuer().origin}/authorize?`) && address.includes('code_challenge_method=S256'), `the address is ${address}`);
	const [consent] = await Promise.all([page.context().waitForEvent('page'), dialog(page).getByRole('link', { name: `Open ${issuer().host}` }).click()]);

	await consent.getByText('It may: mcp:read').waitFor();
	must(await consent.evaluate(() => document.referrer === '' && window.opener === null), 'the page of the issuer knows where it came from');
	await consent.getByRole('button', { name: 'Allow' }).click();
	await dialog(page).getByText('You are logged in to acme').waitFor();
	await dialog(page).getByText('acme is connected.').waitFor();
	await consent.close();
	await page.keyboard.press('Escape');
	await closed(page);
	await visit(page, '#/');
	await hasState(page, 'acme', 'connected');
	must(!(await page.evaluate(() => JSON.stringify({ ...localStorage }) + document.body.innerHTML)).includes('access_token'), 'the page has a token');
}

async function called(page)
{
	await visit(page, '#/server/acme?tool=echo');
	await page.locator('.offer.on:has-text("echo")').waitFor();
	await page.locator('.schema-fields input, .schema-fields textarea').first().fill('Hallo');
	await page.keyboard.press('Control+Enter');
	await page.locator('.try-result').getByText('Hallo').waitFor();
}

export default async function login(t)
{
	await approve({ acme: { url: process.env.MCP } });
	const page = await t.logIn();

	t.foreign = (url) => new URL(url).host === issuer().host || /\/callback\?/.test(url); // in tabs of their own
	await hasState(page, 'acme', 'needs-auth');
	await t.audit('#/waiting', async (tab) => {
		await openLogin(tab);
		await tab.keyboard.press('Escape');
		await closed(tab);
		await openLogin(tab);
	});
	await denied(page);
	await consented(page);
	await called(page);
	await eventually(() => /POST \/token authorization_code 200/.test(readFileSync(process.env.ISSUER_NOTES, 'utf8')), 'there was no token');
	must(t.requests.every((r) => r.page !== page || r.url.startsWith(t.base)), 'the page itself asked the issuer');
}
