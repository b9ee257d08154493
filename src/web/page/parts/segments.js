// segments.js - one of few, side by side: a radio group that looks like one control.
import { html } from '../html.js';

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

// Segments({label, options: [{value, label}], value, onChange, clears, small}): clears: a second click takes the choice back
export function Segments({ label, labelledby, options, value, onChange, clears, invalid, describedby, id })
{
	const at = options.findIndex((o) => o.value === value);
	const onKey = (event) => {
		const step = STEPS[event.key];

		if (clears && (event.key === 'Delete' || event.key === 'Backspace'))
			onChange(undefined);
		if (!step)
			return;
		event.preventDefault();
		const next = (at + step + options.length) % options.length;

		onChange(options[next].value);
		event.currentTarget.children[next].focus();
	};

	return html`<div class=${`segments${invalid ? ' wrong' : ''}`} id=${id} role="radiogroup" aria-label=${label} aria-labelledby=${labelledby}
		aria-describedby=${describedby} aria-invalid=${invalid ? 'true' : undefined} onKeyDown=${onKey}>
		${options.map((o, i) => html`<button type="button" role="radio" key=${i} aria-checked=${i === at ? 'true' : 'false'} tabindex=${i === (at < 0 ? 0 : at) ? 0 : -1}
			onClick=${() => onChange(clears && i === at ? undefined : o.value)}>${o.label}</button>`)}</div>`;
}
