// later.js - what the first view does not need: forms, results, approvals, agents. forms.js has it, loaded when the page is at rest or
// when it is first used.
import { useEffect, useState } from 'preact/hooks';
import { html } from './html.js';
import { say } from './parts/words.js';

let forms = null;
const load = () => (forms ??= import('./forms.js').catch((e) => {
	forms = null;
	say('The hub does not answer. Try again.', true);
	throw e;
}));

// a function that opens something
const opens = (name) => async (...args) => (await load())[name](...args);
// a component; until it is loaded there is none
const shows = (name) => (props) => {
	const [all, setAll] = useState(null);

	useEffect(() => { load().then(setAll, () => {}); }, []);
	return all ? html`<${all[name]} ...${props} />` : null;
};

export const answerQuestion = opens('answerQuestion');
export const openAddServer = opens('openAddServer');
export const openApproval = opens('openApproval');
export const openEdit = opens('openEdit');
export const openImport = opens('openImport');
export const openLogin = opens('openLogin');
export const Agents = shows('Agents');
export const JsonTree = shows('JsonTree');
export const ReadResource = shows('ReadResource');
export const TryPrompt = shows('TryPrompt');
export const TryTool = shows('TryTool');
export const Waiting = shows('Waiting');

// loadSoon(): so that what is opened first does not wait
export const loadSoon = () => (window.requestIdleCallback ?? ((fn) => setTimeout(fn, 500)))(() => load().catch(() => {}));
