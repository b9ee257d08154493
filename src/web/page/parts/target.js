// target.js - into which of mcpool's two files something goes: the user's own, or that of the project.
import { html } from '../html.js';
import { me } from '../hub.js';
import { Segments } from './choices.js';
import { path } from './words.js';
import { safe } from '../format.js';

export const USER = '--user', PROJECT = '--project';

// Target({value, onChange}): where nothing but the home folder is looked at there is no choice.
export function Target({ value, onChange })
{
	const { project, home } = me.value ?? {};
	const hasProject = Boolean(project) && project !== home && project !== '/';

	return html`<div class="target"><span class="label">For</span>
		${hasProject ? html`<${Segments} label="For" items=${[[USER, 'you'], [PROJECT, 'this project']]} value=${value} onChange=${onChange} />` : html`<span>you</span>`}
		<span class="small t3 mono">${value === PROJECT ? path(`${project}/.mcpool/mcp.json`) : '~/.config/mcpool/mcp.json'}</span></div>`;
}

// failureOf(result): why a verb did not work, null if it did
export const failureOf = (r) => (r.exit === 0 ? null : r.json?.error?.message || r.stderr?.replace(/^mcpool: /gm, '').trim() || `it ended with code ${r.exit}`);

// notesOf(result): what a verb remarks about something it did
export const notesOf = (r) => (r.stderr ?? '').split('\n').filter((l) => l.startsWith('mcpool: note: ')).map((l) => l.slice(14));

// named(name): the name of a server as an argument of a verb. Files may name one "--yes", which a verb would take for an option.
export function named(name)
{
	if (String(name).startsWith('-'))
		throw new Error(`The name "${safe(name)}" begins with "-", which verbs take for an option. Give the server another name in its file.`);
	return name;
}
