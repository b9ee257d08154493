// banner.js - the one line about a hub that restarts: what ended, what runs again, what comes next.
import { html } from './html.js';
import { computed } from '@preact/signals';
import { isLive, live, restart, servers, tick } from './hub.js';
import { clock, duration } from './format.js';
import { Icon } from './icons.js';
import { href } from './router.js';

const PATIENCE_MS = 10000, SHOWN_AFTER_MS = 8000;

const Step = ({ shape, word, text }) => html`<li class=${`step${shape === 'ready' ? ' t3' : ''}`}><${Icon} name=${shape} /><span>${word}</span> <span class="t3">${text}</span></li>`;

// How many of the servers that were connected are so again; null while the page cannot know
const again = computed(() => (isLive.value && restart.value ? restart.value.connected.filter((name) => servers.value.get(name)?.state === 'connected').length : null));

const isShown = computed(() => {
	const r = restart.value;

	if (!r || live.value.state === 'loggedOut')
		return false;
	return !isLive.value || (again.value < r.connected.length && tick.value - r.foundAt < SHOWN_AFTER_MS);
});

function underWay(n)
{
	if (!n)
		return null;
	return html`<p class="small t2">${n === 1 ? '1 call that was under way ends' : `${n} calls that were under way end`} as <code>unknown</code>; ${n === 1 ? 'it' : 'they'} may have run. <a class="link" href=${href('calls', '', { outcome: 'unknown' })}>Show them</a></p>`;
}

function late(r)
{
	return !r.foundAt && tick.value - r.endedAt > PATIENCE_MS ? html`<p class="small">It is not back after ${duration(tick.value - r.endedAt)}. In a terminal, <code>mcpool up</code> starts it.</p>` : null;
}

export function Restarting()
{
	const r = restart.value;

	return html`<div role="status">${isShown.value ? html`<div class="banner panel"><${Icon} name=${isLive.value ? 'ok' : 'pending'} size=${14} /><div class="grow">
		<p>${isLive.value ? html`<b class="strong">The hub is back.</b> <span class="t2">Its servers start again.</span>` : html`<b class="strong">The hub is restarting.</b> <span class="t2">Below is what was true at <span class="mono">${clock(r.endedAt)}</span>. Agents stay connected; new calls wait.</span>`}</p>${underWay(r.running)}${late(r)}</div>
		<ol class="steps small"><${Step} shape="ok" word="Old hub ended" text=${clock(r.endedAt)} />
			<${Step} shape=${r.foundAt ? 'ok' : 'pending'} word=${r.foundAt ? 'New hub runs' : 'New hub'} text=${r.foundAt ? duration(r.foundAt - r.endedAt) : ''} />
			<${Step} shape=${r.foundAt ? 'pending' : 'ready'} word="Servers" text=${again.value === null ? `${r.connected.length} start again` : `${again.value} of ${r.connected.length}`} />
			<${Step} shape=${isLive.value ? 'ok' : 'ready'} word="This page" text=${isLive.value ? '' : 'next'} /></ol></div>` : null}</div>`;
}
