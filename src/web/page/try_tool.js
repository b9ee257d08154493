// try_tool.js - calls a tool, reads a resource or fills in a prompt by hand: the form, the call while it runs, its result.
// What was typed and answered stays for as long as the page is open, so that another tool may be looked at meanwhile.
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { html } from './html.js';
import { ask, servers, tick, now } from './hub.js';
import { safe, safeLines, bytes, clock, latency, duration, count, countdown } from './format.js';
import { Icon, Outcome, outcomeOf } from './icons.js';
import { isDialogOpen } from './parts/dialog.js';
import { paths } from './parts/words.js';
import { readSchema, begin } from './schema.js';
import { SchemaForm } from './schema_form.js';
import { Result } from './result.js';
import { openApproval } from './approval.js';
import { openLogin } from './login.js';

const KEPT = 200;
const jobs = new Map(); // server, method, name -> what was typed, what runs, what was answered

function jobOf(server, method, name, schema)
{
	const key = JSON.stringify([server, method, name]);

	if (!jobs.has(key)) {
		if (jobs.size >= KEPT)
			for (const [k, j] of jobs)
				if (!j.running.peek()) {
					jobs.delete(k);
					break;
				}
		jobs.set(key, { server, method, name, value: signal(begin(readSchema(schema)) ?? {}), running: signal(null), last: signal(null) });
	}
	return jobs.get(key);
}

// The servers that this page is calling: a question that comes meanwhile is theirs.
export const calling = () => [...new Set([...jobs.values()].filter((j) => j.running.peek()).map((j) => j.server))];

async function call(job, tool, params)
{
	const abort = new AbortController(), since = Date.now();

	job.running.value = { since, abort, progress: null };
	let answer;

	try {
		answer = await ask('mcpool/call', { server: job.server, method: job.method, tool, params, capabilities: { elicitation: { form: {}, url: {} } } }, {
			signal: abort.signal,
			onProgress: (progress) => {
				if (job.running.peek())
					job.running.value = { ...job.running.peek(), progress };
			},
		});
	} catch (e) {
		answer = { outcome: 'refused', message: e.message, code: e.data?.code };
	}
	job.running.value = null;
	job.last.value = { at: now(), answer, tookUs: answer.tookUs ?? (Date.now() - since) * 1000, size: JSON.stringify(answer.result ?? answer.error ?? '').length };
}

const wordOf = (a) => outcomeOf({ outcome: a.outcome === 'answered' && a.error ? 'error' : a.outcome === 'answered' && a.result?.isError ? 'tool_error' : a.outcome });
const number = (n) => (Number.isFinite(n) ? (n >= 10000 ? count(n) : String(Math.round(n * 100) / 100)) : '');

function Running({ job })
{
	const { since, abort, progress } = job.running.value;
	const isKnown = Number.isFinite(progress?.total) && progress.total > 0 && Number.isFinite(progress.progress);
	const share = isKnown ? Math.min(1, Math.max(0, progress.progress / progress.total)) : null;

	useEffect(() => {
		const onKey = (e) => {
			if (e.key === 'Escape' && !e.defaultPrevented && !isDialogOpen()) {
				e.preventDefault();
				abort.abort();
			}
		};

		document.addEventListener('keydown', onKey);
		return () => document.removeEventListener('keydown', onKey);
	}, [abort]);
	return html`<div class="running"><div class="running-head"><span class="state of-busy"><${Icon} name="running" /></span><span class="strong" role="status">Running</span>
			<span class="t2"><${Elapsed} since=${since} /></span><span class="grow"></span>
			<button type="button" class="button" onClick=${() => abort.abort()}>Cancel <kbd>Esc</kbd></button></div>
		${share !== null && html`<progress aria-label="progress" max="1" value=${share}></progress>`}
		${progress && html`<div class="running-foot t2"><span>${safe(progress.message)}</span>
			<span class="t3">${isKnown ? `${number(progress.progress)} of ${number(progress.total)}` : number(progress.progress)}</span></div>`}</div>`;
}

// Drawn once a second, and in tenths as long as they tell something
function Elapsed({ since })
{
	const at = useMemo(() => signal(Date.now()), []);

	useEffect(() => {
		const timer = setInterval(() => { at.value = Date.now(); }, 100);

		return () => clearInterval(timer);
	}, []);
	return duration(at.value - since);
}

const plainMessage = (text) => paths(text).replace(/^MCP error: /, '');

// What to do about a call that was not answered: by the state of its server
function Step({ server })
{
	const s = servers.value.get(server);

	if (s?.state === 'needs-auth')
		return html`<button type="button" class="button small" onClick=${() => openLogin(server)}>Log in</button>`;
	if (s?.state === 'needs-approval')
		return html`<button type="button" class="button small" onClick=${() => openApproval(server)}>Review</button>`;
	if (s?.state === 'failed' && s.nextAt)
		return html`<span class="t2">${safe(server)} is tried again in ${countdown(s.nextAt - tick.value)}.</span>`;
	return null;
}

const HAPPENED = {
	not_sent: 'It was not sent: nothing happened.',
	unknown: 'It may have happened: the server had the call when it was lost.',
	timeout: 'The server was told that the call is given up.',
	cancelled: 'You cancelled it. The server was told.',
	refused: '',
};

function Failure({ answer, server })
{
	if (answer.outcome === 'cancelled')
		return html`<p class="t2">${HAPPENED.cancelled}</p>`;
	const cause = answer.cause?.message && !answer.message?.includes(answer.cause.message) ? answer.cause.message : '';

	return html`<div class="failure"><p>${plainMessage(answer.message)}</p>${cause && html`<p class="t2">${plainMessage(cause)}</p>`}
		${HAPPENED[answer.outcome] && html`<p class="t2">${HAPPENED[answer.outcome]}${answer.retryable ? ' Calling again is safe.' : ''}</p>`}
		<${Step} server=${server} />
		${answer.stderr && html`<div class="t3">Last lines of its standard error</div><pre class="code mono" tabindex="0">${safeLines(answer.stderr)}</pre>`}</div>`;
}

function ServerError({ error, server })
{
	return html`<div class="failure"><p>${safe(error?.message)}</p><p class="t2">${safe(server)} answered with error ${safe(error?.code)}.</p>
		${error?.data !== undefined && html`<${Result} result=${error.data} />`}</div>`;
}

function Last({ job, isPrevious })
{
	const { at, answer, tookUs, size } = job.last.value;
	const word = wordOf(answer);

	return html`<div class="last"><div class="last-head">${word === 'ok' ? html`<span class="state of-ok"><${Icon} name="ok" /><span>${isPrevious ? 'Previous call' : 'Answered'}</span></span>` : html`<${Outcome} word=${word} />${isPrevious && html`<span class="strong">Previous call</span>`}`}
			<span class="t2"><time>${clock(at)}</time> · ${latency(tookUs)}${answer.outcome === 'answered' ? ` · ${bytes(size)}` : ''}</span></div>
		${answer.outcome !== 'answered' ? html`<${Failure} answer=${answer} server=${job.server} />`
			: answer.error ? html`<${ServerError} error=${answer.error} server=${job.server} />`
				: html`${answer.result?.isError && html`<p class="c-fail">The tool reports an error.</p>`}<${Result} result=${answer.result} />`}</div>`;
}

function Outcomes({ job, empty })
{
	const running = job.running.value, last = job.last.value;

	return html`<section class="try-result" aria-label="Result">${running && html`<${Running} job=${job} />`}
		${last && html`<${Last} job=${job} isPrevious=${Boolean(running)} />`}
		${!running && !last && html`<div class="empty">${empty}</div>`}</section>`;
}

function About({ text, hasRequired })
{
	const words = safe(text);
	const sentence = words && !/[.!?:]$/.test(words) ? `${words}.` : words;

	return (words || hasRequired) && html`<p class="t3 schema-about">${sentence.length > 400 ? html`<details><summary>${sentence.slice(0, 240)}…</summary>${sentence.slice(240)}</details>` : sentence}
		${hasRequired ? ' * is required.' : ''}</p>`;
}

function Try({ job, schema, head, text, action, verb, label, empty, onCall })
{
	const hasRequired = readSchema(schema).props?.some((p) => p.required);

	return html`<div class="tryout"><div class="tryout-in"><section class="try-form" aria-label=${label}>
			<${SchemaForm} key=${JSON.stringify([job.server, job.name])} schema=${schema} value=${job.value.value} onChange=${(v) => { job.value.value = v; }} onSubmit=${onCall} busy=${Boolean(job.running.value)}
				head=${html`<h3 class="try-title"><span class="strong">${head}</span></h3>`} about=${html`<${About} text=${text} hasRequired=${hasRequired} />`}
				action=${action} verb=${`${verb}${job.last.value ? ' again' : ''}`} /></section>
		<${Outcomes} job=${job} empty=${empty} /></div></div>`;
}

// TryTool({server, tool}): tool as the server lists it
export function TryTool({ server, tool })
{
	const schema = tool.inputSchema ?? {};
	const job = jobOf(server, 'tools/call', tool.name, schema);
	const notes = tool.annotations ?? {};
	const head = html`Try <span>${safe(tool.name)}</span> ${notes.readOnlyHint === true ? null : html` <span class="tag" title=${notes.destructiveHint === false ? 'It may change something; it says that it destroys nothing.' : 'It may change or remove something.'}>writes</span>`}`;

	return html`<${Try} job=${job} schema=${schema} head=${head} text=${tool.description || tool.title} action="Call" verb="call" label=${`Try ${safe(tool.name)}`}
		empty="The result of a call stands here." onCall=${(v) => call(job, tool.name, { name: tool.name, arguments: v })} />`;
}

// --- resources -------------------------------------------------------------------------------------------

const NO_SCHEMA = { type: 'object', properties: {}, additionalProperties: false };

// The variables of a URI template (RFC 6570) as a schema
function templateSchema(template)
{
	const properties = {};

	for (const [, inner] of String(template).slice(0, 2000).matchAll(/\{[+#./;?&]?([^{}]+)\}/g))
		for (const name of inner.split(','))
			properties[name.replace(/(\*|:\d+)$/, '')] = { type: 'string' };
	const required = [...String(template).matchAll(/\{[+#./;]?([^{}?&]+)\}/g)].flatMap((m) => m[1].split(',').map((n) => n.replace(/(\*|:\d+)$/, '')));

	return { type: 'object', properties, required, additionalProperties: false };
}

const PARTS = { '': ['', ',', false], '+': ['', ',', true], '#': ['#', ',', true], '.': ['.', '.', false], '/': ['/', '/', false], ';': [';', ';', false], '?': ['?', '&', false], '&': ['&', '&', false] };

// expand(template, values): a URI
export function expand(template, values)
{
	return String(template).replace(/\{([+#./;?&]?)([^{}]+)\}/g, (_, kind, inner) => {
		const [first, between, raw] = PARTS[kind];
		const encode = raw ? (v) => encodeURI(v).replace(/%25([0-9a-f]{2})/gi, '%$1') : (v) => encodeURIComponent(v);
		const out = inner.split(',').map((part) => part.replace(/\*$/, '').split(':')).filter(([name]) => values[name] !== undefined && values[name] !== '')
			.map(([name, most]) => {
				const v = encode(String(values[name]).slice(0, most ? Number(most) : undefined));

				return kind === '?' || kind === '&' || kind === ';' ? `${name}=${v}` : v;
			});

		return out.length ? first + out.join(between) : '';
	});
}

// ReadResource({server, resource}): a resource, or a template
export function ReadResource({ server, resource })
{
	const template = resource.uriTemplate;
	const schema = useMemo(() => (template ? templateSchema(template) : NO_SCHEMA), [template]);
	const job = jobOf(server, 'resources/read', template ?? resource.uri, schema);
	const uri = template ? expand(template, job.value.value) : resource.uri;

	return html`<${Try} job=${job} schema=${schema} head=${html`Read <span>${safe(resource.title || resource.name)}</span>`} text=${resource.description}
		action="Read" verb="read" label="Read a resource" empty=${html`<span class="mono">${safe(uri)}</span>`} onCall=${() => call(job, undefined, { uri })} />`;
}

// TryPrompt({server, prompt})
export function TryPrompt({ server, prompt })
{
	const schema = useMemo(() => {
		const list = Array.isArray(prompt.arguments) ? prompt.arguments : [];

		return {
			type: 'object', additionalProperties: false, required: list.filter((a) => a.required === true).map((a) => String(a.name)),
			properties: Object.fromEntries(list.map((a) => [String(a.name), { type: 'string', title: a.title, description: a.description }])),
		};
	}, [prompt]);
	const job = jobOf(server, 'prompts/get', prompt.name, schema);

	return html`<${Try} job=${job} schema=${schema} head=${html`Prompt <span>${safe(prompt.name)}</span>`} text=${prompt.description || prompt.title} action="Fill in" verb="fill it in"
		label=${`Prompt ${safe(prompt.name)}`} empty="The messages that an agent gets stand here." onCall=${(v) => call(job, undefined, { name: prompt.name, arguments: v })} />`;
}
