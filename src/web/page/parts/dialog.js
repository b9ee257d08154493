// dialog.js - dialogs above the page: one element at the end of the body, focus stays inside, Esc closes, focus returns.
import { render } from 'preact';
import { html } from '../html.js';

const FOCUSABLE = 'a[href],button:not([disabled]),input:not([disabled]),select:not([disabled]),textarea:not([disabled]),' +
	'summary,[tabindex]:not([tabindex="-1"])';
const CLOSING_MS = 120;
const open = []; // the innermost last

export const isDialogOpen = () => open.length > 0;

const focusable = (box) => [...box.querySelectorAll(FOCUSABLE)].filter((e) => e.getClientRects().length > 0);

function keepInside(event, box)
{
	const all = focusable(box), first = all[0], last = all[all.length - 1];
	const at = document.activeElement;

	if (!first) {
		event.preventDefault();
		return;
	}
	if (event.shiftKey ? at === first || at === box : at === last) {
		event.preventDefault();
		(event.shiftKey ? last : first).focus();
	} else if (!box.contains(at)) {
		event.preventDefault();
		first.focus();
	}
}

document.addEventListener('keydown', (event) => {
	const top = open[open.length - 1];

	if (!top)
		return;
	if (event.key === 'Tab')
		keepInside(event, top.box);
	if (event.key === 'Escape' && !event.defaultPrevented && !event.isComposing) {
		event.preventDefault();
		event.stopPropagation();
		top.close();
	}
});

function setPageInert(inert)
{
	const page = document.getElementById('page');

	if (page)
		page.inert = inert;
}

// openDialog(render(close) => vnode, {label, wide, onClose}): returns close. An element with data-focus has the first focus.
export function openDialog(draw, { label, wide, top: isAtTop, onClose } = {})
{
	const before = document.activeElement;
	const layer = document.createElement('div');
	let isOpen = true;

	const close = (value) => {
		if (!isOpen)
			return;
		isOpen = false;
		open.splice(open.indexOf(entry), 1);
		layer.classList.remove('shown');
		layer.inert = true;
		if (open.length)
			open[open.length - 1].layer.inert = false;
		else
			setPageInert(false);
		before?.focus?.({ preventScroll: true });
		setTimeout(() => {
			render(null, layer);
			layer.remove();
		}, CLOSING_MS);
		onClose?.(value);
	};
	const entry = { close, layer, box: null };

	layer.className = 'dialog-layer';
	document.body.append(layer);
	render(html`<div class="dialog-shade" onClick=${() => close()}></div>
		<div class=${`dialog${wide === true ? ' wide' : wide ? ` ${wide}` : ''}${isAtTop ? ' at-top' : ''}`} role="dialog" aria-modal="true" aria-label=${label} tabindex="-1">
			${draw(close)}</div>`, layer);
	entry.box = layer.querySelector('.dialog');
	if (open.length)
		open[open.length - 1].layer.inert = true;
	else
		setPageInert(true);
	open.push(entry);
	(layer.querySelector('[data-focus]') ?? entry.box).focus({ preventScroll: true });
	requestAnimationFrame(() => layer.classList.add('shown'));
	return close;
}

// confirm(): true if the person chose the action. The focus is on "Cancel" if the action is dangerous.
export function confirm({ title, text, action, danger })
{
	return new Promise((resolve) => {
		openDialog((close) => html`<div class="dialog-body">
				<h2 class="title">${title}</h2>
				<p class="t2">${text}</p>
			</div>
			<div class="dialog-foot">
				<button class="button" data-focus=${danger ? '' : undefined} onClick=${() => close(false)}>Cancel <kbd>Esc</kbd></button>
				<button class=${`button ${danger ? '' : 'primary'}`} data-focus=${danger ? undefined : ''} onClick=${() => close(true)}>${action}</button>
			</div>`, { label: title, onClose: (value) => resolve(value === true) });
	});
}
