// hub.js - the connection to the hub: login, control messages over a WebSocket, and what the hub tells as signals.
// Notifications are merged and reach the signals once per frame; a hidden tab has no frames and draws nothing.
import { signal, computed, batch } from '@preact/signals';
import { parseJson } from './json.js';

const PROTOCOL = 1;
const MOST_CALLS = 2000, MOST_EVENTS = 500;
const CALLS_EVERY_MS = 250;
const FIRST_DELAY_MS = 250, LONGEST_DELAY_MS = 5000;
const PROOF = 'mcpool.proof';
const VERB_TRIES = 60, VERB_WAIT_MS = 250;
const ANSWERED = /"outcome"\s*:\s*"answered"\s*,\s*"(result|error)"/;

export const live = signal({ state: 'connecting', since: Date.now() });
export const me = signal(null);
export const hub = signal(null);
export const problem = signal(null);
export const servers = signal(new Map());
export const sessions = signal(new Map());
export const flows = signal([]);
export const running = signal([]);
export const calls = signal({ records: [], missed: 0 });
export const events = signal([]);
export const cpu = signal(new Map()); // name -> share of one processor between the last two measurements
export const restart = signal(null); // {endedAt, pid, running, connected: [names], foundAt}: the hub that ended, while another takes over
export const tick = signal(Date.now()); // the time, once a second while the page is seen

const ORDER = { failed: 0, 'needs-auth': 1, 'needs-approval': 2 };

// Servers that need a person, failed ones first
export const needsYou = computed(() => [...servers.value.values()].filter((s) => s.state in ORDER)
	.sort((a, b) => ORDER[a.state] - ORDER[b.state] || (a.name < b.name ? -1 : 1)));
export const isLive = computed(() => live.value.state === 'live');

let socket = null, isGreeted = false, nextId = 1, delay = FIRST_DELAY_MS, timer = 0, clockOffset = 0, wasLive = false;
let lastCall = 0, lastEvent = 0, project = null;
const pending = new Map(); // id -> {resolve, reject, onProgress, onLine, off}
const questions = new Map(); // id of the hub's request -> AbortController
const listeners = new Map(); // method of a notification -> functions
let asker = null;

export const now = () => Date.now() + clockOffset;

function setLive(state)
{
	if (live.peek().state !== state)
		live.value = { state, since: Date.now() };
}

// --- storage, which a browser may refuse ---------------------------------------------------------

export function remember(key, value)
{
	try {
		if (value === null)
			localStorage.removeItem(key);
		else
			localStorage.setItem(key, value);
	} catch { /* private window: this login lasts as long as the page */ }
	memory.set(key, value);
}

const memory = new Map();

export function recall(key)
{
	try {
		return localStorage.getItem(key) ?? memory.get(key) ?? null;
	} catch {
		return memory.get(key) ?? null;
	}
}

// --- requests ------------------------------------------------------------------------------------

function failure(error)
{
	const e = new Error(error.message || 'the hub refused');

	e.code = error.code;
	e.data = error.data;
	return e;
}

const closed = () => failure({ code: -32603, message: 'the hub is not connected', data: { code: 'closed' } });

function send(message)
{
	socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
}

function request(method, params, { onProgress, onLine, signal: abort } = {})
{
	return new Promise((resolve, reject) => {
		if (!socket || socket.readyState !== WebSocket.OPEN) {
			reject(closed());
			return;
		}
		const id = nextId++;
		const cancel = () => socket?.readyState === WebSocket.OPEN &&
			send({ method: 'notifications/cancelled', params: { requestId: id } });

		abort?.addEventListener('abort', cancel, { once: true });
		pending.set(id, { resolve, reject, onProgress, onLine, off: () => abort?.removeEventListener('abort', cancel) });
		send({ id, method, params });
		if (abort?.aborted)
			cancel();
	});
}

// ask(): one control message. The promise rejects with an Error that has code and data; signal cancels.
export function ask(method, params = {}, options)
{
	return isGreeted ? request(method, params, options) : Promise.reject(closed());
}

// The hub runs few verbs at once, for all pages; one that it refused has done nothing, and is asked for again.
async function askVerb(params, options)
{
	for (let n = 1; ; n++)
		try {
			return await ask('mcpool/verb', params, options);
		} catch (e) {
			if (e.data?.code !== 'again' || n === VERB_TRIES || options.signal?.aborted)
				throw e;
			await new Promise((done) => setTimeout(done, VERB_WAIT_MS));
		}
}

// verb(): runs a verb of mcpool. With onLine its lines come one by one and stdout is empty.
export async function verb(name, args = [], { input, onLine, signal: abort } = {})
{
	const params = { verb: name, args };

	if (input !== undefined)
		params.input = input;
	if (onLine)
		params.stream = true;
	const result = await askVerb(params, { onLine, signal: abort });
	let json = null;

	try {
		json = JSON.parse(result.stdout);
	} catch { /* text for people */ }
	return { ...result, json };
}

// onQuestion(fn): fn(request, signal) answers what the hub asks during a call; signal aborts when the hub withdraws it.
export function onQuestion(fn)
{
	asker = fn;
}

// onNotice(method, fn): other notifications, as mcpool/login/visit. Returns a function that ends it.
export function onNotice(method, fn)
{
	listeners.set(method, (listeners.get(method) ?? new Set()).add(fn));
	return () => listeners.get(method).delete(fn);
}

// --- what the hub tells ----------------------------------------------------------------------------

let next = {}, newCalls = [], newEvents = [], missedCalls = 0, frame = 0, callsAt = 0;

function schedule()
{
	if (!frame)
		frame = requestAnimationFrame(flush);
}

const usedBefore = new Map(); // name -> {cpuUs, pid}
let measuredAt = 0;

// Processor time counts up; its share needs two measurements of the same process.
function measureCpu(map)
{
	const at = hub.peek()?.usage?.measuredAt ?? 0;

	if (!at || at === measuredAt)
		return;
	const shares = new Map();

	for (const s of map.values()) {
		const before = usedBefore.get(s.name);

		if (s.cpuUs === null || s.cpuUs === undefined || s.pid === null) {
			usedBefore.delete(s.name);
			continue;
		}
		if (before && measuredAt && before.pid === s.pid && s.cpuUs >= before.cpuUs)
			shares.set(s.name, (s.cpuUs - before.cpuUs) / 1000 / (at - measuredAt));
		usedBefore.set(s.name, { cpuUs: s.cpuUs, pid: s.pid });
	}
	measuredAt = at;
	cpu.value = shares;
}

function mergeInto(map, items, gone, key)
{
	if (!items?.length && !gone?.length)
		return map;
	const copy = new Map(map);

	for (const item of items ?? [])
		copy.set(item[key], item);
	for (const name of gone ?? [])
		copy.delete(name);
	return copy;
}

function flushWatch()
{
	const w = next;

	next = {};
	if (w.all) {
		servers.value = new Map((w.servers ?? []).map((s) => [s.name, s]));
		sessions.value = new Map((w.sessions ?? []).map((s) => [s.id, s]));
	}
	if ('hub' in w)
		hub.value = w.hub;
	if ('problem' in w)
		problem.value = w.problem;
	if (!w.all) {
		servers.value = mergeInto(servers.peek(), w.servers, w.gone, 'name');
		sessions.value = mergeInto(sessions.peek(), w.sessions, w.ended, 'id');
	}
	if (w.flows)
		flows.value = w.flows;
	if (w.running)
		running.value = w.running;
	measureCpu(servers.peek());
}

function flush(time)
{
	frame = 0;
	batch(() => {
		if (Object.keys(next).length)
			flushWatch();
		if (newEvents.length) {
			events.value = [...newEvents.reverse(), ...events.peek()].slice(0, MOST_EVENTS);
			newEvents = [];
		}
		if (newCalls.length && time - callsAt >= CALLS_EVERY_MS) {
			callsAt = time;
			calls.value = {
				records: [...newCalls.reverse(), ...calls.peek().records].slice(0, MOST_CALLS),
				missed: calls.peek().missed + missedCalls,
			};
			newCalls = [];
			missedCalls = 0;
		}
	});
	if (newCalls.length)
		schedule();
}

// Whole objects replace those of the same name; the lists of names that are gone undo it.
function mergeList(into, list, items, gone, key)
{
	const byKey = new Map((into[list] ?? []).map((item) => [item[key], item]));

	for (const item of items ?? [])
		byKey.set(item[key], item);
	for (const name of gone ?? [])
		byKey.delete(name);
	if (byKey.size || into[list])
		into[list] = [...byKey.values()];
}

function onChanged(w)
{
	const at = Date.now();

	if (w.time)
		clockOffset = w.time - at;
	for (const s of w.servers ?? [])
		s.receivedAt = at;
	if (next.gone)
		next.gone = next.gone.filter((name) => !w.servers?.some((s) => s.name === name));
	mergeList(next, 'servers', w.servers, w.gone, 'name');
	mergeList(next, 'sessions', w.sessions, w.ended, 'id');
	for (const list of ['gone', 'ended'])
		if (w[list]?.length)
			next[list] = [...(next[list] ?? []), ...w[list]];
	for (const member of ['hub', 'problem', 'flows', 'running'])
		if (member in w)
			next[member] = w[member];
	schedule();
}

function onCall(record)
{
	lastCall = Math.max(lastCall, record.number);
	record.key = `${me.peek()?.pid}/${record.number}`;
	missedCalls += record.missed ?? 0;
	newCalls.push(record);
	if (newCalls.length > 2 * MOST_CALLS)
		newCalls = newCalls.slice(-MOST_CALLS);
	schedule();
}

function onEvent(event)
{
	lastEvent = Math.max(lastEvent, event.number);
	newEvents.push(event);
	if (newEvents.length > 2 * MOST_EVENTS)
		newEvents = newEvents.slice(-MOST_EVENTS);
	schedule();
}

function onNotification(method, params)
{
	if (method === 'mcpool/watch/changed')
		onChanged(params);
	else if (method === 'mcpool/calls/record')
		onCall(params);
	else if (method === 'mcpool/event')
		onEvent(params);
	else if (method === 'notifications/progress')
		pending.get(params.progressToken)?.onProgress?.(params);
	else if (method === 'mcpool/verb/line')
		pending.get(params.id)?.onLine?.(params.line);
	else if (method === 'notifications/cancelled')
		questions.get(params.requestId)?.abort();
	for (const fn of listeners.get(method) ?? [])
		fn(params);
}

async function onRequest(message)
{
	const abort = new AbortController(), from = socket;
	let answer;

	questions.set(message.id, abort);
	try {
		answer = asker && message.method === 'elicitation/create'
			? { result: await asker(message, abort.signal) }
			: { error: { code: -32601, message: `unknown method ${message.method}` } };
	} catch (e) {
		answer = { error: { code: -32603, message: e.message } };
	}
	questions.delete(message.id);
	if (!abort.signal.aborted && from === socket && from.readyState === WebSocket.OPEN)
		send({ id: message.id, ...answer });
}

function onMessage(text)
{
	// What a server answered keeps its numbers as they were written.
	const message = ANSWERED.test(text.slice(0, 400)) ? parseJson(text) : JSON.parse(text);

	if (message.method !== undefined && message.id !== undefined) {
		onRequest(message);
	} else if (message.method !== undefined) {
		onNotification(message.method, message.params ?? {});
	} else {
		const p = pending.get(message.id);

		pending.delete(message.id);
		p?.off();
		if (message.error)
			p?.reject(failure(message.error));
		else
			p?.resolve(message.result);
	}
}

// --- the connection --------------------------------------------------------------------------------

function noteEnd()
{
	if (restart.peek() && !isLive.peek())
		return;
	restart.value = {
		endedAt: now(),
		pid: me.peek()?.pid,
		running: running.peek().length,
		connected: [...servers.peek().values()].filter((s) => s.state === 'connected').map((s) => s.name),
		foundAt: null,
	};
}

function dropRequests()
{
	for (const p of pending.values()) {
		p.off();
		p.reject(closed());
	}
	pending.clear();
	for (const abort of questions.values())
		abort.abort();
	questions.clear();
}

async function isLoggedOut()
{
	try {
		return (await fetch('/dashboard/session', { credentials: 'same-origin' })).status === 401;
	} catch {
		return false;
	}
}

function reloadOnce()
{
	try {
		if (sessionStorage.getItem('mcpool.reloaded'))
			return;
		sessionStorage.setItem('mcpool.reloaded', '1');
		location.reload();
	} catch { /* the person reloads */ }
}

async function onClosed(event, wasOpen)
{
	socket = null;
	isGreeted = false;
	dropRequests();
	if (event.code === 4401 || (!wasOpen && await isLoggedOut())) {
		setLive('loggedOut');
		return;
	}
	if (event.code === 4400)
		reloadOnce();
	if (wasLive) {
		noteEnd();
		setLive('restarting');
	}
	clearTimeout(timer);
	timer = setTimeout(connect, delay);
	delay = Math.min(delay * 2, LONGEST_DELAY_MS);
}

async function greet()
{
	const params = { protocol: PROTOCOL, proof: recall(PROOF) };

	if (project)
		params.project = project;
	const hello = await request('mcpool/hello', params);
	const isSame = me.peek()?.pid === hello.pid;

	if (!isSame)
		lastCall = lastEvent = 0;
	isGreeted = true;
	me.value = hello;
	if (restart.peek())
		restart.value = { ...restart.peek(), foundAt: now(), same: isSame };
	const watch = await request('mcpool/watch', {});

	next = {};
	onChanged(watch);
	next.all = true;
	cancelAnimationFrame(frame);
	frame = 0;
	flush(performance.now());
	delay = FIRST_DELAY_MS;
	wasLive = true;
	setLive('live');
	try {
		sessionStorage.removeItem('mcpool.reloaded');
	} catch { /* none */ }
	await Promise.all([request('mcpool/calls', { since: lastCall + 1 }), request('mcpool/events', { since: lastEvent + 1 })]);
}

function connect()
{
	let wasOpen = false;
	const s = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/dashboard/control`, 'mcpool.control');

	socket = s;
	s.onopen = () => {
		wasOpen = true;
		greet().catch(() => s.close());
	};
	s.onmessage = (event) => onMessage(event.data);
	s.onclose = (event) => socket === s && onClosed(event, wasOpen);
}

// setProject(): another workspace; the connection is made again.
export function setProject(path)
{
	if (path === project)
		return;
	project = path;
	wasLive = false;
	restart.value = null;
	batch(() => {
		calls.value = { records: [], missed: 0 };
		events.value = [];
	});
	lastCall = lastEvent = 0;
	if (socket) {
		const old = socket;

		socket = null;
		isGreeted = false;
		dropRequests();
		old.close();
		setLive('connecting');
		connect();
	}
}

// --- the login ---------------------------------------------------------------------------------------

// logIn(code): exchanges the code of `mcpool dashboard` for a login of this browser, and connects.
export async function logIn(code)
{
	const response = await fetch('/dashboard/login', {
		method: 'POST',
		credentials: 'same-origin',
		headers: { Authorization: `Code ${code}` },
	});

	if (!response.ok)
		throw failure({ code: response.status, message: 'This address was used already, or is older than a minute.' });
	remember(PROOF, (await response.json()).proof);
	setLive('connecting');
	connect();
}

export async function logOut()
{
	remember(PROOF, null);
	wasLive = false;
	try {
		await fetch('/dashboard/logout', { method: 'POST', credentials: 'same-origin' });
	} finally {
		const old = socket;

		socket = null;
		isGreeted = false;
		dropRequests();
		old?.close();
		setLive('loggedOut');
	}
}

function countSeconds()
{
	tick.value = now();
	setTimeout(() => requestAnimationFrame(countSeconds), 1000 - (Date.now() % 1000));
}

// begin(): logs in with the code of the address, or connects with the login that this browser has.
export async function begin(options = {})
{
	project = options.project ?? null;
	countSeconds();
	if (options.code) {
		try {
			await logIn(options.code);
			return;
		} catch (e) {
			loginError.value = e.code ? e.message : 'The hub does not answer.';
		}
	}
	if (recall(PROOF))
		connect();
	else
		setLive('loggedOut');
}

export const loginError = signal(null);

// since(server): when a server that runs has started
export const upSince = (s) => (s.uptimeMs === null || s.uptimeMs === undefined ? null : s.receivedAt + clockOffset - s.uptimeMs);
