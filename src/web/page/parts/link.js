// link.js - addresses that servers and files name. One opens only by a click on its full text: http and https, in a new tab,
// without telling the other side where it came from.
import { html } from '../html.js';
import { safe, cut } from '../format.js';
import { openDialog } from './dialog.js';
import { Copy } from './copy.js';

// readAddress(text): a URL of http or https, or null
export function readAddress(text)
{
	if (typeof text !== 'string' || text.length > 8000 || !/^https?:\/\//i.test(text))
		return null;
	try {
		return new URL(text);
	} catch {
		return null;
	}
}

export const Visit = ({ url, children, ...more }) => html`<a href=${url.href} target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer"
	...${more}>${children}</a>`;

// Address({url}): the address in full with its host in another weight
export function Address({ url })
{
	const text = safe(url.href), at = text.indexOf(url.host);

	return html`<span class="address">${at < 0 ? text : [text.slice(0, at), html`<b>${url.host}</b>`, text.slice(at + url.host.length)]}</span>`;
}

function askToVisit(url)
{
	openDialog((close) => html`<div class="dialog-body">
			<h2 class="title">Open this address?</h2>
			<p class="t2">It comes from a server, not from mcpool.</p>
			<p class="code mono" tabindex="0" role="group" aria-label="The address"><${Address} url=${url} /></p>
		</div>
		<div class="dialog-foot"><${Copy} text=${url.href} label="Copy address" />
			<span class="grow"></span>
			<button class="button" onClick=${() => close()}>Cancel <kbd>Esc</kbd></button>
			<${Visit} url=${url} class="button primary" onClick=${() => close()} data-focus>Open in a new tab<//></div>`, { label: 'Open this address?' });
}

// Link({url, children}): text that is the address opens it; other text shows the address first.
export function Link({ url, children })
{
	const address = readAddress(url);

	if (!address)
		return html`<span>${children ?? safe(url)}</span>`;
	if (children === undefined && url.length <= 200)
		return html`<${Visit} url=${address} class="accent">${safe(url)}<//>`;
	return html`<button type="button" class="accent" title=${cut(safe(address.href), 400)} onClick=${() => askToVisit(address)}>${children ?? cut(safe(url), 80)}</button>`;
}
