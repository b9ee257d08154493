// palette.js - `/`: finds servers, tools, pages and commands, and opens what is chosen.
import { useEffect, useState } from 'preact/hooks';
import { html } from './html.js';
import { ask, isLive, servers } from './hub.js';
import { cut, safe } from './format.js';
import { Icon, shapeOf } from './icons.js';
import { openDialog } from './parts/dialog.js';
import { Marked } from './parts/words.js';
import { go } from './router.js';

const MOST = 12, AT_ONCE = 50;
let tools = null; // [{server, name, title}], read when first wanted, and again when the hub says that lists changed

export function forgetTools()
{
	tools = null;
}

// Lists of some servers at a time: a message has a limit.
async function readTools(onPart)
{
	const names = [...servers.peek().values()].filter((s) => s.tools > 0).map((s) => s.name);

	tools = [];
	for (let i = 0; i < names.length; i += AT_ONCE) {
		const status = await ask('mcpool/status', { servers: names.slice(i, i + AT_ONCE), catalogs: true, start: 'none' });

		for (const s of status.servers ?? [])
			for (const tool of s.catalog?.lists?.[0]?.page?.tools ?? [])
				tools.push({ server: s.name, name: String(tool.name), title: String(tool.title ?? tool.description ?? '') });
		onPart();
	}
}

function score(text, words)
{
	const t = text.toLowerCase();

	return words.every((w) => t.includes(w)) ? (t.startsWith(words[0] ?? '') ? 0 : 1) : -1;
}

function results(text, commands)
{
	const words = text.toLowerCase().split(/[\s/]+/).filter(Boolean);
	const found = [];
	const add = (rank, item) => rank >= 0 && found.push({ rank, ...item });

	for (const s of servers.peek().values())
		add(score(s.name, words), { key: `s${s.name}`, icon: shapeOf(s), title: safe(s.name), sub: s.state, run: () => go('server', s.name) });
	for (const c of commands)
		add(words.length ? score(c.title, words) : 2, { key: `c${c.title}`, icon: 'right', sub: 'command', ...c });
	if (words.length)
		for (const t of tools ?? []) {
			const rank = score(`${t.server} ${t.name}`, words);

			if (rank >= 0)
				add(t.name.toLowerCase().startsWith(words[0]) ? 0.5 : rank + 0.5, { key: `t${t.server}/${t.name}`, icon: 'calls', title: `${safe(t.server)}/${safe(t.name)}`,
					sub: cut(safe(t.title), 60), run: () => go('server', t.server, { tool: t.name }) });
		}
	return found.sort((a, b) => a.rank - b.rank).slice(0, MOST);
}

function Palette({ close, commands })
{
	const [text, setText] = useState(''), [at, setAt] = useState(0), [, redraw] = useState(0);
	const list = results(text, commands);
	const word = text.trim().split(/[\s/]+/).pop();

	useEffect(() => {
		if (!tools && isLive.peek())
			readTools(() => redraw((n) => n + 1)).catch(() => { tools = null; });
	}, []);
	const open = (item) => {
		close();
		item?.run();
	};
	const onKey = (e) => {
		const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];

		if (step) {
			e.preventDefault();
			setAt((at + step + list.length) % Math.max(1, list.length));
		} else if (e.key === 'Enter' && !e.isComposing) {
			e.preventDefault();
			open(list[at]);
		}
	};

	return html`<div class="palette"><label class="search"><span class="hidden">Server, tool or command</span><${Icon} name="search" /><input class="input" data-focus placeholder="Server, tool or command" value=${text}
			role="combobox" aria-expanded="true" aria-controls="found" aria-activedescendant=${list[at] ? `found-${at}` : undefined} onInput=${(e) => { setText(e.target.value); setAt(0); }} onKeyDown=${onKey} /><span class="behind"><kbd>Esc</kbd></span></label>
		<ul id="found" role="listbox" aria-label="Results">${list.map((item, i) => html`<li key=${item.key} id=${`found-${i}`} role="option" aria-selected=${i === at ? 'true' : 'false'} class=${i === at ? 'on' : ''}
			onMouseMove=${() => i !== at && setAt(i)} onClick=${() => open(item)}><${Icon} name=${item.icon} /><span class="cut"><${Marked} text=${item.title} find=${word} /></span><span class="grow cut num t3 small">${item.sub}</span></li>`)}</ul>
		${list.length ? null : html`<p class="empty">Nothing matches <code>${safe(text)}</code>.</p>`}</div>`;
}

export function openPalette(commands)
{
	openDialog((close) => html`<${Palette} close=${close} commands=${commands} />`, { label: 'Search', top: true });
}
