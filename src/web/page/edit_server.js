// edit_server.js - changes a server of mcpool's own files, key by key. Shows what changes before it is written; values that
// are kept secret are shown as dots and stay unless another is typed.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { html } from './html.js';
import { servers, verb } from './hub.js';
import { safe, plural } from './format.js';
import { openDialog } from './parts/dialog.js';
import { Problem } from './parts/problem.js';
import { failureOf, named, notesOf } from './parts/target.js';
import { paths, place, say } from './parts/words.js';
import { Icon } from './icons.js';
import { isMap } from './schema.js';
import { SchemaForm } from './schema_form.js';
import { openImport, toolName } from './import.js';
import { openVariable } from './variable.js';

const DOTS = '•';
const TIME = { type: 'string', pattern: '^[0-9]+(ms|s|m|h)?$' };
const TIMES = ['timeout', 'toolTimeout', 'maxTotal'];
const time = (ms) => (typeof ms !== 'number' ? ms : ms % 3600000 === 0 && ms ? `${ms / 3600000}h` : ms % 60000 === 0 && ms ? `${ms / 60000}m` : ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`);
const VALUES = (title) => ({ type: 'object', title, additionalProperties: { type: 'string' } });
const LISTS = (description) => ({ type: 'array', items: { type: 'string' }, description });
const STDIO = {
	command: { type: 'string', minLength: 1, description: 'The program that is started.' }, args: LISTS('Its arguments, one by one.'), env: { ...VALUES('Variable'), description: '${NAME} takes one of the hub\'s variables, ${secret:NAME} a saved secret.' },
	cwd: { type: 'string', description: 'The folder it runs in.' },
};
const REMOTE = { url: { type: 'string', pattern: '^(https?|wss?)://' }, type: { enum: ['http', 'sse', 'websocket'] }, headers: VALUES('Header') };
const ALL = {
	mode: { enum: ['shared', 'project', 'serial', 'session'], description: 'Which sessions share one copy: all, those of one project, all but one call at a time, none.' },
	start: { enum: ['eager', 'lazy'], description: 'From the beginning, or from its first call on.' },
	residency: { type: 'string', pattern: '^(keep|idle:[0-9]+(ms|s|m|h)?)$', description: 'keep, or idle:10m: until it has not been called for that time.' },
	timeout: { ...TIME, description: 'How long a start may take: 30s, 2m.' }, toolTimeout: { ...TIME, description: 'How long one call may take.' }, maxTotal: { ...TIME, description: 'How far progress may extend a call.' },
	toolsAllowed: LISTS('Only these tools; patterns such as read_*.'), toolsDenied: LISTS('Not these tools.'),
	pins: { enum: ['warn', 'freeze', 'off'], description: 'When its tools change: tell, hide them until you accept, or nothing.' },
	environment: { enum: ['inherit', 'minimal', 'none'], description: 'Which variables it inherits.' },
	era: { enum: ['auto', 'legacy', 'modern'], description: 'Which revisions of MCP are spoken with it.' },
	healthProbe: { enum: ['ping', 'listTools'], description: 'How a slow server is told from a dead one.' },
	required: { type: 'boolean', description: 'Commands that list tools fail without it.' },
	restart: {
		type: 'object', description: 'When it ends.', properties: {
			mode: { enum: ['relentless', 'remote', 'once', 'none'] }, callers: { enum: ['wait', 'fail'], description: 'What calls do meanwhile.' }, attempts: { type: 'integer', minimum: 0 }, waitMs: { type: 'integer', minimum: 0 },
		},
	},
};

// What the file says, and what holds without it
export function readConfig(config)
{
	const value = {}, defaults = {};

	for (const [key, { value: v, from }] of Object.entries(config)) {
		const into = from === 'default' || /^profile/.test(from) ? defaults : value, [a, b] = key.split('.');
		const shown = TIMES.includes(a) ? time(v) : v;

		if (b)
			into[a] = { ...into[a], [b]: shown };
		else
			into[a] = shown;
	}
	return { value, defaults };
}

function schemaFor(value, defaults)
{
	const properties = { ...(value.url ? REMOTE : STDIO), ...ALL };

	for (const [k, p] of Object.entries(properties))
		if (defaults[k] !== undefined && !isMap(defaults[k]) && !Array.isArray(defaults[k]))
			properties[k] = { ...p, examples: [String(defaults[k])], description: `${p.description ?? ''} Otherwise ${defaults[k]}.`.trim() };
	return { type: 'object', required: value.url ? ['url'] : ['command'], properties };
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// changesOf(before, now, keys): [{key, before, now}]; of maps each member by itself
export function changesOf(before, now, keys)
{
	return keys.flatMap((k) => {
		const [a, b] = [before[k], now[k]];

		if (same(a, b))
			return [];
		if ((isMap(a) || a === undefined) && isMap(b) && !Object.keys({ ...a, ...b }).some((x) => /[.:=]/.test(x)))
			return [...new Set([...Object.keys(a ?? {}), ...Object.keys(b)])].filter((x) => !same(a?.[x], b[x])).map((x) => ({ key: `${k}.${x}`, before: a?.[x], now: b[x] }));
		return [{ key: k, before: a, now: b }];
	});
}

const shown = (v) => (v === undefined ? null : typeof v === 'string' ? v : JSON.stringify(v));
const hidden = (c) => c.now !== undefined && JSON.stringify(c.now).includes(DOTS);

function Changes({ list, defaults })
{
	return html`<dl class="changes mono">${list.map((c) => html`<div key=${c.key}><dt>${safe(c.key)}</dt><dd>${c.before !== undefined ? html`<del>${safe(shown(c.before))}</del>` : html`<span class="t3">${defaults[c.key] !== undefined ? `${safe(shown(defaults[c.key]))} by default` : 'not set'}</span>`}
		<span class="t3" aria-label="becomes"> → </span>${c.now !== undefined ? html`<ins>${safe(shown(c.now))}</ins>` : html`<span class="t3">not set</span>`}</dd></div>`)}</dl>`;
}

function Elsewhere({ s, close })
{
	return html`<div class="dialog-head"><div class="grow"><h2 class="title">${safe(s.name)} is in a file of ${toolName(s.source?.tool)}</h2>
			<p class="t2"><span class="mono">${place(s.source)}</span> belongs to that tool: mcpool reads it and never changes it.</p></div></div>
		<div class="dialog-body"><p>Copy the server to mcpool's own file to change it for all agents. The copy comes before the original.</p></div>
		<div class="dialog-foot"><button type="button" class="button" onClick=${() => close()}>Close <kbd>Esc</kbd></button>
			<button type="button" class="button primary" data-focus onClick=${() => { close(); openImport(); }}>Copy it to my file</button></div>`;
}

function Edit({ s, config, close })
{
	const { value: before, defaults } = useMemo(() => readConfig(config), [config]);
	const schema = useMemo(() => schemaFor(before, defaults), [before]);
	const [value, setValue] = useState(before);
	const [state, setState] = useState({});
	const list = changesOf(before, value, Object.keys(schema.properties));
	const masked = list.filter(hidden);
	const needs = s.state === 'failed' && s.health?.variable;
	const save = async () => {
		if (!list.length || masked.length)
			return;
		setState({ busy: true });
		try {
			const r = await verb('edit', [named(s.name), ...list.flatMap((c) => (c.now === undefined ? ['--unset', c.key] : [`${c.key}:=${JSON.stringify(c.now)}`])), '--json']);
			const why = failureOf(r), notes = notesOf(r);

			if (why) {
				setState({ error: why });
				return;
			}
			say(notes.length ? `${s.name} is changed. Note: ${notes.join('; ')}.` : `${s.name} is changed.`, notes.length > 0);
			close();
		} catch (e) {
			setState({ error: e.message });
		}
	};
	const under = html`<div class="dialog-under">${list.length > 0 && html`<section><h3 class="part">What changes <span class="t2">${plural(list.length, 'key')}</span></h3><${Changes} list=${list} defaults=${defaults} /></section>`}
		${masked.length > 0 && html`<${Problem} text=${`${masked.map((c) => c.key).join(', ')} has dots: mcpool does not show the value it keeps, so type it again`} />`}
		${state.error && html`<${Problem} text=${paths(state.error)} />`}</div>`;

	return html`<div class="dialog-head"><div class="grow"><h2 class="title">Edit ${safe(s.name)}</h2><p class="t2">In <span class="mono">${place(s.source)}</span>. Comments and other keys stay; it stays approved, and starts again where the change needs it.</p></div></div>
		${needs && html`<div class="dialog-note"><${Icon} name="retrying" /><span class="grow">${safe(needs)} is not set.</span><button type="button" class="button small" onClick=${() => { close(); openVariable(s, needs); }}>Set variable</button></div>`}
		<${SchemaForm} dialog schema=${schema} value=${value} onChange=${setValue} onSubmit=${save} busy=${state.busy || !list.length || masked.length > 0} label="Server"
			action=${list.length ? `Save ${plural(list.length, 'change')}` : 'Save'} verb="save it" primary under=${under} head=${html`<h3 class="part">Keys <span class="t2">what is empty has its default</span></h3>`}
			more=${html`<button type="button" class="button" onClick=${() => close()}>Cancel <kbd>Esc</kbd></button>`} />`;
}

function Editor({ name, close })
{
	const s = servers.value.get(name);
	const [config, setConfig] = useState(null);
	const [error, setError] = useState('');

	useEffect(() => {
		Promise.resolve().then(() => verb('config', ['show', named(name), '--json'])).then((r) => (r.json && !r.json.error ? setConfig(r.json) : setError(failureOf(r) ?? 'mcpool did not say how it is configured')), (e) => setError(e.message));
	}, [name]);
	if (s && s.source?.tool !== 'mcpool')
		return html`<${Elsewhere} s=${s} close=${close} />`;
	if (!config || !s)
		return html`<div class="dialog-body"><h2 class="title">Edit ${safe(name)}</h2><p class="t2" role="status">${error ? paths(error) : 'Reading its configuration.'}</p></div>
			<div class="dialog-foot"><button type="button" class="button" data-focus onClick=${() => close()}>Close <kbd>Esc</kbd></button></div>`;
	return html`<${Edit} s=${s} config=${config} close=${close} />`;
}

export function openEdit(name)
{
	openDialog((close) => html`<${Editor} name=${name} close=${close} />`, { label: `Edit ${safe(name)}`, wide: 'middle' });
}
