// import.js - copies servers that other tools have configured to mcpool's own file: what was found, choose, copy. The files of
// the other tools stay as they are.
import { useEffect, useState } from 'preact/hooks';
import { html } from './html.js';
import { servers, verb } from './hub.js';
import { safe, plural } from './format.js';
import { Icon } from './icons.js';
import { openDialog } from './parts/dialog.js';
import { Problem } from './parts/problem.js';
import { Target, USER, failureOf, named } from './parts/target.js';
import { paths, place, say } from './parts/words.js';

const TOOLS = { claude: 'Claude Code', codex: 'Codex', cursor: 'Cursor', vscode: 'VS Code', gemini: 'Gemini CLI', opencode: 'OpenCode', windsurf: 'Windsurf', omp: 'omp', zed: 'Zed' };

export const toolName = (tool) => TOOLS[tool] ?? safe(tool);

// What mcpool would import. Without --yes it copies nothing and calls what it could copy "skipped".
async function read()
{
	const r = await verb('import', ['--json']);

	if (!r.json?.servers)
		throw new Error(failureOf(r) ?? 'mcpool did not say what it found');
	return r.json.servers.map((s) => ({ ...s, canCopy: s.result !== 'failed', on: s.result !== 'failed' }));
}

const key = (s) => `${s.name} ${s.source?.file} ${s.source?.line}`;

function Item({ item, onChange })
{
	const s = servers.value.get(item.name);
	const isShown = s && s.source?.file === item.source?.file;

	return html`<li class=${`found${item.canCopy ? '' : ' off'}`}><label class="found-head"><input type="checkbox" checked=${item.on} disabled=${!item.canCopy || item.done} onChange=${(e) => onChange({ ...item, on: e.target.checked })} />
			<span class="strong">${safe(item.name)}</span><span class="small t3">${toolName(item.source?.tool)}</span><span class="grow"></span><span class="small mono t3">${place(item.source)}</span>
			${item.done && html`<span class="state of-ok"><${Icon} name="ok" /><span>copied</span></span>`}</label>
		${isShown && (s.command || s.url) && html`<div class="found-what mono">${s.command ? '$ ' : ''}${safe(s.command || s.url)}</div>`}
		${item.error && html`<${Problem} text=${paths(item.error)} />`}</li>`;
}

function Import({ close })
{
	const [items, setItems] = useState(null);
	const [error, setError] = useState('');
	const [target, setTarget] = useState(USER);
	const [secrets, setSecrets] = useState(true);
	const [busy, setBusy] = useState(false);

	useEffect(() => { read().then(setItems, (e) => { setError(e.message); setItems([]); }); }, []);
	const chosen = (items ?? []).filter((x) => x.on && x.canCopy && !x.done);
	const can = (items ?? []).filter((x) => x.canCopy);
	const copy = async () => {
		setBusy(true);
		try {
			const r = await verb('import', [...new Set(chosen.map((x) => named(x.name))), '--yes', '--json', target, ...(secrets ? ['--secrets'] : [])]);
			const results = new Map((r.json?.servers ?? []).map((s) => [key(s), s]));
			const next = items.map((x) => (chosen.includes(x) && results.has(key(x)) ? { ...x, done: results.get(key(x)).result === 'imported', error: results.get(key(x)).error } : x));
			const n = next.filter((x) => x.done).length;

			setItems(next);
			setError(r.json?.servers ? '' : failureOf(r));
			if (n)
				say(`${plural(n, 'server')} copied. They are approved by that.`);
			if (n && chosen.every((x) => next.find((y) => key(y) === key(x)).done))
				close();
		} catch (e) {
			setError(e.message);
		}
		setBusy(false);
	};
	const all = can.length > 0 && can.every((x) => x.on);

	return html`<div class="dialog-head"><div class="grow"><h2 class="title">Copy servers of other tools</h2><p class="t2">Copies are approved by that, and come before the ones they were copied from. The other tools' files stay as they are.</p></div></div>
		<div class="dialog-body">${items === null && html`<p class="t2" role="status">Reading the files of other tools.</p>`}
			${error && html`<${Problem} text=${paths(error)} />`}
			${items?.length === 0 && !error && html`<p class="t2">No other tool has a server that mcpool's file lacks.</p>`}
			${can.length > 1 && html`<label class="check"><input type="checkbox" checked=${all} onChange=${() => setItems(items.map((x) => ({ ...x, on: x.canCopy && !all })))} /><span>All ${can.length}</span></label>`}
			${items?.length > 0 && html`<ul class="founds">${items.map((item, i) => html`<${Item} key=${key(item)} item=${item} onChange=${(x) => setItems(items.map((y, k) => (k === i ? x : y)))} />`)}</ul>
				<div class="options"><${Target} value=${target} onChange=${setTarget} />
					<label class="check"><input type="checkbox" checked=${secrets} onChange=${(e) => setSecrets(e.target.checked)} /><span>Keep tokens in the secret store; the file gets their names</span></label></div>`}</div>
		<div class="dialog-foot"><span class="grow"></span><button type="button" class="button" onClick=${() => close()}>${items?.length ? 'Cancel' : 'Close'} <kbd>Esc</kbd></button>
			${items?.length > 0 && html`<button type="button" class="button primary" disabled=${!chosen.length || busy} onClick=${copy}>${busy ? 'Copying' : `Copy ${plural(chosen.length, 'server')}`}</button>`}</div>`;
}

export function openImport()
{
	openDialog((close) => html`<${Import} close=${close} />`, { label: 'Copy servers of other tools', wide: 'middle' });
}
