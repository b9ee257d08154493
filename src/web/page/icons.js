// icons.js - the shapes of states and outcomes, one silhouette each, and the few other signs of the page. 12 px unless told.
import { html } from './html.js';

const svg = (size, name, children, more) => html`<svg class=${`icon ${name}${more ?? ''}`} width=${size} height=${size} viewBox="0 0 12 12"
	aria-hidden="true" focusable="false">${children}</svg>`;

const cross = (d) => html`<path class="cut" d=${d} />`;
const ring = (r, width = 1.5) => html`<circle cx="6" cy="6" r=${r} class="stroke" stroke-width=${width} />`;
const arc = html`<g><circle cx="6" cy="6" r="4.25" class="stroke faint" stroke-width="1.5" /><path class="stroke turn" stroke-width="1.5"
	stroke-linecap="round" d="M6 1.75A4.25 4.25 0 0 1 10.25 6" /></g>`;
const square = html`<g><rect x="1" y="1" width="10" height="10" rx="2" />${cross('M4 4l4 4M8 4l-4 4')}</g>`;
const padlock = html`<g><path class="stroke" stroke-width="1.5" d="M3.75 5.5V4a2.25 2.25 0 0 1 4.5 0v1.5" />
	<rect x="2" y="5" width="8" height="6.25" rx="1.25" />${cross('M6 7.5v1.5')}</g>`;

const SHAPES = {
	connected: html`<circle cx="6" cy="6" r="4" />`,
	pending: arc,
	retrying: html`<g><path d="M5.13 1.2a1 1 0 0 1 1.74 0l4.7 8.3a1 1 0 0 1-.87 1.5H1.3a1 1 0 0 1-.87-1.5z" />${cross('M6 4.4v2.7M6 9v.1')}</g>`,
	failed: square,
	'needs-approval': html`<g><path d="M5.3.6a1 1 0 0 1 1.4 0l4.7 4.7a1 1 0 0 1 0 1.4l-4.7 4.7a1 1 0 0 1-1.4 0L.6 6.7a1 1 0 0 1 0-1.4z" />
		${cross('M6 3.4v3M6 8.5v.1')}</g>`,
	'needs-auth': padlock,
	ready: ring(3.5),
	disabled: html`<path class="stroke" stroke-width="1.75" stroke-linecap="round" d="M2 6h8" />`,
	shadowed: html`<path class="stroke" stroke-width="1.75" stroke-linecap="round" stroke-dasharray="1.5 3" d="M2 6h8" />`,
	ok: html`<path class="stroke" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" d="M1.75 6.5l2.75 2.75 5.75-6.25" />`,
	running: arc,
	'tool error': square,
	error: square,
	timeout: html`<g>${ring(4.75)}<path class="stroke" stroke-width="1.5" stroke-linecap="round" d="M6 3.5V6l1.75 1" /></g>`,
	refused: padlock,
	unknown: html`<path class="stroke" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round"
		d="M3.5 3.6C3.7 2.3 4.7 1.6 6 1.6c1.5 0 2.5.9 2.5 2.1C8.5 5.5 6 5.6 6 7.4M6 10.3v.1" />`,
	cancelled: html`<g>${ring(4.5)}<path class="stroke" stroke-width="1.5" d="M2.9 9.1l6.2-6.2" /></g>`,
	not_sent: ring(3.5),
	search: html`<g><circle cx="5" cy="5" r="3.5" class="stroke" stroke-width="1.25" /><path class="stroke" stroke-width="1.25" stroke-linecap="round" d="M7.7 7.7l3 3" /></g>`,
	down: html`<path class="stroke" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" d="M3 4.75l3 3 3-3" />`,
	right: html`<path class="stroke" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" d="M4.5 2.5L8 6l-3.5 3.5" />`,
	left: html`<path class="stroke" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" d="M7.5 2.5L4 6l3.5 3.5" />`,
	close: html`<path class="stroke" stroke-width="1.25" stroke-linecap="round" d="M3 3l6 6M9 3l-6 6" />`,
	pause: html`<path d="M2.5 2h2.25v8H2.5zM7.25 2H9.5v8H7.25z" />`,
	play: html`<path d="M3 1.5l7 4.5-7 4.5z" />`,
	theme: html`<g><circle cx="6" cy="6" r="4.75" class="stroke" stroke-width="1.25" /><path d="M6 1.25a4.75 4.75 0 0 1 0 9.5z" /></g>`,
	plus: html`<path class="stroke" stroke-width="1.5" stroke-linecap="round" d="M6 2v8M2 6h8" />`,
	overview: html`<g class="stroke" stroke-width="1"><rect x="1.5" y="1.5" width="3.5" height="5" rx=".75" /><rect x="7" y="1.5" width="3.5" height="2.5" rx=".75" />
		<rect x="7" y="5.75" width="3.5" height="4.75" rx=".75" /><rect x="1.5" y="8.5" width="3.5" height="2" rx=".75" /></g>`,
	calls: html`<path class="stroke" stroke-width="1.1" stroke-linecap="round" d="M1.5 3h5M4 6h5.5M6 9h4.5" />`,
	waiting: html`<path class="stroke" stroke-width="1" stroke-linejoin="round" d="M6 1.25L10.75 6 6 10.75 1.25 6z" />`,
	agents: html`<g class="stroke" stroke-width="1"><circle cx="2.75" cy="6" r="1.5" /><circle cx="9.25" cy="2.75" r="1.5" /><circle cx="9.25" cy="9.25" r="1.5" />
		<path d="M4.1 5.3l3.8-1.9M4.1 6.7l3.8 1.9" /></g>`,
};

const COLORS = {
	connected: 'ok', pending: 'busy', retrying: 'fail', failed: 'fail', 'needs-approval': 'warn', 'needs-auth': 'warn', ready: 'quiet',
	disabled: 'faint', shadowed: 'faint', ok: 'ok', running: 'busy', 'tool error': 'fail', error: 'fail', timeout: 'warn', refused: 'warn',
	unknown: 'warn', cancelled: 'quiet', not_sent: 'quiet',
};

// Icon({name, size}): a shape in its own colour, or in that of the text
export const Icon = ({ name, size = 12 }) => svg(size, COLORS[name] ? `is-${COLORS[name]}` : '', SHAPES[name]);

// shapeOf(server): the name of the shape of a server's state; a failed server that is tried again has its own.
export const shapeOf = (server) => (server.state === 'failed' && server.nextAt ? 'retrying' : server.state);
export const colorOf = (shape) => COLORS[shape] ?? 'quiet';

// State({server, was}): shape and word. was: what was true before the hub restarted
export const State = ({ server, was }) => html`<span class=${`state of-${was ? 'past' : colorOf(shapeOf(server))}`}><${Icon} name=${shapeOf(server)} />
	<span>${was && server.state === 'connected' ? 'was connected' : server.state}</span></span>`;

const OUTCOMES = { answered: 'ok', tool_error: 'tool error', error: 'error', not_sent: 'not sent' };

// outcomeOf(call): the word of a call's outcome; a call without an outcome runs.
export const outcomeOf = (call) => (call.outcome ? OUTCOMES[call.outcome] ?? call.outcome : 'running');

export const Outcome = ({ word }) => html`<span class=${`state of-${colorOf(word === 'not sent' ? 'not_sent' : word)}`}>
	<${Icon} name=${word === 'not sent' ? 'not_sent' : word} /><span>${word}</span></span>`;

// The ring around a countdown: what is left of the wait, 0 to 1
export const Ring = ({ share }) => html`<svg class="icon is-fail" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
	<circle cx="7" cy="7" r="5.5" class="stroke faint" stroke-width="2" />
	<circle cx="7" cy="7" r="5.5" class="stroke" stroke-width="2" stroke-dasharray=${`${34.56 * Math.max(0, Math.min(1, share))} 34.56`} transform="rotate(-90 7 7)" />
</svg>`;

export const Brand = () => html`<svg width="20" height="16" viewBox="0 0 20 16" aria-hidden="true" class="brand-mark">
	<path d="M1 2.5c5 0 5 5.5 11 5.5M1 8h11M1 13.5c5 0 5-5.5 11-5.5" /><circle cx="15.5" cy="8" r="2.6" /></svg>`;
