// calls.js - the calls that ended and those that run: filters, the last 15 minutes as time filter, one call in detail.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { html, memo } from './html.js';
import { calls, hub, isLive, now, running, servers, sessions, tick } from './hub.js';
import { bytes, clock, count, latency, percent, plural, rate, safe } from './format.js';
import { Icon, Outcome, outcomeOf } from './icons.js';
import { clientName, projectName } from './clients.js';
import { go, route, setQuery } from './router.js';
import { size, windowHeight } from './media.js';
import { useKeys } from './keys.js';
import { Empty, Name, Num, say } from './parts/words.js';
import { Menu } from './parts/choices.js';
import { Virtual } from './parts/virtual.js';
import { Restarting } from './banner.js';
import { niceMax, useWidth } from './plots.js';
import { JsonTree } from './json_tree.js';
import { openEdit } from './edit_server.js';

const ROW = 34, PHONE_ROW = 52, SAMPLED_ABOVE = 20, BUCKET_MS = 15000, BUCKETS = 60;
const LONGEST_MS = 60000, BAR = 120, LEAST_BAR = 16;
const WORDS = ['ok', 'tool error', 'error', 'timeout', 'refused', 'unknown', 'cancelled', 'not sent'];
const ALWAYS = ['ok', 'tool error', 'timeout', 'refused', 'unknown', 'cancelled'];

// --- which calls -----------------------------------------------------------------------------------------

const texts = new WeakMap();

function textOf(c)
{
	let text = texts.get(c);

	if (text === undefined)
		texts.set(c, text = `${c.server}/${c.tool} ${c.client} ${clientName(c.client)} ${projectName({ root: c.project })} ${c.code ?? ''} ${outcomeOf(c)}`.toLowerCase());
	return text;
}

// matches(): without the outcome, which has counts of its own
function matches(query, span)
{
	const words = (query.find ?? '').toLowerCase().split(/\s+/).filter(Boolean);

	return (c) => (!query.server || c.server === query.server) && (!query.session || c.session === query.session) && (!query.tool || c.tool === query.tool) &&
		(!span || (c.time >= span[0] && c.time < span[1])) && words.every((w) => textOf(c).includes(w));
}

// Of many answered calls every second, fourth, ... stays, by its number; all others stay.
export function sampling(perSecond)
{
	return perSecond > SAMPLED_ABOVE ? 2 ** Math.ceil(Math.log2(perSecond / SAMPLED_ABOVE)) : 1;
}

const sample = (list, every) => (every === 1 ? list : list.filter((c) => c.outcome !== 'answered' || c.number % every === 0));

function perSecondOf(list)
{
	const from = now() - 5000;
	let n = 0;

	while (n < list.length && list[n].time > from)
		n++;
	return n / 5;
}

const runningRow = (r) => ({ ...r, time: r.since, outcome: null, number: null, key: `r${r.session}${r.since}${r.server}${r.tool}` });

function useCalls(query, span, paused)
{
	// While calls come fast the list changes once a second.
	const isFast = (hub.value?.callsLastMinute ?? 0) / 60 > SAMPLED_ABOVE;
	const second = isFast ? Math.floor(tick.value / 1000) : calls.value;
	const all = useRef([]);

	all.current = useMemo(() => paused ?? calls.peek().records, [second, paused]);
	const records = all.current;
	const matching = useMemo(() => records.filter(matches(query, span)), [records, query.find, query.server, query.session, query.tool, span?.[0], span?.[1]]);
	const counts = useMemo(() => matching.reduce((map, c) => map.set(outcomeOf(c), (map.get(outcomeOf(c)) ?? 0) + 1), new Map()), [matching]);
	const chosen = useMemo(() => (query.outcome ? matching.filter((c) => outcomeOf(c) === query.outcome) : matching), [matching, query.outcome]);
	const every = paused || query.call ? 1 : sampling(perSecondOf(chosen));
	const shown = useMemo(() => sample(chosen, every), [chosen, every]);
	const open = span || (query.outcome && query.outcome !== 'running') || paused ? [] : running.value.map(runningRow).filter(matches(query, null));

	return { records, chosen, counts, every, rows: [...open, ...shown] };
}

// --- the histogram ---------------------------------------------------------------------------------------

function Histogram({ records, span, onSpan, history })
{
	const [box, width] = useWidth(200), [drag, setDrag] = useState(null);
	const to = Math.ceil(now() / BUCKET_MS) * BUCKET_MS, from = to - BUCKETS * BUCKET_MS;
	const known = records.length ? records[records.length - 1].time : to;
	const failed = new Array(BUCKETS).fill(0);

	for (const c of records)
		if (c.outcome !== 'answered' && c.time >= from)
			failed[Math.min(BUCKETS - 1, Math.floor((c.time - from) / BUCKET_MS))]++;
	const values = [...new Array(Math.max(0, BUCKETS - history.length)).fill(null), ...history.slice(-BUCKETS)];
	const top = niceMax(Math.max(1, ...values)), H = 38, pitch = width / BUCKETS;
	const x = (t) => Math.max(0, Math.min(width, (t - from) / (to - from) * width));
	const at = (e) => from + (e.clientX - box.current.getBoundingClientRect().left) / width * (to - from);
	const shown = drag ? [Math.min(...drag), Math.max(...drag)] : span;
	const isIn = (i) => { const mid = from + (i + 0.5) * BUCKET_MS; return shown ? mid >= shown[0] && mid < shown[1] : mid >= known - BUCKET_MS / 2; };
	const end = () => {
		if (drag)
			onSpan(Math.abs(drag[1] - drag[0]) < 2000 ? null : [Math.round(Math.min(...drag)), Math.round(Math.max(...drag))]);
		setDrag(null);
	};
	const onKey = (e) => {
		const step = { ArrowLeft: -BUCKET_MS, ArrowRight: BUCKET_MS }[e.key], base = span ?? [to - 4 * BUCKET_MS, to];

		if (step) {
			e.preventDefault();
			onSpan(e.shiftKey ? [base[0], Math.max(base[0] + BUCKET_MS, Math.min(to, base[1] + step))] : [Math.max(from, base[0] + step), Math.min(to, base[1] + step)]);
		} else if (e.key === 'Escape' && span) {
			e.preventDefault();
			onSpan(null);
		}
	};

	return html`<div class="histogram" ref=${box} tabindex="0" role="slider" aria-label="Time of the calls, last 15 minutes; drag, or arrow keys" aria-valuemin=${from} aria-valuemax=${to} aria-valuenow=${shown ? shown[0] : to}
		aria-valuetext=${shown ? `${clock(shown[0])} to ${clock(shown[1])}` : 'all'} onKeyDown=${onKey} onPointerDown=${(e) => { e.currentTarget.setPointerCapture(e.pointerId); setDrag([at(e), at(e)]); }}
		onPointerMove=${(e) => drag && setDrag([drag[0], Math.max(from, Math.min(to, at(e)))])} onPointerUp=${end} onPointerCancel=${() => setDrag(null)}>
		<svg width=${width} height="62" viewBox=${`0 0 ${Math.max(1, width)} 62`} aria-hidden="true">${values.map((v, i) => (v === null ? null : html`<g key=${i} class=${isIn(i) ? 'in' : ''}>
			<rect class="bar-calls" x=${i * pitch + 1} y=${42 - v / top * H} width=${Math.max(1, pitch - 2)} height=${v / top * H} rx="1" />
			${failed[i] ? html`<rect class="bar-failed" x=${i * pitch + 1} y=${42 - Math.max(3, failed[i] / top * H)} width=${Math.max(1, pitch - 2)} height=${Math.max(3, failed[i] / top * H)} rx="1" />` : null}</g>`))}
			${shown ? html`<rect class="span" x=${x(shown[0]) + 0.5} y="2.5" width=${Math.max(3, x(shown[1]) - x(shown[0]) - 1)} height="40" rx="3" />` : null}
			${[0, 5, 10].map((m) => html`<text key=${m} class="axis" x=${m / 15 * width} y="60">${clock(from + m * 60000).slice(0, 5)}</text>`)}<text class="axis" x=${width} y="60" text-anchor="end">now</text></svg></div>`;
}

// --- rows ------------------------------------------------------------------------------------------------

const COLOR = { 'tool error': 'fail', error: 'fail', timeout: 'warn', unknown: 'warn', cancelled: 'quiet', running: 'on' };
const totalUs = (c) => (c.queueUs ?? 0) + (c.latencyUs ?? 0);

// Log scale: 1 ms to 60 s; what of it was the queue is in proportion.
function Bar({ call, us, word })
{
	const ms = Math.max(1, us / 1000), width = LEAST_BAR + (BAR - LEAST_BAR) * Math.min(1, Math.log(ms) / Math.log(LONGEST_MS));
	const queue = us ? (call.queueUs ?? 0) / us : 0;

	return html`<span class="call-bar" style=${{ width: `${width.toFixed(1)}px` }}>${queue * width >= 2 ? html`<i class="hatch" style=${{ width: `${(queue * width).toFixed(1)}px` }}></i>` : null}<i class=${`server-time is-${COLOR[word] ?? 'ok'}`}></i></span>`;
}

const whoOf = (c) => {
	const s = sessions.peek().get(c.session), project = c.project ? projectName({ root: c.project }) : s ? projectName(s) : '';

	return [clientName(c.client), project];
};

const noteOf = (c) => (c.code && c.outcome !== 'answered' ? safe(String(c.code)).replace(/_/g, ' ') : '');

function Total({ call: c })
{
	const us = c.outcome === null ? Math.max(0, tick.value - c.since) * 1000 : totalUs(c);

	return html`<${Num} text=${c.outcome === 'refused' || c.outcome === 'not_sent' ? '–' : latency(us)} />`;
}

function LiveBar({ call })
{
	return html`<${Bar} call=${call} word="running" us=${Math.max(0, tick.value - call.since) * 1000} />`;
}

const ToolName = ({ call: c }) => html`<span class="t2"><${Name} text=${c.server} most=${20} />/</span><span class="strong"><${Name} text=${c.tool || c.method} most=${36} /></span>`;

const Row = memo(({ call: c, top, isOn, isFirst, onOpen, index }) => {
	const word = outcomeOf(c), [client, project] = whoOf(c), note = noteOf(c);

	return html`<div class=${`call-row${isOn ? ' on' : ''}`} role="row" aria-rowindex=${index + 2} aria-selected=${isOn ? 'true' : 'false'} tabIndex=${isOn || isFirst ? 0 : -1} data-key=${c.key} style=${{ top: `${top}px` }} onClick=${() => onOpen(c)}>
		<span role="gridcell" class="mono t2">${clock(c.time, true)}</span><span role="gridcell"><${Outcome} word=${word} /></span>
		<span role="gridcell" class="cut"><${ToolName} call=${c} />${note ? html`<span class="small t2 call-note">${note}</span>` : null}</span>
		<span role="gridcell" class="cut call-who">${client} <span class="t2 small">${project}</span></span>
		<span role="gridcell" class="call-time">${word === 'running' ? html`<${LiveBar} call=${c} />` : c.outcome === 'refused' || c.outcome === 'not_sent' ? html`<span class="t2 small">not sent</span>` : html`<${Bar} call=${c} word=${word} us=${totalUs(c)} />`}</span>
		<span role="gridcell" class="num"><${Total} call=${c} /></span></div>`;
});

const PhoneRow = memo(({ call: c, top, onOpen }) => {
	const [client, project] = whoOf(c), word = outcomeOf(c);

	return html`<div class="phone-row-box" role="listitem" style=${{ top: `${top}px` }}><button type="button" class="phone-row call-row-phone" onClick=${() => onOpen(c)}><${Icon} name=${word === 'not sent' ? 'not_sent' : word} />
		<span class="grow"><span class="cut block"><${ToolName} call=${c} /></span><span class="small t2 cut block">${word === 'ok' ? '' : `${word} · `}${client} ${project}</span></span>
		<span class="num"><span class="block"><${Total} call=${c} /></span><span class="tiny t3 block">${clock(c.time)}</span></span></button></div>`;
});

// --- one call --------------------------------------------------------------------------------------------

function Waterfall({ call: c })
{
	const total = totalUs(c) + (c.hubUs ?? 0), step = niceMax(Math.max(total, 100) / 5), end = Math.ceil(Math.max(total, 1) / step) * step;
	const parts = [['Queue', c.queueUs ? 'before it was sent' : 'it did not wait', 0, c.queueUs ?? 0, 'hatch'], ['Server', `${safe(c.server)} is working`, c.queueUs ?? 0, c.latencyUs ?? 0, 'server-time is-on']];

	if (c.hubUs !== undefined && c.hubUs !== null)
		parts.push(['Hub', 'request and answer', null, c.hubUs, '']);
	const unit = end >= 1e6 ? [1e6, 's'] : [1000, 'ms'], marks = Array.from({ length: Math.round(end / step) + 1 }, (_, i) => i * step);

	return html`<div class="waterfall"><div class="waterfall-axis tiny t2" aria-hidden="true">${marks.map((m, i) => html`<span key=${m} style=${{ left: `${m / end * 100}%` }}>${+(m / unit[0]).toPrecision(3)}${i === marks.length - 1 ? ` ${unit[1]}` : ''}</span>`)}</div>
		${parts.map(([name, sub, from, us, look]) => html`<div class="waterfall-row" key=${name}><div><div class="strong">${name}</div><div class="tiny t2 cut">${sub}</div></div>
			<div class="waterfall-track" aria-hidden="true">${marks.map((m) => html`<s key=${m} style=${{ left: `${m / end * 100}%` }}></s>`)}
			${from === null ? null : html`<i class=${look} style=${{ left: `${from / end * 100}%`, width: `${Math.max(0.7, us / end * 100)}%` }}></i>`}</div><div class="num">${latency(us, 2)}</div></div>`)}</div>`;
}

const MODES = { serial: 'one call at a time, so it waited for others', session: 'each session has its own', project: 'one for each project', shared: 'all sessions share one' };

async function copy(text)
{
	try {
		await navigator.clipboard.writeText(text);
		say('Copied.');
	} catch {
		say('The browser does not allow it.', true);
	}
}

const HAPPENED = {
	refused: 'Nothing was sent.', 'not sent': 'Nothing was sent.', timeout: 'No answer came in time; it may have run.', unknown: 'The server ended before it answered; it may have run.',
	cancelled: 'The agent withdrew it; the server may have run it.', 'tool error': 'The tool answered with an error.', error: 'The server answered with an error.',
};

function Detail({ call: c, onClose })
{
	const word = outcomeOf(c), [client, project] = whoOf(c), server = servers.value.get(c.server), us = totalUs(c), waited = us ? (c.queueUs ?? 0) / us : 0;
	const isSent = c.outcome !== 'refused' && c.outcome !== 'not_sent';
	const args = c.args === undefined ? null : typeof c.args === 'string' ? c.args : JSON.stringify(c.args, null, 2);

	return html`<aside class="panel call-detail" aria-label="Call"><div class="panel-head"><${Icon} name=${word === 'not sent' ? 'not_sent' : word} /><h2 class="cut"><${Name} text=${`${c.server}/${c.tool}`} most=${34} /></h2>${c.number ? html`<span class="small t3 mono">#${c.number}</span>` : null}<span class="grow"></span>
			${server && c.method === 'tools/call' ? html`<button type="button" class="button small" onClick=${() => go('server', c.server, { tool: c.tool })}>Try this tool</button>` : null}
			<button type="button" class="bar-button" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button></div>
		<div class="call-body">${word === 'running' ? html`<p class="key"><${Total} call=${c} /></p><p class="small t2">It runs${c.sentAt ? '' : ' not yet: it waits in the queue'}.</p>`
		: html`<p class="call-total"><span class="key">${isSent ? html`<${Num} text=${latency(us)} />` : 'not sent'}</span>${isSent && waited >= 0.01 ? html`<span class="t2">${latency(c.queueUs)} of it in the queue, ${percent(waited, 0)}</span>` : null}</p>`}
		<p class="small t2">${client}${project ? `, ${project}` : ''} · <span title=${new Date(c.time).toISOString()}>${clock(c.time, true)}</span>${c.bytesOut ? ` · ${bytes(c.bytesIn)} in, ${bytes(c.bytesOut)} out` : ''}</p>
		${HAPPENED[word] ? html`<p class="call-why"><${Outcome} word=${word} /> <span class="t2">${noteOf(c) ? html`<code>${safe(c.code)}</code>. ` : ''}${HAPPENED[word]}</span></p>` : null}
		${isSent && word !== 'running' ? html`<${Waterfall} call=${c} />` : null}
		${isSent && waited >= 0.05 && MODES[server?.mode] ? html`<p class="small t2">Mode is <code>${server.mode}</code>: ${MODES[server.mode]}. <button type="button" class="link" onClick=${() => openEdit(c.server)}>Change mode</button></p>` : null}</div>
		${word === 'running' ? null : html`<div class="call-body call-args"><div class="row"><h3 class="small strong grow">Arguments</h3>${args ? html`<button type="button" class="link quiet" onClick=${() => copy(args)}>Copy</button>` : null}</div>
			${args ? html`<div class="code"><${JsonTree} value=${c.args} /></div>` : html`<p class="small t2">They are not kept; the setting <code>audit.args</code> keeps them. Equal arguments have the mark <code>${safe(String(c.argsHash ?? '')).slice(0, 8)}</code>.</p>`}
			<p class="small t3">Results are not kept.</p></div>`}</aside>`;
}

// --- the page --------------------------------------------------------------------------------------------

function uniques(records, of, words)
{
	const map = new Map();

	for (const c of records)
		if (!map.has(of(c)))
			map.set(of(c), words(c));
	return [...map].sort((a, b) => (a[1] < b[1] ? -1 : 1)).slice(0, 200);
}

function Filters({ query, records, counts })
{
	const choose = (key) => (value) => setQuery({ [key]: value, call: '' });
	const any = (list, current) => [['', 'any'], ...list, ...(current && !list.some(([v]) => v === current) ? [[current, safe(current)]] : [])];
	const serversOf = useMemo(() => uniques(records, (c) => c.server, (c) => safe(c.server).slice(0, 60)), [records]);
	const sessionsOf = useMemo(() => uniques(records, (c) => c.session, (c) => whoOf(c).join(' ').slice(0, 60)), [records]);
	const toolsOf = useMemo(() => uniques(query.server ? records.filter((c) => c.server === query.server) : records, (c) => c.tool, (c) => safe(c.tool).slice(0, 60)), [records, query.server]);

	return html`<div class="filters"><label class="search"><span class="hidden">Tool, session or error text</span><${Icon} name="search" /><input id="filter" class="input" placeholder="Tool, session or error text" value=${query.find ?? ''}
			onInput=${(e) => setQuery({ find: e.target.value })} onKeyDown=${(e) => e.key === 'Escape' && (e.target.value ? setQuery({ find: '' }) : e.target.blur())} /><span class="behind"><kbd>f</kbd></span></label>
		<${Menu} label="Server" value=${query.server ?? ''} items=${any(serversOf, query.server)} onChange=${choose('server')} /><${Menu} label="Session" value=${query.session ?? ''} items=${any(sessionsOf, query.session)} onChange=${choose('session')} />
		<${Menu} label="Tool" value=${query.tool ?? ''} items=${any(toolsOf, query.tool)} onChange=${choose('tool')} />
		<div class="outcomes" role="group" aria-label="Outcome">${WORDS.filter((w) => ALWAYS.includes(w) || counts.get(w)).map((word) => html`<button key=${word} type="button" class="chip" aria-pressed=${query.outcome === word ? 'true' : 'false'}
			onClick=${() => setQuery({ outcome: query.outcome === word ? '' : word, call: '' })}><${Icon} name=${word === 'not sent' ? 'not_sent' : word} />${word} <span class="t3">${count(counts.get(word) ?? 0)}</span></button>`)}</div></div>`;
}

const spanOf = (query) => (Number(query.from) && Number(query.to) ? [Number(query.from), Number(query.to)] : null);

function nothing(query, span, records, isFiltered)
{
	if (!records.length && !isFiltered)
		return html`<${Empty} text="No calls yet. Connect an agent, or try a tool." action="Agents" onAction=${() => go('agents')} />`;
	const oldest = records.at(-1)?.time;
	const clear = () => setQuery({ find: '', server: '', session: '', tool: '', outcome: '', from: '', to: '', call: '' });

	if (span && oldest && span[1] <= oldest)
		return html`<${Empty} text=${html`This page has calls since ${clock(oldest)}. In a terminal, <code>mcpool calls --export</code> has older ones.`} action="Clear filter" onAction=${clear} />`;
	return html`<${Empty} text=${query.find ? html`Nothing matches <code>${safe(query.find)}</code>.` : 'No call matches.'} action="Clear filter" onAction=${clear} />`;
}

function useSelected(rows, query)
{
	const kept = useRef(null), found = query.call ? rows.find((c) => c.key === query.call) ?? calls.peek().records.find((c) => c.key === query.call) : null;

	if (found || !query.call)
		kept.current = found;
	return kept.current?.key === query.call ? kept.current : null;
}

export function Calls()
{
	const { query } = route.value, span = spanOf(query);
	const [paused, pause] = useState(null);
	const { records, chosen, counts, every, rows } = useCalls(query, span, paused);
	const selected = useSelected(rows, query), virtual = useRef();
	const isPhone = size.value === 'phone', was = !isLive.value;
	const open = (c) => setQuery({ call: c.key });
	const toggle = () => pause(paused ? null : calls.peek().records);
	const move = (step) => {
		const at = rows.findIndex((c) => c.key === query.call), to = Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + step));

		if (!rows[to])
			return;
		if (!paused && !query.call)
			pause(calls.peek().records);
		open(rows[to]);
		virtual.current?.scrollTo(to);
		requestAnimationFrame(() => document.querySelector('.call-row.on')?.focus({ preventScroll: true }));
	};

	useKeys([
		{ key: 'j', also: ['ArrowDown'], words: 'move', shown: 'j k', run: () => move(1) }, { key: 'k', also: ['ArrowUp'], run: () => move(-1) },
		{ key: 'Enter', words: 'open server', shown: '↵', run: () => (selected ? go('server', selected.server, { tool: selected.tool }) : false) },
		{ key: ' ', words: 'pause', shown: 'Space', run: toggle }, { key: 'f', words: 'filter here', run: () => document.getElementById('filter')?.focus() },
		{ key: 'Escape', run: () => (query.call ? setQuery({ call: '' }) : false) },
	]);
	useEffect(() => {
		if (query.tool && !query.server)
			setQuery({ server: '' });
	}, []);
	const history = (query.server ? servers.value.get(query.server)?.history : hub.value?.history) ?? [];
	const isFiltered = span || ['find', 'server', 'session', 'tool', 'outcome'].some((k) => query[k]);
	const height = Math.max(ROW * 8, windowHeight.value - 267), newer = paused ? calls.value.records.findIndex((c) => c === paused[0]) : 0;
	const shown = isPhone ? rows.length : Math.min(rows.length, Math.floor(height / ROW));
	const empty = rows.length ? null : nothing(query, span, records, isFiltered);
	const list = empty ?? (isPhone ? html`<${Virtual} role="list" count=${rows.length} rowHeight=${PHONE_ROW} row=${(i, top) => html`<${PhoneRow} key=${rows[i].key} call=${rows[i]} top=${top} onOpen=${open} />`} />`
		: html`<div role="grid" aria-label="Calls" aria-rowcount=${rows.length + 1}><div class="call-head" role="row" aria-rowindex="1"><span role="columnheader">Time</span><span role="columnheader">Outcome</span><span role="columnheader">Tool</span><span role="columnheader" class="call-who">Session</span>
				<span role="columnheader" class="call-time"><i class="key-box hatch"></i>queue <i class="key-box is-accent"></i>server</span><span role="columnheader" class="num">Total</span></div>
			<${Virtual} ref=${virtual} role="rowgroup" count=${rows.length} rowHeight=${ROW} height=${Math.min(height, rows.length * ROW)} row=${(i, top) => html`<${Row} key=${rows[i].key} index=${i} call=${rows[i]} top=${top} isOn=${rows[i].key === query.call} isFirst=${i === 0 && !query.call} onOpen=${open} />`} /></div>`);

	return html`<div class=${`calls-page${was ? ' past' : ''}`}><div class="calls-title"><h1 class="title">Calls</h1><span class="small t2">${was ? '–' : rate((hub.value.callsLastMinute ?? 0) / 60)} per second <span class="t3">·</span> ${count(shown)} shown of ${records.length ? `the newest ${count(records.length)}, since ${clock(records.at(-1).time)}` : '0'}
			${every > 1 ? html` <span class="t3">·</span> <span class="c-warn">sampled: 1 of ${every} ok calls, all that failed</span>` : null}</span><span class="grow"></span>
			${newer > 0 || (paused && newer < 0) ? html`<span class="small t2" role="status">${newer < 0 ? 'all are newer' : `${plural(newer, 'newer call')}`}</span>` : null}
			<button type="button" class="button" aria-pressed=${paused ? 'true' : 'false'} onClick=${toggle}><${Icon} name=${paused ? 'play' : 'pause'} />${paused ? 'Continue' : 'Pause'} <kbd>space</kbd></button></div>
		<${Filters} query=${query} records=${records} counts=${counts} /><${Restarting} />
		<div class=${`calls-columns${selected ? ' has-detail' : ''}`}><section class="panel calls-list" aria-label="Calls"><${Histogram} records=${records} history=${history} span=${span} onSpan=${(s) => setQuery({ from: s?.[0] ?? '', to: s?.[1] ?? '' })} />${list}</section>
			${selected ? html`<${Detail} call=${selected} onClose=${() => setQuery({ call: '' })} />` : null}</div></div>`;
}
