// dashboard_restart.mjs - the hub is killed and comes back under the page; logins that end, were used, or are not genuine.
import { approve, demoServer, hasState, hubPid, must, row, run, visit } from './dashboard.mjs';

const isLoggedOut = (page) => page.getByRole('heading', { name: 'This browser is not logged in' }).waitFor();
const colorOf = (page) => row(page, 'one').locator('.state .icon').evaluate((e) => getComputedStyle(e).fill + getComputedStyle(e).color);

async function killed(t, tabs, aside)
{
	const before = hubPid(), port = new URL(t.base).port;

	for (const page of tabs) {
		await hasState(page, 'one', 'connected');
		await page.evaluate(() => { window.notLoadedAgain = true; });
	}
	const green = await colorOf(tabs[0]);

	process.kill(before, 'SIGKILL');
	for (const page of tabs) {
		await page.getByText('The hub is restarting.').waitFor();
		await page.locator('.board.past').waitFor();
		await page.locator('.live', { hasText: 'Reconnecting' }).waitFor();
		await hasState(page, 'one', 'was connected');
		must(await row(page, 'two').count() === 1 && await row(page, 'one').locator('button').count() === 0, 'what was is not kept, or can be changed');
		must(await colorOf(page) !== green, 'it is not grey');
	}
	await aside.getByText('The hub is restarting.').waitFor();
	await t.look(aside, 'without a hub');
	await run('up');
	must(hubPid() !== before, 'the hub was not killed');
	for (const page of tabs) {
		await t.isLive(page);
		await hasState(page, 'one', 'connected');
		await page.getByText(`process ${hubPid()}`).waitFor();
		await page.waitForFunction(() => !document.querySelector('.banner') && !document.querySelector('.past'));
		must(await colorOf(page) === green, 'it stays grey');
		must(await page.evaluate(() => window.notLoadedAgain === true), 'the page was loaded again');
		must(new URL(page.url()).port === port, 'the port is another one');
	}
}

async function loggedOut(t, tabs)
{
	await run('dashboard', '--log-out');
	for (const page of tabs)
		await isLoggedOut(page);
	await tabs[1].reload();
	await isLoggedOut(tabs[1]);
	await tabs[0].goto(await t.address());
	await tabs[0].reload(); // an address that differs in its fragment only is the same page
	await t.isLive(tabs[0]);
	await tabs[1].reload();
	await t.isLive(tabs[1]);
}

async function stolen(t)
{
	const address = await t.address(), mine = await t.newContext(), thief = await t.newContext();
	const page = await mine.newPage(), other = await thief.newPage();

	await page.goto(address);
	await t.isLive(page);
	must(!page.url().includes('login'), `the address is still ${page.url()}`);
	await other.goto(address);
	await isLoggedOut(other);
	await other.getByRole('alert').getByText('was used already').waitFor();
	must((await thief.cookies()).length === 0, 'the thief has a cookie');
	await thief.close();
	await mine.close();
}

// What the browser keeps is altered in each way; none of them is a login.
async function altered(t)
{
	const { cookies, origins } = await t.context.storageState();
	const [cookie] = cookies, [name, value] = Object.entries(origins[0].localStorage.find((x) => x.name === 'mcpool.proof')).map(([, v]) => v);
	const flip = (text) => text.slice(0, -1) + (text.at(-1) === '0' ? '1' : '0');
	const later = cookie.value.replace(/^\d+/, (ms) => String(Number(ms) + 1000));
	const past = cookie.value.replace(/^\d+/, () => '1000');
	const ways = {
		'an altered cookie': [flip(cookie.value), value], 'a later end': [later, value], 'an end in the past': [past, value],
		'no cookie': [null, value], 'an altered proof': [cookie.value, flip(value)], 'no proof': [cookie.value, null],
	};

	must(cookie.httpOnly && cookie.sameSite === 'Strict' && cookie.path === '/dashboard', `the cookie is ${JSON.stringify({ ...cookie, value: '' })}`);
	for (const [way, [inCookie, proof]] of Object.entries(ways)) {
		const context = await t.newContext({
			storageState: {
				cookies: inCookie === null ? [] : [{ ...cookie, value: inCookie }],
				origins: [{ origin: t.base, localStorage: proof === null ? [] : [{ name, value: proof }] }],
			},
		});
		const page = await context.newPage();

		await page.goto(t.base);
		await isLoggedOut(page).catch(() => { throw new Error(`${way} is a login`); });
		await context.close();
	}
}

export default async function restart(t)
{
	await approve({ ...demoServer('one'), ...demoServer('two') });
	const tabs = [await t.logIn(), await t.tab()];

	t.allowed.push(/ERR_CONNECTION_(REFUSED|RESET)|WebSocket connection/, /status of 40[13]/);
	const aside = await t.aside();

	await aside.goto(t.base);
	await t.isLive(aside);
	await killed(t, tabs, aside);
	await visit(tabs[1], '#/waiting');
	await loggedOut(t, tabs);
	await isLoggedOut(aside);
	await t.look(aside, 'logged out');
	await stolen(t);
	await altered(t);
}
