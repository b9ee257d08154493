// plots.js - the last hours of a server on one time axis: states, latency, calls. Own SVG: uPlot is larger than the whole page and draws no strip of states.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { html } from './html.js';
import { clock, day, duration, latency, minute, rate, safe } from './format.js';

const LEFT = 60, RIGHT = 25;
const STRIP = { y: 16, height: 8, tall: 16 }, NOTE_Y = 40, LATENCY = { top: 54, bottom: 140 }, CALLS = { top: 166, bottom: 214 }, HEIGHT = 240;
const LEAST_BAR = 5, LEAST_BLOCK = 6;
const STEPS_MS = [5, 10, 15, 30, 60, 120, 180, 360].map((m) => m * 60000);

// niceMax(): 1, 2 or 5 times a power of ten, not below n
export function niceMax(n)
{
	const power = 10 ** Math.floor(Math.log10(Math.max(n, 1e-9)));

	return [1, 1.5, 2, 3, 5, 10].map((k) => k * power).find((top) => top >= n * 0.999);
}

// useWidth(): the width of an element, followed
export function useWidth(least = 300)
{
	const box = useRef(), [width, setWidth] = useState(0);

	useEffect(() => {
		const observer = new ResizeObserver(([entry]) => setWidth(Math.max(least, Math.round(entry.contentRect.width))));

		observer.observe(box.current);
		return () => observer.disconnect();
	}, []);
	return [box, width];
}

const axis = (us, top) => (top >= 1e6 ? `${+(us / 1e6).toPrecision(3)} s` : `${+(us / 1000).toPrecision(3)} ms`);

// What the state was, from the first change on: [{from, to, state, text, what}]
export function spans(history, end)
{
	const known = history.changes.filter((c) => c.time < end);

	return known.map((c, i) => ({ from: Math.max(c.time, history.from), to: known[i + 1]?.time ?? end, state: c.state, text: c.text, what: c.what }))
		.filter((s) => s.to > history.from && s.to > s.from);
}

// share(): how much of the time it was connected, and how long it was down; of the time that the hub knows
export function share(history, end)
{
	const all = spans(history, end).filter((s) => ['connected', 'failed', 'pending'].includes(s.state));
	const sum = (list) => list.reduce((total, s) => total + s.to - s.from, 0);
	const total = sum(all);

	return total ? { up: sum(all.filter((s) => s.state === 'connected')) / total, downMs: sum(all.filter((s) => s.state !== 'connected')) } : null;
}

function line(values, x, y)
{
	let d = '', isOpen = false;

	values.forEach((v, i) => {
		if (v === null) {
			isOpen = false;
			return;
		}
		d += `${isOpen ? 'L' : 'M'}${x(i).toFixed(1)} ${y(v).toFixed(1)}`;
		isOpen = true;
	});
	return d;
}

// Between p99 and p50
function band(upper, lower, x, y)
{
	let d = '', begin = -1;

	for (let i = 0; i <= upper.length; i++) {
		const isGap = i === upper.length || upper[i] === null || lower[i] === null;

		if (!isGap && begin < 0)
			begin = i;
		if (isGap && begin >= 0) {
			const all = Array.from({ length: i - begin }, (_, k) => begin + k);

			d += `M${all.map((k) => `${x(k).toFixed(1)} ${y(upper[k]).toFixed(1)}`).join('L')}L${all.reverse().map((k) => `${x(k).toFixed(1)} ${y(lower[k]).toFixed(1)}`).join('L')}Z`;
			begin = -1;
		}
	}
	return d;
}

function ticks(from, to, width)
{
	const step = STEPS_MS.find((s) => (to - from) / s * 60 < width) ?? STEPS_MS.at(-1);
	const zone = new Date(from).getTimezoneOffset() * 60000;
	const all = [];

	for (let t = Math.ceil((from - zone) / step) * step + zone; t < to; t += step)
		all.push(t);
	return all;
}

// Words for what happened: failures first, as long as they do not cover each other.
function notes(all, x, right)
{
	const taken = [], shown = [];
	const told = all.filter((s) => s.state === 'failed' || (s.state === 'pending' && s.text)).sort((a, b) => (a.state === 'failed' ? 0 : 1) - (b.state === 'failed' ? 0 : 1) || b.from - a.from);

	for (const s of told) {
		const why = safe(s.text).replace(/^attempt \d+ in \d+ ms: /, '');
		const text = s.state === 'failed' ? `${why}${why ? ', ' : ''}${duration(s.to - s.from)}` : why, head = `${minute(s.from)}${s.state === 'failed' ? ' failed' : ''}`;
		const cut = text.length > 34 ? `${text.slice(0, 33)}…` : text, width = (head.length + cut.length + 1) * 6.2;
		const at = x(s.from), isLeft = at + width + 8 > right, from = isLeft ? at - width - 8 : at, to = from + width + 8;

		if (taken.some(([a, b]) => from < b && to > a))
			continue;
		taken.push([from, to]);
		shown.push({ ...s, at, head, text: cut, isLeft });
	}
	return shown;
}

function Strip({ all, x, right })
{
	let tallEnd = 0; // blocks have a least width: the next one begins behind it

	const ordered = [...all].sort((a, b) => (/failed|pending/.test(a.state) ? 1 : 0) - (/failed|pending/.test(b.state) ? 1 : 0));

	return html`<g>${ordered.map((s) => {
		const isTall = s.state === 'failed' || s.state === 'pending', width = Math.max(0, x(s.to) - x(s.from));
		const from = isTall ? Math.min(Math.max(x(s.from), tallEnd), right - LEAST_BLOCK) : x(s.from);
		const wide = isTall ? Math.max(LEAST_BLOCK, width) : Math.max(1, width - 2), height = isTall ? STRIP.tall : s.state === 'connected' ? STRIP.height : 2;

		if (isTall && from - x(s.from) > 2 * LEAST_BLOCK)
			return null; // too many to tell them apart
		if (isTall)
			tallEnd = from + wide + 3;

		return html`<rect class=${`strip is-${s.state}`} x=${from + (isTall ? 0 : 1)} y=${STRIP.y - height / 2} width=${wide} height=${height} rx="1.5"><title>${`${s.state} from ${clock(s.from)}, ${duration(s.to - s.from)}`}</title></rect>`;
	})}</g>`;
}

function Bars({ history, x, width, top })
{
	const n = history.calls.length, pitch = width / n, group = Math.max(1, Math.ceil(LEAST_BAR / pitch));
	const y = (v) => (v / top) * (CALLS.bottom - CALLS.top);
	const bars = [];

	for (let i = 0; i < n; i += group) {
		const part = history.calls.slice(i, i + group), known = part.filter((v) => v !== null);

		if (!known.length)
			continue;
		const seconds = known.length * history.stepMs / 1000;
		const calls = known.reduce((a, b) => a + b, 0) / seconds, failed = history.failed.slice(i, i + group).reduce((a, b) => a + (b ?? 0), 0) / seconds;
		const at = x(i) - pitch / 2, wide = Math.max(1, pitch * part.length - Math.min(2, pitch * part.length * 0.3));

		if (calls > 0)
			bars.push(html`<rect key=${i} class="bar-calls" x=${at} y=${CALLS.bottom - y(calls)} width=${wide} height=${y(calls)} />`);
		if (failed > 0)
			bars.push(html`<rect key=${`f${i}`} class="bar-failed" x=${at} y=${CALLS.bottom - Math.max(2, y(failed))} width=${wide} height=${Math.max(2, y(failed))} />`);
	}
	return html`<g>${bars}</g>`;
}

function Cursor({ history, at, x, yLatency, yCalls })
{
	const p99 = history.p99us[at], p50 = history.p50us[at], calls = history.calls[at], px = x(at);
	const text = minute(history.from + at * history.stepMs);

	return html`<g class="cursor"><path d=${`M${px} ${LATENCY.top - 8}V${CALLS.bottom}`} />
		${p99 === null ? null : html`<circle class="on-p99" cx=${px} cy=${yLatency(p99)} r="3" />`}${p50 === null ? null : html`<circle class="on-p50" cx=${px} cy=${yLatency(p50)} r="3" />`}
		${calls === null ? null : html`<circle class="on-p99" cx=${px} cy=${CALLS.bottom - yCalls(calls)} r="3" />`}
		<rect x=${px - 21} y=${HEIGHT - 19} width="42" height="16" rx="3" /><text x=${px} y=${HEIGHT - 7} text-anchor="middle">${text}</text></g>`;
}

// readout(): what the head of the panel says of one slot
export function readout(history, at)
{
	const seconds = history.stepMs / 1000, calls = history.calls[at];

	return { time: history.from + at * history.stepMs, p99: latency(history.p99us[at]), p50: latency(history.p50us[at]),
		calls: calls === null ? '–' : `${rate(calls / seconds)}/s`, failed: history.failed[at] ? `${rate(history.failed[at] / seconds)}/s` : null };
}

// Plot({history, end, at, onAt}): at: the slot that the head reads out, null for none
export function Plot({ history, end, at, onAt })
{
	const [box, full] = useWidth();
	const right = full - RIGHT, width = right - LEFT, n = history.calls.length;
	const to = Math.max(end, history.from + n * history.stepMs);
	const xTime = (t) => LEFT + ((Math.max(t, history.from) - history.from) / (to - history.from)) * width;
	const x = (i) => xTime(history.from + (i + 0.5) * history.stepMs);
	const topLatency = niceMax(Math.max(1000, ...history.p99us.map((v) => v ?? 0))), topCalls = niceMax(Math.max(...history.calls.map((v) => v ?? 0), history.stepMs / 1000) / (history.stepMs / 1000));
	const yLatency = (v) => LATENCY.bottom - (v / topLatency) * (LATENCY.bottom - LATENCY.top);
	const yCalls = (v) => (v / (history.stepMs / 1000) / topCalls) * (CALLS.bottom - CALLS.top);
	const all = useMemo(() => spans(history, end), [history, end]);
	const told = full ? notes(all, xTime, right) : [];
	const last = history.p99us.findLastIndex((v) => v !== null);
	const slot = (event) => Math.max(0, Math.min(n - 1, Math.floor((event.clientX - box.current.getBoundingClientRect().left - LEFT) / width * (to - history.from) / history.stepMs)));
	const onKey = (e) => {
		const step = { ArrowRight: 1, ArrowLeft: -1, PageUp: 12, PageDown: -12, Home: -n, End: n }[e.key];

		if (step) {
			e.preventDefault();
			onAt(Math.max(0, Math.min(n - 1, (at ?? n - 1) + step)));
		} else if (e.key === 'Escape' && at !== null) {
			e.preventDefault();
			onAt(null);
		}
	};
	const words = at === null ? 'none chosen' : Object.values({ ...readout(history, at), time: clock(readout(history, at).time) }).filter(Boolean).join(', ');

	return html`<div ref=${box} class="plot" tabindex="0" role="slider" aria-label="Moment of the plot" aria-valuemin="0" aria-valuemax=${n - 1} aria-valuenow=${at ?? n - 1} aria-valuetext=${words} onKeyDown=${onKey}
		onPointerMove=${(e) => onAt(slot(e))} onPointerLeave=${() => onAt(null)}>
		${full ? html`<svg width=${full} height=${HEIGHT} viewBox=${`0 0 ${full} ${HEIGHT}`} aria-hidden="true">
			<text class="axis" x=${LEFT - 8} y=${STRIP.y + 4} text-anchor="end">state</text>
			${[[0, LATENCY.bottom], [0.5, (LATENCY.top + LATENCY.bottom) / 2], [1, LATENCY.top]].map(([k, y]) => html`<g key=${k}><path class="grid" d=${`M${LEFT} ${y}H${right}`} />
				<text class="axis" x=${LEFT - 8} y=${y + 4} text-anchor="end">${!k ? '0' : last < 0 ? '' : axis(topLatency * k, topLatency)}</text></g>`)}
			<path class="grid" d=${`M${LEFT} ${CALLS.top}H${right}`} /><text class="axis" x=${LEFT - 8} y=${CALLS.top + 4} text-anchor="end">${String(+topCalls.toPrecision(2))}/s</text><text class="axis" x=${LEFT - 8} y=${CALLS.bottom + 3} text-anchor="end">0</text>
			${told.map((s) => html`<path key=${s.from} class=${`moment is-${s.state}`} d=${`M${s.at + (s.state === 'failed' ? 3 : 0)} ${STRIP.y + 10}V${CALLS.bottom}`} />`)}
			<path class="plot-band" d=${band(history.p99us, history.p50us, x, yLatency)} />
			<path class="plot-p99" d=${line(history.p99us, x, yLatency)} /><path class="plot-p50" d=${line(history.p50us, x, yLatency)} />
			<${Bars} history=${history} x=${x} width=${width} top=${topCalls} /><${Strip} all=${all} x=${xTime} right=${right} />
			${told.map((s) => html`<text key=${s.from} class="moment-note" x=${s.at + (s.isLeft ? -4 : 8)} y=${NOTE_Y} text-anchor=${s.isLeft ? 'end' : 'start'}><tspan class=${s.state === 'failed' ? 'head c-fail' : 'head'}>${s.head}</tspan> ${s.text}</text>`)}
			${last < 0 ? html`<text class="axis" x=${(LEFT + right) / 2} y=${(LATENCY.top + LATENCY.bottom) / 2 + 4} text-anchor="middle">no calls</text>` : null}
			${last >= 0 ? html`<text class="plot-name is-p99" x=${right - 2} y=${Math.min(yLatency(history.p99us[last]) - 7, LATENCY.bottom - 26)} text-anchor="end">p99</text>
				<text class="plot-name" x=${right - 2} y=${Math.min(yLatency(history.p50us[last] ?? 0) - 6, LATENCY.bottom - 8)} text-anchor="end">p50</text>` : null}
			${ticks(history.from, to, width).filter((t) => xTime(t) < right - 44 && xTime(t) > LEFT + 10 && (at === null || Math.abs(xTime(t) - x(at)) > 42)).map((t) => html`<text key=${t} class="axis" x=${xTime(t)} y=${HEIGHT - 7} text-anchor="middle">${minute(t) === '00:00' && to - history.from > 7200000 ? day(t) : minute(t)}</text>`)}
			<text class="axis" x=${right} y=${HEIGHT - 7} text-anchor="end">now</text>
			${at === null || at >= n ? null : html`<${Cursor} history=${history} at=${at} x=${x} yLatency=${yLatency} yCalls=${yCalls} />`}
		</svg>` : null}</div>`;
}
