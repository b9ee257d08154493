// main.js - the page: the bar with the pages, what is shown below it, keys that hold everywhere, the theme.
import './style.css';
import './forms.css';
import { render } from 'preact';
import { effect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { html } from './html.js';
import { begin, events, hub, live, logOut, me, needsYou, onQuestion, sessions, setProject, tick } from './hub.js';
import { clock, cut, safe } from './format.js';
import { Brand, Icon } from './icons.js';
import { href, go, route } from './router.js';
import { allKeys, isOn, setOn, useKeys } from './keys.js';
import { size, toggleTheme } from './media.js';
import { openDialog } from './parts/dialog.js';
import { Menu } from './parts/choices.js';
import { path, said } from './parts/words.js';
import { forgetTools, openPalette } from './palette.js';
import { Overview } from './overview.js';
import { Server } from './server.js';
import { Calls } from './calls.js';
import { LoggedOut } from './logged_out.js';
import { Waiting, Agents, openAddServer, openImport, answerQuestion, loadSoon } from './later.js';

const PAGES = [['overview', 'Overview', 'o'], ['calls', 'Calls', 'c'], ['waiting', 'Waiting', 'w'], ['agents', 'Agents', 'a']];
const COMMANDS = [
	...PAGES.map(([page, word]) => ({ title: word, sub: 'page', run: () => go(page) })),
	{ title: 'Add a server', run: () => openAddServer() },
	{ title: 'Import servers', run: () => openImport() },
	{ title: 'Change the theme', run: toggleTheme },
	{ title: 'All keys', run: () => openKeys() },
	{ title: 'Log out of this browser', run: () => logOut() },
];
const SAID_MS = 8000;

// --- the bar -------------------------------------------------------------------------------------------

const LIVE = { live: ['connected', 'Live'], connecting: ['pending', 'Connecting'], restarting: ['pending', 'Reconnecting'] };

function LiveState()
{
	const [shape, word] = LIVE[live.value.state] ?? LIVE.connecting;

	return html`<span class=${`live small ${shape === 'pending' ? 'c-busy' : 't2'}`} title=${`since ${clock(live.value.since)}`}><${Icon} name=${shape} size=${shape === 'pending' ? 12 : 9} />${word}</span>`;
}

function Links({ isBelow })
{
	const page = route.value.page === 'server' ? 'overview' : route.value.page;

	return html`<nav class=${isBelow ? 'tab-bar' : 'pages'} aria-label="Pages">${PAGES.map(([name, word]) => html`<a key=${name} href=${href(name)} aria-current=${page === name ? 'page' : undefined}>
		${isBelow ? html`<${Icon} name=${name} size=${20} />` : null}<span>${word}</span>${name === 'waiting' && needsYou.value.length ? html`<span class="badge">${needsYou.value.length}</span>` : null}</a>`)}</nav>`;
}

function Projects()
{
	const list = me.value?.projects ?? [], current = me.value?.project;
	const isShown = route.value.query.project || list.some((p) => p.project !== current);

	if (!isShown)
		return null;
	const all = [...new Set([current, ...list.map((p) => p.project)].filter(Boolean))];

	return html`<${Menu} label="Project" class="project" value=${current} toRight items=${all.map((p) => [p, cut(path(p), 40)])} show=${() => html`<span class="t2 cut">${cut(path(current ?? ''), 24)}</span>`}
		onChange=${(project) => { location.hash = `#/?project=${encodeURIComponent(project)}`; }} />`;
}

function Bar()
{
	const isPhone = size.value === 'phone';

	if (isPhone && route.value.page === 'server')
		return null;
	return html`<header class="bar"><div class="bar-in"><a class="skip" href="#content" onClick=${(e) => { e.preventDefault(); document.getElementById('content').focus(); }}>To the content</a>
		<a class="brand" href=${href('overview')} aria-label="mcpool, overview"><${Brand} />mcpool</a>${isPhone ? null : html`<${Links} />`}<span class="grow"></span><${Projects} /><${LiveState} />
		${isPhone ? html`<button type="button" class="bar-button" aria-label="Search" onClick=${() => openPalette(COMMANDS)}><${Icon} name="search" size=${16} /></button>`
		: html`<button type="button" class="bar-search" onClick=${() => openPalette(COMMANDS)}><${Icon} name="search" /><span class="t3 grow">Server, tool or command</span><kbd>/</kbd></button>
			<button type="button" class="bar-button" aria-label="Change the theme" title="Change the theme (t)" onClick=${toggleTheme}><${Icon} name="theme" size=${13} /></button>`}</div></header>`;
}

// --- keys ------------------------------------------------------------------------------------------------

const Keys = () => html`<div class="dialog-body keys"><h2 class="title">Keys</h2><dl>${allKeys().map((k) => html`<div key=${k.key}><dt>${(k.shown ?? k.key).split(' ').map((one) => html`<kbd>${one}</kbd>`)}</dt><dd>${k.words}</dd></div>`)}
	<div><dt><kbd>Esc</kbd></dt><dd>close, cancel</dd></div><div><dt><kbd>Ctrl</kbd><kbd>↵</kbd></dt><dd>call the tool</dd></div></dl>
	<label class="row"><input type="checkbox" checked=${isOn.value} onChange=${(e) => setOn(e.target.checked)} />Single keys</label></div>`;

function openKeys()
{
	openDialog((close) => html`<${Keys} /><div class="dialog-foot"><button type="button" class="button" data-focus onClick=${() => close()}>Close <kbd>Esc</kbd></button></div>`, { label: 'Keys' });
}

function useGlobalKeys()
{
	useKeys([
		...PAGES.map(([page, word, letter]) => ({ key: `g ${letter}`, words: word, run: () => go(page) })),
		{ key: '/', words: 'search anything', run: () => openPalette(COMMANDS) },
		{ key: 't', words: 'theme', run: toggleTheme },
		{ key: '?', words: 'all keys', run: openKeys },
	]);
}

// The line below the page: what the last action did, and the keys of this page
function Foot()
{
	const words = said.value && tick.value - said.value.at < SAID_MS ? said.value : null;
	const shown = { overview: ['j', 'Enter', 'r', 'c', '?'], calls: ['j', 'Enter', ' ', 'f', '?'] }[route.value.page];
	const all = shown ? allKeys() : [];

	return html`<footer class=${`foot small${words ? ' says' : ''}`}><span class="foot-keys">${shown?.map((key) => {
		const k = all.find((one) => one.key === key);

		return k ? html`<span key=${key} class="t3"><kbd>${k.shown ?? k.key}</kbd>${k.words}</span>` : null;
	})}</span><span role="status" class=${`grow foot-said ${words?.isBad ? 'c-fail' : 't2'}`}>${words ? safe(words.text) : ''}</span>
		<span class="t3 foot-note">${route.value.page === 'overview' && sessions.value.size && size.value !== 'phone' ? 'lines: calls per second, last minute' : ''}</span></footer>`;
}

// --- the page --------------------------------------------------------------------------------------------

const SHOWN = { overview: Overview, server: Server, calls: Calls, waiting: Waiting, agents: Agents };
const TITLES = { overview: 'Overview', calls: 'Calls', waiting: 'Waiting', agents: 'Agents' };

function Content()
{
	const { page, name } = route.value;
	const Page = SHOWN[page];

	useEffect(() => {
		document.title = `${page === 'server' ? safe(name) : TITLES[page]} · mcpool`;
	}, [page, name]);
	if (!hub.value)
		return html`<div class="empty" role="status">The page connects to the hub${tick.value - live.value.since > 10000 ? html`. If it does not, <code>mcpool up</code> starts it.` : '.'}</div>`;
	return html`<${Page} key=${`${page}/${name}`} name=${name} />`;
}

function App()
{
	useGlobalKeys();
	useEffect(() => { document.documentElement.classList.toggle('is-past', live.value.state === 'restarting'); }, [live.value.state]);
	if (live.value.state === 'loggedOut')
		return html`<${LoggedOut} />`;
	return html`<${Bar} /><main id="content" class=${`content on-${route.value.page}`} tabindex="-1"><${Content} /></main><${Foot} />${size.value === 'phone' ? html`<${Links} isBelow />` : null}`;
}

onQuestion(answerQuestion);

const code = location.hash.startsWith('#login=') ? decodeURIComponent(location.hash.slice(7)) : null;

if (code)
	history.replaceState(null, '', location.pathname);
begin({ code, project: route.peek().query.project });
loadSoon();
effect(() => setProject(route.value.query.project ?? null));
effect(() => {
	if (/^offers/.test(events.value[0]?.what ?? ''))
		forgetTools();
});
render(html`<${App} />`, document.getElementById('page'));
