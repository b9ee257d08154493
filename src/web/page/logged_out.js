// logged_out.js - what to type when this browser has no login.
import { html } from './html.js';
import { loginError } from './hub.js';
import { Brand } from './icons.js';

export const LoggedOut = () => html`<main class="logged-out"><div class="panel"><div class="row"><${Brand} /><span class="strong">mcpool</span></div>
	<h1 class="title">This browser is not logged in</h1>
	${loginError.value ? html`<p class="c-fail" role="alert">${loginError.value}</p>` : null}
	<p class="t2">In a terminal on the machine of the hub, run</p><pre class="code">mcpool dashboard</pre>
	<p class="t2">It prints an address that works once, within a minute. The login then lasts 7 days.</p></div></main>`;
