// words.js - small parts of text: a number with its unit, a name cut in its middle, a path, an empty state, the status line.
import { signal } from '@preact/signals';
import { html } from '../html.js';
import { me } from '../hub.js';
import { cut, safe, date, ago } from '../format.js';

// Num({text}): "84 ms" with a quieter unit
export function Num({ text })
{
	const at = text.lastIndexOf(' ');
	const isUnit = at > 0 && /^[a-zA-Z%/]+$/.test(text.slice(at + 1)) && !/[a-z] /.test(text.slice(0, at + 1));

	return isUnit ? html`<span class="nowrap">${text.slice(0, at)}<span class="unit">${text.slice(at + 1)}</span></span>`
		: html`<span class=${text === '0' || text === '–' ? 't3' : ''}>${text}</span>`;
}

// Name({text, most}): untrusted, cut in the middle; the whole of it as title and for screen readers
export function Name({ text, most = 28 })
{
	const whole = safe(text), shown = cut(whole, most);

	return shown === whole ? whole : html`<span title=${whole} aria-label=${whole}>${shown}</span>`;
}

// place(source): "~/.config/mcpool/mcp.json:41", a path of the project without the project
export function path(file)
{
	const { home, project } = me.value ?? {};
	const text = safe(file);

	if (project && project !== home && project !== '/' && text.startsWith(`${project}/`))
		return text.slice(project.length + 1);
	return home && home !== '/' && (text.startsWith(`${home}/`) || text === home) ? `~${text.slice(home.length)}` : text;
}

export const place = (source) => (source?.file ? `${path(source.file)}${source.line ? `:${source.line}` : ''}` : '');

// paths(text): a sentence of the hub with its paths shortened
export function paths(text)
{
	const { home, project } = me.value ?? {};
	let out = safe(text);

	if (project && project !== home && project !== '/')
		out = out.split(`${project}/`).join('');
	return home && home !== '/' ? out.split(`${home}/`).join('~/') : out;
}

// When({ms, now}): "12 min ago" with the exact time on focus
export const When = ({ ms, now }) => html`<time title=${date(ms)} tabIndex="0">${ago(ms, now)}</time>`;

// Empty({text, action, onAction}): one sentence and one action
export const Empty = ({ text, action, onAction }) => html`<div class="empty">${text}${action ? html` <button type="button" class="link" onClick=${onAction}>${action}</button>` : null}</div>`;

// Marked({text, find}): what was searched for, underlined
export function Marked({ text, find })
{
	const at = find ? text.toLowerCase().indexOf(find.toLowerCase()) : -1;

	return at < 0 ? text : html`${text.slice(0, at)}<mark>${text.slice(at, at + find.length)}</mark>${text.slice(at + find.length)}`;
}

// The status line: what the last action did, until the next one
export const said = signal(null);

export function say(text, isBad = false)
{
	said.value = { text, isBad, at: Date.now() };
}

// attempt(promise, words): says words, or why it did not work
export async function attempt(promise, words)
{
	try {
		const result = await promise;

		if (words)
			say(words);
		return result;
	} catch (e) {
		say(e.message, true);
		return null;
	}
}
