// login.js - logging in to a server: which one asks for what at which host, the page that opens by a link, the address to paste
// where the browser is on another machine. The hub does the rest; this waits for it.
import { useEffect, useState } from 'preact/hooks';
import { html } from './html.js';
import { ask, onNotice, servers } from './hub.js';
import { safe } from './format.js';
import { Icon } from './icons.js';
import { openDialog } from './parts/dialog.js';
import { Address, Visit, readAddress } from './parts/link.js';
import { Copy } from './parts/copy.js';
import { Problem } from './parts/problem.js';
import { paths } from './parts/words.js';

const hostOf = (text) => readAddress(text)?.host ?? safe(text);

function Asked({ visit })
{
	const scopes = typeof visit.scope === 'string' ? visit.scope.split(/\s+/).filter(Boolean) : [];
	const back = readAddress(visit.redirectUri);

	return html`<dl class="asked"><dt>asks</dt><dd>${hostOf(visit.issuer || visit.url)}</dd>
		<dt>for</dt><dd>${scopes.length ? scopes.map((s) => html`<span class="pill mono">${safe(s)}</span> `) : html`<span class="t2">what the server allows by default; it names no rights</span>`}</dd>
		${back && html`<dt>then back to</dt><dd class="mono">${safe(back.host)}</dd>`}</dl>`;
}

function Paste({ name })
{
	const [text, setText] = useState('');
	const [state, setState] = useState({});
	const submit = async (e) => {
		e.preventDefault();
		setState({ busy: true });
		try {
			await ask('mcpool/login/paste', { name, url: text.trim() });
			setState({ done: true });
		} catch (error) {
			setState({ error: error.message });
		}
	};

	return html`<details class="more-of"><summary>The browser is on another machine, or the page it ends at does not load</summary>
		<form class="paste" onSubmit=${submit}><label class="label" for="login-back">Paste the address that the browser ends at</label>
			<div class="row"><input class="input mono" id="login-back" type="text" autocomplete="off" spellcheck=${false} placeholder="http://127.0.0.1:…/callback?code=…" value=${text} onInput=${(e) => setText(e.target.value)} />
				<button type="submit" class="button" disabled=${!text.trim() || state.busy}>Send</button></div>
			${state.error && html`<${Problem} text=${paths(state.error)} />`}
			${state.done && html`<p class="t2">mcpool has it and asks for the token.</p>`}</form></details>`;
}

function Login({ name, close })
{
	const [visit, setVisit] = useState(null);
	const [state, setState] = useState('asking');
	const [error, setError] = useState('');
	const [turn, setTurn] = useState(0);
	const url = visit && readAddress(visit.url);

	useEffect(() => {
		const abort = new AbortController();
		const end = onNotice('mcpool/login/visit', (v) => v.server === name && (setVisit(v), setState('visit')));

		setState('asking');
		ask('mcpool/login', { name }, { signal: abort.signal }).then(() => setState('done'), (e) => {
			setError(e.message);
			setState('failed');
		});
		return () => {
			end();
			abort.abort();
		};
	}, [name, turn]);
	const s = servers.value.get(name);

	return html`<div class="dialog-head"><span class="head-icon"><${Icon} name=${state === 'done' ? 'ok' : 'needs-auth'} size=${18} /></span>
			<div class="grow"><h2 class="title">${state === 'done' ? `You are logged in to ${safe(name)}` : `Log in to ${safe(name)}`}</h2>
				<p class="t2">${state === 'done' ? 'mcpool keeps the token like a secret, and renews it before it expires.' : 'The token stays with mcpool; agents do not see it.'}</p></div></div>
		<div class="dialog-body">
			${state === 'asking' && html`<p class="t2" role="status">Asking ${safe(name)} where to log in.</p>`}
			${state === 'visit' && html`<${Asked} visit=${visit} />
				${url ? html`<p class="code mono address-box" tabindex="0" role="group" aria-label="The address"><${Address} url=${url} /></p>`
					: html`<p class="c-fail">The address it names is not one of the web, so it is not opened: <span class="mono">${safe(visit.url)}</span></p>`}
				<p class="t2" role="status">Waiting for the login in the page that you open. It ends after 5 minutes.</p><${Paste} name=${name} />`}
			${state === 'failed' && html`<p role="alert">${paths(error)}</p>`}
			${state === 'done' && html`<p class="t2" role="status">${s?.state === 'connected' ? `${safe(name)} is connected.` : `${safe(name)} is being connected.`}</p>`}
		</div>
		<div class="dialog-foot">${state === 'visit' && url && html`<${Copy} text=${url.href} label="Copy address" />`}<span class="grow"></span>
			<button type="button" class=${`button${state === 'done' ? ' primary' : ''}`} onClick=${() => close()}>${state === 'done' ? 'Close' : html`Cancel <kbd>Esc</kbd>`}</button>
			${state === 'failed' && html`<button type="button" class="button primary" onClick=${() => setTurn(turn + 1)}>Try again</button>`}
			${state === 'visit' && url && html`<${Visit} url=${url} class="button primary">Open ${safe(url.host)}<//>`}</div>`;
}

// openLogin(name): a dialog; closing it ends the wait, the server goes on needing a login.
export function openLogin(name)
{
	openDialog((close) => html`<${Login} name=${name} close=${close} />`, { label: `Log in to ${safe(name)}` });
}
