// elicitation.js - what a server asks a person during a call (elicitation): a form, or an address to open. The answer is accept
// with the content, decline or cancel; nothing is sent before the person chooses.
import { useState } from 'preact/hooks';
import { html } from './html.js';
import { safe, safeLines } from './format.js';
import { Icon } from './icons.js';
import { openDialog } from './parts/dialog.js';
import { Address, Visit, readAddress } from './parts/link.js';
import { readSchema, begin } from './schema.js';
import { SchemaForm } from './schema_form.js';
import { calling } from './try_tool.js';

const Head = ({ who, text }) => html`<div class="dialog-head"><span class="head-icon"><${Icon} name="unknown" size=${18} /></span><div class="grow"><h2 class="title">${who} asks you</h2>
	<p class="t2 said">${safeLines(text).slice(0, 4000)}</p></div></div>`;

const Refuse = ({ close }) => html`<button type="button" class="button plain" onClick=${() => close({ action: 'cancel' })}>Cancel <kbd>Esc</kbd></button><span class="grow"></span>
	<button type="button" class="button" onClick=${() => close({ action: 'decline' })}>Decline</button>`;

function FormQuestion({ params, who, close })
{
	const schema = params.requestedSchema ?? {};
	const [value, setValue] = useState(() => begin(readSchema(schema)) ?? {});

	return html`<${Head} who=${who} text=${params.message} />
		<${SchemaForm} dialog schema=${schema} value=${value} onChange=${setValue} bare titles label="Answer" action="Send answer" verb="send it" primary
			after=${html`<p class="small t3">The answer goes to the server. It may not ask for passwords or tokens here: give none.</p>`}
			onSubmit=${(content) => close({ action: 'accept', content })} more=${html`<${Refuse} close=${close} />`} />`;
}

function UrlQuestion({ params, who, close })
{
	const url = readAddress(params.url);
	const [opened, setOpened] = useState(false);

	return html`<${Head} who=${who} text=${params.message} />
		<div class="dialog-body">${url ? html`<p class="t2">It wants you to open a page at <b class="strong">${safe(url.host)}</b>. mcpool does not know what that page does.</p>
				<p class="code mono address-box" tabindex="0" role="group" aria-label="The address"><${Address} url=${url} /></p>` : html`<p>The address is not one of the web, so it is not opened: <span class="mono">${safe(params.url)}</span></p>`}</div>
		<div class="dialog-foot"><${Refuse} close=${close} />
			${url && (opened ? html`<button type="button" class="button primary" onClick=${() => close({ action: 'accept' })}>Done there</button>`
				: html`<${Visit} url=${url} class="button primary" onClick=${() => setOpened(true)}>Open ${safe(url.host)}<//>`)}</div>`;
}

// answerQuestion(request, signal): the result of elicitation/create. signal: the hub withdraws it
export function answerQuestion(request, signal)
{
	const params = request.params ?? {}, from = calling();
	const named = params._meta?.['mcpool/server']; // of an agent that cannot be asked
	const who = named ? safe(named) : from.length === 1 ? safe(from[0]) : 'A server that you call';

	return new Promise((resolve) => {
		const Body = params.mode === 'url' ? UrlQuestion : FormQuestion;
		const close = openDialog((done) => html`<${Body} params=${params} who=${who} close=${done} />`, {
			label: `${who} asks you`, wide: params.mode === 'url' ? false : 'middle',
			onClose: (answer) => resolve(answer?.action ? answer : { action: 'cancel' }),
		});

		signal?.addEventListener('abort', () => close(), { once: true });
	});
}
