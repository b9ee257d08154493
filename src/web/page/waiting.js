// waiting.js - the page of what needs a person: approvals, logins, servers that cannot start by themselves, tools that changed.
// Each row has the reason, what happens by itself, and the next step.
import { useEffect, useState } from 'preact/hooks';
import { html } from './html.js';
import { ask, verb, servers, events, tick, live } from './hub.js';
import { safe, ago, date, countdown, plural } from './format.js';
import { Icon, shapeOf } from './icons.js';
import { Copy } from './parts/copy.js';
import { failureOf, named } from './parts/target.js';
import { shell } from './recognise.js';
import { paths, place, attempt } from './parts/words.js';
import { useKeys } from './keys.js';
import { openApproval } from './approval.js';
import { openLogin } from './login.js';
import { openAddServer } from './add_server.js';
import { openImport } from './import.js';
import { openVariable } from './variable.js';
import { openEdit } from './edit_server.js';

// --- rows ------------------------------------------------------------------------------------------------

const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1) : '');
const errorWords = (s) => sentence(paths(s.health?.cause || s.error || ''));
const start = (s) => attempt(ask('mcpool/server/reconnect', { name: s.name }), `${s.name} is started.`);

// What is waited for, in words, and what the person can do
function rowOf(s, item)
{
	const h = s.health ?? {};

	if (s.state === 'needs-approval')
		return { title: s.changed ? 'was changed' : 'is new', reason: errorWords(s) || (s.changed ? 'Edited outside mcpool since you approved it.' : ''),
			then: item?.risks?.length ? `${plural(item.risks.length, 'risk')}. Nothing of it runs.` : 'Nothing of it runs.', runs: item && (item.argv ? `$ ${shell(item.argv)}` : item.url), action: s.changed ? 'Review change' : 'Review', run: () => openApproval(s.name) };
	if (s.state === 'needs-auth')
		return { title: 'wants you to log in', reason: errorWords(s), then: 'Its calls are refused until then.', action: 'Log in', run: () => openLogin(s.name) };
	const then = s.nextAt ? html`Try ${s.attempt ?? ''} in <b class="strong">${countdown(s.nextAt - tick.value)}</b>.` : 'mcpool has given up until you start it.';
	const out = { title: 'does not start', reason: errorWords(s), then, fix: h.fix, action: s.nextAt ? 'Try now' : 'Start', run: () => start(s) };

	if (h.variable)
		return { ...out, fix: null, action: 'Set variable', run: () => openVariable(s, h.variable) };
	if (s.source?.tool === 'mcpool' && /config|not valid|must be/i.test(`${h.cause}`) && !s.nextAt)
		return { ...out, action: 'Edit', run: () => openEdit(s.name) };
	return out;
}

// What waits for approval, by name: what it would run, and its risks
function useItems(names)
{
	const [items, setItems] = useState(new Map());

	useEffect(() => {
		if (names && live.value.state === 'live')
			verb('trust', ['--json']).then((r) => setItems(new Map((r.json?.waiting ?? []).map((x) => [x.name, x]))), () => 0);
	}, [names, live.value.state]);
	return items;
}

const command = (fix) => fix.split(' # ')[0];

function WaitingRow({ s, item })
{
	const row = rowOf(s, item);
	const since = s.health?.failingSince ?? s.since;

	return html`<li class="waiting-row"><span class="waits-icon"><${Icon} name=${shapeOf(s)} size=${14} /></span>
		<div class="waits-text"><div><b class="strong">${safe(s.name)}</b> <span class="t2">${row.title}</span></div>
			<div class="small t2">${row.reason}${row.reason && !/[.!?]$/.test(row.reason) ? '.' : ''} ${row.then}</div>
			${row.runs && html`<div class="small mono t2 waits-runs">${safe(row.runs)}</div>`}
			${row.fix && html`<div class="waits-fix"><span class="mono">${paths(command(row.fix))}</span><${Copy} text=${command(row.fix)} what="the command" />
				${row.fix.includes(' # ') && html`<span class="t3 small">${paths(row.fix.split(' # ').slice(1).join(' # '))}</span>`}</div>`}</div>
		<div class="waits-side small t3">${since ? html`<time tabIndex="0" title=${date(since)}>since ${date(since)}</time>` : null}<span class="mono">${place(s.source)}</span></div>
		<button type="button" class="button" onClick=${row.run}>${row.action}</button></li>`;
}

// Tools that differ from when they were first seen, by the events of the hub
function changedTools()
{
	const by = new Map();

	for (const e of events.value)
		if (e.what === 'tool-changed' && e.server && servers.value.has(e.server) && servers.value.get(e.server).state !== 'needs-approval')
			by.set(e.server, [...(by.get(e.server) ?? []), e]);
	return [...by];
}

function ToolsRow({ name, list })
{
	// Without --yes: of an entry that is approved this accepts the tools, and one that waits stays as it is.
	const accept = () => attempt(Promise.resolve().then(() => verb('trust', [named(name), '--json'])).then((r) => { if (r.exit !== 0) throw new Error(failureOf(r)); }), `The tools of ${name} are accepted as they are now.`);

	return html`<li class="waiting-row"><span class="waits-icon"><${Icon} name="needs-approval" size=${14} /></span>
		<div class="waits-text"><div><b class="strong">${safe(name)}</b> <span class="t2">has ${plural(list.length, 'changed tool')}</span></div>
			${list.slice(0, 4).map((e) => html`<div class="small t2">${paths(e.text)}</div>`)}${list.length > 4 && html`<div class="small t3">${list.length - 4} more</div>`}</div>
		<div class="waits-side small t3"><time tabIndex="0" title=${date(list[0].time)}>${ago(list[0].time, tick.value)}</time></div>
		<button type="button" class="button" onClick=${accept}>Accept as they are</button></li>`;
}

const GROUPS = [
	['Approve', 'You see the exact command first. Until you approve it, nothing is run, dialled or looked up.', (s) => s.state === 'needs-approval'],
	['Log in', 'The hub keeps the token and renews it for all agents.', (s) => s.state === 'needs-auth'],
	['Repair', 'These do not start, or did not stay up.', (s) => s.state === 'failed'],
];

function Teach()
{
	return html`<div class="panel empty-page"><${Icon} name="ok" size=${16} /><h2 class="title">Nothing waits for you</h2>
		<p class="t2">A server that is new or was changed, wants a login, or cannot start is listed here, with the reason and the next step.</p>
		<div class="row"><button type="button" class="button" onClick=${() => openAddServer()}>Add a server</button><button type="button" class="button plain" onClick=${() => openImport()}>Copy servers of other tools</button></div></div>`;
}

// Waiting(): the page
export function Waiting()
{
	const all = [...servers.value.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
	const groups = GROUPS.map(([title, words, is]) => ({ title, words, rows: all.filter(is) })).filter((g) => g.rows.length);
	const tools = changedTools();
	const items = useItems(all.filter((s) => s.state === 'needs-approval').map((s) => s.name).join('\n'));
	const n = groups.reduce((sum, g) => sum + g.rows.length, 0) + tools.length;
	const approvals = groups.find((g) => g.title === 'Approve')?.rows.length ?? 0;
	useKeys([{ key: 'a', words: 'review what waits', run: () => (approvals ? void openApproval() : false) }]);
	const off = live.value.state !== 'live';

	return html`<div class=${`page waiting${off ? ' is-past' : ''}`} inert=${off}><div class="page-head"><h1 class="title">Waiting</h1><span class="t2">${n ? `${plural(n, 'thing')} of ${plural(all.length, 'server')}` : ''}</span><span class="grow"></span>
			<button type="button" class="button" onClick=${() => openAddServer()}>Add server</button>
			<button type="button" class="button" onClick=${() => openImport()}>Copy from other tools</button></div>
		${n === 0 && html`<${Teach} />`}
		${groups.map((g) => html`<section class="panel" key=${g.title}><div class="panel-head"><h2>${g.title}</h2><span class="t3">${g.rows.length}</span><span class="small t2 grow hide-small">${g.words}</span>
				${g.title === 'Approve' && approvals > 1 && html`<button type="button" class="button small primary" onClick=${() => openApproval()}>Review all ${approvals}</button>`}</div>
			<ul>${g.rows.map((s) => html`<${WaitingRow} key=${s.name} s=${s} item=${items.get(s.name)} />`)}</ul></section>`)}
		${tools.length > 0 && html`<section class="panel"><div class="panel-head"><h2>Changed tools</h2><span class="t3">${tools.length}</span><span class="small t2 grow hide-small">Their name, words or schema differ from when they were first seen.</span></div>
			<ul>${tools.map(([name, list]) => html`<${ToolsRow} key=${name} name=${name} list=${list} />`)}</ul></section>`}</div>`;
}
