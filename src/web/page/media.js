// media.js - the width of the window as three words, and the theme.
import { signal } from '@preact/signals';
import { recall, remember } from './hub.js';

const phone = matchMedia('(max-width: 899.9px)'), tablet = matchMedia('(max-width: 1279.9px)');
const word = () => (phone.matches ? 'phone' : tablet.matches ? 'tablet' : 'wide');

export const size = signal(word());
export const windowHeight = signal(innerHeight);

for (const query of [phone, tablet])
	query.addEventListener('change', () => { size.value = word(); });
addEventListener('resize', () => { windowHeight.value = innerHeight; });

const light = matchMedia('(prefers-color-scheme: light)');

export function applyTheme(theme)
{
	if (theme)
		document.documentElement.dataset.theme = theme;
	else
		delete document.documentElement.dataset.theme;
}

// toggleTheme(): the other one; if that is the system's, the page follows the system again.
export function toggleTheme()
{
	const system = light.matches ? 'light' : 'dark';
	const to = (recall('mcpool.theme') ?? system) === 'light' ? 'dark' : 'light';

	remember('mcpool.theme', to === system ? null : to);
	applyTheme(to === system ? null : to);
}

applyTheme(recall('mcpool.theme'));
