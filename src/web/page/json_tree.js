// json_tree.js - a JSON value as a tree: opened by hand, long lists page by page, long texts cut until asked for.
import { useState } from 'preact/hooks';
import { html } from './html.js';
import { safe, count, cut } from './format.js';
import { Icon } from './icons.js';
import { Exact } from './json.js';
import { Link, readAddress } from './parts/link.js';

const PAGE = 20, LONG = 300, OPEN = 8, BEFORE = 3;

const isBranch = (v) => v !== null && typeof v === 'object' && !(v instanceof Exact);
const sizeOf = (v) => (Array.isArray(v) ? v.length : Object.keys(v).length);
const sizeText = (v) => (Array.isArray(v) ? `[${count(sizeOf(v))}]` : `{${count(sizeOf(v))}}`);

// The end of a long address tells more than its beginning; a click shows all of it.
const shortAddress = (text) => (text.length <= 32 ? text : `…/${cut(text.replace(/^\w+:\/\//, '').split('/').filter(Boolean).slice(1).slice(-2).join('/') || text, 40)}`);

function Text({ text })
{
	const [whole, setWhole] = useState(false);

	if (readAddress(text))
		return html`<${Link} url=${text}>${shortAddress(safe(text))}<//>`;
	const shown = whole ? text : text.slice(0, LONG);

	return html`<span class="json-text">"${safe(JSON.stringify(shown).slice(1, -1))}${shown.length < text.length ? '…' : ''}"</span>
		${text.length > LONG && html`<button type="button" class="quiet" onClick=${() => setWhole(!whole)}>
			${whole ? 'less' : `all ${count(text.length)} characters`}</button>`}`;
}

function Leaf({ value })
{
	if (typeof value === 'string')
		return html`<${Text} text=${value} />`;
	const kind = value === null ? 'null' : typeof value === 'boolean' ? 'flag' : 'number';

	return html`<span class=${`json-${kind}`}>${value instanceof Exact ? value.exact : String(value)}</span>`;
}

// What is inside, as far as it fits on the line of a closed branch
function Preview({ value })
{
	if (Array.isArray(value))
		return null;
	const leaves = Object.keys(value).slice(0, 12).filter((k) => !isBranch(value[k])).slice(0, BEFORE);

	return leaves.map((k) => html`<span class="json-peek"> ${cut(safe(k), 24)} <span class=${typeof value[k] === 'string' ? 'json-text' : 'json-number'}>
		${typeof value[k] === 'string' ? `"${cut(safe(value[k]), 24)}"` : String(value[k])}</span></span>`);
}

function Branch({ name, value, depth, open: isOpen })
{
	const [open, setOpen] = useState(isOpen);
	const empty = sizeOf(value) === 0;

	return html`<li><button type="button" class="json-row" aria-expanded=${empty ? undefined : String(open)} disabled=${empty} onClick=${() => setOpen(!open)}>
			<span class="json-mark" aria-hidden="true">${!empty && html`<${Icon} name=${open ? 'down' : 'right'} size=${9} />`}</span><span class="json-key">${safe(name)}</span>
			<span class="json-size"> ${sizeText(value)}</span>${!open && html`<${Preview} value=${value} />`}</button>
		${open && !empty && html`<${Members} value=${value} depth=${depth + 1} />`}</li>`;
}

function Members({ value, depth })
{
	const [shown, setShown] = useState(PAGE);
	const keys = Array.isArray(value) ? value : Object.keys(value);
	const n = keys.length;
	const rows = [];

	for (let i = 0; i < Math.min(n, shown); i++) {
		const name = Array.isArray(value) ? i : keys[i], v = value[name];

		rows.push(isBranch(v) ? html`<${Branch} key=${name} name=${name} value=${v} depth=${depth} open=${depth < 1 && n <= OPEN && (n === 1 || sizeOf(v) <= OPEN)} />`
			: html`<li key=${name} class="json-row"><span class="json-mark"></span><span class="json-key">${safe(name)}</span> <${Leaf} value=${v} /></li>`);
	}
	return html`<ul class="json">${rows}
		${shown < n && html`<li><button type="button" class="quiet json-more" onClick=${() => setShown(shown + 25 * PAGE)}>${count(n - shown)} more</button></li>`}</ul>`;
}

// JsonTree({value}): the members of an object or a list; any other value alone
export function JsonTree({ value })
{
	if (!isBranch(value))
		return html`<div class="json"><${Leaf} value=${value ?? null} /></div>`;
	return sizeOf(value) ? html`<${Members} value=${value} depth=${0} />` : html`<div class="json json-size">${sizeText(value)}</div>`;
}
