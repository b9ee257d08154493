// markdown.js - a small part of Markdown as elements: headings, lists, tables, code, emphasis, links. What it does not know
// stays text; nothing of it is HTML, and images are links.
import { h } from 'preact';
import { html } from './html.js';
import { safe, safeLines } from './format.js';
import { Link } from './parts/link.js';

const DEEP = 5, LONG = 200000;
const INLINE = new RegExp('(`{1,2})([^\\n]{1,500}?)\\1(?!`)' + '|\\*\\*(?=\\S)([^]{1,1000}?)\\*\\*' + '|(?<![\\w*])[*_](?=[^\\s*_])([^*_\\n]{1,500})[*_](?!\\w)' +
	'|~~([^~\\n]{1,500})~~' + '|!?\\[([^\\]\\n]{1,300})\\]\\(([^()\\s]{1,2000})(?: "[^"\\n]{0,200}")?\\)' + '|<?(https?://[^\\s<>"\'`]{1,2000}[^\\s<>"\'`.,;:!?)\\]])>?', 'g');
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const TABLE = /^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/;

function inline(text, depth = 0)
{
	const out = [];
	let at = 0;

	if (depth > DEEP)
		return [safeLines(text)];
	for (const m of text.matchAll(INLINE)) {
		out.push(safeLines(text.slice(at, m.index)));
		at = m.index + m[0].length;
		if (m[2] !== undefined)
			out.push(html`<code>${safe(m[2])}</code>`);
		else if (m[3] !== undefined)
			out.push(html`<strong>${inline(m[3], depth + 1)}</strong>`);
		else if (m[4] !== undefined)
			out.push(html`<em>${inline(m[4], depth + 1)}</em>`);
		else if (m[5] !== undefined)
			out.push(html`<s>${inline(m[5], depth + 1)}</s>`);
		else if (m[6] !== undefined)
			out.push(html`<${Link} url=${m[7]}>${safe(m[6])}<//>`);
		else
			out.push(html`<${Link} url=${m[8]} />`);
	}
	out.push(safeLines(text.slice(at)));
	return out;
}

const cells = (line) => line.trim().replace(/^\||\|$/g, '').split('|').slice(0, 30).map((c) => c.trim());

function readTable(lines, i)
{
	const head = cells(lines[i]), rows = [];

	for (i += 2; i < lines.length && lines[i].includes('|'); i++)
		rows.push(cells(lines[i]));
	return [i, html`<div class="md-table"><table><thead><tr>${head.map((c) => html`<th>${inline(c)}</th>`)}</tr></thead>
		<tbody>${rows.map((r) => html`<tr>${head.map((_, k) => html`<td>${inline(r[k] ?? '')}</td>`)}</tr>`)}</tbody></table></div>`];
}

// An item goes on with lines that are indented further than its mark.
function readList(lines, i, depth)
{
	const first = ITEM.exec(lines[i]), indent = first[1].length, ordered = /\d/.test(first[2]), items = [];
	let m;

	while (i < lines.length && (m = ITEM.exec(lines[i])) && m[1].length >= indent && m[1].length < indent + 2) {
		const inner = [m[3]];

		for (i++; i < lines.length; i++) {
			const next = ITEM.exec(lines[i]), deep = lines[i].search(/\S/);

			if (next ? next[1].length < indent + 2 : deep >= 0 && deep <= indent)
				break;
			if (deep < 0 && !(i + 1 < lines.length && lines[i + 1].search(/\S/) > indent))
				break;
			inner.push(lines[i].slice(Math.min(indent + 2, Math.max(0, deep))));
		}
		items.push(html`<li>${blocks(inner, depth + 1)}</li>`);
		if (i < lines.length && lines[i].trim() === '' && ITEM.test(lines[i + 1] ?? ''))
			i++;
	}
	return [i, h(ordered ? 'ol' : 'ul', ordered ? { start: parseInt(first[2], 10) } : null, items)];
}

function blocks(lines, depth = 0)
{
	const out = [];
	let text = [];
	const end = () => {
		if (text.length)
			out.push(depth && out.length === 0 ? html`<span>${inline(text.join('\n'))}</span>` : html`<p>${inline(text.join('\n'))}</p>`);
		text = [];
	};

	for (let i = 0; i < lines.length;) {
		const line = lines[i], fence = /^\s*(```+|~~~+)/.exec(line), heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/.exec(line);

		if (fence) {
			const code = [];

			end();
			for (i++; i < lines.length && !lines[i].trim().startsWith(fence[1]); i++)
				code.push(lines[i]);
			i++;
			out.push(html`<pre class="code mono" tabindex="0">${safeLines(code.join('\n'))}</pre>`);
		} else if (heading) {
			end();
			out.push(html`<div class=${`md-h md-h${heading[1].length}`} role="heading" aria-level="4">${inline(heading[2])}</div>`);
			i++;
		} else if (RULE.test(line)) {
			end();
			out.push(html`<hr />`);
			i++;
		} else if (/^\s*>/.test(line) && depth < DEEP) {
			const inner = [];

			end();
			for (; i < lines.length && /^\s*>/.test(lines[i]); i++)
				inner.push(lines[i].replace(/^\s*> ?/, ''));
			out.push(html`<blockquote>${blocks(inner, depth + 1)}</blockquote>`);
		} else if (ITEM.test(line) && depth < DEEP) {
			let list;

			end();
			[i, list] = readList(lines, i, depth);
			out.push(list);
		} else if (line.includes('|') && i + 1 < lines.length && TABLE.test(lines[i + 1])) {
			let table;

			end();
			[i, table] = readTable(lines, i);
			out.push(table);
		} else {
			if (line.trim() === '')
				end();
			else
				text.push(line);
			i++;
		}
	}
	end();
	return out;
}

// Is a text written as Markdown? Words alone are shown as they are.
export const isMarkdown = (text) => text.length < LONG &&
	/^ {0,3}#{1,6} \S|^\s*```|^\s*[-*+] \S|^\s*\d+\. \S|\*\*\S|`[^`\n]+`|\[[^\]\n]+\]\(https?:|^\s*>\s|^\|.*\|\s*$/m.test(text);

export const Markdown = ({ text }) => html`<div class="md">${blocks(text.slice(0, LONG).replace(/\r\n?/g, '\n').split('\n'))}</div>`;
