// choices.js - one of few: tabs, segments and menus, with the arrow keys.
import { useEffect, useRef, useState } from 'preact/hooks';
import { html } from '../html.js';
import { Icon } from '../icons.js';

function moveFocus(event)
{
	const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
	const all = [...event.currentTarget.querySelectorAll('button')];

	if (!step)
		return null;
	event.preventDefault();
	const to = all[(all.indexOf(document.activeElement) + step + all.length) % all.length];

	to?.focus();
	return to;
}

// Segments({label, items: [[value, word]], value, onChange})
export const Segments = ({ label, items, value, onChange }) => html`<div class="segments" role="radiogroup" aria-label=${label}
	onKeyDown=${(e) => moveFocus(e)?.click()}>${items.map(([v, word]) => html`<button key=${v} type="button" role="radio"
		aria-checked=${v === value ? 'true' : 'false'} tabIndex=${v === value ? 0 : -1} onClick=${() => onChange(v)}>${word}</button>`)}</div>`;

// Tabs({label, items: [[value, word, count?]], value, onChange})
export const Tabs = ({ label, items, value, onChange }) => html`<div class="tabs" role="tablist" aria-label=${label}
	onKeyDown=${(e) => moveFocus(e)?.click()}>${items.map(([v, word, n]) => html`<button key=${v} type="button" role="tab" id=${`tab-${v}`}
		aria-selected=${v === value ? 'true' : 'false'} tabIndex=${v === value ? 0 : -1} onClick=${() => onChange(v)}>${word}
		${n === undefined || n === null ? null : html` <span class="t3">${n}</span>`}</button>`)}</div>`;

// Menu({label, value, items: [[value, word]], onChange, toRight}): a button with a list. The first item means "any".
export function Menu({ label, show, items, value, onChange, toRight, class: name })
{
	const [isOpen, setOpen] = useState(false);
	const box = useRef();
	const current = items.find(([v]) => v === value) ?? items[0];

	useEffect(() => {
		if (!isOpen)
			return undefined;
		const away = (e) => !box.current.contains(e.target) && setOpen(false);

		box.current.querySelector('.menu [aria-checked="true"], .menu button')?.focus();
		document.addEventListener('pointerdown', away);
		return () => document.removeEventListener('pointerdown', away);
	}, [isOpen]);

	const close = () => {
		setOpen(false);
		box.current.querySelector('button').focus();
	};
	const onKey = (e) => {
		if (!isOpen)
			return;
		if (e.key === 'Escape') {
			e.preventDefault();
			e.stopPropagation();
			close();
		} else if (e.key === 'Tab') {
			setOpen(false);
		} else {
			moveFocus(e);
		}
	};

	return html`<div class=${`menu-box ${name ?? ''}`} ref=${box} onKeyDown=${onKey} style=${{ position: 'relative' }}>
		<button type="button" class="chip" aria-haspopup="menu" aria-expanded=${isOpen ? 'true' : 'false'} onClick=${() => setOpen(!isOpen)}>
			${show ? show(current) : html`${label ? html`<span class="t2">${label}</span>` : null}<span class="strong cut">${current?.[1]}</span>`}<${Icon} name="down" size=${10} /></button>
		${isOpen ? html`<div class=${`menu${toRight ? ' to-right' : ''}`} role="menu" aria-label=${label}>${items.map(([v, word]) => html`<button key=${v}
			type="button" role="menuitemradio" aria-checked=${v === value ? 'true' : 'false'} onClick=${() => { onChange(v); close(); }}>${word}</button>`)}</div>` : null}
	</div>`;
}
