// result.js - what a server answered: rendered, as a tree, or as it was sent. Nothing of it is trusted: text stays text, media
// come from the answer's own bytes and are of known types, addresses open only by hand.
import { useState, useEffect, useRef } from 'preact/hooks';
import { html } from './html.js';
import { safe, safeLines, bytes, count } from './format.js';
import { parseJson, writeJson } from './json.js';
import { JsonTree } from './json_tree.js';
import { Markdown, isMarkdown } from './markdown.js';
import { Copy } from './parts/copy.js';
import { Link, readAddress } from './parts/link.js';
import { Segments } from './parts/choices.js';

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'];
const MOST_MEDIA = 16 << 20, LONG = 20000, MOST_BLOCKS = 200;

function decode(base64)
{
	if (typeof base64 !== 'string' || base64.length > MOST_MEDIA * 4 / 3)
		return null;
	try {
		return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
	} catch {
		return null;
	}
}

const sizeOf = (base64) => bytes(Math.floor((typeof base64 === 'string' ? base64.length : 0) * 3 / 4));

// A blob: address for as long as the element is there
function useBlob(base64, type)
{
	const [url, setUrl] = useState(null);

	useEffect(() => {
		const data = decode(base64), made = data && URL.createObjectURL(new Blob([data], { type }));

		setUrl(made);
		return () => made && URL.revokeObjectURL(made);
	}, [base64, type]);
	return url;
}

const fileName = (name) => safe(name).replace(/[^\w.-]+/g, '_').slice(-80) || 'data';

function Save({ data, name })
{
	const url = useBlob(data, 'application/octet-stream');

	return url && html`<a class="quiet" href=${url} download=${fileName(name)}>Save</a>`;
}

function Picture({ data, type })
{
	const url = useBlob(data, type);
	const [broken, setBroken] = useState(false);
	const [size, setSize] = useState('');

	if (!url || broken)
		return html`<${Unshown} what=${`${type}, ${sizeOf(data)}`} why=${broken ? 'it is not an image of that type' : 'it is too large or broken'} data=${data} />`;
	return html`<figure class="result-picture"><img src=${url} alt="image from the server" onError=${() => setBroken(true)}
			onLoad=${(e) => setSize(`${e.target.naturalWidth} × ${e.target.naturalHeight}, `)} />
		<figcaption>${type.slice(6)}, ${size}${sizeOf(data)} <${Save} data=${data} name=${`image.${type.slice(6)}`} /></figcaption></figure>`;
}

// Plays through Web Audio, because the page's policy allows no media elements.
function Sound({ data, type })
{
	const [state, setState] = useState('');
	const [at, setAt] = useState(0);
	const player = useRef(null);
	const stop = () => {
		clearInterval(player.current?.timer);
		player.current?.context.close();
		player.current = null;
		setState('');
		setAt(0);
	};
	const play = async () => {
		const context = new AudioContext();

		player.current = { context };
		setState('loading');
		try {
			const sound = await context.decodeAudioData(decode(data).buffer), source = context.createBufferSource();

			source.buffer = sound;
			source.connect(context.destination);
			source.onended = () => player.current?.context === context && stop();
			source.start();
			player.current.length = sound.duration;
			player.current.timer = setInterval(() => setAt(context.currentTime), 100);
			setState('playing');
		} catch {
			stop();
			setState('broken');
		}
	};

	useEffect(() => () => player.current && (clearInterval(player.current.timer), player.current.context.close()), []);
	if (state === 'broken' || !decode(data))
		return html`<${Unshown} what=${`${safe(type)}, ${sizeOf(data)}`} why="this browser cannot play it" data=${data} />`;
	return html`<div class="sound"><button type="button" class="button small" onClick=${state ? stop : play}>${state ? 'Stop' : 'Play'}</button>
		<progress aria-label="played" max="1" value=${player.current?.length ? at / player.current.length : 0}></progress>
		<span class="t3">${safe(type)}, ${sizeOf(data)}</span> <${Save} data=${data} name="sound" /></div>`;
}

const Unshown = ({ what, why, data }) => html`<div class="unshown"><span>${what}</span> <span class="t3">${why ? `not shown: ${why}` : 'not shown'}</span> <${Save} data=${data} name="data" /></div>`;

function Words({ text, type = '' })
{
	const [whole, setWhole] = useState(text.length <= LONG);
	const shown = whole ? text : text.slice(0, LONG);
	const trimmed = text.trim();
	let json;

	if (/^[[{]/.test(trimmed) && text.length < 2e6)
		try {
			json = parseJson(trimmed);
		} catch { /* text that begins like JSON */ }
	if (json !== undefined)
		return html`<${JsonTree} value=${json} />`;
	return html`<div class="words">${type === 'text/markdown' || (!type && isMarkdown(text)) ? html`<${Markdown} text=${shown} />` : html`<pre class="plain-text">${safeLines(shown)}</pre>`}
		${!whole && html`<button type="button" class="quiet" onClick=${() => setWhole(true)}>all ${count(text.length)} characters</button>`}</div>`;
}

function Resource({ item })
{
	const type = typeof item.mimeType === 'string' ? item.mimeType.split(';')[0].trim().toLowerCase() : '';

	return html`<div class="resource"><div class="resource-head"><span class="mono">${readAddress(item.uri) ? html`<${Link} url=${item.uri} />` : safe(item.uri)}</span>
			<span class="t3">${safe(item.mimeType)}</span></div>
		${typeof item.text === 'string' ? html`<${Words} text=${item.text} type=${/json|markdown|^$/.test(type) ? type.replace(/.*json.*/, '') : type} />`
			: IMAGES.includes(type) ? html`<${Picture} data=${item.blob} type=${type} />`
				: type.startsWith('audio/') ? html`<${Sound} data=${item.blob} type=${type} />`
					: html`<${Unshown} what=${`${sizeOf(item.blob)} of data`} data=${item.blob} />`}</div>`;
}

function Block({ block })
{
	if (block?.type === 'text' && typeof block.text === 'string')
		return html`<${Words} text=${block.text} />`;
	if (block?.type === 'image' && IMAGES.includes(block.mimeType))
		return html`<${Picture} data=${block.data} type=${block.mimeType} />`;
	if (block?.type === 'image')
		return html`<${Unshown} what=${`image of type ${safe(block.mimeType)}, ${sizeOf(block.data)}`} why="not a type that is shown here" data=${block.data} />`;
	if (block?.type === 'audio')
		return html`<${Sound} data=${block.data} type=${block.mimeType} />`;
	if (block?.type === 'resource' && block.resource)
		return html`<${Resource} item=${block.resource} />`;
	if (block?.type === 'resource_link')
		return html`<div class="resource-link"><span class="name">${safe(block.title || block.name)}</span>
			<span class="mono">${readAddress(block.uri) ? html`<${Link} url=${block.uri} />` : safe(block.uri)}</span>
			${block.description && html`<span class="t3">${safe(block.description)}</span>`}</div>`;
	return html`<${JsonTree} value=${block} />`;
}

const list = (v) => (Array.isArray(v) ? v.slice(0, MOST_BLOCKS) : []);

// A text that only repeats structuredContent, as the protocol asks of servers, is shown once.
function repeats(block, structured)
{
	if (structured === undefined || block?.type !== 'text' || typeof block.text !== 'string' || !/^\s*[[{]/.test(block.text))
		return false;
	try {
		return JSON.stringify(JSON.parse(block.text)) === JSON.stringify(structured);
	} catch {
		return false;
	}
}

function Rendered({ result })
{
	const structured = result?.structuredContent;
	const blocks = list(result?.content).filter((b) => !repeats(b, structured));
	const left = Math.max(0, (result?.content?.length || 0) - MOST_BLOCKS);
	const nothing = blocks.length === 0 && structured === undefined && !result?.contents && !result?.messages;

	if (nothing && !Array.isArray(result?.content))
		return html`<${JsonTree} value=${result} />`;
	return html`${result.description && html`<p class="t2">${safe(result.description)}</p>`}
		${blocks.map((b, i) => html`<${Block} key=${i} block=${b} />`)}
		${left > 0 && html`<p class="t3">${count(left)} more parts are under Raw.</p>`}
		${list(result.contents).map((item, i) => html`<${Resource} key=${i} item=${item} />`)}
		${list(result.messages).map((m, i) => html`<div class="message" key=${i}><div class="t3">${safe(m?.role)}</div><${Block} block=${m?.content} /></div>`)}
		${structured !== undefined && html`<${JsonTree} value=${structured} />`}
		${nothing && html`<p class="t3">The answer is empty.</p>`}`;
}

function Raw({ result })
{
	const text = writeJson(result);
	const [whole, setWhole] = useState(false);
	const shown = whole ? text : text.slice(0, LONG);

	return html`<pre class="code mono raw" tabindex="0">${safeLines(shown)}</pre>
		${shown.length < text.length && html`<button type="button" class="quiet" onClick=${() => setWhole(true)}>all ${count(text.length)} characters</button>`}`;
}

// Result({result}): of tools/call, resources/read or prompts/get
export function Result({ result })
{
	const [tab, setTab] = useState('rendered');
	const structured = result?.structuredContent !== undefined;
	const tabs = [['rendered', 'Rendered'], ...(structured ? [['structured', 'Structured']] : []), ['raw', 'Raw']];
	const at = tab === 'structured' && !structured ? 'rendered' : tab;

	return html`<div class="result"><div class="result-head">
			<${Segments} label="How the result is shown" items=${tabs} value=${at} onChange=${setTab} />
			<span class="grow"></span><${Copy} text=${() => writeJson(at === 'structured' ? result.structuredContent : result)} what="the result as JSON" /></div>
		<div class="result-body">${at === 'raw' ? html`<${Raw} result=${result} />` : at === 'structured' ? html`<${JsonTree} value=${result.structuredContent} />`
			: html`<${Rendered} result=${result ?? null} />`}</div></div>`;
}
