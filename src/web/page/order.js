// order.js - which servers the overview shows, and in which order: filter, state, heading; busiest first.
import { cpu, upSince, now } from './hub.js';

const LAST = { connected: 0, pending: 1, failed: 2, 'needs-auth': 3, 'needs-approval': 4, ready: 5, disabled: 6, shadowed: 7 };

const FIGURES = {
	tools: (s) => s.tools, uptime: (s) => (upSince(s) === null ? null : now() - upSince(s)), restarts: (s) => s.restarts, memory: (s) => s.memory,
	cpu: (s) => cpu.peek().get(s.name), calls: (s) => s.callsLastMinute, p50: (s) => s.p50us, p99: (s) => s.p99us, queue: (s) => s.waiting,
};

const byName = (a, b) => (a.name < b.name ? -1 : 1);
const byState = (a, b) => (LAST[a.state] ?? 9) - (LAST[b.state] ?? 9);

// sorted(servers, 'calls' or '-name'): figures have the greatest first and what does not run below; a minus turns it round.
export function sorted(list, order)
{
	const isTurned = order.startsWith('-'), key = order.replace('-', ''), sign = isTurned ? -1 : 1;
	const figure = FIGURES[key];

	if (key === 'name')
		return list.sort((a, b) => sign * byName(a, b));
	if (key === 'state')
		return list.sort((a, b) => sign * byState(a, b) || byName(a, b));
	return list.sort((a, b) => byState(a, b) || (a.state === 'connected' ? sign * ((figure(b) ?? -1) - (figure(a) ?? -1)) : 0) || byName(a, b));
}

const textOf = (s) => `${s.name} ${s.state} ${s.transport} ${s.error ?? ''} ${s.source?.file ?? ''}`.toLowerCase();
const texts = new WeakMap(); // a server's object never changes: its text is made once

function matchesText(s, words)
{
	let text = texts.get(s);

	if (text === undefined)
		texts.set(s, text = textOf(s));
	return words.every((word) => text.includes(word));
}

export function filtered(map, { filter, state })
{
	const words = (filter ?? '').toLowerCase().split(/\s+/).filter(Boolean);

	return [...map.values()].filter((s) => s.state !== 'shadowed' && (!state || s.state === state || (state === 'needs-you' &&
		/^(failed|needs-.*)$/.test(s.state))) && (!words.length || matchesText(s, words)));
}

// keepOrder(): the names of before that are still there, then new ones: rows stay while a person points at them.
export function keepOrder(list, before)
{
	const at = new Map(before.map((name, i) => [name, i]));

	return list.map((s, i) => [at.get(s.name) ?? before.length + i, s]).sort((a, b) => a[0] - b[0]).map(([, s]) => s);
}
