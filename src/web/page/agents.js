// agents.js - the page of agents: which are connected now, and every agent that mcpool can connect. Nothing is written before
// the exact change was shown.
import { useEffect, useState } from 'preact/hooks';
import { html } from './html.js';
import { flows, live, me, sessions, tick, verb } from './hub.js';
import { safe, safeLines, count, plural, rate, ago, date } from './format.js';
import { Icon } from './icons.js';
import { clientName, projectName } from './clients.js';
import { shell } from './recognise.js';
import { openDialog, confirm } from './parts/dialog.js';
import { Copy } from './parts/copy.js';
import { Problem } from './parts/problem.js';
import { failureOf, notesOf } from './parts/target.js';
import { Segments } from './parts/choices.js';
import { path, paths, say } from './parts/words.js';
import { openImport } from './import.js';

const MOST = 50;

// --- connecting ----------------------------------------------------------------------------------------

function Preview({ a })
{
	if (a.command && a.program)
		return html`<section><h3 class="part">This is run <span class="t2">${safe(a.label)} has a command of its own for it</span></h3>
			<div class="code mono" tabindex="0" role="group" aria-label="The command">$ ${safe(shell(a.command))}</div></section>`;
	return html`<section><h3 class="part">This is added <span class="t2">to <span class="mono">${path(a.file)}</span></span><span class="grow"></span><${Copy} text=${a.snippet ?? ''} /></h3>
		<div class="diff mono" tabindex="0" role="group" aria-label="What is added">${(a.snippet ?? '').trimEnd().split('\n').map((l) => html`<div class="diff-line is-added"><span class="sign">+</span><span>${safeLines(l)}</span></div>`)}</div></section>
		<p class="small t2">Comments and other keys stay. A copy of the file is kept beside it, as <span class="mono">${path(a.file)}.mcpool-backup</span>.</p>`;
}

function Connect({ agent, onDone, close })
{
	const [project, setProject] = useState(false);
	const [a, setA] = useState(null);
	const [state, setState] = useState({});
	const args = [agent.agent, ...(project ? ['--project'] : []), '--json'];
	const hasProject = me.value?.project && me.value.project !== me.value.home;

	useEffect(() => {
		let isCurrent = true;

		verb('connect', args).then((r) => {
			if (!isCurrent)
				return;
			setA(r.json?.agent ? r.json : null);
			setState(r.json?.agent ? {} : { error: failureOf(r) ?? 'mcpool did not say how' });
		}, (e) => setState({ error: e.message }));
		return () => { isCurrent = false; };
	}, [agent.agent, project]);
	const write = async () => {
		setState({ busy: true });
		try {
			const r = await verb('connect', [...args, '--write', '--yes']), why = r.json?.error?.message ?? r.json?.problem ?? (r.json?.result === 'connected' ? null : failureOf(r));

			if (why)
				throw new Error(why);
			say(`${agent.label} is connected. Restart it, or open a new session in it.${notesOf(r).length ? ` ${notesOf(r).join(' ')}` : ''}`);
			onDone();
			close();
		} catch (e) {
			setState({ error: e.message });
		}
	};

	return html`<div class="dialog-head"><div class="grow"><h2 class="title">Connect ${safe(agent.label)}</h2><p class="t2">It gets one entry, mcpool, that has every approved server. You can undo it.</p></div>
			${hasProject && html`<${Segments} label="For" items=${[[false, 'for you'], [true, 'this project']]} value=${project} onChange=${setProject} />`}</div>
		<div class="dialog-body">${a ? html`<${Preview} a=${a} />` : !state.error && html`<p class="t2" role="status">Reading its configuration.</p>`}
			${a?.twice?.length > 0 && html`<div class="field-note"><${Icon} name="needs-approval" /><span>${safe(agent.label)} has ${safe(a.twice.join(', '))} itself, and would load ${a.twice.length === 1 ? 'it' : 'them'} twice.${' '}<button type="button" class="link" onClick=${() => { close(); openImport(); }}>Copy to mcpool's file</button>, then remove ${a.twice.length === 1 ? 'it' : 'them'} there.</span></div>`}
			${a?.problem && html`<${Problem} text=${paths(a.problem)} />`}
			${state.error && html`<${Problem} text=${paths(state.error)} />`}</div>
		<div class="dialog-foot"><button type="button" class="button" onClick=${() => close()}>Cancel <kbd>Esc</kbd></button>
			<button type="button" class="button primary" data-focus disabled=${!a || state.busy} onClick=${write}>${state.busy ? 'Connecting' : 'Connect'}</button></div>`;
}

async function undo(agent, onDone)
{
	const title = `Disconnect ${safe(agent.label)}?`;

	if (!await confirm({ title, text: `${path(agent.file)} gets back what it said before. If another program changed it meanwhile, only the entry of mcpool goes. Sessions that are open stay until they end.`, action: 'Disconnect', danger: true }))
		return;
	try {
		const r = await verb('connect', [agent.agent, '--undo', '--yes', '--json']);
		const why = r.json?.error?.message ?? (r.json?.result === 'undone' || r.exit === 0 ? null : failureOf(r));

		say(why ? paths(why) : `${agent.label} is disconnected.`, Boolean(why));
	} catch (e) {
		say(e.message, true);
	}
	onDone();
}

// --- the page ------------------------------------------------------------------------------------------

// The sessions of one agent together, the busiest first
function groups()
{
	const by = new Map();

	for (const s of sessions.value.values()) {
		const name = clientName(s.client);

		by.set(name, [...(by.get(name) ?? []), s]);
	}
	const calls = (list) => list.reduce((n, s) => n + (s.callsLastMinute ?? 0), 0);

	return [...by].map(([name, list]) => ({ name, list: list.sort((a, b) => (b.callsLastMinute ?? 0) - (a.callsLastMinute ?? 0) || a.since - b.since), calls: calls(list) })).sort((a, b) => b.calls - a.calls || (a.name < b.name ? -1 : 1));
}

function Session({ s, agent, n })
{
	const busy = flows.value.filter((f) => f.session === s.id).length;

	return html`<li class=${`agent-session${agent ? ' is-first' : ''}`}><span class="strong agent-of">${agent}${agent && n > 1 ? html` <span class="t3">×${n}</span>` : ''}</span><div class="session-name"><span>${projectName(s) || '–'}</span>${s.root && html`<span class="small t3 mono">${path(s.root)}</span>`}</div>
		<span class="small t2">${safe(s.way)}${s.clientVersion ? `, ${safe(s.clientVersion)}` : ''}</span>
		<span class="small t2">${safe(s.protocol ?? '')}</span>
		<span class="small t2"><time class="nowrap" tabIndex="0" title=${date(s.since)}>since ${date(s.since)}</time></span>
		<span class="num">${busy ? html`${count(busy)} <span class="small t3">of</span> ` : ''}${count(s.servers ?? 0)} <span class="small t3">servers</span></span>
		<span class="num">${count(s.calls ?? 0)} <span class="small t3">calls</span></span>
		<span class="num strong">${rate((s.callsLastMinute ?? 0) / 60)}<span class="unit">/s</span></span>
		<span class="num small t3">${s.last ? ago(s.last, tick.value) : 'no call yet'}</span></li>`;
}

function AgentRow({ a, onDone })
{
	const state = a.connected ? html`<span class="state of-ok"><${Icon} name="ok" /><span>connected</span></span>` : a.found ? html`<span class="t2">not connected</span>` : html`<span class="t3">not installed</span>`;

	return html`<li class=${`agent${a.found || a.connected ? '' : ' is-absent'}`}><span class="strong agent-name">${safe(a.label)}</span><span class="agent-state">${state}</span>
		<span class="small mono t3 agent-file">${path(a.file)}${a.connected && a.entry && a.entry !== 'mcpool' ? `, as ${safe(a.entry)}` : ''}${a.error || a.problem ? html`<span class="c-warn"> ${paths(a.error || a.problem)}</span>` : ''}</span>
		<span class="agent-do">${a.connected ? html`<button type="button" class="button small" onClick=${() => undo(a, onDone)}>Undo<span class="hidden"> ${safe(a.label)}</span></button>`
			: html`<button type="button" class="button small" onClick=${() => openDialog((close) => html`<${Connect} agent=${a} onDone=${onDone} close=${close} />`, { label: `Connect ${safe(a.label)}`, wide: 'middle' })}>Connect<span class="hidden"> ${safe(a.label)}</span></button>`}</span></li>`;
}

// Agents(): the page
export function Agents()
{
	const [agents, setAgents] = useState(null);
	const [error, setError] = useState('');
	const [all, setAll] = useState(false);
	const isLive = live.value.state === 'live';
	const load = () => verb('connect', ['--json']).then((r) => (r.json?.agents ? (setAgents(r.json.agents), setError('')) : setError(failureOf(r) ?? 'mcpool did not say which agents there are')), (e) => setError(e.message));

	useEffect(() => { if (isLive) load(); }, [isLive]);
	const list = [...(agents ?? [])].sort((a, b) => b.connected - a.connected || b.found - a.found);
	const here = list.filter((a) => a.found || a.connected), absent = list.filter((a) => !a.found && !a.connected);
	const now = groups(), n = sessions.value.size;

	return html`<div class=${`page agents${isLive ? '' : ' is-past'}`} inert=${!isLive}><div class="page-head"><h1 class="title">Agents</h1><span class="t2">${plural(n, 'session')}${now.length > 1 ? ` of ${count(now.length)} agents` : ''}</span></div>
		<section class="panel"><div class="panel-head"><h2>Sessions</h2><span class="t3">${count(n)}</span><span class="small t2 grow hide-small">Each window of an agent is a session; all of them share the servers.</span></div>
			${n === 0 ? html`<div class="empty">No session yet. Connect an agent below, then open it: it finds the hub by itself.</div>`
				: html`<ul>${now.flatMap((g) => [...g.list.slice(0, MOST).map((s, i) => html`<${Session} key=${s.id} s=${s} agent=${i ? '' : g.name} n=${g.list.length} />`),
					...(g.list.length > MOST ? [html`<li class="agent-session t3" key=${g.name}><span></span>${count(g.list.length - MOST)} more</li>`] : [])])}</ul>`}</section>
		<section class="panel"><div class="panel-head"><h2>On this machine</h2><span class="t3">${agents ? here.length : ''}</span><span class="small t2 grow hide-small">A preview comes first, and you can undo it.</span></div>
			${error && html`<div class="empty">${paths(error)} <button type="button" class="link" onClick=${load}>Try again</button></div>`}
			${!agents && !error && html`<div class="empty" role="status">Looking for agents.</div>`}
			${agents && here.length === 0 && html`<div class="empty">No agent that mcpool knows is installed here.</div>`}
			<ul>${here.map((a) => html`<${AgentRow} key=${a.agent} a=${a} onDone=${load} />`)}
				${(all ? absent : []).map((a) => html`<${AgentRow} key=${a.agent} a=${a} onDone=${load} />`)}</ul>
			${absent.length > 0 && html`<button type="button" class="panel-more" aria-expanded=${String(all)} onClick=${() => setAll(!all)}><${Icon} name=${all ? 'down' : 'right'} size=${10} />${all ? 'Less' : `${absent.length} more that are not installed: ${safe(absent.slice(0, 4).map((a) => a.label).join(', '))}…`}</button>`}</section></div>`;
}
