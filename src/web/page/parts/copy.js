// copy.js - a button that copies a text, and says so.
import { useState, useRef, useEffect } from 'preact/hooks';
import { html } from '../html.js';

async function toClipboard(text)
{
	if (navigator.clipboard)
		return navigator.clipboard.writeText(text);
	const box = document.createElement('textarea'); // a page that is not on localhost or TLS has no clipboard

	box.value = text;
	box.className = 'hidden';
	document.body.append(box);
	box.select();
	document.execCommand('copy');
	box.remove();
	return undefined;
}

// Copy({text, label, what}): text may be a function. what: said to screen readers behind "Copy"
export function Copy({ text, label = 'Copy', what })
{
	const [said, say] = useState('');
	const timer = useRef(0);

	useEffect(() => () => clearTimeout(timer.current), []);
	const copy = async () => {
		try {
			await toClipboard(typeof text === 'function' ? text() : text);
			say('Copied');
		} catch {
			say('The browser refused');
		}
		clearTimeout(timer.current);
		timer.current = setTimeout(() => say(''), 1600);
	};

	return html`<button type="button" class="quiet" onClick=${copy}>
		<span role="status">${said || label}</span>${what && !said && html`<span class="hidden"> ${what}</span>`}</button>`;
}
