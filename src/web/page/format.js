// format.js - numbers, times and untrusted text as the page shows them. All values may be null: then it is a dash.
export const NONE = '–';

// Characters that reorder, hide or join text, as in src/cli/display/safe.c, and controls.
const TRICKS = new RegExp('[\\x00-\\x1f\\x7f-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f' +
	'\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0e\\ufeff\\uffa0\\ufff0-\\ufffb' +
	'\\u{13430}-\\u{1345f}\\u{1bca0}-\\u{1bca3}\\u{1d159}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}\\p{Cs}]', 'gu');

function escapeOne(c)
{
	const code = c.codePointAt(0);

	if (code > 0xffff)
		return `\\u{${code.toString(16)}}`;
	return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

// safe(text): text of a server or a file on one line, with what could deceive a reader escaped.
export function safe(text)
{
	return String(text ?? '').replace(/\s*[\r\n\t]+\s*/g, ' ').replace(TRICKS, escapeOne);
}

// safeLines(text): the same with line breaks and tabs kept.
export function safeLines(text)
{
	return String(text ?? '').replace(/\r\n/g, '\n').replace(TRICKS, (c) => (c === '\n' || c === '\t' ? c : escapeOne(c)));
}

const isNone = (n) => n === null || n === undefined || Number.isNaN(n);

// 1.8 s, 41 s, 51 m, 4 h 48 m, 6 d 4 h
export function duration(ms)
{
	if (isNone(ms))
		return NONE;
	const s = Math.max(0, ms) / 1000;

	if (s < 9.95)
		return `${s.toFixed(1)} s`;
	if (s < 60)
		return `${Math.floor(s)} s`;
	const m = Math.floor(s / 60), h = Math.floor(m / 60), d = Math.floor(h / 24);

	if (m < 60)
		return `${m} m`;
	if (h < 24)
		return m % 60 ? `${h} h ${m % 60} m` : `${h} h`;
	return h % 24 ? `${d} d ${h % 24} h` : `${d} d`;
}

// 0.03 ms, 1.1 ms, 412 ms, 6.2 s; digits: those of values below 1 ms
export function latency(us, digits = 1)
{
	if (isNone(us))
		return NONE;
	const ms = us / 1000;

	if (ms < 0.995)
		return `${ms.toFixed(ms < 0.095 ? 2 : digits)} ms`;
	if (ms < 9.95)
		return `${ms.toFixed(1)} ms`;
	if (ms < 999.5)
		return `${Math.round(ms)} ms`;
	return ms < 999500 ? `${(ms / 1000).toFixed(1)} s` : duration(ms);
}

const SIZES = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytes(n)
{
	if (isNone(n))
		return NONE;
	let unit = 0;

	for (; n >= 1000 && unit < SIZES.length - 1; unit++)
		n /= 1024;
	return `${unit > 0 && n < (unit === 2 ? 9.95 : 99.5) ? n.toFixed(1) : Math.round(n)} ${SIZES[unit]}`;
}

// 204, 38 214, 1.21 M
export function count(n)
{
	if (isNone(n))
		return NONE;
	if (n >= 1e9)
		return `${(n / 1e9).toFixed(2)} G`;
	if (n >= 1e6)
		return `${(n / 1e6).toFixed(2)} M`;
	return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

// A rate per second: 0.03, 14.2, 980
export function rate(perSecond)
{
	if (isNone(perSecond))
		return NONE;
	if (perSecond === 0)
		return '0';
	if (perSecond < 0.095)
		return perSecond < 0.005 ? '< 0.01' : perSecond.toFixed(2);
	return perSecond < 999.5 ? (perSecond < 99.5 ? perSecond.toFixed(1) : String(Math.round(perSecond))) : count(perSecond);
}

// 0.3 %, of a share between 0 and 1
export function percent(share, digits = 1)
{
	if (isNone(share))
		return NONE;
	const p = share * 100;

	if (p > 0 && p < 0.05 && digits === 1)
		return '< 0.1 %';
	return `${p.toFixed(p >= 99.995 || p === 0 ? 0 : digits)} %`;
}

const two = (n) => String(n).padStart(2, '0');

// 14:32:07; withMs: 14:32:07.412
export function clock(ms, withMs)
{
	if (isNone(ms))
		return NONE;
	const d = new Date(ms);
	const text = `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;

	return withMs ? `${text}.${String(d.getMilliseconds()).padStart(3, '0')}` : text;
}

// 14:20
export const minute = (ms) => clock(ms).slice(0, 5);

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

// 9 Nov, with the year if it is not this one
export function day(ms)
{
	if (isNone(ms))
		return NONE;
	const d = new Date(ms), year = d.getFullYear();

	return `${d.getDate()} ${MONTHS[d.getMonth()]}${year === new Date().getFullYear() ? '' : ` ${year}`}`;
}

// 14:20 of today, otherwise 14 Nov, 09:31
export function date(ms)
{
	if (isNone(ms))
		return NONE;
	const isToday = new Date(ms).toDateString() === new Date().toDateString();

	return isToday ? minute(ms) : `${day(ms)}, ${minute(ms)}`;
}

// 12 min ago; now: the hub's time, if it is known
export function ago(ms, now = Date.now())
{
	if (isNone(ms))
		return NONE;
	const s = Math.max(0, (now - ms) / 1000);

	if (s < 60)
		return `${Math.floor(s)} s ago`;
	if (s < 3600)
		return `${Math.floor(s / 60)} min ago`;
	return s < 86400 ? `${Math.floor(s / 3600)} h ago` : `${Math.floor(s / 86400)} d ago`;
}

// 0:14, 12:05, 1:00:00
export function countdown(ms)
{
	if (isNone(ms))
		return NONE;
	const s = Math.max(0, Math.ceil(ms / 1000)), h = Math.floor(s / 3600);

	return h ? `${h}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`;
}

export const plural = (n, word, words = `${word}s`) => `${count(n)} ${n === 1 ? word : words}`;

// cut(text, most): a long text without its middle
export function cut(text, most)
{
	const chars = [...text];

	if (chars.length <= most)
		return text;
	const head = Math.ceil((most - 1) / 2);

	return `${chars.slice(0, head).join('')}…${chars.slice(chars.length - (most - 1 - head)).join('')}`;
}
