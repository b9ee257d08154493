// schema_form.js - a form made from a JSON Schema (schema.js): labels with their fields, or the same value as JSON.
import { useState, useRef, useEffect, useMemo, useId } from 'preact/hooks';
import { html } from './html.js';
import { safe, cut, plural } from './format.js';
import { Icon } from './icons.js';
import { parseJson, writeJson } from './json.js';
import { Segments } from './parts/choices.js';
import { Problem } from './parts/problem.js';
import { readSchema, begin, check, pickWay, memberField, itemField, fromText, toText, hint, keyOf, isMap, withMember, withoutMember } from './schema.js';

const FEW = 4, SHORT = 30, OPEN = 6, TOGGLES = 12;
const LONG_NAMES = /^(body|content|contents|text|query|sql|code|script|source|prompt|message|markdown|html|input)$/i;
const SIMPLE = ['text', 'number', 'flag', 'choice', 'null', 'never'];

// putAt(value, path, v): a copy with v at the path; undefined takes the member away, and an object that was only made for it.
function putAt(value, path, v, isNeeded = () => true, depth = 0)
{
	if (depth === path.length)
		return v;
	const key = path[depth];

	if (Array.isArray(value) && typeof key === 'number') {
		const copy = [...value], inner = putAt(copy[key], path, v, isNeeded, depth + 1);

		copy[key] = inner === undefined ? null : inner;
		return copy;
	}
	const old = isMap(value) ? value : {};
	const inner = putAt(Object.hasOwn(old, key) ? old[key] : undefined, path, v, isNeeded, depth + 1);
	const out = inner === undefined ? withoutMember(old, key) : withMember(old, key, inner);

	return depth > 0 && Object.keys(out).length === 0 && v === undefined && !isNeeded(path.slice(0, depth)) ? undefined : out;
}

const getAt = (v, key) => (v !== null && typeof v === 'object' && Object.hasOwn(v, key) ? v[key] : undefined);

// --- controls of one value -----------------------------------------------------------------------

// A radio group in one piece. A second click on an optional choice takes it back.
function Radios({ f, a, value, onChange, clears })
{
	const at = f.choices.findIndex((c) => JSON.stringify(c.value) === JSON.stringify(value));
	const onKey = (event) => {
		const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];

		if (clears && (event.key === 'Delete' || event.key === 'Backspace'))
			onChange(undefined);
		if (!step)
			return;
		event.preventDefault();
		const next = at < 0 ? 0 : (at + step + f.choices.length) % f.choices.length;

		onChange(f.choices[next].value);
		event.currentTarget.children[next].focus();
	};

	return html`<div class=${`segments${a['aria-invalid'] ? ' bad' : ''}`} role="radiogroup" ...${a} onKeyDown=${onKey}>
		${f.choices.map((c, i) => html`<button type="button" role="radio" key=${i} aria-checked=${i === at ? 'true' : 'false'} tabIndex=${i === Math.max(0, at) ? 0 : -1}
			onClick=${() => onChange(clears && i === at ? undefined : c.value)}>${safe(c.label)}</button>`)}</div>`;
}

// What holds where nothing is chosen, if it is known
const otherwise = (f) => (f.schema?.examples ? `otherwise ${hint(f)}` : '');

function Choice({ f, a, value, onChange, required })
{
	const at = f.choices.findIndex((c) => JSON.stringify(c.value) === JSON.stringify(value));

	if (f.choices.length <= FEW && f.choices.reduce((n, c) => n + c.label.length + 3, 0) <= SHORT)
		return html`<${Radios} f=${f} a=${a} value=${value} onChange=${onChange} clears=${!required} />${at < 0 && otherwise(f) && html`<span class="small t3 otherwise">${otherwise(f)}</span>`}`;
	return html`<span class="select"><select class=${`input${a['aria-invalid'] ? ' bad' : ''}`} ...${a} value=${String(at)}
		onChange=${(e) => onChange(e.target.value === '-1' ? undefined : f.choices[e.target.value].value)}>
		${(at < 0 || !required) && html`<option value="-1">${otherwise(f) || (required ? 'choose' : '')}</option>`}
		${f.choices.map((c, i) => html`<option key=${i} value=${String(i)}>${cut(safe(c.label), 120)}</option>`)}</select><${Icon} name="down" /></span>`;
}

// What is typed stays as typed, also where it means the same as before ("1." on the way to "1.5").
function Typed({ f, name, a, value, onChange })
{
	const [text, setText] = useState(toText(value));
	const same = JSON.stringify(fromText(f, text)) === JSON.stringify(value ?? undefined);
	const shown = same ? text : toText(value);
	const type = (e) => {
		setText(e.target.value);
		onChange(fromText(f, e.target.value));
	};
	const bad = a['aria-invalid'] ? ' bad' : '';
	const placeholder = value === null ? 'null' : hint(f);
	const isSecret = f.schema?.format === 'password' || f.schema?.writeOnly === true;
	const isLong = !isSecret && (f.kind === 'any' || shown.includes('\n') || shown.length > 80 || f.schema?.maxLength > 500 || (LONG_NAMES.test(name) && !f.schema?.format));

	if (f.kind !== 'number' && isLong)
		return html`<textarea class=${`input grows${f.kind === 'any' ? ' mono' : ''}${bad}`} rows=${Math.min(8, Math.max(f.kind === 'any' ? 1 : 2, shown.split('\n').length))} spellcheck=${f.kind !== 'any'}
			...${a} placeholder=${placeholder} value=${shown} onInput=${type}></textarea>`;
	return html`<input class=${`input${bad}`} type=${isSecret ? 'password' : 'text'} inputMode=${f.kind === 'number' ? (f.whole ? 'numeric' : 'decimal') : f.schema?.format === 'email' ? 'email' : undefined}
		autocomplete="off" ...${a} placeholder=${placeholder} value=${shown} onInput=${type} />`;
}

const FLAGS = { choices: [{ value: true, label: 'true' }, { value: false, label: 'false' }] };

function Control({ f, name, a, value, onChange, required })
{
	if (f.kind === 'flag')
		return html`<${Radios} f=${FLAGS} a=${a} value=${value} onChange=${onChange} clears=${!required} />${value === undefined && otherwise(f) && html`<span class="small t3 otherwise">${otherwise(f)}</span>`}`;
	if (f.kind === 'choice' && f.choices.length === 1 && required)
		return html`<span class="mono fixed" ...${a}>${safe(f.choices[0].label)}</span>`;
	if (f.kind === 'choice')
		return html`<${Choice} f=${f} a=${a} value=${value} onChange=${onChange} required=${required} />`;
	if (f.kind === 'null' || f.kind === 'never')
		return html`<span class="t3 fixed">${f.kind === 'null' ? 'null' : 'nothing is allowed here'}</span>`;
	return html`<${Typed} f=${f} name=${name} a=${a} value=${value} onChange=${onChange} />`;
}

// A list of short values: pills, and a place to type the next one. A list of choices has one button for each.
function Pills({ f, item, name, a, value, onChange })
{
	const [text, setText] = useState('');
	const box = useRef();
	const values = Array.isArray(value) ? value : [];
	const add = () => {
		const parts = item.kind === 'number' ? text.split(/[\s,]+/) : [text.trim()];
		const more = parts.map((p) => fromText(item, p)).filter((v) => v !== undefined);

		if (more.length)
			onChange([...values, ...more]);
		setText('');
	};
	const remove = (i) => {
		onChange(values.filter((_, k) => k !== i));
		box.current?.querySelector('input, select')?.focus();
	};
	const onKey = (e) => {
		if ((e.key === 'Enter' || (e.key === ',' && item.kind === 'number')) && !e.ctrlKey && !e.metaKey && text.trim()) {
			e.preventDefault();
			add();
		} else if (e.key === 'Backspace' && text === '' && values.length) {
			onChange(values.slice(0, -1));
		}
	};

	if (item.kind === 'choice' && item.choices.length <= TOGGLES && values.every((v) => item.choices.some((c) => c.value === v)))
		return html`<div class="toggles" role="group" ...${a}>${item.choices.map((c, i) => html`<button key=${i} type="button" class="chip" aria-pressed=${values.includes(c.value) ? 'true' : 'false'}
			onClick=${() => onChange(values.includes(c.value) ? values.filter((v) => v !== c.value) : item.choices.map((x) => x.value).filter((v) => v === c.value || values.includes(v)))}>
			${safe(c.label)}</button>`)}</div>`;
	return html`<div class=${`input pills${a['aria-invalid'] ? ' bad' : ''}`} ref=${box} onClick=${(e) => e.target === e.currentTarget && box.current.querySelector('input, select').focus()}>
		${values.map((v, i) => html`<span class="pill mono" key=${i}>${cut(safe(toText(v)), 60)}<button type="button" aria-label=${`Remove ${safe(toText(v))}`} onClick=${() => remove(i)}>×</button></span>`)}
		${item.kind === 'choice' ? html`<select ...${a} value="" onChange=${(e) => { onChange([...values, item.choices[e.target.value].value]); e.target.value = ''; }}><option value="">add</option>
			${item.choices.map((c, i) => html`<option value=${i} key=${i}>${cut(safe(c.label), 120)}</option>`)}</select>`
			: html`<input ...${a} type="text" autocomplete="off" placeholder=${values.length ? 'add' : `add ${hint(item)}`.trim()} aria-label=${`Add to ${safe(name)}`} value=${text}
				onInput=${(e) => setText(e.target.value)} onKeyDown=${onKey} onBlur=${add} />`}</div>`;
}

// --- fields ----------------------------------------------------------------------------------------

const Label = ({ name, title, required, id, htmlFor }) => html`<label class=${`field-name${title ? '' : ' mono'}`} id=${id} for=${htmlFor}>${safe(title || name)}${required && html`<span class="c-fail" aria-hidden="true"> *</span>`}</label>`;

// What all kinds share: label, the field, words below while it has the focus, the error.
function Row({ f, name, required, path, form, children, wide, control })
{
	const id = form.id(path), error = form.errorAt(path);
	const about = f.description || (f.title && f.title !== name && !form.titles ? f.title : '');
	const isShown = form.focus === keyOf(path);
	const a = {
		id, name: undefined, 'data-path': keyOf(path), 'aria-required': required && ['text', 'number', 'any'].includes(f.kind) ? 'true' : undefined,
		'aria-invalid': error ? 'true' : undefined, 'aria-describedby': [error && `${id}-e`, about && `${id}-a`].filter(Boolean).join(' ') || undefined,
	};
	const isGroup = !['text', 'number', 'any'].includes(f.kind) && !(f.kind === 'choice' && !control?.few);

	if (isGroup || f.kind === 'array')
		a['aria-labelledby'] = `${id}-l`;
	return html`<div class=${`field${wide ? ' wide' : ''}`} data-key=${keyOf(path)}><${Label} name=${name} title=${form.titles && f.title} required=${required} id=${`${id}-l`} htmlFor=${id} />
		<div class="field-in">${children(a)}
			${error && html`<${Problem} id=${`${id}-e`} text=${error} />`}
			${about && html`<div class="field-about" id=${`${id}-a`} hidden=${!isShown}>${safe(about)}</div>`}</div></div>`;
}

function Group({ f, name, required, path, value, form, words, children, open: first, onRemove })
{
	const hasErrors = form.hasErrorsIn(path);
	const [open, setOpen] = useState(first);
	const isOpen = open || (hasErrors && form.all);
	const error = form.errorAt(path), id = form.id(path);

	return html`<div class="group"><div class="group-head"><button type="button" class="group-button" aria-expanded=${String(isOpen)} onClick=${() => setOpen(!isOpen)} id=${id} data-path=${keyOf(path)}
			aria-describedby=${error ? `${id}-e` : undefined}>
			<${Icon} name=${isOpen ? 'down' : 'right'} size=${10} /><span class="mono">${safe(name)}${required && html`<span class="c-fail" aria-hidden="true"> *</span>`}</span>
			<span class="t3">${words}${!isOpen && value !== undefined ? ', filled in' : ''}</span></button>
			${onRemove && html`<button type="button" class="quiet" onClick=${onRemove} aria-label=${`Remove ${safe(name)}`}>Remove</button>`}</div>
		${error && html`<${Problem} id=${`${id}-e`} text=${error} />`}
		${isOpen && html`<div class="group-in">${f.description && html`<p class="field-about">${safe(f.description)}</p>`}${children()}</div>`}</div>`;
}

// Keys that the schema leaves open: each with its name and its value.
function Extras({ f, value, path, form })
{
	const [names, setNames] = useState({});
	const known = new Set(f.props.map((p) => p.name));
	const keys = isMap(value) ? Object.keys(value).filter((k) => !known.has(k)) : [];
	const id = form.id([...path, '+']);
	const rename = (from, to) => {
		if (to === from || to === '' || Object.hasOwn(value, to))
			return;
		form.put(path, Object.keys(value).reduce((o, k) => withMember(o, k === from ? to : k, value[k]), {}));
	};
	const add = () => {
		let n = keys.length + 1;

		while (isMap(value) && Object.hasOwn(value, `key${n}`))
			n++;
		const field = memberField(f, `key${n}`);

		form.put([...path, `key${n}`], begin(field) ?? (field.kind === 'number' ? 0 : field.kind === 'flag' ? false : ''));
		setTimeout(() => document.getElementById(`${id}-${keys.length}`)?.select(), 30);
	};

	return html`${keys.map((k, i) => {
		const field = memberField(f, k);

		return html`<div class="extra" key=${i}><input class="input mono" id=${`${id}-${i}`} aria-label="Name" value=${names[k] ?? k} onInput=${(e) => setNames({ [k]: e.target.value })}
				onBlur=${(e) => { rename(k, e.target.value.trim()); setNames({}); }} />
			<div class="field-in">${field && SIMPLE.concat('any').includes(field.kind) ? html`<${Value} f=${field} name=${k} path=${[...path, k]} value=${value[k]} form=${form} required />`
				: html`<${Field} f=${field} name=${k} path=${[...path, k]} value=${value[k]} form=${form} required />`}</div>
			<button type="button" class="remove" aria-label=${`Remove ${safe(k)}`} onClick=${() => form.put([...path, k], undefined)}>×</button></div>`;
	})}
	<button type="button" class="quiet add" onClick=${add}><${Icon} name="plus" size=${10} /> Add ${path.length && f.title ? safe(f.title).toLowerCase() : 'a key'}</button>`;
}

// A value without its label
function Value({ f, name, path, value, form, required })
{
	const error = form.errorAt(path), id = form.id(path);
	const a = { id, 'data-path': keyOf(path), 'aria-label': safe(name), 'aria-invalid': error ? 'true' : undefined, 'aria-describedby': error ? `${id}-e` : undefined };

	return html`<${Control} f=${f} name=${name} a=${a} value=${value} onChange=${(v) => form.put(path, v === undefined ? '' : v)} required=${required} />
		${error && html`<${Problem} id=${`${id}-e`} text=${error} />`}`;
}

function Members({ f, value, path, form })
{
	return html`${f.props.map((p) => html`<${Field} key=${p.name} f=${p.field()} name=${p.name} required=${p.required} path=${[...path, p.name]} value=${getAt(value, p.name)} form=${form} />`)}
		${f.left > 0 && html`<p class="t3">${plural(f.left, 'more field')}: switch to JSON to fill them in.</p>`}
		${f.adds && html`<${Extras} f=${f} value=${value} path=${path} form=${form} />`}`;
}

// A list of objects, of lists, of anything: one below the other.
function Items({ f, value, path, form })
{
	const values = Array.isArray(value) ? value : [];
	const next = itemField(f, values.length);

	return html`${values.slice(0, 200).map((v, i) => {
		const item = itemField(f, i), at = [...path, i];
		const remove = () => form.drop(path, i);

		if (!item)
			return null;
		return item.kind === 'object' ? html`<${Group} key=${i} f=${item} name=${i + 1} path=${at} value=${v} form=${form} words=${words(item, v)} open=${true} onRemove=${remove}>${() => html`<${Members} f=${item} value=${v} path=${at} form=${form} />`}<//>`
			: html`<div class="item" key=${i}><${Field} f=${item} name=${String(i + 1)} path=${at} value=${v} form=${form} required /><button type="button" class="remove" aria-label=${`Remove item ${i + 1}`} onClick=${remove}>×</button></div>`;
	})}
	${values.length > 200 && html`<p class="t3">${values.length - 200} more: switch to JSON to see them.</p>`}
	${next && html`<button type="button" class="quiet add" onClick=${() => form.put(path, [...values, begin(next) ?? (next.kind === 'text' || next.kind === 'any' ? '' : null)])}><${Icon} name="plus" size=${10} /> Add an item</button>`}`;
}

function words(f, value)
{
	if (f.kind === 'object' && f.props.length === 0 && f.adds)
		return plural(isMap(value) ? Object.keys(value).length : 0, f.title ? safe(f.title).toLowerCase() : 'key');
	if (f.kind === 'array')
		return f.tuple.length ? `list of ${f.tuple.length}` : 'list';
	return f.props.length ? `object, ${plural(f.props.length + f.left, 'field')}` : 'object';
}

function Field({ f, name, required, path, value, form })
{
	const props = { f, name, required, path, value, form };
	const put = (v) => form.put(path, v);

	if (f.kind === 'union') {
		const at = pickWay(f, value, path, { picks: form.picks, left: 2000 });
		const labels = { kind: 'choice', choices: f.ways.map((w, i) => ({ value: i, label: w.label })) };
		const inner = f.ways[at].field();
		const isDirect = SIMPLE.concat('any').includes(inner.kind);
		const body = html`<${Row} ...${props} control=${{ few: labels.choices.length <= FEW }}>${(a) => html`<${Choice} f=${labels} a=${isDirect ? { ...a, id: `${a.id}-w`, 'aria-label': `Kind of ${safe(name)}` } : a} value=${at} required
			onChange=${(i) => form.pick(path, i, begin(f.ways[i].field(), required))} />
			${isDirect && html`<div class="below"><${Control} f=${inner} name=${name} a=${a} value=${value} onChange=${put} required=${required} /></div>`}`}<//>`;

		return html`${body}${!isDirect && html`<div class="group-in">${inner.description && html`<p class="field-about">${safe(inner.description)}</p>`}${inner.kind === 'object' ? html`<${Members} key=${at} f=${inner} value=${value} path=${path} form=${form} />`
			: html`<${Items} f=${inner} value=${value} path=${path} form=${form} />`}</div>`}`;
	}
	if (f.kind === 'object')
		return html`<${Group} ...${props} words=${words(f, value)} open=${required || value !== undefined || (path.length < 2 && f.props.length <= OPEN)}>${() => html`<${Members} f=${f} value=${value} path=${path} form=${form} />`}<//>`;
	if (f.kind === 'array') {
		const item = f.tuple.length ? null : f.item?.();

		if (item && ['text', 'number', 'choice'].includes(item.kind) && (value === undefined || value === null || Array.isArray(value)))
			return html`<${Row} ...${props}>${(a) => html`<${Pills} f=${f} item=${item} name=${name} a=${a} value=${value} onChange=${(v) => put(v.length || required ? v : undefined)} />
				${form.itemErrors(path).map((e) => html`<${Problem} key=${keyOf(e.path)} text=${`${safe(toText(getAt(value, e.path[path.length])))}: ${e.text}`} />`)}`}<//>`;
		return html`<${Group} ...${props} words=${`${words(f)}, ${plural(Array.isArray(value) ? value.length : 0, 'item')}`} open=${required || value !== undefined}>${() => html`<${Items} f=${f} value=${value} path=${path} form=${form} />`}<//>`;
	}
	return html`<${Row} ...${props} control=${{ few: f.kind === 'choice' && f.choices.length <= FEW && f.choices.reduce((n, c) => n + c.label.length + 3, 0) <= SHORT }}>${(a) => html`<${Control} f=${f} name=${name} a=${a} value=${value} onChange=${put} required=${required} />`}<//>`;
}

// --- the form ------------------------------------------------------------------------------------------

// The same value as text. What cannot be read stays in the box, with the line below it.
function JsonBox({ value, onChange, setBroken, broken, id, label })
{
	const [text, setText] = useState(() => writeJson(value ?? {}));

	useEffect(() => () => setBroken(''), []);
	const type = (e) => {
		setText(e.target.value);
		try {
			onChange(parseJson(e.target.value));
			setBroken('');
		} catch (error) {
			const at = /position (\d+)/.exec(error.message)?.[1];

			setBroken(at ? `is not JSON, line ${e.target.value.slice(0, at).split('\n').length}` : 'is not JSON');
		}
	};
	const onKey = (e) => {
		if (e.key !== 'Tab' || e.shiftKey || e.target.selectionStart === e.target.selectionEnd)
			return;
		e.preventDefault();
		e.target.setRangeText('  ', e.target.selectionStart, e.target.selectionStart, 'end');
	};

	return html`<textarea class=${`input mono json-box${broken ? ' bad' : ''}`} id=${id} aria-label=${label} aria-invalid=${broken ? 'true' : undefined} spellcheck=${false}
		rows=${Math.min(24, Math.max(8, text.split('\n').length + 1))} value=${text} onInput=${type} onKeyDown=${onKey}></textarea>`;
}

const wordsLeft = (n, missing, verb) => `${missing ? 'Fill in' : 'Fix'} ${plural(n, 'field')} to ${verb}`;

// useForm(schema): the field of a schema, made once
export const useField = (schema) => useMemo(() => readSchema(schema), [schema]);

// SchemaForm({schema, value, onChange, onSubmit, busy}). head: stands left of "Form | JSON"; about: words below it; action: the button's
// word; verb: what the button does, in a sentence; more: further buttons; keys: what is beside the button's word
export function SchemaForm({ schema, value, onChange, onSubmit, busy, head, about, action = 'Call', verb = 'call', more, keys = ['Ctrl', '↵'], primary, label = 'Arguments', bare, dialog, after, under, titles })
{
	const field = useField(schema);
	const base = useId();
	const box = useRef();
	const [mode, setMode] = useState('form');
	const [broken, setBroken] = useState('');
	const [picks, setPicks] = useState(() => new Map());
	const [touched, setTouched] = useState(() => new Set());
	const [all, setAll] = useState(false);
	const [focus, setFocus] = useState('');
	const errors = useMemo(() => check(field, value ?? {}, picks), [field, value, picks]);
	const latest = useRef(value);

	latest.current = value;
	useEffect(() => {
		setPicks(new Map());
		setTouched(new Set());
		setAll(false);
	}, [field]);

	const isNeeded = (path) => {
		let f = field, needed = true;

		for (const key of path) {
			const p = f?.kind === 'object' ? f.props.find((x) => x.name === key) : null;

			needed = p ? p.required : true;
			f = p ? p.field() : null;
		}
		return needed;
	};
	const put = (path, v) => {
		latest.current = putAt(latest.current ?? {}, path, v, isNeeded) ?? {};
		onChange(latest.current);
	};
	const byPath = new Map();

	for (const e of errors)
		if (!byPath.has(keyOf(e.path)))
			byPath.set(keyOf(e.path), e.text);
	const isSeen = (key) => all || touched.has(key);
	const form = {
		picks, all, focus, put, titles,
		id: (path) => `${base}${path.map((p) => `-${String(p).replace(/[^\w-]/g, (c) => `_${c.codePointAt(0)}`)}`).join('')}`,
		errorAt: (path) => (isSeen(keyOf(path)) ? byPath.get(keyOf(path)) : undefined),
		itemErrors: (path) => (isSeen(keyOf(path)) ? errors.filter((e) => e.path.length > path.length && keyOf(e.path.slice(0, path.length)) === keyOf(path)) : []),
		hasErrorsIn: (path) => errors.some((e) => e.path.length > path.length && keyOf(e.path.slice(0, path.length)) === keyOf(path)),
		pick: (path, i, v) => {
			setPicks(new Map(picks).set(keyOf(path), i));
			put(path, v);
		},
		drop: (path, i) => put(path, path.reduce(getAt, latest.current).filter((_, k) => k !== i)),
	};
	const top = all ? errors.filter((e) => e.path.length === 0 || !box.current?.querySelector(`[data-path="${CSS.escape(keyOf(e.path))}"]`)) : errors.filter((e) => e.path.length === 0);
	const left = broken ? 1 : errors.length;
	const submit = () => {
		if (busy)
			return;
		if (left === 0) {
			onSubmit?.(latest.current ?? {});
			return;
		}
		setAll(true);
		setTimeout(() => box.current?.querySelector('[aria-invalid="true"], .bad')?.focus(), 30);
	};
	const onKey = (e) => {
		if (e.key === 'Enter' && (e.ctrlKey || e.metaKey) && !e.isComposing) {
			e.preventDefault();
			submit();
		}
	};
	const onFocus = (e) => setFocus(e.target.closest?.('.field')?.dataset.key ?? '');
	const onBlur = (e) => {
		const key = e.target.closest?.('.field, .extra')?.dataset.key ?? e.target.dataset?.path;

		if (key && !e.currentTarget.querySelector(`.field[data-key="${CSS.escape(key)}"]`)?.contains(e.relatedTarget))
			setTouched((t) => (t.has(key) ? t : new Set(t).add(key)));
	};
	const isMissing = errors.length > 0 && errors.every((e) => e.text === 'is missing' && !isSeen(keyOf(e.path)));
	const empty = field.kind === 'object' && field.props.length === 0 && !field.adds;

	return html`<div class=${`schema-form${dialog ? ' in-dialog' : ''}`} ref=${box} onKeyDown=${onKey}><div class=${dialog ? 'dialog-body' : 'schema-body'}>
		${!bare && html`<div class="schema-head">${head ?? html`<span class="grow"></span>`}<${Segments} label="Fill in as" items=${[['form', 'Form'], ['json', 'JSON']]} value=${mode} onChange=${setMode} /></div>`}
		${about}
		<div class="schema-fields" onFocusCapture=${onFocus} onBlurCapture=${onBlur}>
			${mode === 'json' ? html`<${JsonBox} key=${schema} value=${value} onChange=${(v) => { latest.current = v; onChange(v); }} broken=${broken} setBroken=${setBroken} id=${`${base}-json`} label=${`${label} as JSON`} />
				${broken && html`<${Problem} text=${broken} />`}
				${!broken && errors.slice(0, 8).map((e) => html`<${Problem} key=${keyOf(e.path)} text=${`${e.path.join('.')} ${e.text}`.trim()} />`)}`
				: html`${empty ? html`<p class="t3">It takes no arguments.</p>` : field.kind === 'object' ? html`<${Members} f=${field} value=${value} path=${[]} form=${form} />`
					: html`<${Field} f=${field} name=${label} path=${[]} value=${value} form=${form} required />`}
				${top.map((e) => html`<${Problem} key=${keyOf(e.path)} text=${`${e.path.join('.')} ${e.text}`.trim()} />`)}`}
		</div>${after}</div>${under}
		${onSubmit && html`<div class=${dialog ? 'dialog-foot' : 'schema-foot'}>${dialog && left > 0 && html`<span class="t3 schema-left">${wordsLeft(left, !broken && isMissing, verb)}</span>`}${more}<button type="button" class=${`button${primary ? ' primary' : ''}`} aria-disabled=${left > 0 || busy ? 'true' : undefined} onClick=${submit}>${action}
				${keys && html`<kbd>${keys.join(' ')}</kbd>`}</button>
			${!dialog && left > 0 && html`<span class="t3 schema-left">${wordsLeft(left, !broken && isMissing, verb)}</span>`}</div>`}</div>`;
}
