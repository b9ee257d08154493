// server.js - one server: facts, its last 24 hours, what it offers, its configuration, its standard error, who uses it.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { html, memo } from './html.js';
import { ask, calls, cpu, events, flows, isLive, now, servers, sessions, tick, upSince, verb } from './hub.js';
import { bytes, clock, count, cut, date, day, duration, latency, percent, plural, rate, safe, safeLines } from './format.js';
import { Icon, Ring, State, shapeOf } from './icons.js';
import { clientName, projectName } from './clients.js';
import { causeOf, enable, nextTry, reasonOf, sentence, start, stepOf } from './reasons.js';
import { Plot, readout, share } from './plots.js';
import { askRestart } from './overview.js';
import { go, href, route, setQuery } from './router.js';
import { size } from './media.js';
import { useKeys } from './keys.js';
import { Empty, Marked, Name, Num, attempt, path, paths } from './parts/words.js';
import { Segments, Tabs } from './parts/choices.js';
import { Virtual } from './parts/virtual.js';
import { confirm } from './parts/dialog.js';
import { Restarting } from './banner.js';
import { ReadResource, TryPrompt, TryTool, openApproval, openEdit } from './later.js';

const LOG_LINES = 200, TOOL_ROW = 46, MOST_USERS = 3;

// useAsked(ask, keys): the answer of a promise, made again when keys change; null before, and while the hub is away the last one
function useAsked(make, keys)
{
	const [answer, setAnswer] = useState(null), [error, setError] = useState(null);

	useEffect(() => {
		let isHere = true;

		if (isLive.value)
			make().then((a) => isHere && (setAnswer(a), setError(null))).catch((e) => isHere && setError(e));
		return () => { isHere = false; };
	}, [isLive.value, ...keys]);
	return [answer, error];
}

// --- name, actions, facts ------------------------------------------------------------------------------

async function askDisable(s)
{
	if (await confirm({ title: `Disable ${safe(s.name)}?`, text: 'It stops, and agents of this workspace do not see its tools. No file is changed.', action: 'Disable' }))
		await attempt(ask('mcpool/server/disable', { name: s.name }), `${s.name} is disabled.`);
}

function Actions({ server: s })
{
	const isOff = !isLive.value, isPhone = size.value === 'phone';
	const first = s.state === 'connected' || s.state === 'pending' || s.state === 'failed'
		? html`<button type="button" class="button" disabled=${isOff} onClick=${() => askRestart(s.name)}>${s.state === 'failed' ? 'Try now' : 'Restart'} <kbd>r</kbd></button>`
		: stepOf(s) ? html`<button type="button" class="button" disabled=${isOff} onClick=${() => stepOf(s).run(s)}>${stepOf(s).word}</button>` : null;

	return html`<div class="row actions">${first}${isPhone ? null : html`<button type="button" class="button" disabled=${isOff} onClick=${() => openEdit(s.name)}>Edit</button>
		${s.state === 'disabled' ? null : html`<button type="button" class="button" disabled=${isOff} onClick=${() => askDisable(s)}>Disable</button>`}`}</div>`;
}

function Since({ server: s })
{
	const since = upSince(s);

	return s.state === 'connected' && since !== null ? html`<span class="t2" title=${`since ${date(since)}`}>for ${duration(tick.value - since)}</span>` : null;
}

function facts(s, protocol)
{
	const isUp = s.state === 'connected', all = [];
	const add = (label, value, has = value !== '–') => has && all.push([label, value]);

	add('Sessions', count(s.sessions), s.sessions !== null && s.sessions !== undefined);
	if (isUp) {
		add('Calls per second', rate((s.callsLastMinute ?? 0) / 60));
		add('p50', latency(s.p50us), true);
		add('p99', latency(s.p99us), true);
		add('Queue', count(s.waiting), s.waiting !== undefined);
	}
	add('Restarts', count(s.restarts));
	if (isUp) {
		add('Memory', s.memory ? bytes(s.memory) : '–');
		add('CPU', percent(cpu.value.get(s.name)));
		add('Process', s.pid ? `${s.pid}${s.processes > 1 ? `, +${plural(s.processes - 1, 'child', 'children')}` : ''}` : '–');
	}
	add('Protocol', safe(protocol ?? ''), !!protocol);
	add('Tools cost', `${count(s.toolTokens)} tokens`, isUp && s.toolTokens > 0 && size.value === 'wide');
	return all;
}

function Facts({ server: s, protocol })
{
	const isPhone = size.value === 'phone';
	const shown = facts(s, protocol).filter(([label]) => !isPhone || ['Calls per second', 'p50', 'p99', 'Memory'].includes(label));

	return shown.length ? html`<dl class="server-facts">${shown.map(([label, value]) => html`<div key=${label}><dt>${isPhone && label === 'Calls per second' ? 'Calls/s' : label}</dt><dd>${isPhone ? html`<${Num} text=${value} />` : value}</dd></div>`)}</dl>` : null;
}

// Why it does not run, what happens by itself, what to do
function Trouble({ server: s })
{
	const step = stepOf(s), until = nextTry(s, tick.value);

	if (s.state === 'connected')
		return null;
	return html`<section class=${`trouble panel ${s.state === 'failed' ? 'bad' : ''}`} aria-label="State"><${Icon} name=${shapeOf(s)} size=${16} /><div class="grow"><p class="strong">${reasonOf(s)}</p>
			${s.health?.cause && !reasonOf(s).includes(causeOf(s)) ? html`<p class="t2">${sentence(causeOf(s))}</p>` : null}${s.health?.fix ? html`<p class="t2">${/^mcpool /.test(s.health.fix) ? html`In a terminal: <code>${paths(s.health.fix)}</code>` : paths(s.health.fix)}</p>` : null}
			${s.health?.failingSince ? html`<p class="small t3">It does not work since ${date(s.health.failingSince)}.</p>` : null}
			${s.stderr ? html`<pre class="code">${safeLines(s.stderr)}</pre>` : null}</div>
		${until ? html`<span class="next-try small"><${Ring} share=${(s.nextAt - tick.value) / 60000} />next try in <b class="strong">${until}</b>${s.attempt ? html`<span class="t3">attempt ${s.attempt}</span>` : null}</span>` : null}
		${s.health?.variable ? html`<button type="button" class="button small" onClick=${() => openEdit(s.name)}>Set variable</button>` : step && step.word !== 'Log' && !until ? html`<button type="button" class="button small" onClick=${() => step.run(s)}>${step.word}</button>` : null}</section>`;
}

// --- the last hours --------------------------------------------------------------------------------------

function LastHours({ name })
{
	const [hours, setHours] = useState('24'), [at, setAt] = useState(null);
	const [slot, setSlot] = useState(0);
	const newest = events.value.find((e) => e.server === name)?.number ?? 0;
	const [history] = useAsked(() => ask('mcpool/history', { server: name, hours: Number(hours) }), [name, hours, slot, newest]);
	const end = Math.floor(tick.value / 60000) * 60000 + 60000, step = history?.stepMs ?? 0;

	// A slot that has ended is asked for when the hub tells of it anyway.
	useEffect(() => {
		if (step && Math.floor(tick.value / step) !== slot)
			setSlot(Math.floor(tick.value / step));
	}, [servers.value]);
	if (!history)
		return html`<section class="panel plot-panel"><div class="panel-head"><h2>Last ${hours} hours</h2></div></section>`;
	const last = history.calls.length - 1, read = readout(history, at === null || at > last ? last : at), known = share(history, Math.min(end, now()));
	const isPhone = size.value === 'phone';

	return html`<section class="panel plot-panel" aria-label=${`Last ${hours} hours`}><div class="panel-head"><h2>Last ${hours === '1' ? 'hour' : `${hours} hours`}</h2>
			${known && !isPhone ? html`<span class="small t3">${percent(known.up, 2)} connected${known.downMs ? `, down ${duration(known.downMs)}` : ''}</span>` : null}<span class="grow"></span>
			<span class="plot-read small"><b class="strong">${at === null ? 'now' : clock(read.time).slice(0, 5)}</b><span><i class="key-line is-p99"></i><span class="t2">p99</span> ${read.p99}</span><span><i class="key-line"></i><span class="t2">p50</span> ${read.p50}</span>
				<span><i class="key-box"></i>${read.calls}</span>${read.failed ? html`<span><i class="key-box is-failed"></i>${read.failed} <span class="t2">failed</span></span>` : null}</span>
			<${Segments} label="Hours" items=${[['1', '1 h'], ['6', '6 h'], ['24', '24 h']]} value=${hours} onChange=${(v) => { setHours(v); setAt(null); }} /></div>
		<${Plot} history=${history} end=${Math.min(end, now())} at=${at} onAt=${setAt} /></section>`;
}

// --- what it offers --------------------------------------------------------------------------------------

// Public names of the four styles; a name that is cut or contested has a hash that only the hub knows.
function publicName(naming, server, tool)
{
	const plain = (text) => text.replace(/[^A-Za-z0-9_-]/g, '_');
	const name = naming === 'mcp__server__tool' ? `mcp__${plain(server)}__${plain(tool)}` : naming === 'server__tool' ? `${plain(server)}__${plain(tool)}` : naming === 'passthrough' ? tool : null;

	return name && new TextEncoder().encode(name).length <= 64 ? name : null;
}

// Calls per second of a server's tools, from the calls that the page has: [Map, seconds that they cover], null if that is too little
function toolRates(server)
{
	const { records } = calls.value, from = records.at(-1)?.time;
	const seconds = from ? Math.min(60, (now() - from) / 1000) : 0;

	if (seconds < 10)
		return null;
	const rates = new Map();

	for (const r of records) {
		if (now() - r.time > seconds * 1000)
			break;
		if (r.server === server && r.method === 'tools/call')
			rates.set(r.tool, (rates.get(r.tool) ?? 0) + 1 / seconds);
	}
	return rates;
}

const keyOf = { tools: (t) => t.name, resources: (r) => r.uri ?? r.uriTemplate, prompts: (p) => p.name };
const aboutOf = (item) => safe(item.title ?? item.annotations?.title ?? item.description ?? (item.uri || item.uriTemplate ? item.name : '') ?? '').split('\n')[0];

function itemsOf(catalog, kind)
{
	const [tools, prompts, resources, templates] = catalog?.lists?.map((l) => l.page) ?? [];

	if (kind === 'tools')
		return tools?.tools ?? [];
	return kind === 'prompts' ? prompts?.prompts ?? [] : [...(resources?.resources ?? []), ...(templates?.resourceTemplates ?? [])];
}

const Item = memo(({ item, kind, top, isOn, find, perSecond, onChoose }) => html`<button type="button" role="option" aria-selected=${isOn ? 'true' : 'false'} class=${`offer${isOn ? ' on' : ''}`} style=${{ top: `${top}px` }} tabIndex=${isOn ? 0 : -1}
	onClick=${() => onChoose(keyOf[kind](item))}><span class="row"><span class="mono grow cut" title=${safe(keyOf[kind](item))}><${Marked} text=${cut(safe(keyOf[kind](item)), 60)} find=${find} /></span>
	${perSecond === undefined ? null : html`<span class="t3 tiny">${rate(perSecond)}/s</span>`}</span><span class="small t2 cut block">${cut(aboutOf(item), 120)}</span>${size.value === 'phone' ? html`<${Icon} name="right" />` : null}</button>`);

function split(items, kind, find)
{
	const word = find.toLowerCase();
	const isIn = (item) => `${keyOf[kind](item)} ${item.title ?? ''}`.toLowerCase().includes(word);

	if (!word)
		return { hits: items, others: [] };
	const hits = items.filter(isIn), rest = items.filter((i) => !isIn(i));
	const about = rest.filter((i) => (i.description ?? '').toLowerCase().includes(word));

	return { hits: [...hits, ...about], others: rest.filter((i) => !about.includes(i)) };
}

function List({ items, kind, chosen, onChoose, server, height })
{
	const [find, setFind] = useState('');
	const { hits, others } = useMemo(() => split(items, kind, find), [items, kind, find]);
	const rates = kind === 'tools' && size.value !== 'phone' ? toolRates(server) : null;
	const rows = [...hits, ...(others.length ? [null, ...others] : [])];
	const virtual = useRef();
	const move = (e) => {
		const step = { ArrowDown: 1, ArrowUp: -1 }[e.key], list = rows.filter(Boolean);

		if (!step || !list.length)
			return;
		e.preventDefault();
		const to = list[Math.max(0, Math.min(list.length - 1, list.findIndex((i) => keyOf[kind](i) === chosen) + step))];

		onChoose(keyOf[kind](to));
		virtual.current?.scrollTo(rows.indexOf(to));
		if (e.target.tagName === 'BUTTON')
			requestAnimationFrame(() => document.querySelector('.offer.on')?.focus({ preventScroll: true }));
	};

	// What an address names may be far down.
	useEffect(() => {
		const at = chosen && height ? rows.findIndex((i) => i && keyOf[kind](i) === chosen) : -1;

		if (at >= 0)
			virtual.current?.scrollTo(at);
	}, [chosen, kind, items.length > 0]);

	return html`<div class="offer-list" onKeyDown=${move}><label class="search"><span class="hidden">Search ${kind}</span><${Icon} name="search" /><input id="filter" class="input" placeholder=${`Search ${items.length} ${kind}`} value=${find}
			onInput=${(e) => setFind(e.target.value)} onKeyDown=${(e) => e.key === 'Escape' && (find ? setFind('') : e.target.blur())} />${find ? html`<span class="behind t3 small">${hits.length} of ${items.length}</span>` : null}</label>
		${find && !hits.length ? html`<p class="empty small">Nothing matches <code>${safe(find)}</code>.</p>` : null}
		<${Virtual} key=${kind} ref=${virtual} role="listbox" aria-label=${kind} count=${rows.length} rowHeight=${TOOL_ROW} ...${height ? { height } : {}}
			row=${(i, top) => (rows[i] ? html`<${Item} key=${`${i}${keyOf[kind](rows[i])}`} item=${rows[i]} kind=${kind} top=${top} isOn=${keyOf[kind](rows[i]) === chosen} find=${find} perSecond=${rates ? rates.get(rows[i].name) ?? 0 : undefined} onChoose=${onChoose} />`
			: html`<div class="offer-rest small t2" role="presentation" style=${{ top: `${top}px` }}>Other ${kind}</div>`)} /></div>`;
}

const WORDS = { tools: 'Tools', resources: 'Resources', prompts: 'Prompts' };

function Try({ kind, server, item })
{
	const name = safe(keyOf[kind](item));

	return kind === 'tools' ? html`<${TryTool} key=${name} server=${server} tool=${item} />` : kind === 'resources' ? html`<${ReadResource} key=${name} server=${server} resource=${item} />` : html`<${TryPrompt} key=${name} server=${server} prompt=${item} />`;
}

function Offers({ server: s, catalog, naming, error, kind, isPhone })
{
	const { query } = route.value;
	const items = itemsOf(catalog, kind);
	const chosen = items.find((i) => keyOf[kind](i) === query.tool) ?? (isPhone ? null : items[0]);
	const list = catalog?.lists?.[{ tools: 0, prompts: 1, resources: 2 }[kind]];
	const choose = (tool) => setQuery({ tool });
	const [box, height] = useHeight();

	if (!catalog)
		return html`<${Empty} text=${error ? safe(error.message) : s.state === 'connected' || s.tools !== null ? '' : 'What it offers is not known before its first start.'} action=${!error && s.state === 'ready' ? 'Start it' : null} onAction=${() => start(s)} />`;
	const unusable = list?.problems?.length ? `${plural(list.problems.length, 'item')} cannot be used: ${safe(list.problems[0])}` : '';

	if (!items.length)
		return html`<${Empty} text=${list?.problem ? safe(list.problem) : unusable || `It has no ${kind}.`} />`;
	if (isPhone && chosen)
		return html`<div class="phone-try"><button type="button" class="button plain" onClick=${() => choose('')}><${Icon} name="left" />All ${kind}</button><${Try} kind=${kind} server=${s.name} item=${chosen} /></div>`;
	return html`<div class="offers" ref=${box}><${List} items=${items} kind=${kind} chosen=${chosen && keyOf[kind](chosen)} onChoose=${choose} server=${s.name} height=${isPhone ? null : Math.max(300, height - 60)} />
		${isPhone ? null : html`<div class="offers-try">${chosen ? html`<${Try} kind=${kind} server=${s.name} item=${chosen} />` : null}</div>`}</div>
		${unusable ? html`<p class="offers-problems small c-warn"><${Icon} name="needs-approval" />${unusable}</p>` : null}`;
}

// The height of a box that others stretch
function useHeight()
{
	const box = useRef(), [height, setHeight] = useState(0);

	useEffect(() => {
		const part = box.current?.querySelector('.offers-try');

		if (!part)
			return undefined;
		const observer = new ResizeObserver(() => setHeight(Math.min(900, Math.max(360, part.scrollHeight))));

		observer.observe(part);
		return () => observer.disconnect();
	});
	return [box, height];
}

function OffersPanel({ server: s, answer, error })
{
	const { query } = route.value;
	const kind = WORDS[query.tab] ? query.tab : Object.hasOwn(WORDS, query.kind ?? '') ? query.kind : 'tools';
	const catalog = answer?.catalog ?? null;
	const chosen = itemsOf(catalog, kind).find((i) => keyOf[kind](i) === query.tool) ?? itemsOf(catalog, kind)[0];
	const shown = kind === 'resources' || !chosen ? null : publicName(answer.naming, s.name, chosen.name);

	return html`<section class="panel offers-panel" aria-label="What it offers"><div class="panel-head"><${Tabs} label="Kinds" value=${kind} onChange=${(k) => setQuery({ kind: k === 'tools' ? '' : k, tab: '', tool: '' })}
			items=${Object.entries(WORDS).map(([k, word]) => [k, word, catalog ? itemsOf(catalog, k).length : null])} /><span class="grow"></span>${shown ? html`<span class="small t3 cut">as agents see it: <span class="mono t2">${safe(shown)}</span></span>` : null}</div>
		<${Offers} server=${s} catalog=${catalog} error=${error} kind=${kind} /></section>`;
}

// --- configuration, standard error, users ------------------------------------------------------------------

const FIRST = ['command', 'args', 'url', 'headers', 'env', 'cwd', 'mode', 'start', 'toolTimeout', 'timeout', 'tools', 'tools.allow', 'tools.deny'];

function show(key, value)
{
	if (Array.isArray(value))
		return value.map((v) => (typeof v === 'string' ? v : JSON.stringify(v))).join(' ') || '[]';
	if (value && typeof value === 'object')
		return Object.entries(value).map(([k, v]) => `${k} ${typeof v === 'string' ? v : JSON.stringify(v)}`).join('\n') || '{}';
	return typeof value === 'number' && /timeout|ms$|interval|total/i.test(key) ? (value >= 1000 && value % 1000 === 0 && value < 600000 ? `${value / 1000} s` : value >= 1000 ? duration(value) : `${value} ms`) : String(value);
}

const Setting = ({ name, setting }) => html`<div class="setting"><dt class="small t2">${name}</dt><dd class="mono cut" title=${safe(show(name, setting.value))}>${safe(/^(cwd|command|args)$/.test(name) ? paths(show(name, setting.value)) : show(name, setting.value))}</dd><dd class="t3 small from" title=${safe(setting.from)}>${cut(paths(setting.from), 24)}</dd></div>`;

function Configuration({ server: s })
{
	const [all, setAll] = useState(false);
	const reloaded = events.value.find((e) => e.what === 'reloaded')?.number ?? 0;
	const [answer, error] = useAsked(() => verb('config', ['show', s.name, '--json']), [s.name, reloaded]);
	const [trust] = useAsked(() => verb('trust', ['list', '--json']), [s.name, reloaded]);
	const approved = trust?.json?.approved?.find((a) => a.name === s.name && (!a.file || a.file === s.source?.file));
	const settings = answer?.json && answer.exit === 0 ? Object.entries(answer.json) : [];
	const isOwn = ([key, value]) => FIRST.includes(key) || value.from !== 'default';
	const ordered = settings.sort(([a], [b]) => (FIRST.indexOf(a) + 99) % 99 - (FIRST.indexOf(b) + 99) % 99);
	const shown = all ? ordered : ordered.filter(isOwn);

	return html`<section class="panel" aria-label="Configuration"><div class="panel-head"><h2>Configuration</h2><span class="grow"></span>
			${s.state === 'needs-approval' ? html`<button type="button" class="link" onClick=${() => openApproval(s.name)}>${s.changed ? 'changed, review' : 'not approved, review'}</button>`
		: approved ? html`<span class="small t2 row"><${Icon} name="ok" />approved ${day(approved.approvedMs)}${s.changed ? '' : ', unchanged'}</span>` : null}</div>
		<div class="settings"><dl>${shown.map(([name, setting]) => html`<${Setting} key=${name} name=${name} setting=${setting} />`)}</dl>
			${error || (answer && !settings.length) ? html`<p class="t2 small">${safe(error?.message ?? (answer.json?.error?.message || answer.stderr || 'It cannot be read.'))}</p>` : null}
			${settings.length > shown.length || all ? html`<button type="button" class="link quiet" onClick=${() => setAll(!all)}>${all ? 'Only what is set' : `${settings.length - shown.length} defaults`}</button>` : null}</div></section>`;
}

// A word at the beginning of a line that most programs use for its weight
const weight = (text) => (/^\W*(error|fatal|panic|critical|traceback)\b/i.test(text) ? 'c-fail' : /^\W*warn(ing)?\b/i.test(text) ? 'c-warn' : '');

function parseLine(line)
{
	try {
		return JSON.parse(line);
	} catch {
		return { text: line };
	}
}

function Log({ name, isTall })
{
	const [lines, setLines] = useState([]), [isFollowed, follow] = useState(true), [state, setState] = useState('');
	const box = useRef(), buffer = useRef([]), frame = useRef(0);

	useEffect(() => {
		const abort = new AbortController();
		let wasFull = false;

		if (!isLive.value || !isFollowed)
			return undefined;
		buffer.current = [];
		const flush = () => {
			frame.current = 0;
			setLines(buffer.current.slice());
		};
		const onLine = (line) => {
			buffer.current.push(parseLine(line));
			if (buffer.current.length > LOG_LINES)
				buffer.current.splice(0, buffer.current.length - LOG_LINES);
			frame.current ||= requestAnimationFrame(flush);
		};

		verb('logs', [name, '--json'], {}).then((result) => {
			if (abort.signal.aborted)
				return undefined;
			wasFull = result.exit === 0;
			setState(wasFull ? '' : 'empty');
			return wasFull ? verb('logs', [name, '--follow', '--json'], { onLine, signal: abort.signal }) : undefined;
		}).catch((e) => !abort.signal.aborted && setState(e.message));
		return () => {
			abort.abort();
			cancelAnimationFrame(frame.current);
			frame.current = 0;
		};
	}, [name, isFollowed, isLive.value]);
	useEffect(() => {
		if (isFollowed && box.current)
			box.current.scrollTop = box.current.scrollHeight;
	}, [lines, isFollowed]);

	return html`<section class="panel" aria-label="Standard error" id="log"><div class="panel-head"><h2>Standard error</h2><span class="small t3">${lines.length ? `last ${plural(lines.length, 'line')}` : ''}</span><span class="grow"></span>
			<button type="button" class=${`button small ${isFollowed ? 'soft' : ''}`} aria-pressed=${isFollowed ? 'true' : 'false'} onClick=${() => follow(!isFollowed)}>Follow</button></div>
		<div class=${`log mono${isTall ? ' tall' : ''}`} ref=${box} tabindex="0" role="log" aria-live="off" aria-label="Lines">${lines.length ? lines.map((l, i) => html`<div key=${i}>${l.time ? html`<span class="t3">${clock(l.time)}</span>` : html`<span></span>`}<span class=${weight(l.text ?? '')}>${safeLines(l.text)}</span></div>`)
		: html`<p class="t2 log-none">${state === 'empty' ? 'It has written nothing to its standard error.' : safe(state)}</p>`}</div></section>`;
}

function UsedBy({ server: s })
{
	const [all, setAll] = useState(false);
	const list = flows.value.filter((f) => f.server === s.name).map((f) => ({ ...f, of: sessions.value.get(f.session) })).filter((f) => f.of).sort((a, b) => b.callsLastMinute - a.callsLastMinute);
	const most = Math.max(1, ...list.map((f) => f.callsLastMinute)), shown = all ? list : list.slice(0, MOST_USERS);

	return html`<section class="panel" aria-label="Used by"><div class="panel-head"><h2>Used by</h2><span class="small t3">${list.length ? plural(list.length, 'session') : ''}</span><span class="grow"></span>
			${list.length > MOST_USERS ? html`<button type="button" class="link quiet" aria-expanded=${all ? 'true' : 'false'} onClick=${() => setAll(!all)}>${all ? 'fewer' : `${list.length - MOST_USERS} more`}</button>` : null}</div>
		${list.length ? html`<ul class="users">${shown.map((f) => html`<li key=${f.session}><span class="grow cut"><span class="strong">${clientName(f.of.client)}</span> <span class="t2 small">${projectName(f.of)}</span></span>
			<span class="user-bar"><i style=${{ width: `${100 * f.callsLastMinute / most}%` }}></i></span><span class="num user-rate">${rate(f.callsLastMinute / 60)}</span></li>`)}</ul>` : html`<p class="empty small">No session has called it yet.</p>`}</section>`;
}

// --- the page ----------------------------------------------------------------------------------------------

function useServer(name, s)
{
	const known = events.value.find((e) => e.server === name && /^offers/.test(e.what))?.number ?? 0;
	const [full, error] = useAsked(() => ask('mcpool/status', { servers: [name], catalogs: true, start: 'none' }), [name, known, s?.tools]);
	const [self] = useAsked(() => ask('mcpool/status', { servers: [name], start: 'none' }), [name, s?.state]);

	return { answer: full ? { naming: full.naming, ...full.servers?.[0] } : null, error, self: self?.servers?.[0] ?? null };
}

function Back()
{
	return size.value === 'phone' ? html`<a class="back" href=${href('overview')} aria-label="Overview"><${Icon} name="left" size=${16} /></a>` : null;
}

export function Server({ name })
{
	const s = servers.value.get(name);
	const { answer, error, self } = useServer(name, s);
	const was = !isLive.value, isPhone = size.value === 'phone', { tab } = route.value.query;

	useKeys([
		{ key: 'r', words: 'restart', run: () => (s ? void askRestart(name) : false) },
		{ key: 'c', words: 'calls of this server', run: () => go('calls', '', { server: name }) },
		{ key: 'f', words: 'search its tools', run: () => document.getElementById('filter')?.focus() },
		{ key: 'a', words: 'review what waits', run: () => (s?.state === 'needs-approval' ? void openApproval(name) : false) },
		{ key: 'Escape', run: () => go('overview') },
	]);
	useEffect(() => {
		if (tab === 'log' && size.peek() !== 'phone')
			document.getElementById('log')?.scrollIntoView({ block: 'center' });
	}, [tab]);
	if (!s)
		return html`<div class="empty">No server is called <code>${safe(name)}</code>. <a class="link" href=${href('overview')}>Overview</a></div>`;
	const head = html`<div class="server-title"><${Back} />${isPhone ? null : html`<nav class="crumbs small t3" aria-label="Where"><a href=${href('overview')}>Overview</a> <span class="t3">/</span> Servers</nav>`}
		<h1 class="title"><${Name} text=${s.name} most=${isPhone ? 18 : 48} /></h1><${State} server=${s} was=${was} />${isPhone ? null : html`<${Since} server=${s} />`}<span class="grow"></span><${Actions} server=${s} /></div>`;

	if (isPhone)
		return html`<div class=${`server${was ? ' past' : ''}`}>${head}<${Restarting} /><${Facts} server=${s} protocol=${self?.protocol} /><${Trouble} server=${s} /><${LastHours} name=${name} /><${PhoneTabs} server=${s} answer=${answer} error=${error} /></div>`;
	return html`<div class=${`server${was ? ' past' : ''}`}>${head}<${Facts} server=${s} protocol=${self?.protocol} /><${Restarting} /><${Trouble} server=${s} />
		<div class="server-columns"><div class="server-main"><${LastHours} name=${name} /><${OffersPanel} server=${s} answer=${answer} error=${error} /></div>
			<div class="server-rail"><${Configuration} server=${s} /><${Log} name=${name} /><${UsedBy} server=${s} /></div></div></div>`;
}

function PhoneTabs({ server: s, answer, error })
{
	const tab = route.value.query.tab ?? 'tools', catalog = answer?.catalog;
	const items = [['tools', 'Tools', catalog ? itemsOf(catalog, 'tools').length : null], ['resources', 'Resources'], ['log', 'Log'], ['configuration', 'Configuration'], ['users', 'Used by']];

	return html`<div class="phone-tabs"><${Tabs} label="Parts" value=${tab} items=${items} onChange=${(t) => setQuery({ tab: t === 'tools' ? '' : t, tool: '' })} /></div>
		${tab === 'log' ? html`<${Log} name=${s.name} isTall />` : tab === 'configuration' ? html`<${Configuration} server=${s} />` : tab === 'users' ? html`<${UsedBy} server=${s} />`
		: html`<${Offers} server=${s} catalog=${catalog} error=${error} kind=${tab === 'resources' ? 'resources' : 'tools'} isPhone />`}`;
}
