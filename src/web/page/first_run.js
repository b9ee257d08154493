// first_run.js - the overview before anything runs: what was found, and the two steps to a first call.
import { computed } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { html } from './html.js';
import { hub, isLive, servers, sessions, verb } from './hub.js';
import { count, cut, duration, plural, safe } from './format.js';
import { Icon } from './icons.js';
import { Name, place } from './parts/words.js';
import { href } from './router.js';
import { openApproval, openAddServer, openImport } from './later.js';
import { useKeys } from './keys.js';

const WAITING = ['needs-approval', 'disabled', 'shadowed'];
const MOST_SHOWN = 4;

// Nothing was ever called, no agent is connected, and no server may run or was ever approved
export const isFirstRun = computed(() => isLive.value && !sessions.value.size && !(hub.value?.callsToday > 0) &&
	[...servers.value.values()].every((s) => WAITING.includes(s.state) && !s.changed));

const dashed = (x1, y1, x2, y2) => html`<path d=${`M${x1} ${y1}C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`} />`;

function Drawing({ agents, waiting })
{
	const left = agents.filter((a) => a.found !== false).slice(0, 3);
	const right = waiting.length > MOST_SHOWN ? waiting.slice(0, 3) : waiting;
	const more = waiting.length - right.length;
	const n = right.length + (more ? 1 : 0);
	const y = (i, of) => 91 + (i - (of - 1) / 2) * (of > 3 ? 48 : 60);

	return html`<div class="first-drawing" aria-hidden="true"><svg width="1080" height="182" viewBox="0 0 1080 182" preserveAspectRatio="none">
			${left.map((a, i) => dashed(212, y(i, left.length), 488, 91))}${Array.from({ length: n }, (_, i) => dashed(592, 91, 848, y(i, n)))}</svg>
		${left.map((a, i) => html`<div class="first-node left" style=${{ top: `${y(i, left.length) - 18}px` }}><span class="strong">${safe(a.label)}</span><span class="t3 tiny">${a.connected ? 'connected' : 'not connected'}</span></div>`)}
		<div class="first-node hub-node"><span class="strong">mcpool</span><span class="small c-ok row"><${Icon} name="connected" size=${10} />running</span></div>
		${right.map((s, i) => html`<div class="first-node right" style=${{ top: `${y(i, n) - 17}px` }}><${Icon} name=${s.state} /><span class="strong grow cut">${cut(safe(s.name), 16)}</span><span class="t3 tiny">${s.state}</span></div>`)}
		${more ? html`<div class="first-node right" style=${{ top: `${y(n - 1, n) - 17}px` }}><${Icon} name="needs-approval" /><span class="strong grow">${more} more</span><span class="t3 tiny">needs-approval</span></div>` : null}</div>`;
}

function useVerb(name, args)
{
	const [json, setJson] = useState(null);

	useEffect(() => {
		let isHere = true;

		if (isLive.value)
			verb(name, args).then((result) => isHere && setJson(result.json)).catch(() => 0);
		return () => { isHere = false; };
	}, [isLive.value]);
	return json;
}

function Approve({ waiting, commands })
{
	const shown = waiting.slice(0, MOST_SHOWN), rest = waiting.slice(MOST_SHOWN);

	return html`<section class="panel first-step"><h2><span class="first-number">1</span>Approve what may run</h2>
		<p class="t2">You see the exact command first. Until you approve it, nothing is run, dialled or looked up.</p>
		<ul class="first-list">${shown.map((s) => html`<li key=${s.name}><div class="row"><span class="strong grow cut"><${Name} text=${s.name} /></span><span class="t3 small">${place(s.source)}</span></div>
			<div class="mono t2 cut">${safe(commands.get(s.name) ?? '')}</div></li>`)}</ul>
		${rest.length ? html`<p class="small t3">and ${rest.slice(0, 3).map((s) => safe(s.name)).join(', ')}${rest.length > 3 ? ` and ${count(rest.length - 3)} more` : ''}</p>` : null}
		<div class="grow"></div><div><button type="button" class="button primary" onClick=${() => openApproval(waiting[0].name)}>Review ${plural(waiting.length, 'server')} <kbd>a</kbd></button></div></section>`;
}

const Connect = ({ agents }) => html`<section class="panel first-step"><h2><span class="first-number">2</span>Connect an agent</h2>
	<p class="t2">One line in its configuration. A preview comes first, and you can undo it.</p><pre class="code">mcpool connect ${agents.find((a) => a.found)?.agent ?? 'AGENT'}</pre>
	<ul class="first-list of-agents">${agents.slice(0, 6).map((a) => html`<li key=${a.agent} class="row"><span class=${`grow ${a.found ? '' : 't3'}`}>${safe(a.label)}</span>
		${!a.found ? html`<span class="t3 small">not installed</span>` : a.connected ? html`<span class="t2 small">connected</span>` : html`<a class="link" href=${href('agents', '', { connect: a.agent })}>Connect</a>`}</li>`)}</ul></section>`;

const Add = ({ isFirst }) => html`<section class="panel first-step"><h2><span class="first-number">${isFirst ? '1' : '+'}</span>${isFirst ? 'Add a server' : 'Or add a server'}</h2>
	<p class="t2">Paste what its README says: a command, an address, or JSON of any tool.</p>
	<button type="button" class="first-paste mono t3" onClick=${() => openAddServer()}><span>npx -y @scope/server<br />https://mcp.example.com/mcp<br />${'{ "mcpServers": { … } }'}</span></button>
	<div class="row"><button type="button" class=${`button${isFirst ? ' primary' : ''}`} onClick=${() => openAddServer()}>Add server</button><button type="button" class="button plain" onClick=${() => openImport()}>Import from other tools</button></div></section>`;

export function FirstRun()
{
	const waiting = [...servers.value.values()].filter((s) => s.state === 'needs-approval');
	const all = [...servers.value.values()].filter((s) => s.state !== 'shadowed');
	const agents = useVerb('connect', ['--json'])?.agents ?? [];
	const commands = new Map((useVerb('list', ['--json'])?.servers ?? []).map((s) => [s.name, s.command ?? s.url]));
	const files = new Set(all.map((s) => s.source?.file)).size;

	useKeys([{ key: 'a', words: 'review what waits', run: () => (waiting.length ? void openApproval(waiting[0].name) : false) }]);
	return html`<div class="first"><div class="small t2 row"><${Icon} name="connected" />Hub healthy, up ${duration(hub.value.uptimeMs)}</div>
		<h1 class="key">${all.length ? `${plural(all.length, 'server')} found, none started yet` : 'No servers yet'}</h1>
		<p class="t2">${all.length ? `${all.length === 1 ? 'It is' : 'They are'} listed in ${plural(files, 'file')} on this machine. mcpool runs each one once, after you approve it, and lends it to every agent.`
		: 'mcpool runs each server once and lends it to every agent. Add one, or import those that your agents have.'}</p>
		${waiting.length ? html`<${Drawing} agents=${agents} waiting=${waiting} />` : null}
		<div class=${`first-steps${waiting.length ? '' : ' two'}`}>${waiting.length ? html`<${Approve} waiting=${waiting} commands=${commands} />` : html`<${Add} isFirst />`}<${Connect} agents=${agents} />${waiting.length ? html`<${Add} />` : null}</div></div>`;
}
