// add_server.js - the dialog that adds servers: from what a README says (recognise.js), or field by field. Shows what would be
// added before it is; tokens go to the secret store, the file gets their names.
import { useMemo, useState } from 'preact/hooks';
import { html } from './html.js';
import { me, servers, verb } from './hub.js';
import { safe, plural } from './format.js';
import { Icon } from './icons.js';
import { go } from './router.js';
import { openDialog } from './parts/dialog.js';
import { Segments } from './parts/choices.js';
import { Problem } from './parts/problem.js';
import { Target, USER, failureOf, notesOf } from './parts/target.js';
import { paths, place, say } from './parts/words.js';
import { recognise, written, splitWords, nameOfUrl, isSecretName } from './recognise.js';
import { SchemaForm } from './schema_form.js';

const NAMES = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;
const NAME = { type: 'string', maxLength: 60, pattern: '^[A-Za-z0-9_][A-Za-z0-9_-]*$', description: 'How agents see it: letters, digits, - and _.' };
const VALUES = { type: 'object', title: 'Variable', description: '', additionalProperties: { type: 'string' } };
const FORMS = {
	command: {
		type: 'object', required: ['command', 'name'], properties: {
			command: { type: 'string', description: 'As you would type it in a terminal. No shell runs it.', examples: ['npx -y @scope/server'] },
			name: NAME, env: { ...VALUES, description: 'Variables for the server. ${NAME} takes one of the hub\'s, ${secret:NAME} a saved secret.' },
			cwd: { type: 'string', description: 'The folder it runs in. Otherwise your home folder, or the project.', examples: ['~'] },
		},
	},
	url: {
		type: 'object', required: ['url', 'name'], properties: {
			url: { type: 'string', pattern: '^(https?|wss?)://', examples: ['https://mcp.example.com/mcp'] }, name: NAME,
			headers: { ...VALUES, title: 'Header', description: 'Sent with each request. A login needs none: mcpool asks you for it.' },
			type: { enum: ['http', 'sse', 'websocket'], description: 'Found out if you leave it open.' },
		},
	},
};

function entryOf(kind, v)
{
	if (kind === 'url')
		return { url: v.url, ...(v.type ? { type: v.type } : {}), ...(v.headers ? { headers: v.headers } : {}) };
	const [command, ...args] = splitWords(v.command);

	return { command, ...(args.length ? { args } : {}), ...(v.env ? { env: v.env } : {}), ...(v.cwd ? { cwd: v.cwd } : {}) };
}

// The values of an entry that belong into the secret store: [map, key, name of the secret, prefix, value]
export function secretsIn(name, entry)
{
	return ['env', 'headers'].flatMap((map) => Object.entries(entry[map] ?? {}).filter(([k, v]) => typeof v === 'string' && v.length > 5 && isSecretName(k) && !/\$\{|^!|<|\byour[-_ ]/i.test(v))
		.map(([k, v]) => {
			const [, prefix, value] = /^((?:Bearer|Basic|token)\s+)?([^]*)$/i.exec(v);
			const secret = (map === 'headers' ? `${name}_${k === 'Authorization' ? 'TOKEN' : k}` : k).toUpperCase().replace(/[^A-Z0-9_]/g, '_');

			return { map, key: k, secret, prefix: prefix ?? '', value };
		}));
}

async function keepSecrets(name, entry)
{
	const out = structuredClone(entry), list = secretsIn(name, entry);
	const taken = new Set(list.length ? (await verb('secret', ['list', '--json'])).json?.secrets?.map((s) => s.name) ?? [] : []);

	for (const s of list) {
		const secret = taken.has(s.secret) ? `${name.toUpperCase().replace(/[^A-Z0-9_]/g, '_')}_${s.secret}` : s.secret;
		const why = failureOf(await verb('secret', ['set', secret, '--json'], { input: `${s.value}\n` }));

		if (why)
			throw new Error(`The secret ${secret} was not saved: ${why}`);
		out[s.map][s.key] = `${s.prefix}\${secret:${secret}}`;
	}
	return out;
}

// What would be added: name, command or address, variables by name, what to look at
function Found({ item, onChange })
{
	const exists = servers.value.get(item.name);
	const keys = [...Object.keys(item.entry.env ?? item.entry.environment ?? {}), ...Object.keys(item.entry.headers ?? {})];
	const badName = !NAMES.test(item.name);

	return html`<li class=${`found${item.on ? '' : ' off'}`}><div class="found-head"><input type="checkbox" aria-label=${`Add ${safe(item.name)}`} checked=${item.on} onChange=${(e) => onChange({ ...item, on: e.target.checked })} />
			<input class=${`input mono${badName ? ' bad' : ''}`} aria-label="Name" value=${item.name} onInput=${(e) => onChange({ ...item, name: e.target.value.trim() })} />
			<span class="small t3">${item.what}</span><span class="grow"></span>${item.done && html`<span class="state of-ok"><${Icon} name="ok" /><span>added</span></span>`}</div>
		<div class="found-what mono">${item.entry.command ? '$ ' : ''}${safe(written(item.entry))}</div>
		${keys.length > 0 && html`<div class="found-what small t2">with ${safe(keys.join(', '))}</div>`}
		${item.notes.map((n) => html`<div class="field-note"><${Icon} name="needs-approval" /><span>${safe(n)}</span></div>`)}
		${badName && html`<${Problem} text="a name has letters, digits, - and _, and does not begin with -" />`}
		${item.on && exists && !item.done && html`<div class="field-note"><${Icon} name="needs-approval" /><span>There is a ${safe(item.name)} already, in ${place(exists.source)}.${exists.source?.tool === 'mcpool' ? ' Choose another name.' : ' Yours would take its place.'}</span></div>`}
		${item.error && html`<${Problem} text=${paths(item.error)} />`}</li>`;
}

const PLACEHOLDER = 'npx -y @scope/server\nhttps://mcp.example.com/mcp\nclaude mcp add name -- command\n{ "mcpServers": { … } }';

function AddServer({ text: first, close })
{
	const [mode, setMode] = useState('paste');
	const [text, setText] = useState(first ?? '');
	const [edits, setEdits] = useState({});
	const [values, setValues] = useState({ command: {}, url: {} });
	const [target, setTarget] = useState(USER);
	const [keeps, setKeeps] = useState(true);
	const [busy, setBusy] = useState(false);
	const read = useMemo(() => recognise(text), [text]);
	const fromForm = () => {
		try {
			return [{ name: values[mode].name ?? '', entry: entryOf(mode, values[mode]), notes: [], what: '' }];
		} catch {
			return [];
		}
	};
	const items = (mode === 'paste' ? read.servers : fromForm()).map((s, i) => ({ ...s, on: true, ...edits[i] }));
	const chosen = items.filter((x) => x.on && !x.done);
	const secrets = chosen.flatMap((x) => secretsIn(x.name, x.entry));
	const change = (i) => (item) => setEdits({ ...edits, [i]: { name: item.name, on: item.on } });
	const isReady = chosen.length > 0 && chosen.every((x) => NAMES.test(x.name)) && new Set(chosen.map((x) => x.name)).size === chosen.length;
	const add = async () => {
		const next = { ...edits }, added = [], notes = [];

		setBusy(true);
		for (const [i, item] of items.entries()) {
			if (!item.on || item.done)
				continue;
			let why;

			try {
				const r = await verb('add-json', [item.name, '-', target, '--json'], { input: JSON.stringify(keeps ? await keepSecrets(item.name, item.entry) : item.entry) });

				why = failureOf(r);
				notes.push(...notesOf(r));
			} catch (e) {
				why = e.message;
			}
			next[i] = { name: item.name, on: true, error: why, done: !why };
			if (!why)
				added.push(item.name);
		}
		setBusy(false);
		setEdits(next);
		if (added.length)
			say(`${added.join(', ')} ${added.length === 1 ? 'is' : 'are'} added.${notes.length ? ` Note: ${notes.join('; ')}.` : ''}`);
		if (items.every((x, i) => !x.on || next[i]?.done)) {
			close();
			if (added.length === 1)
				go('server', added[0]);
		}
	};
	const type = (v) => {
		const old = values[mode];

		if (mode === 'url' && v.url && (!v.name || v.name === nameOfUrl(old.url ?? '')))
			v = { ...v, name: nameOfUrl(v.url) };
		if (mode === 'command' && v.command && (!v.name || v.name === recognise(old.command ?? '').servers[0]?.name))
			v = { ...v, name: recognise(v.command).servers[0]?.name };
		setEdits({});
		setValues({ ...values, [mode]: v });
	};
	const error = mode !== 'paste' && Object.values(edits).find((e) => e.error)?.error;
	const options = html`<div class="options"><${Target} value=${target} onChange=${setTarget} />
		${secrets.length > 0 && html`<label class="check"><input type="checkbox" checked=${keeps} onChange=${(e) => setKeeps(e.target.checked)} />
			<span>Keep ${safe(secrets.map((s) => s.key).join(', '))} in the secret store; the file gets <span class="mono">\${secret:${safe(secrets[0].secret)}}</span></span></label>`}</div>`;

	return html`<div class="dialog-head"><div class="grow"><h2 class="title">Add a server</h2><p class="t2">What you add is approved by that. It starts right away.</p></div>
			<${Segments} label="How" items=${[['paste', 'Paste'], ['command', 'Command'], ['url', 'Address']]} value=${mode} onChange=${(m) => { setMode(m); setEdits({}); }} /></div>
		${mode === 'paste' ? html`<div class="dialog-body"><label class="label" for="paste">What its README says: a command, an address, or JSON of any tool</label>
			<textarea class="input mono paste-box" id="paste" rows="7" spellcheck=${false} data-focus placeholder=${PLACEHOLDER} value=${text} disabled=${busy} onInput=${(e) => { setText(e.target.value); setEdits({}); }}></textarea>
			${read.problem && html`<${Problem} text=${safe(read.problem)} />`}
			${items.length > 0 && html`<ul class="founds" aria-label="What would be added">${items.map((item, i) => html`<${Found} key=${i} item=${item} onChange=${change(i)} />`)}</ul>`}
			${items.length > 0 && options}</div>
			<div class="dialog-foot"><span class="grow"></span><button type="button" class="button" onClick=${() => close()}>Cancel <kbd>Esc</kbd></button>
				<button type="button" class="button primary" disabled=${!isReady || busy} onClick=${add}>${busy ? 'Adding' : chosen.length > 1 ? `Add ${plural(chosen.length, 'server')}` : 'Add server'}</button></div>`
		: html`<${SchemaForm} key=${mode} dialog bare schema=${FORMS[mode]} value=${values[mode]} onChange=${type} onSubmit=${add} busy=${busy} action="Add server" verb="add it" primary label="Server"
			after=${html`${error && html`<${Problem} text=${paths(error)} />`}${options}`}
			more=${html`<button type="button" class="button" onClick=${() => close()}>Cancel <kbd>Esc</kbd></button>`} />`}`;
}

// openAddServer(text?): text: what was pasted elsewhere
export function openAddServer(text)
{
	if (me.peek())
		openDialog((close) => html`<${AddServer} text=${typeof text === 'string' ? text : ''} close=${close} />`, { label: 'Add a server', wide: 'middle' });
}
