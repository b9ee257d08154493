// recognise.js - reads what a README says about adding a server: JSON of any tool, TOML of Codex, a command line, an address, the
// `mcp add` of another tool. Returns entries as mcpool's file has them, with what a person should look at. No DOM here.

import { safe } from './format.js';

const isMap = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);
const MOST = 200000, MOST_SERVERS = 50;

// words(line): as a shell splits it; throws on an open quote
export function splitWords(line)
{
	const out = [];
	let word = null, quote = '';

	for (let i = 0; i < line.length; i++) {
		const c = line[i];

		if (quote) {
			if (c === quote)
				quote = '';
			else if (c === '\\' && quote === '"' && /["\\$`]/.test(line[i + 1] ?? ''))
				word += line[++i];
			else
				word += c;
		} else if (c === '"' || c === '\'') {
			quote = c;
			word ??= '';
		} else if (c === '\\' && i + 1 < line.length) {
			word = (word ?? '') + line[++i];
		} else if (/\s/.test(c)) {
			if (word !== null)
				out.push(word);
			word = null;
		} else {
			word = (word ?? '') + c;
		}
	}
	if (quote)
		throw new Error(`a quote ${quote} is not closed`);
	return word === null ? out : [...out, word];
}

// JSON with comments and commas too many, as configuration files have them
function readLoose(text)
{
	const clean = text.replace(/("(?:[^"\\\n]|\\.)*")|\/\/[^\n]*|\/\*[^]*?\*\//g, (m, s) => s ?? '').replace(/("(?:[^"\\\n]|\\.)*")|,(\s*[}\]])/g, (m, s, end) => s ?? end);

	return JSON.parse(clean);
}

// --- names -----------------------------------------------------------------------------------------

const tidy = (name) => name.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 60);

function shorten(name)
{
	const out = name.replace(/^(mcp[-_.]?server|server|mcp)[-_.]/i, '').replace(/[-_.](mcp[-_.]?server|server[-_.]?mcp|mcp|server)$/i, '');

	return tidy(out) || tidy(name);
}

const RUNNERS = { npx: 1, bunx: 1, pnpx: 1, uvx: 1, pipx: 1, npm: 1, pnpm: 1, yarn: 1, uv: 1, bun: 1, deno: 1, node: 1, python: 1, python3: 1, docker: 1, podman: 1, run: 1, exec: 1, dlx: 1, x: 1, tool: 1, sh: 1, bash: 1, env: 1, cmd: 1 };
const TAKES = new Set(['-e', '--env', '-v', '--volume', '--mount', '--network', '-p', '--from', '--with', '--directory', '--python', '-w', '--name', '--project']);

function nameOfCommand(words)
{
	for (let i = 0; i < words.length; i++) {
		const w = words[i], base = w.split(/[\\/]/).pop();

		if (TAKES.has(w))
			i++;
		else if (w.startsWith('-') || w.startsWith('/c') || Object.hasOwn(RUNNERS, base.replace(/\.exe$/, '')))
			continue;
		else if (w.startsWith('@') && w.includes('/'))
			return (([scope, rest]) => {
				const short = shorten(rest.split('@')[0]);

				return /^(mcp|server|mcp-server)$/i.test(short) ? tidy(scope) : short;
			})(w.slice(1).split('/'));
		else {
			const parts = w.replace(/@[^/]*$/, '').replace(/:[\w.-]+$/, '').split(/[\\/]/);
			const last = parts.pop().replace(/\.(m?js|ts|py|sh)$/, '');

			return shorten(/^(index|main|server|dist|build|src)$/.test(last) && parts.length ? parts.filter((p) => !/^(dist|build|src|\.+)$/.test(p)).pop() || last : last) || 'server';
		}
	}
	return tidy(words[0]?.split('/').pop() ?? '') || 'server';
}

export function nameOfUrl(url)
{
	try {
		const { hostname } = new URL(url);

		if (/^[\d.]+$|^localhost$|:/.test(hostname))
			return 'local';
		const parts = hostname.split('.').filter((p) => !/^(mcp|api|www|app|server|remote)$/i.test(p));

		return tidy(parts.length > 1 ? parts[parts.length - 2] : parts[0] ?? '') || 'server';
	} catch {
		return 'server';
	}
}

// --- entries ---------------------------------------------------------------------------------------

const looksLikeEntry = (v) => isMap(v) && ['command', 'url', 'httpUrl', 'serverUrl'].some((k) => typeof v[k] === 'string' || Array.isArray(v[k]));
const isPlaceholder = (v) => /^<.*>$|^\[.*\]$|\byour[-_ ]|^x{3,}$|^\.{3}$|^(changeme|replace.?me|todo)$|\/path\/to\//i.test(v);
export const isSecretName = (name) => /token|secret|passw|api[-_]?key|(^|_)key$|credential|authorization|_pat$/i.test(name);

// Spellings that mean something else in mcpool's own file
function respell(value, notes)
{
	if (typeof value === 'string')
		return value.replace(/\$\{env:([^}]+)\}/g, (_, n) => `\${${n}}`).replace(/\$\{userHome\}/g, '${HOME}').replace(/\$\{input:([^}]+)\}/g, (_, id) => {
			const name = id.toUpperCase().replace(/[^A-Z0-9_]/g, '_');

			notes.add(`VS Code asks for "${id}". mcpool takes it from the secret ${name}: save it with \`mcpool secret set ${name}\`.`);
			return `\${secret:${name}}`;
		}).replace(/\$\{workspaceFolder\}/g, () => {
			notes.add('${workspaceFolder} is the project: leave it out, or write the folder.');
			return '${workspaceFolder}';
		});
	if (Array.isArray(value))
		return value.map((v) => respell(v, notes));
	if (isMap(value))
		return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, respell(v, notes)]));
	return value;
}

const NOISE = ['gallery', 'version', 'alwaysAllow', 'autoApprove', 'disabledTools', '$schema', 'description'];

function server(name, written, what)
{
	const notes = new Set();
	const entry = respell(Object.fromEntries(Object.entries(written).filter(([k]) => !NOISE.includes(k))), notes);

	if (typeof entry.command === 'string' && /\s/.test(entry.command.trim()) && entry.args === undefined && !/^\S*[\\/].* /.test(entry.command)) {
		const words = splitWords(entry.command);

		entry.command = words[0];
		entry.args = words.slice(1);
	}
	for (const map of ['env', 'environment', 'headers', 'http_headers'])
		for (const [k, v] of isMap(entry[map]) ? Object.entries(entry[map]) : [])
			if (typeof v === 'string' && isPlaceholder(v.replace(/^Bearer\s+/i, '')))
				notes.add(`${k} has a placeholder: ${v.slice(0, 60)}`);
	for (const w of Array.isArray(entry.args) ? entry.args : [])
		if (typeof w === 'string' && isPlaceholder(w))
			notes.add(`An argument is a placeholder: ${w.slice(0, 60)}`);
	const words = Array.isArray(entry.command) ? entry.command : [entry.command, ...(Array.isArray(entry.args) ? entry.args : [])].filter((x) => typeof x === 'string');

	return { name: tidy(name ?? '') || (words.length ? nameOfCommand(words) : nameOfUrl(entry.url ?? entry.httpUrl ?? entry.serverUrl ?? '')), entry, notes: [...notes], what };
}

const MAPS = [['mcpServers', 'JSON with "mcpServers"'], ['servers', 'JSON of VS Code'], ['context_servers', 'settings of Zed'], ['mcp_servers', 'TOML of Codex'], ['mcp', 'JSON of OpenCode']];

function fromJson(value)
{
	const entries = (map, what) => Object.entries(map).filter(([, v]) => looksLikeEntry(v)).slice(0, MOST_SERVERS).map(([n, v]) => server(n, v, what));

	if (looksLikeEntry(value))
		return [server(typeof value.name === 'string' ? value.name : null, (({ name, ...rest }) => rest)(value), 'one entry')];
	if (!isMap(value))
		return [];
	for (const [key, what] of MAPS)
		if (isMap(value[key])) {
			const inner = key === 'mcp' && isMap(value.mcp.servers) ? value.mcp.servers : value[key];
			const found = entries(inner, what);

			if (found.length)
				return found;
		}
	return entries(value, 'JSON, a name for each server');
}

function tomlValue(text)
{
	const t = text.trim();

	if (t.startsWith('{'))
		return Object.fromEntries([...t.matchAll(/(?:"([^"]+)"|([\w-]+))\s*=\s*("(?:[^"\\]|\\.)*"|'[^']*'|[^,}]+)/g)].map((m) => [m[1] ?? m[2], tomlValue(m[3])]));
	if (/^'[^']*'$/.test(t))
		return t.slice(1, -1);
	return JSON.parse(t.replace(/'([^'"\\]*)'/g, '"$1"').replace(/,\s*\]/, ']'));
}

function fromToml(text)
{
	const servers = {};
	let at = null;

	for (const line of text.replace(/\[\s*\n\s*/g, '[').replace(/,\s*\n\s*(?=["'\]])/g, ', ').split('\n')) {
		const head = /^\s*\[mcp_servers\.(?:"([^"]+)"|([\w-]+))(?:\.(env|http_headers))?\]\s*$/.exec(line);
		const pair = /^\s*(?:"([^"]+)"|([\w-]+))\s*=\s*(.+?)\s*$/.exec(line);

		if (head) {
			at = servers[head[1] ?? head[2]] ??= {};
			if (head[3])
				at = at[head[3]] ??= {};
		} else if (pair && at) {
			at[pair[1] ?? pair[2]] = tomlValue(pair[3]);
		}
	}
	return fromJson({ mcp_servers: servers });
}

// --- command lines ---------------------------------------------------------------------------------

const pairOf = (text, sign) => {
	const at = text.indexOf(sign);

	return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
};

// claude mcp add, codex mcp add, gemini mcp add, mcpool add: options, a name, then a command or an address
function fromAdd(words, what)
{
	const names = [], entry = {}, env = {}, headers = {};
	let command = null, type = null;

	for (let i = 0; i < words.length; i++) {
		const [w, ...joined] = words[i].startsWith('--') && words[i].includes('=') ? pairOf(words[i], '=') : [words[i]];
		const take = () => joined[0] ?? words[++i] ?? '';

		if (w === '--') {
			command = words.slice(i + 1);
			break;
		}
		if (w === '-e' || w === '--env') {
			const [k, v] = pairOf(take(), '=');

			env[k] = v;
			while (/^[A-Za-z_]\w*=/.test(words[i + 1] ?? '') && names.length === 0)
				env[pairOf(words[++i], '=')[0]] = pairOf(words[i], '=')[1];
		} else if (w === '-H' || w === '--header') {
			const [k, v] = pairOf(take(), ':');

			headers[k] = v;
		} else if (w === '-t' || w === '--transport') {
			type = take();
		} else if (w === '--url') {
			entry.url = take();
		} else if (w === '--cwd') {
			entry.cwd = take();
		} else if (w === '--token-env' || w === '--bearer-token-env-var') {
			headers.Authorization = `Bearer \${${take()}}`;
		} else if (/^(-s|--scope|--client-id|--callback-port|--timeout)$/.test(w)) {
			take();
		} else if (w.startsWith('-') && names.length < 2) {
			continue;
		} else {
			names.push(words[i]);
			if (names.length >= 2 && !/^(https?|wss?):/i.test(names[1])) {
				command = [names[1], ...words.slice(i + 1).filter((x, k) => !(k === 0 && x === '--'))];
				break;
			}
		}
	}
	if (/^(https?|wss?):/i.test(names[1] ?? ''))
		entry.url = names[1];
	if (command?.length) {
		entry.command = command[0];
		entry.args = command.slice(1);
	}
	if (entry.url && type && type !== 'http' && type !== 'stdio')
		entry.type = type;
	if (Object.keys(env).length)
		entry.env = env;
	if (Object.keys(headers).length)
		entry.headers = headers;
	return looksLikeEntry(entry) ? [server(names[0], entry, what)] : [];
}

function fromLine(line)
{
	const words = splitWords(line.replace(/^\s*(\$|>|%)\s+/, ''));
	const env = {};

	if (words.length === 1 && /^(https?|wss?):\/\//i.test(words[0]))
		return [server(null, { url: words[0] }, 'an address')];
	const json = words.findIndex((w) => w.trim().startsWith('{'));

	if (/^code(-insiders)?$/.test(words[0]) && words[1] === '--add-mcp' && json >= 0)
		return fromJson(readLoose(words[json]));
	if (words[1] === 'mcp' && words[2] === 'add-json' || words[1] === 'add-json')
		return json > 0 ? [server(words[json - 1], readLoose(words[json]), `\`${words[0]} add-json\``)] : [];
	if (/^(claude|codex|gemini|copilot|q|kiro|amp|droid|qwen)$/.test(words[0]) && words[1] === 'mcp' && words[2] === 'add')
		return fromAdd(words.slice(3), `\`${words[0]} mcp add\``);
	if (words[0] === 'mcpool' && words[1] === 'add')
		return fromAdd(words.slice(2), '`mcpool add`');
	while (/^[A-Za-z_]\w*=/.test(words[0] ?? ''))
		env[pairOf(words[0], '=')[0]] = pairOf(words.shift(), '=')[1];
	if (words.length === 0)
		return [];
	if (words.some((w) => /^(\||>|<|&&|;|\|\|)$/.test(w)))
		throw new Error('a command line with a pipe or a redirection needs a shell: sh -c "…"');
	return [server(null, { command: words[0], args: words.slice(1), ...(Object.keys(env).length ? { env } : {}) }, 'a command line')];
}

// recognise(text): {servers: [{name, entry, notes, what}], problem}
export function recognise(text)
{
	const t = text.slice(0, MOST).trim().replace(/^```\w*\n([^]*?)\n?```$/, '$1').trim();

	if (!t)
		return { servers: [], problem: '' };
	try {
		let servers;

		if (t.startsWith('{'))
			servers = fromJson(readLoose(t));
		else if (/^"[^"\n]+"\s*:\s*\{/.test(t))
			servers = fromJson(readLoose(`{${t.replace(/,\s*$/, '')}}`));
		else if (/^\s*\[mcp_servers\./m.test(t))
			servers = fromToml(t);
		else
			servers = t.replace(/\\\r?\n\s*/g, ' ').split('\n').filter((l) => l.trim() && !/^\s*#/.test(l)).slice(0, MOST_SERVERS).flatMap(fromLine);
		return { servers, problem: servers.length ? '' : 'No server is in it: nothing has a command or a url.' };
	} catch (e) {
		const at = /position (\d+)/.exec(e.message)?.[1];

		return { servers: [], problem: t.startsWith('{') || t.startsWith('"') ? `It is not JSON${at ? `, line ${t.slice(0, at).split('\n').length}` : ''}. Is it copied to its end?` : `It cannot be read: ${e.message}.` };
	}
}

// shell(words): a command line that a shell would split into them
export function quoted(word)
{
	const text = String(word);

	if (/^[\w@%+=:,./-]+$/.test(text))
		return text;
	// What safe() would escape is written so that it cannot be taken for the same characters in the word itself.
	return safe(text) === text ? `'${text.replace(/'/g, `'\\''`)}'` : `$'${safe(text.replace(/[\\']/g, '\\$&').replace(/[\t\n\r]/g, (c) => ({ '\t': '\\t', '\n': '\\n', '\r': '\\r' })[c]))}'`;
}

export const shell = (words) => words.map(quoted).join(' ');

// written(entry): what it runs or reaches, on one line
export function written(entry)
{
	const words = Array.isArray(entry.command) ? entry.command : entry.command ? [entry.command, ...(Array.isArray(entry.args) ? entry.args : [])] : [];

	return words.length ? shell(words) : String(entry.url ?? entry.httpUrl ?? entry.serverUrl ?? '');
}
