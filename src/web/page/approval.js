// approval.js - what an approval covers, completely: what would run, what changed, what speaks against it. A yes names the id of
// what was shown; if that changed meanwhile, nothing is approved. With risks, Enter approves nothing.
import { useEffect, useState } from 'preact/hooks';
import { html } from './html.js';
import { verb, me } from './hub.js';
import { safe, date } from './format.js';
import { Icon } from './icons.js';
import { writeJson } from './json.js';
import { quoted } from './recognise.js';
import { openDialog } from './parts/dialog.js';
import { named } from './parts/target.js';
import { path, place, paths, say } from './parts/words.js';
import { readAddress, Address } from './parts/link.js';

const MOST_LINES = 400;

const list = (v) => (Array.isArray(v) ? v : []);
const has = (v) => v !== undefined && v !== null;

// The words of `now` that are not in `before`, in order: the longest common row stays unmarked.
export function changedWords(before, now)
{
	const n = Math.min(before.length, 200), m = Math.min(now.length, 200);
	const rows = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
	const marks = now.map(() => true);

	for (let i = n - 1; i >= 0; i--)
		for (let k = m - 1; k >= 0; k--)
			rows[i][k] = before[i] === now[k] ? rows[i + 1][k + 1] + 1 : Math.max(rows[i + 1][k], rows[i][k + 1]);
	for (let i = 0, k = 0; i < n && k < m;)
		if (before[i] === now[k]) {
			marks[k] = false;
			i++;
			k++;
		} else if (rows[i + 1][k] >= rows[i][k + 1]) {
			i++;
		} else {
			k++;
		}
	return marks;
}

const changeOf = (item, name) => list(item.changes).find((c) => c.path === name);

function Command({ item })
{
	const argv = list(item.argv), command = changeOf(item, 'command'), args = changeOf(item, 'args');
	const before = args ? list(args.before) : argv.slice(1);
	const marks = [Boolean(command), ...(args ? changedWords(before, argv.slice(1)) : argv.slice(1).map(() => false))];

	return html`<div class="runs mono" tabindex="0" role="group" aria-label="The command"><span class="t3" aria-hidden="true">$ </span>${argv.map((word, i) => html`${i ? ' ' : ''}${marks[i] ? html`<ins>${safe(quoted(word))}</ins>` : safe(quoted(word))}`)}</div>`;
}

function Row({ title, children })
{
	return html`<dt>${title}</dt><dd>${children}</dd>`;
}

const isNew = (item, kind, name) => list(item.changes).some((c) => c.path === `${kind}.${name}` || c.path === kind && !has(c.before));
// Variables that make programs load other code
const CODE = /^(PATH|LD_PRELOAD|LD_LIBRARY_PATH|DYLD_\w+|NODE_OPTIONS|NODE_PATH|PYTHONPATH|PYTHONSTARTUP|PYTHONHOME|PERL5LIB|PERL5OPT|RUBYOPT|RUBYLIB|BASH_ENV|ENV|SHELL|JAVA_TOOL_OPTIONS|GIT_SSH_COMMAND|GIT_SSH|npm_config_\w+)$/i;

// Each with its value, as far as mcpool shows it: secrets are dots.
function Values({ item, kind, names })
{
	const values = item.config?.[kind]?.value ?? {};

	return names.map((n) => html`<div>${isNew(item, kind, n) || changeOf(item, `${kind}.${n}`) ? html`<ins>${safe(n)}</ins>` : safe(n)}${typeof values[n] === 'string' ? html`<span class="t3"> = </span>${values[n].includes('•') ? safe(values[n]) : safe(quoted(values[n]))}`
		: list(item.reads).includes(n) ? html`<span class="t3"> from your environment</span>` : ''}${CODE.test(n) && html` <span class="c-warn">decides what code runs</span>`}</div>`);
}

const Names = ({ item, kind, names }) => names.map((n, i) => html`${i ? ', ' : ''}${isNew(item, kind, n) ? html`<ins>${safe(n)}</ins>` : safe(n)}`);

function WouldRun({ item })
{
	const reads = list(item.reads), env = list(item.env), folders = list(item.folders), runners = list(item.runners);
	const url = readAddress(item.url);
	const files = list(item.files), secrets = list(item.secrets);
	const where = item.cwd || (item.source?.level === 'project' ? me.value?.project : null);

	return html`<section><h3 class="part">What would run <span class="t2">byte for byte</span></h3>
		<div class="would-run">
			${item.argv && html`<${Command} item=${item} />`}
			${item.url && html`<div class="runs mono">${changeOf(item, 'url') ? html`<ins>${url ? html`<${Address} url=${url} />` : safe(item.url)}</ins>` : url ? html`<${Address} url=${url} />` : safe(item.url)}</div>`}
			${item.content && html`<pre class="runs mono" tabindex="0">${safe(item.content)}</pre>`}
			<dl class="mono">
				${item.argv && html`<${Row} title="in">${where ? path(where) : '~'}<//>`}
				${list(item.commands).length > 0 && html`<${Row} title="first runs">${item.commands.map((c) => html`<div>${safe(quoted(c))} <span class="t3">in a shell</span></div>`)}<//>`}
				${env.length > 0 && html`<${Row} title="with"><${Values} item=${item} kind="env" names=${env} /><//>`}
				${list(item.headers).length > 0 && html`<${Row} title="sends"><${Values} item=${item} kind="headers" names=${item.headers} /><//>`}
				${reads.some((n) => !env.includes(n)) && html`<${Row} title="gets"><${Names} item=${item} kind="env" names=${reads.filter((n) => !env.includes(n))} /> <span class="t3">from your environment</span><//>`}
				${secrets.length > 0 && html`<${Row} title="secrets"><${Names} item=${item} kind="secrets" names=${secrets} /><//>`}
				${list(item.envFile).length > 0 && html`<${Row} title="env file"><${Names} item=${item} kind="envFile" names=${item.envFile} /><//>`}
				${files.length > 0 && html`<${Row} title="files">${files.map((f) => {
					const c = list(item.changes).find((x) => x.file === f);

					return html`<div>${c ? html`<ins>${safe(f)}</ins>` : safe(f)}${c && html` <span class="c-warn">${!has(c.before) ? 'new' : !has(c.now) ? 'gone' : 'changed'}</span>`}</div>`;
				})}<//>`}
				${folders.length > 0 && html`<${Row} title="may read">everything in ${folders.map((f, i) => html`${i ? ', ' : ''}${f === '.' ? path(me.value?.project ?? 'the project') : path(f)}`)}<span class="t3">, which may change without a question</span><//>`}
				${runners.length > 0 && html`<${Row} title="trusts">all of the project<span class="t3">: ${safe(runners.join(', '))} runs what its files say</span><//>`}
			</dl></div></section>`;
}

// --- what changed ------------------------------------------------------------------------------------

// The lines of both sides, with what differs: words between quotes, commas and spaces
function diffLines(change)
{
	const name = change.path.split('.').pop();
	const side = (v) => (has(v) ? `${JSON.stringify(name)}: ${writeJson(v)}`.split('\n') : []);
	const [a, b] = [side(change.before), side(change.now)];
	const split = (lines) => lines.map((l) => l.split(/(\s+|(?<=[[\],:{}])|(?=[[\],:{}]))/).filter((x) => x !== ''));
	const [x, y] = [split(a), split(b)];
	const marksY = x.length ? changedWords(x.flat().filter((w) => w.trim()), y.flat().filter((w) => w.trim())) : [];
	let k = 0;

	return [...a.map((text) => ({ sign: '-', parts: [[text, false]] })),
		...y.map((words) => ({ sign: '+', parts: words.map((w) => [w, w.trim() ? Boolean(marksY[k++]) && /\w/.test(w) : false]) }))];
}

function Diff({ item })
{
	const changes = list(item.changes);
	const groups = changes.map((c) => (c.file !== undefined ? { file: c } : { title: c.path.includes('.') ? c.path.slice(0, c.path.lastIndexOf('.')) : '', lines: diffLines(c) }));
	const plus = groups.reduce((n, g) => n + (g.lines?.filter((l) => l.sign === '+').length ?? 1), 0);
	const minus = groups.reduce((n, g) => n + (g.lines?.filter((l) => l.sign === '-').length ?? (has(g.file.before) ? 1 : 0)), 0);

	return html`<section><h3 class="part">What changed <span class="t2">${item.approvedMs ? `since ${date(item.approvedMs)}` : 'since you approved it'}</span>
			${changes.length > 0 && html`<span class="grow"></span><span class="counts mono"><b class="c-ok">+${plus}</b> <b class="c-fail">−${minus}</b></span>`}</h3>
		${changes.length === 0 ? html`<p class="t2">The file that it is in, ${place(item.source)}. Its words are the same.</p>` : html`<div class="diff mono" tabindex="0" role="group" aria-label="What changed">
			${groups.map((g) => (g.file ? html`<div class="diff-line is-file"><span class="sign">≠</span><span>${safe(g.file.file)} <span class="c-warn">${!has(g.file.before) ? 'is new' : !has(g.file.now) ? 'is gone' : 'has another content'}</span></span></div>`
				: html`${g.title && html`<div class="diff-line"><span class="sign"></span><span class="t3">${safe(g.title)}</span></div>`}
					${g.lines.slice(0, MOST_LINES).map((l) => html`<div class=${`diff-line ${l.sign === '+' ? 'is-added' : 'is-gone'}`}><span class="sign">${l.sign === '+' ? '+' : '−'}</span>
						<span>${l.parts.map(([w, mark]) => (mark ? html`<ins>${safe(w)}</ins>` : safe(w).replace(/^ +/, (x) => w.match(/^\s*/)[0] || x)))}</span></div>`)}`))}</div>`}</section>`;
}

function Risks({ risks })
{
	return html`<section><h3 class="part">Risks ${risks.length > 0 && html`<span class="badge">${risks.length}</span>`}</h3>
		${risks.length === 0 ? html`<p class="t2">mcpool sees none. It knows the entry, not the program.</p>`
			: html`<ul class="risks">${risks.map((r) => html`<li><${Icon} name="needs-approval" size=${13} /><div><div class="strong">${paths(r.what)}</div><div class="small t2">${paths(r.detail)}</div></div></li>`)}</ul>`}</section>`;
}

// --- the dialog ------------------------------------------------------------------------------------------

function coverage(item)
{
	const what = ['this entry'];

	if (list(item.files).length)
		what.push(item.files.length === 1 ? 'the file it names' : `the ${item.files.length} files it names`);
	return `Your yes covers ${what.join(' and ')}. One changed byte asks again.`;
}

// What the hub found, and variables that it does not weigh
function risksOf(item)
{
	const code = list(item.env).filter((n) => CODE.test(n));

	return [...list(item.risks), ...(code.length ? [{ what: 'A variable decides what code runs', detail: `${code.join(', ')}: programs load other code by it.` }] : [])];
}

function Card({ item, at, n, onKeep, onApprove, busy, error })
{
	const risks = risksOf(item), changed = Boolean(item.approvedMs) || list(item.changes).length > 0 || list(item.changed).length > 0;
	const where = html`<span class="mono strong">${place(item.source ?? item)}</span>`;
	const isProject = item.source?.level === 'project';

	return html`<div class="dialog-head"><span class="head-icon"><${Icon} name="needs-approval" size=${18} /></span>
			<div class="grow"><h2 class="title">${changed ? `${safe(item.name)} was changed since you approved it` : item.content ? `${safe(item.name)} waits for your approval` : `${safe(item.name)} is new here`}</h2>
				<p class="t2">${changed ? 'Edited outside mcpool in ' : 'Found in '}${where}${isProject && me.value?.project ? html`, project <span class="mono strong">${path(me.value.project) === me.value.project ? safe(me.value.project) : path(me.value.project)}</span>` : ''}.
					${changed ? ' Nothing of it runs before you decide.' : ' Nothing of it has run.'}</p></div>
			<span class="small t2 nowrap">${at + 1} of ${n}</span></div>
		<div class="dialog-body approval"><${WouldRun} item=${item} />
			${changed ? html`<div class="approval-two"><${Diff} item=${item} /><${Risks} risks=${risks} /></div>` : html`<${Risks} risks=${risks} />`}
			${error && html`<p class="c-fail" role="alert">${paths(error)}</p>`}</div>
		<div class="dialog-foot approval-foot"><span class="small t2 grow">${coverage(item)}</span>
			${n > 1 && at + 1 < n && html`<button type="button" class="button plain" onClick=${() => onKeep(false)}>Decide later</button>`}
			<button type="button" class=${`button${risks.length ? '' : ' primary'}`} disabled=${busy} onKeyDown=${(e) => e.key === 'Enter' && risks.length && e.preventDefault()} onClick=${onApprove}>Approve exactly this</button>
			<button type="button" class=${`button${risks.length ? ' primary' : ''}`} data-focus onClick=${() => onKeep(true)}>Keep blocked <kbd>Esc</kbd></button></div>`;
}

async function readWaiting(name)
{
	// Not `trust NAME`: for one that is approved already this accepts what changed in its tools.
	const { json, stderr } = await verb('trust', ['--json']);

	if (!json?.waiting)
		throw new Error(json?.error?.message || stderr || 'mcpool did not say what waits');
	return name === undefined ? json.waiting : json.waiting.filter((x) => x.name === name);
}

// The values of its variables. Read after what waits: if the entry changed between the two, the id shown first approves nothing.
async function readConfig(item)
{
	const { json } = await verb('config', ['show', named(item.name), '--json']);
	const file = item.source?.file;

	return json && !json.error && file && Object.values(json).some((x) => String(x?.from).startsWith(`${file}:`)) ? json : null;
}

function Approval({ name, close })
{
	const [items, setItems] = useState(null);
	const [at, setAt] = useState(0);
	const [state, setState] = useState({});
	const [config, setConfig] = useState({});
	const load = async (keep) => {
		try {
			setItems(await readWaiting(name));
			setState({ error: keep });
		} catch (e) {
			setState({ error: e.message });
		}
	};

	useEffect(() => { load(); }, [name]);
	useEffect(() => {
		if (items)
			document.querySelector('.dialog-layer.shown .approval-foot [data-focus]')?.focus({ preventScroll: true });
	}, [items, at]);
	useEffect(() => {
		const next = items?.[at];

		if (next?.argv || next?.url)
			readConfig(next).then((c) => setConfig({ id: next.id, c }), () => 0);
	}, [items, at]);
	if (!items)
		return html`<div class="dialog-body"><h2 class="title">${name ? safe(name) : 'What waits for you'}</h2><p class=${state.error ? '' : 't2'} role="status">${state.error ? paths(state.error) : 'Reading what would run.'}</p></div>
			<div class="dialog-foot"><button type="button" class="button" data-focus onClick=${() => close()}>Close <kbd>Esc</kbd></button></div>`;
	const item = items[at];

	if (!item)
		return html`<div class="dialog-body"><h2 class="title">Nothing waits</h2><p class="t2">${name ? `${safe(name)} is approved as it is now.` : 'Everything here is approved.'}</p></div>
			<div class="dialog-foot"><button type="button" class="button primary" data-focus onClick=${() => close()}>Close</button></div>`;
	const next = () => (at + 1 < items.length ? setAt(at + 1) : close());
	const approve = async () => {
		setState({ busy: true });
		try {
			const { json, stderr } = await verb('trust', ['--yes', '--id', item.id, '--json']);

			if (list(json?.approved).some((x) => x.id === item.id)) {
				say(`${item.name} is approved.`);
				setState({});
				next();
			} else {
				await load(json?.error?.message || json?.error || stderr || 'It changed again while you looked. This is what it is now.');
			}
		} catch (e) {
			setState({ error: e.message });
		}
	};

	return html`<${Card} key=${item.id} item=${{ ...item, config: config.id === item.id ? config.c : null }} at=${at} n=${items.length} busy=${state.busy} error=${state.error} onApprove=${approve} onKeep=${(ends) => (ends && name ? close() : next())} />`;
}

// openApproval(name): one server, or all that waits
export function openApproval(name)
{
	openDialog((close) => html`<${Approval} name=${name} close=${close} />`, { label: name ? `Approve ${safe(name)}` : 'Approve what waits', wide: true });
}

