// consent.mjs URL - a person in a real browser: opens the address of a login, reads the page, clicks Allow, and stays until the
// browser is back at mcpool. Started as $BROWSER by `mcpool login`. CONSENT_LOG has what was seen, CONSENT_SHOTS is a folder
// for pictures. CHROMIUM is the program.
import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';

const [url] = process.argv.slice(2);
const { CHROMIUM = 'chromium', CONSENT_LOG, CONSENT_SHOTS } = process.env;
const note = (text) => CONSENT_LOG && appendFileSync(CONSENT_LOG, `${text}\n`);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const profile = mkdtempSync(`${tmpdir()}/consent-`);
const browser = spawn(CHROMIUM, ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--remote-debugging-port=0',
	`--user-data-dir=${profile}`, '--window-size=900,600', 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'] });

const endpoint = await new Promise((resolve, reject) => {
	let text = '';
	browser.stderr.on('data', (bytes) => {
		text += bytes;
		const found = /DevTools listening on (ws:\S+)/.exec(text)?.[1];
		if (found) resolve(found);
	});
	browser.on('exit', () => reject(new Error(text)));
});
const socket = new WebSocket(endpoint);
await new Promise((resolve, reject) => Object.assign(socket, { onopen: resolve, onerror: reject }));
const waiting = new Map();
let last = 0;
socket.onmessage = ({ data }) => {
	const m = JSON.parse(data);
	waiting.get(m.id)?.(m);
};
const ask = (method, params = {}, sessionId) => new Promise((resolve, reject) => {
	waiting.set(++last, (m) => (m.error ? reject(new Error(m.error.message)) : resolve(m.result)));
	socket.send(JSON.stringify({ id: last, method, params, sessionId }));
});
const { targetInfos } = await ask('Target.getTargets');
const { sessionId } = await ask('Target.attachToTarget', { targetId: targetInfos.find((t) => t.type === 'page').targetId, flatten: true });
const page = (method, params) => ask(method, params, sessionId);
const see = async (expression) => (await page('Runtime.evaluate', { expression, awaitPromise: true })).result.value;
const shot = async (name) => {
	if (!CONSENT_SHOTS) return;
	const { data } = await page('Page.captureScreenshot', { format: 'png' });
	writeFileSync(`${CONSENT_SHOTS}/${name}.png`, Buffer.from(data, 'base64'));
};
const until = async (expression) => {
	for (let i = 0; i < 300; i++) {
		if (await see(expression).catch(() => false)) return;
		await sleep(50);
	}
	throw new Error(`never so: ${expression}; at ${await see('location.href')}`);
};
try {
	await page('Page.enable');
	await page('Page.navigate', { url });
	await until('!!document.querySelector("button[value=allow]")');
	note(`asked: ${await see('document.body.innerText.replace(/\\s+/g, " ")')}`);
	await shot('consent');
	const box = JSON.parse(await see('JSON.stringify(document.querySelector("button[value=allow]").getBoundingClientRect())'));
	for (const type of ['mousePressed', 'mouseReleased'])
		await page('Input.dispatchMouseEvent', { type, x: box.x + box.width / 2, y: box.y + box.height / 2, button: 'left', clickCount: 1 });
	await until('location.pathname === "/callback" && document.readyState === "complete"');
	note(`ended: ${await see('document.body.innerText.replace(/\\s+/g, " ")')}`);
	await shot('thank-you');
} catch (e) {
	note(`failed: ${e.message}`);
} finally {
	browser.removeAllListeners('exit');
	const gone = new Promise((resolve) => browser.on('exit', resolve));
	await ask('Browser.close').catch(() => browser.kill());
	await gone;
	rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}
