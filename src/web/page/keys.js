// keys.js - the keyboard: tables of keys that pages bring while they are shown. Single keys are off while typing.
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { remember, recall } from './hub.js';
import { isDialogOpen } from './parts/dialog.js';

const SEQUENCE_MS = 1200;
const layers = []; // {list}, that of the innermost part last
const changes = signal(0);
let first = '', firstAt = 0;

export const isOn = signal(recall('mcpool.keys') !== 'off');

export function setOn(on)
{
	isOn.value = on;
	remember('mcpool.keys', on ? null : 'off');
}

// useKeys(): [{key: 'j' or 'g o', also?: [keys], words?, run(event)}]; run returns false if the key was not meant for it.
export function useKeys(list)
{
	const [layer] = useState(() => ({ list }));

	layer.list = list;
	useEffect(() => {
		layers.push(layer);
		changes.value++;
		return () => {
			layers.splice(layers.indexOf(layer), 1);
			changes.value++;
		};
	}, []);
}

// allKeys(): what `?` shows, the page's own keys first
export const allKeys = () => changes.value >= 0 && [...layers].reverse().flatMap((layer) => layer.list.filter((k) => k.words));

const isTyping = (e) => e.isContentEditable || /^(TEXTAREA|SELECT)$/.test(e.tagName) ||
	(e.tagName === 'INPUT' && !/^(checkbox|radio|button)$/.test(e.type));

function find(key)
{
	return [...layers].reverse().flatMap((layer) => layer.list).filter((k) => k.key === key || k.also?.includes(key));
}

// Enter and Space belong to what has the focus, if that is a control.
const isControl = (e) => /^(BUTTON|A|SUMMARY)$/.test(e.tagName) || /^(tab|radio|menuitemradio)$/.test(e.getAttribute?.('role') ?? '');

addEventListener('keydown', (event) => {
	const { target, key } = event;

	if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isDialogOpen())
		return;
	if (key === 'Escape' ? false : isTyping(target) || ((key === 'Enter' || key === ' ') && isControl(target)))
		return;
	if (!isOn.peek() && key.length === 1)
		return;
	const sequence = Date.now() - firstAt < SEQUENCE_MS && first ? `${first} ${key}` : key;

	first = key === 'g' ? 'g' : '';
	firstAt = Date.now();
	for (const k of find(sequence))
		if (k.run(event) !== false) {
			event.preventDefault();
			return;
		}
});
