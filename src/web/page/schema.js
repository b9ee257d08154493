// schema.js - reads a JSON Schema (2020-12, draft-07, as MCP servers send it) as fields of a form: what each is, the values
// it begins with, and what is wrong with a value, in words. Schemas are not trusted: depth, count and work are limited;
// what is beyond a limit becomes a field for any JSON, and the server has the last word. No DOM here.
import { Exact } from './json.js';
import { matches } from './pattern.js';

const MOST = { refs: 64, depth: 24, props: 300, choices: 500, ways: 20, text: 2000, work: 20000, errors: 50, begin: 6 };
const NEVER = Symbol('never'), ALSO = Symbol('also'), LOST = Symbol('lost');

export const isMap = (v) => v !== null && typeof v === 'object' && !Array.isArray(v) && !isExact(v);
const isExact = (v) => v instanceof Exact;
const own = (o, k) => (Object.hasOwn(o, k) ? o[k] : undefined);
const words = (v) => (typeof v === 'string' ? v.slice(0, MOST.text) : '');
const list = (v) => (Array.isArray(v) ? v : []);
const same = (a, b) => a === b || JSON.stringify(a) === JSON.stringify(b);
const plain = (v) => (typeof v === 'string' ? v : JSON.stringify(v) ?? '');
export const keyOf = (path) => JSON.stringify(path);
// Assignment to o.__proto__ would not make a member of that name.
export const withMember = (o, k, v) => ({ ...o, [k]: v });
export function withoutMember(o, k)
{
	const { [k]: gone, ...rest } = o;
	return rest;
}

// --- one flat schema from $ref and allOf -------------------------------------------------------

function find(root, ref)
{
	if (ref === '#' || ref === root.$id) return root;
	if (ref.startsWith('#/')) {
		let at = root;
		for (const part of ref.slice(2).split('/', 32)) {
			let name = part;
			try { name = decodeURIComponent(part); } catch { /* as written */ }
			name = name.replace(/~1/g, '/').replace(/~0/g, '~');
			if (at === null || typeof at !== 'object' || !Object.hasOwn(at, name)) return undefined;
			at = at[name];
		}
		return at;
	}
	for (const defs of [own(root, '$defs'), own(root, 'definitions')])
		for (const s of isMap(defs) ? Object.values(defs).slice(0, MOST.choices) : [])
			if (isMap(s) && (s.$id === ref || '#' + s.$anchor === ref)) return s;
	return undefined;
}

const typesOf = (t) => (typeof t === 'string' ? [t] : list(t).filter((x) => typeof x === 'string'));

function bothTypes(a, b)
{
	const [x, y] = [typesOf(a), typesOf(b)];
	const out = x.filter((t) => y.includes(t) || (t === 'integer' && y.includes('number')));
	return y.includes('integer') && x.includes('number') ? [...out, 'integer'] : out;
}

const larger = (a, b) => (typeof a !== 'number' ? b : typeof b !== 'number' ? a : Math.max(a, b));
const smaller = (a, b) => (typeof a !== 'number' ? b : typeof b !== 'number' ? a : Math.min(a, b));
const bothSchemas = (a, b) => (a === false || b === false ? false : a === true ? b : b === true ? a : { allOf: [a, b] });
const JOIN = {
	type: bothTypes,
	required: (a, b) => [...new Set([...list(a), ...list(b)])],
	enum: (a, b) => list(a).filter((x) => list(b).some((y) => same(x, y))),
	properties: (a, b) => {
		if (!isMap(a) || !isMap(b)) return isMap(a) ? a : b;
		let out = { ...a };
		for (const k of Object.keys(b)) out = withMember(out, k, Object.hasOwn(a, k) ? bothSchemas(a[k], b[k]) : b[k]);
		return out;
	},
	additionalProperties: bothSchemas, items: bothSchemas,
	minimum: larger, exclusiveMinimum: larger, minLength: larger, minItems: larger, minProperties: larger,
	maximum: smaller, exclusiveMaximum: smaller, maxLength: smaller, maxItems: smaller, maxProperties: smaller,
};

// Both hold; where only words differ, those of `a`.
function merge(a, b)
{
	const out = { ...b, ...a };
	const also = [...(a[ALSO] || []), ...(b[ALSO] || [])];
	for (const k of Object.keys(b)) {
		if (!Object.hasOwn(a, k)) continue;
		if (Object.hasOwn(JOIN, k)) out[k] = JOIN[k](a[k], b[k]);
		else if (['oneOf', 'anyOf', 'if', 'not', 'pattern', 'const'].includes(k) && !same(a[k], b[k]))
			also.push(k === 'if' ? { if: b.if, then: b.then, else: b.else } : { [k]: b[k] });
	}
	if (a.type !== undefined && b.type !== undefined && out.type.length === 0) out[NEVER] = true;
	if (a[NEVER] || b[NEVER]) out[NEVER] = true;
	if (also.length) out[ALSO] = also;
	return out;
}

function flat(schema, doc, left = { n: MOST.refs })
{
	if (schema === false) return { [NEVER]: true };
	if (!isMap(schema) || --left.n < 0) return {};
	let out = schema;
	if (typeof own(out, '$ref') === 'string') {
		const { $ref, ...rest } = out;
		const target = find(doc.root, $ref);
		out = target === undefined ? { ...rest, [LOST]: words($ref) } : merge(flat(rest, doc, left), flat(target, doc, left));
	}
	if (Array.isArray(own(out, 'allOf'))) {
		const { allOf, ...rest } = out;
		out = allOf.slice(0, MOST.refs).reduce((a, s) => merge(a, flat(s, doc, left)), rest);
	}
	return out;
}

// --- fields ------------------------------------------------------------------------------------

const KINDS = { string: 'text', number: 'number', integer: 'number', boolean: 'flag', object: 'object', array: 'array' };
const SHAPE = ['type', 'properties', 'items', 'prefixItems', 'enum', 'const', 'additionalProperties', 'format', 'pattern', '$ref',
	'oneOf', 'anyOf', 'allOf', 'minimum', 'maximum', 'minLength', 'maxLength', 'patternProperties'];
const isNull = (s) => s.type === 'null' || (Object.hasOwn(s, 'const') && s.const === null);

function typesIn(s)
{
	const t = [...new Set(typesOf(s.type))].filter((x) => Object.hasOwn(KINDS, x) || x === 'null');
	if (t.length === 0 && ['properties', 'required', 'additionalProperties', 'patternProperties'].some((k) => Object.hasOwn(s, k)))
		t.push('object');
	else if (t.length === 0 && ['items', 'prefixItems', 'minItems'].some((k) => Object.hasOwn(s, k))) t.push('array');
	else if (t.length === 0 && ['pattern', 'format', 'minLength', 'maxLength'].some((k) => Object.hasOwn(s, k))) t.push('string');
	else if (t.length === 0 && ['minimum', 'maximum', 'multipleOf'].some((k) => Object.hasOwn(s, k))) t.push('number');
	return t.includes('number') ? t.filter((x) => x !== 'integer') : t;
}

// The values of an enum or a const, with titles; undefined if it is neither.
function choicesOf(s)
{
	if (Object.hasOwn(s, 'const')) return [{ value: s.const, label: words(s.title) || plain(s.const), about: words(s.description) }];
	if (!Array.isArray(s.enum)) return undefined;
	const names = list(s.enumNames);
	return s.enum.slice(0, MOST.choices).map((value, i) => ({ value, label: words(names[i]) || plain(value) || '""' }));
}

function lazily(make)
{
	let made;
	return () => (made ??= make());
}

function make(schema, doc, depth)
{
	const s = flat(schema, doc);
	const f = { title: words(s.title), description: words(s.description), schema: s, doc, depth, nullable: s.nullable === true };
	if (Object.hasOwn(s, 'default')) f.default = s.default;
	if (s[LOST]) f.description = `${f.description} This part refers to ${s[LOST]}, which is not in the schema.`.trim();
	f.also = lazily(() => (s[ALSO] || []).map((x) => make(x, doc, depth + 1)));
	if (s[NEVER]) return { ...f, kind: 'never' };
	if (depth > MOST.depth) return { ...f, kind: 'any' };
	const choices = choicesOf(s);
	if (choices) return asChoice(f, choices);
	const ways = Array.isArray(s.oneOf) ? s.oneOf : Array.isArray(s.anyOf) ? s.anyOf : null;
	return (ways && asWays(f, s, ways)) || asType(f, s);
}

function asChoice(f, choices)
{
	const some = choices.filter((c) => c.value !== null);
	return { ...f, kind: some.length ? 'choice' : 'null', choices: some, nullable: f.nullable || some.length < choices.length };
}

// Returns null where oneOf and anyOf say nothing of the shape, but only what is needed together.
function asWays(f, s, ways)
{
	const { oneOf, anyOf, ...base } = s;
	const { [ALSO]: also, title, description, default: _, ...shape } = base;
	const all = ways.slice(0, MOST.ways).map((w) => flat(w, f.doc));
	const some = all.filter((w) => !isNull(w) && !w[NEVER]);
	if (oneOf && anyOf) f.also = lazily(() => [make({ anyOf }, f.doc, f.depth + 1)]);
	f.nullable ||= all.some(isNull);
	if (!all.some((w) => SHAPE.some((k) => Object.hasOwn(w, k)))) {
		f.needs = some.map((w) => list(w.required).filter((x) => typeof x === 'string')).filter((r) => r.length);
		return null;
	}
	if (some.length === 0) return { ...f, kind: f.nullable ? 'null' : 'never' };
	const choices = some.map(choicesOf);
	if (choices.every(Boolean)) return asChoice(f, choices.flat());
	if (some.length === 1) {
		const inner = make(merge(base, some[0]), f.doc, f.depth + 1);
		return { ...inner, nullable: inner.nullable || f.nullable };
	}
	const telling = tellingProperty(some, f.doc);
	return {
		...f, kind: 'union',
		ways: some.map((w, i) => ({
			label: words(w.title) || (telling ? plain(telling[i]) : wordFor(w)) || `Option ${i + 1}`,
			field: lazily(() => make({ ...merge(shape, w), title: '' }, f.doc, f.depth + 1)),
		})),
	};
}

// The property whose constant tells the ways apart: its constants.
function tellingProperty(ways, doc)
{
	const first = isMap(ways[0].properties) ? Object.keys(ways[0].properties).slice(0, 20) : [];
	for (const name of first) {
		const values = ways.map((w) => {
			const p = isMap(w.properties) && own(w.properties, name);
			const c = isMap(p) ? choicesOf(flat(p, doc)) : undefined;
			return c && c.length === 1 ? c[0].value : undefined;
		});
		if (!values.includes(undefined) && new Set(values).size === values.length) return values;
	}
	return null;
}

const WORDS = { string: 'text', number: 'number', integer: 'whole number', boolean: 'true or false', object: 'object', array: 'list' };

function wordFor(s)
{
	const t = typesIn(s).filter((x) => x !== 'null');
	if (Array.isArray(s.enum)) return 'choice';
	if (t.length === 1 && t[0] === 'object' && isMap(s.properties)) return Object.keys(s.properties).slice(0, 2).join(', ').slice(0, 40);
	return t.length === 1 ? WORDS[t[0]] : '';
}

function asType(f, s)
{
	const t = typesIn(s);
	f.nullable ||= t.includes('null');
	const some = t.filter((x) => x !== 'null');
	if (some.length === 0) return { ...f, kind: t.length ? 'null' : 'any' };
	if (some.length > 1) {
		const { [ALSO]: also, default: _, ...shape } = s;
		return { ...f, kind: 'union', ways: some.map((type) => ({ label: WORDS[type], field: lazily(() => make({ ...shape, type, title: '' }, f.doc, f.depth + 1)) })) };
	}
	f.kind = KINDS[some[0]];
	if (f.kind === 'number') f.whole = some[0] === 'integer';
	if (f.kind === 'object') asObject(f, s);
	if (f.kind === 'array') asArray(f, s);
	return f;
}

function asObject(f, s)
{
	const props = isMap(s.properties) ? s.properties : {};
	const required = new Set(list(s.required).filter((x) => typeof x === 'string').slice(0, MOST.props));
	const names = [...new Set([...Object.keys(props), ...required])];
	const extra = own(s, 'additionalProperties');
	const child = (x) => lazily(() => make(x, f.doc, f.depth + 1));
	f.props = names.slice(0, MOST.props).map((name) => ({
		name, required: required.has(name), field: child(Object.hasOwn(props, name) ? props[name] : isMap(extra) ? extra : true),
	}));
	f.left = names.length - f.props.length;
	f.patterns = isMap(s.patternProperties) ? Object.entries(s.patternProperties).slice(0, 20).map(([p, x]) => [p, child(x)]) : [];
	f.closed = extra === false;
	f.extra = extra === false && f.patterns.length === 0 ? null : f.patterns.length === 1 && !isMap(extra) ? f.patterns[0][1] : child(extra ?? true);
	// Keys of one's own have a place in the form where the schema speaks of them, or of nothing else.
	f.adds = Boolean(f.extra) && (extra !== undefined && extra !== false || f.patterns.length > 0 || (f.depth > 0 && !isMap(s.properties) && names.length === 0));
}

function asArray(f, s)
{
	const tuple = Array.isArray(s.prefixItems) ? s.prefixItems : Array.isArray(s.items) ? s.items : [];
	const rest = Array.isArray(s.prefixItems) ? s.items : Array.isArray(s.items) ? s.additionalItems : s.items;
	const child = (x) => lazily(() => make(x, f.doc, f.depth + 1));
	f.tuple = tuple.slice(0, MOST.ways).map(child);
	f.item = rest === false ? null : child(rest ?? true);
}

// The form of a whole schema. An input schema is an object, also where it does not say so.
export function readSchema(schema)
{
	const root = isMap(schema) ? schema : {};
	const f = make(root, { root }, 0);
	return f.kind === 'any' && typesIn(root).length === 0 ? make({ ...root, type: 'object' }, { root }, 0) : f;
}

// The field of an object's member, also of one that the schema does not name.
export function memberField(f, name)
{
	const p = f.props.find((x) => x.name === name);
	if (p) return p.field();
	const by = f.patterns.find(([pattern]) => matches(pattern, name));
	return by ? by[1]() : f.extra ? f.extra() : null;
}

export const itemField = (f, i) => (i < f.tuple.length ? f.tuple[i]() : f.item && f.item());

// --- values ------------------------------------------------------------------------------------

// What a field begins with; undefined: it is left out.
export function begin(f, required = true, depth = 0)
{
	if (Object.hasOwn(f, 'default') && plain(f.default).length < 1e5) return structuredClone(f.default);
	if (!required || depth > MOST.begin) return undefined;
	if (f.kind === 'choice' && f.choices.length === 1) return f.choices[0].value;
	if (f.nullable || f.kind === 'null') return null;
	if (f.kind === 'union') return begin(f.ways[0].field(), true, depth + 1);
	if (f.kind === 'array') return [];
	if (f.kind !== 'object') return undefined;
	let out = {};
	for (const p of f.props) {
		const v = begin(p.field(), p.required, depth + 1);
		if (v !== undefined) out = withMember(out, p.name, v);
	}
	return out;
}

// What a person typed. A text that is not a number stays, so that it can be said what is wrong with it.
export function fromText(f, text)
{
	if (f.kind === 'number') {
		const t = text.trim();
		const n = Number(t);

		if (t === '')
			return undefined;
		if (/^-?[1-9]\d*$/.test(t) && !Number.isSafeInteger(n) && JSON.rawJSON)
			return new Exact(t);
		return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(t) && Number.isFinite(n) ? n : text;
	}
	if (text === '') return undefined;
	if (f.kind === 'any') { try { return JSON.parse(text); } catch { return text; } }
	return text;
}

export function toText(value)
{
	if (value === undefined || value === null) return '';
	if (isExact(value)) return value.exact;
	return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
}

// In a few words what goes into a field, for its place while it is empty.
export function hint(f)
{
	const s = f.schema || {};
	const example = list(s.examples).find((x) => typeof x === 'string' || typeof x === 'number');
	if (example !== undefined) return plain(example).slice(0, 60);
	if (f.kind === 'number') {
		const [low, high] = [s.minimum, s.maximum].map((x) => (typeof x === 'number' ? x : undefined));
		const range = low !== undefined && high !== undefined ? `, ${low} to ${high}` : low !== undefined ? `, from ${low}` : high !== undefined ? `, up to ${high}` : '';
		return (f.whole ? 'whole number' : 'number') + range;
	}
	if (f.kind === 'any') return 'text or JSON';
	if (f.kind !== 'text') return '';
	return { date: '2026-11-30', 'date-time': '2026-11-30T14:05:00Z', time: '14:05:00Z', email: 'name@example.com', uri: 'https://…', uuid: '8-4-4-4-12 digits' }[s.format] || '';
}

// --- what is wrong with a value ------------------------------------------------------------------

const many = (n, what) => `${n} ${what}${n === 1 ? '' : 's'}`;
const isDay = (t) => {
	const m = /^(\d{4})-(\d\d)-(\d\d)$/.exec(t), d = m && new Date(Date.UTC(+m[1], m[2] - 1, +m[3]));
	return Boolean(m) && d.getUTCMonth() === m[2] - 1 && d.getUTCDate() === +m[3];
};
const isTime = (t) => /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[-+]([01]\d|2[0-3]):[0-5]\d)$/i.test(t);
const FORMATS = {
	date: [isDay, 'must be a date such as 2026-11-30'],
	time: [isTime, 'must be a time such as 14:05:00Z'],
	'date-time': [(t) => isDay(t.slice(0, 10)) && /[T ]/i.test(t[10] || '') && isTime(t.slice(11)), 'must be a date and time such as 2026-11-30T14:05:00Z'],
	email: [(t) => t.length < 320 && /^[^\s@<>]+@[^\s@<>]+$/.test(t), 'must be an email address'],
	uri: [(t) => /^[a-z][a-z0-9+.-]*:[^\s]+$/i.test(t), 'must be an address such as https://example.com'],
	uuid: [(t) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(t), 'must be a UUID'],
	ipv4: [(t) => /^((25[0-5]|2[0-4]\d|1?\d?\d)(\.(?!$)|$)){4}$/.test(t), 'must be an IPv4 address'],
};

function textWrong(s, v)
{
	const n = v.length > 1e5 ? v.length : Array.from(v).length;
	if (typeof s.minLength === 'number' && n < s.minLength) return `needs at least ${many(s.minLength, 'character')}`;
	if (typeof s.maxLength === 'number' && n > s.maxLength) return `has ${many(n, 'character')}; at most ${s.maxLength} are allowed`;
	const format = typeof s.format === 'string' && Object.hasOwn(FORMATS, s.format) ? FORMATS[s.format] : null;
	if (format && v.length < 1e4 && !format[0](v)) return format[1];
	if (typeof s.pattern === 'string' && matches(s.pattern, v) === false) return `must match ${s.pattern.slice(0, 120)}`;
	return '';
}

function numberWrong(f, v)
{
	const s = f.schema, n = Number(isExact(v) ? v.exact : v);
	if (f.whole && !isExact(v) && !Number.isInteger(n)) return 'must be a whole number';
	if (f.whole && !isExact(v) && !Number.isSafeInteger(n)) return 'is too large to be sent exactly';
	const [low, high] = [s.minimum, s.maximum];
	if (typeof low === 'number' && (n < low || (s.exclusiveMinimum === true && n === low))) return s.exclusiveMinimum === true ? `must be more than ${low}` : `must be at least ${low}`;
	if (typeof high === 'number' && (n > high || (s.exclusiveMaximum === true && n === high))) return s.exclusiveMaximum === true ? `must be less than ${high}` : `must be at most ${high}`;
	if (typeof s.exclusiveMinimum === 'number' && n <= s.exclusiveMinimum) return `must be more than ${s.exclusiveMinimum}`;
	if (typeof s.exclusiveMaximum === 'number' && n >= s.exclusiveMaximum) return `must be less than ${s.exclusiveMaximum}`;
	const step = s.multipleOf, q = n / step;
	if (typeof step === 'number' && step > 0 && Number.isFinite(q) && Math.abs(q - Math.round(q)) > 1e-9 * Math.max(1, Math.abs(q))) return `must be a multiple of ${step}`;
	return '';
}

// All that is wrong: [{path, text}]. `picks` maps keyOf(path) of a union to the way that was chosen for it.
export function check(f, value, picks = new Map())
{
	const job = { picks, left: MOST.work, errors: [] };
	visit(f, value, [], job);
	return job.errors;
}

function visit(f, v, path, job)
{
	if (--job.left < 0 || job.errors.length >= MOST.errors) return;
	const say = (text, at = path) => { if (job.errors.length < MOST.errors) job.errors.push({ path: at, text }); };
	if (v === null && (f.nullable || f.kind === 'any')) return;
	if (f.kind === 'never') return say('is not allowed here');
	if (f.kind === 'null') return v === null ? undefined : say('must be null');
	if (f.kind === 'text') {
		const wrong = typeof v !== 'string' ? 'must be text' : textWrong(f.schema, v);
		if (wrong) say(wrong);
	} else if (f.kind === 'number') {
		const wrong = typeof v !== 'number' && !isExact(v) ? `must be a ${f.whole ? 'whole ' : ''}number` : numberWrong(f, v);
		if (wrong) say(wrong);
	} else if (f.kind === 'flag') {
		if (typeof v !== 'boolean') say('must be true or false');
	} else if (f.kind === 'choice') {
		if (!f.choices.some((c) => same(c.value, v))) say(oneOfThese(f.choices));
	} else if (f.kind === 'union') {
		visit(f.ways[pickWay(f, v, path, job)].field(), v, path, job);
	} else if (f.kind === 'array') visitArray(f, v, path, job, say);
	else if (f.kind === 'object') visitObject(f, v, path, job, say);
	for (const more of f.also()) visit(more, v, path, job);
	visitIf(f, v, path, job);
}

function oneOfThese(choices)
{
	if (choices.length === 1) return `must be ${choices[0].label.slice(0, 80)}`;
	const shown = choices.slice(0, 5).map((c) => c.label.slice(0, 40)).join(', ');
	return `must be one of ${shown}${choices.length > 5 ? ` and ${choices.length - 5} more` : ''}`;
}

function visitArray(f, v, path, job, say)
{
	const s = f.schema;
	if (!Array.isArray(v)) return say('must be a list');
	if (typeof s.minItems === 'number' && v.length < s.minItems) say(`needs at least ${many(s.minItems, 'item')}`);
	if (typeof s.maxItems === 'number' && v.length > s.maxItems) say(`has ${many(v.length, 'item')}; at most ${s.maxItems} are allowed`);
	if (s.uniqueItems === true && v.length <= 1000) {
		const seen = new Set();
		v.forEach((x, i) => {
			const k = JSON.stringify(x);
			if (seen.has(k)) say('is there twice', [...path, i]);
			seen.add(k);
		});
	}
	for (let i = 0; i < v.length && job.left > 0; i++) {
		const item = itemField(f, i);
		if (!item) { say(`may have at most ${many(f.tuple.length, 'item')}`); break; }
		visit(item, v[i], [...path, i], job);
	}
}

function visitObject(f, v, path, job, say)
{
	const s = f.schema;
	if (!isMap(v)) return say('must be an object');
	for (const p of f.props) {
		if (Object.hasOwn(v, p.name) && v[p.name] !== undefined) visit(p.field(), v[p.name], [...path, p.name], job);
		else if (p.required) say('is missing', [...path, p.name]);
	}
	const known = new Set(f.props.map((p) => p.name)), keys = Object.keys(v);
	for (const k of keys) {
		if (known.has(k) || f.left > 0) continue;
		const by = f.patterns.filter(([p]) => matches(p, k) !== false);
		if (by.length) by.forEach(([, x]) => visit(x(), v[k], [...path, k], job));
		else if (f.closed) say('is not a key of this object', [...path, k]);
		else if (isMap(s.additionalProperties)) visit(f.extra(), v[k], [...path, k], job);
	}
	if (typeof s.minProperties === 'number' && keys.length < s.minProperties) say(`needs at least ${many(s.minProperties, 'key')}`);
	if (typeof s.maxProperties === 'number' && keys.length > s.maxProperties) say(`has ${many(keys.length, 'key')}; at most ${s.maxProperties} are allowed`);
	for (const rules of [s.dependentRequired, s.dependencies])
		for (const [k, needs] of isMap(rules) ? Object.entries(rules) : [])
			for (const need of Object.hasOwn(v, k) ? list(needs) : [])
				if (typeof need === 'string' && !Object.hasOwn(v, need)) say(`is needed with ${k}`, [...path, need]);
	if (f.needs?.length && !f.needs.some((names) => names.every((n) => Object.hasOwn(v, n))))
		say(`needs ${f.needs.map((names) => names.join(' and ')).join(', or ')}`);
}

// Asks without saying: how many things would be wrong.
function quietly(f, v, path, job)
{
	const inner = { picks: job.picks, left: Math.min(job.left, 2000), errors: [] };
	const had = inner.left;
	visit(f, v, path, inner);
	job.left -= had - inner.left;
	return inner.errors;
}

function visitIf(f, v, path, job)
{
	const s = f.schema;
	if (!isMap(s.if) || f.depth > MOST.depth) return;
	f.test ??= make(s.if, f.doc, f.depth + 1);
	const then = quietly(f.test, v, path, job).length === 0 ? s.then : s.else;
	if (isMap(then) || then === false) visit(make(then, f.doc, f.depth + 1), v, path, job);
}

// Which way of a union a value goes: the chosen one, otherwise the one with least against it.
export function pickWay(f, v, path = [], job = { picks: new Map(), left: MOST.work })
{
	const chosen = job.picks.get(keyOf(path));
	if (chosen !== undefined && chosen < f.ways.length) return chosen;
	let best = 0, least = Infinity;
	for (let i = 0; i < f.ways.length && v !== undefined && least > 0; i++) {
		const w = f.ways[i].field();
		const wrong = quietly(w, v, path, job);
		let cost = wrong.length;
		if (wrong.some((e) => e.path.length === path.length && /^must be (text|a |an |true)/.test(e.text))) cost += 1000;
		if (w.kind === 'object' && isMap(v))
			for (const p of w.props) {
				const c = p.field();
				if (c.kind === 'choice' && c.choices.length === 1 && Object.hasOwn(v, p.name)) cost += same(v[p.name], c.choices[0].value) ? -100 : 100;
			}
		if (wrong.length === 0) cost = Math.min(cost, 0);
		if (cost < least) [best, least] = [i, cost];
	}
	return best;
}
