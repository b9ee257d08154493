// json.js - JSON whose numbers stay exact: one that JavaScript would round is kept as it was written.

export class Exact {
	constructor(text) { this.exact = text; }
	toJSON() { return JSON.rawJSON ? JSON.rawJSON(this.exact) : Number(this.exact); }
	toString() { return this.exact; }
	valueOf() { return Number(this.exact); }
}

const isRounded = (source, n) => source.replace(/[^0-9]/g, '').length > 15 && String(n) !== source;

// parseJson(text): like JSON.parse; browsers that do not hand out the source of a number round as ever.
export function parseJson(text)
{
	if (!/[0-9.]{16}/.test(text))
		return JSON.parse(text);
	return JSON.parse(text, (_, v, context) => (typeof v === 'number' && context?.source && isRounded(context.source, v) ? new Exact(context.source) : v));
}

// writeJson(value): indented, lists of short values on one line
export function writeJson(value, indent = '')
{
	if (value === null || typeof value !== 'object' || value instanceof Exact)
		return value instanceof Exact ? value.exact : JSON.stringify(value) ?? 'null';
	const inner = `${indent}  `;
	const list = Array.isArray(value);
	const parts = list ? value.map((v) => writeJson(v, inner))
		: Object.keys(value).filter((k) => value[k] !== undefined).map((k) => `${JSON.stringify(k)}: ${writeJson(value[k], inner)}`);

	if (parts.length === 0)
		return list ? '[]' : '{}';
	if (list && parts.every((p) => !p.includes('\n') && p.length < 40) && parts.join(', ').length + indent.length < 76)
		return `[${parts.join(', ')}]`;
	return `${list ? '[' : '{'}\n${parts.map((p) => inner + p).join(',\n')}\n${indent}${list ? ']' : '}'}`;
}
