// variable.js - asks for the value of a variable that a server lacks, keeps it as a secret and starts the server.
import { useState } from 'preact/hooks';
import { html } from './html.js';
import { ask, verb } from './hub.js';
import { safe, cut } from './format.js';
import { openDialog } from './parts/dialog.js';
import { paths, place, attempt } from './parts/words.js';
import { Problem } from './parts/problem.js';
import { openImport } from './import.js';

function Variable({ server, name, close })
{
	const [text, setText] = useState('');
	const [state, setState] = useState({});
	const isOurs = server.source?.tool === 'mcpool';
	const save = async (e) => {
		e.preventDefault();
		if (server.name.startsWith('-') || !/^\w+$/.test(name)) {
			setState({ error: `${name} cannot be set here: its name, or that of the server, is not a plain word.` });
			return;
		}
		setState({ busy: true });
		const saved = await verb('secret', ['set', name, '--json'], { input: `${text}\n` }).catch((x) => ({ exit: 1, stderr: x.message }));

		if (saved.exit !== 0) {
			setState({ error: saved.json?.error?.message || saved.stderr });
			return;
		}
		const edited = await verb('edit', [server.name, `env.${name}=\${secret:${name}}`, '--json']).catch((x) => ({ exit: 1, stderr: x.message }));

		if (edited.exit !== 0) {
			setState({ error: edited.json?.error?.message || edited.stderr });
			return;
		}
		await attempt(ask('mcpool/server/reconnect', { name: server.name }), `${server.name} is started with ${name}.`);
		close();
	};

	if (!isOurs)
		return html`<div class="dialog-head"><div class="grow"><h2 class="title">${safe(server.name)} needs ${safe(name)}</h2>
				<p class="t2">It is in <span class="mono">${place(server.source)}</span>, a file that mcpool never changes.</p></div></div>
			<div class="dialog-body"><p>Copy it to your own file, where mcpool can keep the value as a secret; or set the variable in the shell that starts the hub:</p>
				<p class="code mono">export ${safe(name)}=…; mcpool down; mcpool up</p></div>
			<div class="dialog-foot"><button type="button" class="button" onClick=${() => close()}>Close <kbd>Esc</kbd></button>
				<button type="button" class="button primary" data-focus onClick=${() => { close(); openImport(); }}>Copy it to my file</button></div>`;
	return html`<form onSubmit=${save} class="dialog-form"><div class="dialog-head"><div class="grow"><h2 class="title">${safe(server.name)} needs ${safe(name)}</h2>
			<p class="t2">The value is kept like a password. The file only gets <span class="mono">\${secret:${safe(name)}}</span>.</p></div></div>
		<div class="dialog-body"><label class="label" for="variable">Value of <span class="mono">${safe(name)}</span></label>
			<input class="input mono" id="variable" type="password" autocomplete="off" data-focus value=${text} onInput=${(e) => setText(e.target.value)} />
			${state.error && html`<${Problem} text=${paths(state.error)} />`}</div>
		<div class="dialog-foot"><button type="button" class="button" onClick=${() => close()}>Cancel <kbd>Esc</kbd></button>
			<button type="submit" class="button primary" disabled=${!text || state.busy}>Save and start ${safe(cut(server.name, 20))}</button></div></form>`;
}

// openVariable(server, name): asks for the value of a variable that a server lacks
export function openVariable(server, name)
{
	openDialog((close) => html`<${Variable} server=${server} name=${name} close=${close} />`, { label: `${safe(server.name)} needs ${safe(name)}` });
}

