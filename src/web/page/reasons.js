// reasons.js - in words: why a server does not work, what happens by itself, and what the person can do.
import { events, ask, now } from './hub.js';
import { count, countdown, duration, minute, plural } from './format.js';
import { attempt, paths, place } from './parts/words.js';
import { openApproval } from './approval.js';
import { openLogin } from './login.js';
import { openEdit } from './edit_server.js';
import { go } from './router.js';

const STEPS = {
	preparing: 'reads its values', starting: 'handshake', listing: 'lists its tools', checking: 'is probed', clearing: 'is cleared away',
	stopping: 'stops', renewing: 'ends in order to start again',
};
const START = ['preparing', 'starting', 'listing', 'renewing'];

// When the step that a server is in began; null: the page did not see it.
const stepSince = (s) => events.value.find((e) => e.server === s.name && e.what === s.detail)?.time ?? null;

export function cachedTools(s)
{
	return s.tools === null || s.tools === undefined ? '' : plural(s.tools, 'tool');
}

function pendingReason(s, was)
{
	const since = was ? null : stepSince(s);
	const step = STEPS[s.detail] ?? 'starts';
	const tools = cachedTools(s);
	const time = since === null ? '' : START.includes(s.detail) ? ` for ${duration(now() - since)}` : '';
	const tries = s.attempt ? `, attempt ${s.attempt}${s.maxAttempts ? ` of ${s.maxAttempts}` : ''}` : '';

	return `${step}${time}${tries}${tools ? `; its ${s.tools === 1 ? 'cached tool is' : `${count(s.tools)} cached tools are`} already offered` : ''}`;
}

// causeOf(server): the shortest true sentence of why it does not work
export const causeOf = (s) => paths(s.health?.cause || s.error || s.message || '');

// reasonOf(server): what a row of a server that does not run says instead of figures
export function reasonOf(s, was)
{
	switch (s.state) {
	case 'pending':
		return pendingReason(s, was);
	case 'failed':
		return paths(s.error || s.health?.cause || 'it does not start');
	case 'needs-auth':
		return paths(s.error || s.health?.cause || 'it wants a login');
	case 'needs-approval':
		return s.error ? paths(s.error) : s.changed ? `changed in ${place(s.source)} since you approved it` : `not approved yet, from ${place(s.source)}`;
	case 'ready':
		return `starts when it is called${cachedTools(s) ? `; ${cachedTools(s)} cached` : ''}`;
	case 'disabled':
		return paths(s.error || `disabled in ${place(s.source)}`);
	default:
		return paths(s.error || '');
	}
}

export const start = (s) => attempt(ask('mcpool/server/start', { name: s.name }), `${s.name} starts.`);
export const enable = (s) => attempt(ask('mcpool/server/enable', { name: s.name }), `${s.name} is enabled.`);
const showLog = (s) => go('server', s.name, { tab: 'log' });

// stepOf(server): {word, run}: the next step, null if there is none
export function stepOf(s)
{
	switch (s.state) {
	case 'failed':
		return s.nextAt ? { word: 'Log', run: showLog } : { word: 'Start', run: start };
	case 'needs-auth':
		return { word: 'Log in', run: (x) => openLogin(x.name) };
	case 'needs-approval':
		return { word: 'Review', run: (x) => openApproval(x.name) };
	case 'ready':
		return { word: 'Start', run: start, isQuiet: true };
	case 'disabled':
		return { word: 'Enable', run: enable, isQuiet: true };
	default:
		return null;
	}
}

export const sentence = (text) => {
	const t = text.trim();

	return t ? `${t[0].toUpperCase()}${t.slice(1)}${/[.!?]$/.test(t) ? '' : '.'}` : '';
};

function failedNeed(s)
{
	const tries = s.nextAt ? `Try ${s.attempt ?? ''} in `.replace('  ', ' ') : 'It is not tried again.';

	return {
		title: s.health?.failingSince ? `does not work since ${minute(s.health.failingSince)}` : 'does not start',
		text: sentence(causeOf(s)), tries, until: s.nextAt,
		word: s.health?.variable ? 'Set variable' : s.nextAt ? 'Log' : 'Start',
		short: s.health?.variable ? 'Fix' : s.nextAt ? 'Log' : 'Start',
		run: s.health?.variable ? () => openEdit(s.name) : s.nextAt ? showLog : start,
	};
}

// needOf(server): {title, text, tries?, until?, word, short, run} for the strip "Needs you"
export function needOf(s)
{
	if (s.state === 'failed')
		return failedNeed(s);
	if (s.state === 'needs-auth')
		return { title: 'wants you to log in', text: sentence(causeOf(s)) || 'Until then its calls are refused.', word: 'Log in', short: 'Log in', run: (x) => openLogin(x.name) };
	return {
		title: s.changed ? 'was changed' : 'is new',
		text: `${s.error ? sentence(paths(s.error)) : `In ${place(s.source)}.`} Nothing of it runs.`,
		word: s.changed ? 'Review change' : 'Review', short: 'Review', run: (x) => openApproval(x.name),
	};
}

export const nextTry = (s, at) => (s.nextAt ? countdown(s.nextAt - at) : null);
