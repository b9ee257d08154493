// overview.js - the first page: how the hub is, what needs the person, and the board: sessions, lines and the table of servers.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { signal } from '@preact/signals';
import { html, memo } from './html.js';
import { cpu, flows, hub, isLive, needsYou, problem, servers, sessions, tick, upSince, ask } from './hub.js';
import { bytes, clock, count, duration, latency, percent, plural, rate, safe } from './format.js';
import { Icon, Ring, State, shapeOf } from './icons.js';
import { FlowTable, groupSessions, layOut, Lines, rateOn } from './picture.js';
import { filtered, keepOrder, sorted } from './order.js';
import { needOf, nextTry, reasonOf, stepOf } from './reasons.js';
import { href, go, route, setQuery } from './router.js';
import { size, windowHeight } from './media.js';
import { useKeys } from './keys.js';
import { Empty, Name, Num, attempt, paths } from './parts/words.js';
import { Menu, Segments } from './parts/choices.js';
import { Sparkline } from './parts/sparkline.js';
import { Virtual } from './parts/virtual.js';
import { confirm } from './parts/dialog.js';
import { FirstRun, isFirstRun } from './first_run.js';
import { Restarting } from './banner.js';
import { openApproval } from './approval.js';
import { openAddServer } from './add_server.js';

const ROW = 38, HEAD = 32, LEAST_ROWS = 6, SESSION_PITCH = 40;

// --- the hub ---------------------------------------------------------------------------------------

const Figure = ({ label, value, children, more, class: name }) => html`<div class=${`figure ${name ?? ''}`}>
	<div class="figure-label">${label}</div><div class="figure-value">${value}${more}</div><div class="figure-sub">${children}</div></div>`;

export const KeyNumber = ({ text }) => html`<span class="key"><${Num} text=${text} /></span>`;

function Memory({ usage, was })
{
	const now = usage.servers.memory, without = now + usage.saved.memory;
	const share = without ? now / without : 0;
	const title = `Sessions would start ${plural(usage.saved.processes, 'more process', 'more processes')} with ${bytes(usage.saved.memory)} on their own, as measured of the servers that they see.`;

	return html`<div class="figure memory" title=${title}><div class="figure-label">${size.value === 'phone' ? 'Saved by sharing' : 'Memory saved by sharing'}</div>
		<div class="memory-body"><div><div class="figure-value"><${KeyNumber} text=${usage.saved.memory ? bytes(usage.saved.memory) : '0'} /></div>
			<div class="figure-sub">${plural(usage.servers.processes, 'process', 'processes')}${usage.saved.processes ? `, not ${count(usage.servers.processes + usage.saved.processes)}` : ''}</div></div>
		${!usage.saved.memory ? null : html`<div class="memory-bars small" aria-hidden="true"><div class="row"><span class="memory-bar" style=${{ width: `${Math.max(4, 200 * share)}px` }}></span>${bytes(now)} shared</div>
			<div class="row t2"><span class="memory-bar hatched" style=${{ width: '200px' }}></span>${bytes(without)} without</div></div>`}</div></div>`;
}

export function HubRow()
{
	const h = hub.value, was = !isLive.value;
	const all = [...servers.value.values()].filter((s) => s.state !== 'shadowed');
	const up = all.filter((s) => s.state === 'connected').length;
	const busy = [...sessions.value.values()].filter((s) => s.open > 0).length;
	const upMs = h.uptimeMs === undefined ? null : h.uptimeMs;
	const bad = problem.value || h.problem, isPhone = size.value === 'phone';

	return html`<section class="hub" aria-label="Hub">
		<${Figure} label=${html`<span class="row"><${Icon} name=${was ? 'pending' : bad ? 'retrying' : 'connected'} />${was ? 'Hub restarting' : bad ? 'Hub has a problem' : `Hub healthy${isPhone ? `, up ${duration(upMs)}` : ''}`}</span>`}
			value=${html`<h1 class="key">${was ? 'Back in a moment' : `${up} of ${count(all.length)} connected`}</h1>`}>
			${was ? 'was up' : 'up'} ${duration(upMs)} · process ${h.pid}${was ? ' ended' : ` · mcpool ${safe(h.version)}`}</${Figure}>
		<${Figure} label="Sessions" value=${sessions.value.size}>${was ? 'all kept' : sessions.value.size ? `${count(busy)} busy now` : 'no agents'}</${Figure}>
		${h.callsLastMinute === undefined ? null : html`<${Figure} label=${isPhone ? 'Calls/s' : 'Calls per second'} value=${was ? '–' : rate(h.callsLastMinute / 60)}
			more=${h.history ? html`<${Sparkline} values=${h.history} width=${104} height=${24} was=${was} />` : null}>
			${h.callsToday === undefined ? null : html`${count(h.callsToday)} today${h.callsToday ? ` · ${percent(h.failedToday / h.callsToday)} failed` : ''}`}</${Figure}>`}
		${h.overheadUs === undefined ? null : html`<${Figure} label="Hub overhead, p99" value=${was || !h.overheadUs ? '–' : html`<${KeyNumber} text=${latency(h.overheadUs.p99, 2)} />`}>
			${was ? (h.overheadUs ? `was ${latency(h.overheadUs.p99, 2)}` : '') : h.waiting === undefined ? '' : `${plural(h.waiting, 'call')} queued`}</${Figure}>`}
		${h.usage?.saved ? html`<${Memory} usage=${h.usage} was=${was} />` : null}
	</section>`;
}

// --- what needs the person ---------------------------------------------------------------------------

function Need({ server, isSmall })
{
	const need = needOf(server), until = nextTry(server, tick.value);

	return html`<li class="need"><${Icon} name=${shapeOf(server)} size=${14} />
		<div class="grow"><div class="cut"><a class="strong" href=${href('server', server.name)}><${Name} text=${server.name} most=${24} /></a> <span class="t2">${need.title}</span></div>
			<div class="small t2 need-text" title=${need.text}><span class="need-why">${need.text}</span> ${need.tries || until ? html`<span class="nowrap">${need.tries ?? ''}${until ? html`<span class="strong">${until}</span>.` : ''}</span>` : null}</div></div>
		<button type="button" class=${`button ${isSmall ? 'tall' : 'small'}`} onClick=${() => need.run(server)}>${isSmall ? need.short : need.word}</button></li>`;
}

function NeedsYou()
{
	const list = needsYou.value, isPhone = size.value === 'phone';
	const most = isPhone ? 5 : size.value === 'tablet' ? 2 : 3;

	if (!list.length)
		return null;
	return html`<section class="needs" aria-label="Needs you">
		${isPhone ? html`<h2 class="phone-title">Needs you <span class="badge">${list.length}</span></h2>` : html`<div class="needs-title"><h2 class="strong">Needs you</h2>
			<a class="small t2" href=${href('waiting')}>${list.length > most ? `${most} of ${list.length}, all` : `${list.length} of ${servers.value.size}`}</a></div>`}
		<ul class=${isPhone ? 'panel' : ''}>${list.slice(0, most).map((s) => html`<${Need} key=${s.name} server=${s} isSmall=${isPhone} />`)}</ul>
		${isPhone && list.length > most ? html`<a class="link" href=${href('waiting')}>${list.length - most} more</a>` : null}</section>`;
}

// --- rows ----------------------------------------------------------------------------------------------

const COLUMNS = [
	['name', 'Name'], ['state', 'State'], ['tools', 'Tools'], ['uptime', 'Uptime'], ['restarts', 'Restarts'], ['memory', 'Memory'], ['cpu', 'CPU'],
	['calls', 'Calls/s, 15 min'], ['p50', 'p50'], ['p99', 'p99'], ['queue', 'Queue'],
];
const SHOWN = { wide: COLUMNS, tablet: COLUMNS.filter(([key]) => !['cpu', 'restarts', 'tools'].includes(key)) };

export const Uptime = ({ server }) => {
	const since = upSince(server);

	return since === null ? '–' : duration(tick.value - since);
};

function Queue({ waiting })
{
	if (waiting === null || waiting === undefined)
		return '–';
	return html`<span class=${waiting ? 'queue' : 't3'}>${waiting > 0 && waiting <= 3 ? Array.from({ length: waiting }, (_, i) => html`<i key=${i} aria-hidden="true"></i>`) : null}${count(waiting)}</span>`;
}

const CELLS = {
	tools: (s) => html`<${Num} text=${count(s.tools)} />`,
	uptime: (s, was) => html`<span class="t2">${was ? duration(s.uptimeMs) : html`<${Uptime} server=${s} />`}</span>`,
	restarts: (s) => html`<${Num} text=${count(s.restarts)} />`,
	memory: (s) => html`<${Num} text=${s.memory ? bytes(s.memory) : '–'} />`,
	cpu: (s) => html`<${Num} text=${percent(cpu.value.get(s.name))} />`,
	calls: (s, was) => html`<span class="calls"><${Sparkline} values=${s.history ?? []} was=${was} /><span class="strong">${rate((s.callsLastMinute ?? 0) / 60)}</span></span>`,
	p50: (s) => html`<${Num} text=${latency(s.p50us)} />`,
	p99: (s) => html`<${Num} text=${latency(s.p99us)} />`,
	queue: (s) => html`<${Queue} waiting=${s.waiting} />`,
};

function Try({ server })
{
	const until = nextTry(server, tick.value);
	const left = server.nextAt - tick.value, whole = server.health?.restart?.delaysMs?.[Math.min((server.attempt ?? 1) - 1, server.health.restart.delaysMs.length - 1)];

	return html`<span class="next-try"><${Ring} share=${left / (whole || Math.max(left, 60000))} />next try in <b class="strong">${until}</b>
		${server.attempt ? html`<span class="t3">attempt ${server.attempt}</span>` : null}</span>`;
}

function Reason({ server, was, isCard })
{
	const step = stepOf(server);

	if (server.state === 'pending')
		void tick.value; // its sentence says for how long
	return html`<div class="reason" ...${isCard ? {} : { role: 'gridcell', 'aria-colspan': 9 }}><span class=${`grow cut ${server.state === 'disabled' ? 't3' : 't2'}`} title=${reasonOf(server, was)}>${reasonOf(server, was)}</span>
		${!was && server.state === 'failed' && server.nextAt ? html`<${Try} server=${server} />` : null}
		${!was && step ? html`<button type="button" class=${`link${step.isQuiet ? ' quiet' : ''}`} onClick=${(e) => { e.stopPropagation(); step.run(server); }}
			aria-label=${`${step.word}: ${safe(server.name)}`}>${step.word}</button>` : null}</div>`;
}

const Row = memo(({ server: s, top, index, columns, isActive, isFocus, was, onPoint }) => html`<div class=${`server-row${isActive ? ' active' : ''}${isFocus ? ' pointed' : ''}`} role="row"
	aria-rowindex=${index + 2} style=${{ top: `${top}px` }} tabIndex=${isActive ? 0 : -1} data-name=${s.name}
	onMouseEnter=${() => onPoint(s.name)} onFocus=${() => onPoint(s.name, true)} onClick=${(e) => !e.target.closest('a,button') && !getSelection().toString() && go('server', s.name)}>
	<div role="gridcell" class="cut"><a class="strong" tabIndex="-1" href=${href('server', s.name)}><${Name} text=${s.name} most=${22} /></a> <span class="t3 tiny transport">${safe(s.transport)}</span></div>
	<div role="gridcell"><${State} server=${s} was=${was} /></div>
	${s.state === 'connected' ? columns.slice(2).map(([key]) => html`<div key=${key} role="gridcell" class="num">${CELLS[key](s, was)}</div>`)
		: html`<${Reason} server=${s} was=${was} />`}</div>`);

function Head({ columns, order })
{
	const key = order.replace('-', '');

	const isAscending = (name) => (name === 'name' || name === 'state') !== order.startsWith('-');

	return html`<div class="server-head" role="row" aria-rowindex="1">${columns.map(([name, word]) => html`<div key=${name} role="columnheader" class=${name === 'name' || name === 'state' ? '' : 'num'}
		aria-sort=${key !== name ? 'none' : isAscending(name) ? 'ascending' : 'descending'}>
		<button type="button" class=${key === name ? 'strong' : ''} onClick=${() => setQuery({ sort: order === name ? `-${name}` : name === 'calls' ? '' : name })}>
			${key === name ? html`<span aria-hidden="true">${isAscending(name) ? '↑' : '↓'} </span>` : null}${word}</button></div>`)}</div>`;
}

// --- cards and the phone's rows ------------------------------------------------------------------------

const Card = memo(({ server: s, was }) => html`<li class="card panel"><div class="row"><a class="strong grow cut" href=${href('server', s.name)}><${Name} text=${s.name} /></a><span class="t3 small">${safe(s.transport)}</span></div>
	<div class="row card-state"><${State} server=${s} was=${was} />${s.state === 'connected' ? html`<span class="t3"><${Uptime} server=${s} /></span>` : null}</div>
	${s.state === 'connected' ? html`<div class="row card-calls"><${Sparkline} values=${s.history ?? []} width=${180} height=${28} was=${was} /><span class="grow num"><span class="strong">${rate((s.callsLastMinute ?? 0) / 60)}</span><span class="unit">/s</span></span></div>
	<dl class="card-facts"><div><dt>p50</dt><dd>${CELLS.p50(s)}</dd></div><div><dt>p99</dt><dd>${CELLS.p99(s)}</dd></div><div><dt>Queue</dt><dd>${CELLS.queue(s)}</dd></div>
		<div><dt>Tools</dt><dd>${CELLS.tools(s)}</dd></div><div><dt>Memory</dt><dd>${CELLS.memory(s)}</dd></div><div><dt>Restarts</dt><dd>${CELLS.restarts(s)}</dd></div></dl>`
		: html`<${Reason} server=${s} was=${was} isCard />`}</li>`);

const PHONE_ROW = 52;

const PhoneRow = memo(({ server: s, top, was }) => html`<div class="phone-row-box" role="listitem" style=${{ top: `${top}px` }}><a class="phone-row" href=${href('server', s.name)}><${Icon} name=${shapeOf(s)} />
	<span class="grow"><span class="strong cut block"><${Name} text=${s.name} most=${30} /></span>
		<span class="small t2 cut block">${was && s.state === 'connected' ? 'was connected' : s.state}${s.state === 'connected' ? (s.p99us === null ? '' : ` · p99 ${latency(s.p99us)}`) : ` · ${reasonOf(s)}`}</span></span>
	${s.state === 'connected' ? html`<${Sparkline} values=${s.history ?? []} width=${64} was=${was} /><span class="num phone-rate"><span class="strong">${rate((s.callsLastMinute ?? 0) / 60)}</span><span class="unit">/s</span></span>` : null}</a></div>`);

function PhoneServers({ list, was })
{
	const order = route.value.query.sort ?? 'calls';

	return html`<section aria-label="Servers"><h2 class="phone-title">Servers <span class="t3">${list.length}</span><span class="grow"></span>
			<${Menu} label="Order" class="bare" toRight value=${order} items=${[['calls', 'Busiest'], ['name', 'Name'], ['state', 'State'], ['p99', 'Slowest']]} onChange=${(v) => setQuery({ sort: v === 'calls' ? '' : v })}
				show=${(item) => html`<span class="t2">${item[1]}</span>`} /></h2>
		<div class="panel phone-list"><${Virtual} role="list" count=${list.length} rowHeight=${PHONE_ROW} row=${(i, top) => html`<${PhoneRow} key=${list[i].name} server=${list[i]} top=${top} was=${was} />`} /></div></section>`;
}

const lastActive = signal(null); // the row of the keyboard, also after a look at another page

// --- the board -------------------------------------------------------------------------------------------

const STATES = [['', 'All states'], ['needs-you', 'Needs you'], ['connected', 'connected'], ['pending', 'pending'], ['failed', 'failed'], ['needs-auth', 'needs-auth'],
	['needs-approval', 'needs-approval'], ['ready', 'ready'], ['disabled', 'disabled']];

function Tools({ total, shown, query })
{
	return html`<div class="board-tools"><h2 class="strong grow">Servers <span class="t3">${shown === total ? count(total) : `${count(shown)} of ${count(total)}`}</span></h2>
		<${Menu} label="State" value=${query.state ?? ''} items=${STATES} onChange=${(state) => setQuery({ state })} show=${(item) => html`<span>${item[1]}</span>`} toRight />
		<label class="search"><span class="hidden">Filter servers</span><${Icon} name="search" /><input id="filter" class="input" placeholder="Filter" value=${query.filter ?? ''}
			onInput=${(e) => setQuery({ filter: e.target.value })} onKeyDown=${(e) => e.key === 'Escape' && (e.target.value ? setQuery({ filter: '' }) : e.target.blur())} /><span class="behind"><kbd>f</kbd></span></label>
		<${Segments} label="View" items=${[['', 'Table'], ['cards', 'Cards']]} value=${query.view ?? ''} onChange=${(view) => setQuery({ view })} />
		<button type="button" class="button icon-only board-add" aria-label="Add a server" title="Add a server" onClick=${() => openAddServer()}><${Icon} name="plus" /></button></div>`;
}

function SessionNames({ nodes, layout, focus, height, onPoint, onToggle, isOpen, all, onScroll })
{
	const inner = nodes.length ? nodes[nodes.length - 1].at + 40 : 0;

	return html`<ul class="sessions" style=${{ height: `${height}px`, overflowY: inner > height ? 'auto' : 'hidden' }} onScroll=${onScroll} aria-label="Sessions">
		${nodes.map((n) => {
		const on = focus ? (focus.node ? focus.node === n.key : rateOn(layout, n, focus) !== null) : null;
		const shown = focus?.server ? rateOn(layout, n, focus) : n.rate;
		const title = n.session ? `${safe(n.session.client)} ${safe(n.session.clientVersion)}, ${paths(n.session.root)}, since ${clock(n.session.since)}` : undefined;

		return html`<li key=${n.key} class=${`session${on === false ? ' off' : ''}`} style=${{ top: `${n.at}px` }} title=${title} tabIndex="0"
			onMouseEnter=${() => onPoint({ node: n.key })} onFocus=${() => onPoint({ node: n.key })} onBlur=${() => onPoint(null)}>
			<span class="grow"><span class="strong cut block">${n.members && (n.isHead || !isOpen.has(n.key)) ? html`<button type="button" aria-expanded=${isOpen.has(n.key) ? 'true' : 'false'} onClick=${() => onToggle(n.key)}>
				${n.title} <span class="t3">×${n.members.length}</span></button>` : n.title}</span>
			<span class="small t2 cut block">${n.sub}</span></span>
			<span class="session-rate">${n.isHead || shown === null || shown === undefined ? '' : rate(shown)}</span></li>`;
	})}${all ? null : html`<li class="empty small">No agent is connected. <a class="link" href=${href('agents')}>Connect one</a></li>`}</ul>`;
}

function placeNodes(nodes, height)
{
	const pitch = Math.max(SESSION_PITCH, height / Math.max(1, nodes.length));

	nodes.forEach((n, i) => { n.at = i * pitch + Math.min(pitch, 66) / 2 - 18; });
	return pitch;
}

function useOrder(list, order, isHeld)
{
	const before = useRef([]);
	const result = isHeld && before.current.order === order ? keepOrder(list, before.current) : sorted(list, order);

	before.current = result.map((s) => s.name);
	before.current.order = order;
	return result;
}

function moveTo(list, active, step, virtual, setActive)
{
	const at = list.findIndex((s) => s.name === active);
	const to = at < 0 ? 0 : Math.max(0, Math.min(list.length - 1, at + step));

	if (!list.length)
		return;
	setActive(list[to].name);
	virtual?.scrollTo(to);
	requestAnimationFrame(() => document.querySelector(`.server-row[data-name="${CSS.escape(list[to].name)}"]`)?.focus({ preventScroll: true }));
}

const isInRow = () => document.activeElement?.closest?.('.server-row') || document.activeElement === document.body;

function useBoardKeys(list, active, setActive, virtual)
{
	const name = list.some((s) => s.name === active) ? active : null;

	useKeys([
		{ key: 'j', also: ['ArrowDown'], words: 'move', shown: 'j k', run: (e) => isInRow() && moveTo(list, active, 1, virtual.current, setActive) },
		{ key: 'k', also: ['ArrowUp'], run: () => isInRow() && moveTo(list, active, -1, virtual.current, setActive) },
		{ key: 'PageDown', run: () => isInRow() && name && moveTo(list, active, 10, virtual.current, setActive) },
		{ key: 'PageUp', run: () => isInRow() && name && moveTo(list, active, -10, virtual.current, setActive) },
		{ key: 'Enter', words: 'open server', shown: '↵', run: () => name ? go('server', name) : false },
		{ key: 'r', words: 'restart', run: () => name ? askRestart(name) : false },
		{ key: 'c', words: 'calls', run: () => go('calls', '', name ? { server: name } : {}) },
		{ key: 'f', words: 'filter here', run: () => document.getElementById('filter')?.focus() },
		{ key: 'a', words: 'review what waits', run: () => { const s = needsYou.peek().find((x) => x.state === 'needs-approval'); return s ? void openApproval(s.name) : false; } },
	]);
}

export async function askRestart(name)
{
	const isUp = ['connected', 'pending'].includes(servers.peek().get(name)?.state);

	if (!isUp)
		await attempt(ask('mcpool/server/reconnect', { name }), `${name} is tried now.`);
	else if (await confirm({ title: `Restart ${safe(name)}?`, text: 'Calls that it works on end as unknown; they may have run. New calls wait until it is up.', action: 'Restart' }))
		await attempt(ask('mcpool/server/reconnect', { name }), `${name} restarts. New calls wait until it is up.`);
}

function Board()
{
	const { query } = route.value;
	const was = !isLive.value, isWide = size.value === 'wide';
	const order = query.sort ?? 'calls';
	const total = [...servers.value.values()].filter((s) => s.state !== 'shadowed').length;
	const [isHeld, hold] = useState(false);
	const [active, setActive] = [lastActive.value, (name) => { lastActive.value = name; }];
	const [focus, setFocus] = useState(null);
	const [scroll, setScroll] = useState(0), [sessionScroll, setSessionScroll] = useState(0);
	const [isOpen, setOpen] = useState(new Set());
	const [point] = useState(() => (name) => setFocus({ server: name }));
	const virtual = useRef();
	const list = useOrder(useMemo(() => filtered(servers.value, query), [servers.value, query.filter, query.state]), order, isHeld);

	useBoardKeys(list, active, setActive, virtual);
	if (size.value === 'phone')
		return html`<${PhoneServers} list=${list} was=${was} />`;

	const columns = SHOWN[size.value];
	const room = Math.max(LEAST_ROWS * ROW, windowHeight.value - (needsYou.value.length || was ? 310 : 234) - 60);
	const nodes = groupSessions(sessions.value, isOpen, Math.floor(Math.max(room, 1) / SESSION_PITCH));
	const wanted = Math.max(list.length * ROW, Math.min(nodes.length, 12) * 48, LEAST_ROWS * ROW);
	const height = Math.min(room, wanted);
	const pitch = placeNodes(nodes, height);
	const at = new Map(list.map((s, i) => [s.name, i * ROW + ROW / 2 - scroll]));

	for (const n of nodes)
		n.y = n.at + 17 - sessionScroll;
	const place = (name) => {
		const y = at.get(name);

		if (y === undefined || y > height - 4)
			return { y: height - 2, bundle: ' below' };
		return y < 4 ? { y: 2, bundle: ' above' } : { y };
	};
	const layout = layOut({ nodes: nodes.filter((n) => n.y > -10 && n.y < height + 10), flows: flows.value, place, serverOf: (name) => servers.value.get(name), pitch, rowHeight: ROW });
	const below = Math.max(0, list.length - Math.ceil((scroll + height) / ROW)), above = Math.floor(scroll / ROW);
	const isCards = query.view === 'cards';
	const table = isCards ? html`<ul class="cards">${list.map((s) => html`<${Card} key=${s.name} server=${s} was=${was} />`)}</ul>`
		: html`<div class=${`server-table ${size.value}`} role="grid" aria-label="Servers" aria-rowcount=${list.length + 1} onMouseLeave=${() => { hold(false); setFocus(null); }} onMouseEnter=${() => hold(true)}
			onFocusIn=${() => hold(true)} onFocusOut=${(e) => { if (!e.currentTarget.contains(e.relatedTarget)) { hold(false); setFocus(null); } }}>
			<${Head} columns=${columns} order=${order} />
			<${Virtual} ref=${virtual} role="rowgroup" count=${list.length} rowHeight=${ROW} height=${height} onScroll=${setScroll}
				row=${(i, top) => html`<${Row} key=${list[i].name} server=${list[i]} index=${i} top=${top} columns=${columns} was=${was}
					isActive=${list[i].name === active || (active === null && i === 0)} isFocus=${focus?.server === list[i].name} onPoint=${point} />`} /></div>`;
	const nothing = !list.length ? html`<${Empty} text=${query.filter ? html`Nothing matches <code>${safe(query.filter)}</code>.` : 'No server has this state.'} action="Clear filter" onAction=${() => setQuery({ filter: '', state: '' })} />` : null;
	const picture = html`<div class="picture" style=${{ height: `${height}px` }} onMouseLeave=${() => setFocus(null)}>
		<${SessionNames} nodes=${nodes} layout=${layout} focus=${focus} height=${height} onPoint=${setFocus} isOpen=${isOpen} all=${sessions.value.size}
			onScroll=${(e) => setSessionScroll(e.currentTarget.scrollTop)} onToggle=${(key) => { const open = new Set(isOpen); open.has(key) ? open.delete(key) : open.add(key); setOpen(open); }} />
		<${Lines} layout=${layout} height=${height} focus=${focus} more=${{ above: layout.lines.some((l) => l.target === ' above') ? above : 0, below: layout.lines.some((l) => l.target === ' below') ? below : 0 }} /></div>`;
	const pictureHead = html`<div class="picture-head"><div class="board-tools"><h2 class="strong">Sessions <span class="t3">${count(sessions.value.size)}</span></h2></div>
		<div class="picture-labels"><span>agent and project</span><span>${was ? 'last known' : 'calls per second'}</span></div></div>`;

	return html`<section class=${`board panel${isWide && !isCards ? ' wide' : ''}${was ? ' past' : ''}`} aria-label="Sessions and servers">
		${isWide && !isCards ? html`<div class="board-left">${pictureHead}${picture}</div>` : null}
		<div class="board-right"><${Tools} total=${total} shown=${list.length} query=${query} />${nothing ?? table}</div>
		<${FlowTable} sessions=${sessions.value} flows=${flows.value} /></section>
		${isWide || isCards ? null : html`<${SmallPicture} nodes=${nodes} was=${was} head=${pictureHead} focus=${focus} setFocus=${setFocus} isOpen=${isOpen} />`}`;
}

// Below the table the lines end at the names of the busiest servers.
function SmallPicture({ nodes, was, head, focus, setFocus, isOpen })
{
	const names = sorted([...servers.value.values()].filter((s) => flows.value.some((f) => f.server === s.name)), 'calls').slice(0, 12);

	if (!nodes.length || !names.length)
		return null;
	const height = Math.max(nodes.length, names.length) * 44, pitch = placeNodes(nodes, height), step = height / names.length;

	for (const n of nodes)
		n.y = n.at + 17;
	const at = new Map(names.map((s, i) => [s.name, i * step + step / 2]));
	const place = (name) => (at.has(name) ? { y: at.get(name) } : { y: height - 4, bundle: ' below' });
	const layout = layOut({ nodes, flows: flows.value, place, serverOf: (name) => servers.value.get(name), pitch, rowHeight: step });

	return html`<section class=${`panel small-picture${was ? ' past' : ''}`} aria-label="Sessions">${head}<div class="picture" style=${{ height: `${height}px` }} onMouseLeave=${() => setFocus(null)}>
		<${SessionNames} nodes=${nodes} layout=${layout} focus=${focus} height=${height} onPoint=${setFocus} isOpen=${isOpen} all=${1} onToggle=${() => 0} />
		<${Lines} layout=${layout} height=${height} focus=${focus} />
		<ul class="ends">${names.map((s, i) => html`<li key=${s.name} style=${{ top: `${i * step + step / 2 - 10}px` }} onMouseEnter=${() => setFocus({ server: s.name })}><${Icon} name=${shapeOf(s)} /><${Name} text=${s.name} /></li>`)}</ul></div></section>`;
}

export function Overview()
{
	if (isFirstRun.value)
		return html`<${FirstRun} />`;
	return html`<div class="overview"><${HubRow} /><${Restarting} />
		${problem.value ? html`<div class="notice" role="alert"><${Icon} name="retrying" size=${14} /><span class="grow">${paths(problem.value)}</span></div>` : null}
		${isLive.value ? html`<${NeedsYou} />` : null}<${Board} /></div>`;
}
