// mock_verbs.mjs - what mock_hub.mjs answers to forms: verbs that approve, add, edit, import and connect; calls with progress, media,
// questions and failures; a login. All of it invented. Returns undefined for what it does not know.
const D = 86400e3;
const HOME = '/home/ada', PROJECT = `${HOME}/src/web-app`;
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAGAAAAAwCAIAAABhdOiYAAAAeklEQVR4nO3QQQ3AIADAwDHVyMAICoeFfUhIehU0Hftq7fkdv5M+gAaoQQNo0AAaNIAGDaBBA2jQABo0gAYNoEEDaNAAGjSABg2gQQNo0AAaNIAGDaBBA2jQABo0gAYNoEEDaNAAGjSABg2gQQNo0AAaNIAGDaBBA2jQXQ+0kQFvz9aN8gAAAABJRU5ErkJggg==';

// A second of a tone as WAV
function tone()
{
	const n = 8000, data = Buffer.alloc(44 + n);

	data.write('RIFF', 0);
	data.writeUInt32LE(36 + n, 4);
	data.write('WAVEfmt ', 8);
	data.writeUInt32LE(16, 16);
	data.writeUInt16LE(1, 20);
	data.writeUInt16LE(1, 22);
	data.writeUInt32LE(8000, 24);
	data.writeUInt32LE(8000, 28);
	data.writeUInt16LE(1, 32);
	data.writeUInt16LE(8, 34);
	data.write('data', 36);
	data.writeUInt32LE(n, 40);
	for (let i = 0; i < n; i++)
		data[44 + i] = 128 + Math.round(60 * Math.sin(i / 3));
	return data.toString('base64');
}

const source = (file, line, tool, level = 'user') => ({ file, line, tool, level });
const none = { env: [], headers: [], commands: [], reads: [], secrets: [], files: [], envFile: [], folders: [], runners: [], changed: [], changes: [], risks: [], approvedMs: null };

function waiting(world)
{
	const items = {
		playwright: {
			...none, name: 'playwright', id: '9deda9c1d51ee5dbbfaa2d6a5365c1c4518d81a264dd815775bccfd7506fed48', source: source(`${PROJECT}/.cursor/mcp.json`, 3, 'cursor', 'project'),
			argv: ['npx', '-y', '@playwright/mcp@latest', '--headless', '--config', './tools/browser.js'], env: ['GITHUB_TOKEN'], reads: ['GITHUB_TOKEN', 'HOME'], files: ['tools/browser.js'], folders: ['.'], runners: ['npx'],
			changed: ['args', 'env.GITHUB_TOKEN', 'tools/browser.js'], approvedMs: Date.now() - 5 * D,
			changes: [{ path: 'args', before: ['-y', '@playwright/mcp@1.8.0', '--headless'], now: ['-y', '@playwright/mcp@latest', '--headless', '--config', './tools/browser.js'] },
				{ path: 'env.GITHUB_TOKEN', before: null, now: '${GITHUB_TOKEN}' }, { file: 'tools/browser.js', before: '3f2a91c', now: '91c407ae' }],
			risks: [{ what: 'It can read a secret it could not before', detail: 'GITHUB_TOKEN is new. The last approval had no secrets.' }, { what: 'It downloads code at every start', detail: '@latest is whatever is published that day. 1.8.0 was fixed.' },
				{ what: 'It runs a script of this project', detail: 'tools/browser.js changed since you approved it.' }],
		},
	};
	const plain = (s, i) => ({
		...none, name: s.name, id: String(i).repeat(64).slice(0, 64), source: s.source, ...(s.transport === 'http' ? { url: `https://mcp.${s.name}.dev/mcp`, headers: ['Authorization'], reads: ['TOKEN'] } : { argv: ['npx', '-y', `@${s.name}/mcp-server@1.4.2`] }),
	});

	return world.servers.filter((s) => s.state === 'needs-approval').map((s, i) => items[s.name] ?? plain(s, i));
}

const AGENTS = [['claude', 'Claude Code', '.claude.json', 1, 1], ['cursor', 'Cursor', '.cursor/mcp.json', 1, 1], ['codex', 'Codex', '.codex/config.toml', 1, 0], ['gemini', 'Gemini CLI', '.gemini/settings.json', 1, 0],
	['vscode', 'VS Code', '.config/Code/User/mcp.json', 0, 0], ['opencode', 'OpenCode', '.config/opencode/opencode.json', 0, 0], ['windsurf', 'Windsurf', '.codeium/windsurf/mcp_config.json', 0, 0], ['zed', 'Zed', '.config/zed/settings.json', 0, 0]];
const linked = new Map();
const agent = ([name, label, file, found, connected], project) => ({
	agent: name, label, found: Boolean(found), program: found && name !== 'cursor' ? `/usr/bin/${name}` : null, level: project ? 'project' : 'user', file: project ? `${PROJECT}/.mcp.json` : `${HOME}/${file}`,
	connected: linked.get(name) ?? Boolean(connected), entry: (linked.get(name) ?? connected) ? 'mcpool' : null, problem: null,
});
const SNIPPET = '{\n  "mcpServers": {\n    "mcpool": {\n      "command": "/usr/local/bin/mcpool",\n      "args": ["stdio", "--naming", "server__tool"]\n    }\n  }\n}\n';

const done = (json, stderr = '') => ({ exit: 0, stdout: `${JSON.stringify(json)}\n`, stderr });
const failed = (message, code = 'invalid', exit = 2) => ({ exit, stdout: `${JSON.stringify({ error: { code: -32602, message, data: { code } } })}\n`, stderr: `mcpool: ${message}\n` });

const CONFIG = { command: 'uvx', args: ['postgres-mcp', '--access-mode', 'restricted'], env: { DATABASE_URL: 'postgres://•••@db/app', PGSSLMODE: 'require' }, toolTimeout: 60000, toolsDenied: ['drop_*'] };
const DEFAULTS = { timeout: 30000, maxTotal: 3600000, mode: 'shared', start: 'eager', residency: 'keep', 'restart.mode': 'relentless', 'restart.callers': 'wait', 'restart.attempts': 5, healthProbe: 'ping', environment: 'inherit', era: 'auto', required: false, pins: 'warn' };

// mockVerb(world, params): the result of mcpool/verb
export function mockVerb(world, { verb, args, input })
{
	const names = args.filter((a) => !a.startsWith('-'));

	(world.verbs ??= []).push([verb, ...args].join(' '));
	const add = (name, entry) => {
		if (world.servers.some((s) => s.name === name))
			return failed(`Server "${name}" already exists in ${HOME}/.config/mcpool/mcp.json`, 'exists');
		if (!entry.command && !entry.url)
			return failed(`Invalid server config: Server "${name}": stdio server requires "command" field`);
		return done({ added: { name, state: 'ready', source: source(`${HOME}/.config/mcpool/mcp.json`, 50, 'mcpool') } });
	};

	switch (verb) {
	case 'trust':
		if (args[0] === 'list')
			return undefined;
		return args.includes('--yes') ? done({ approved: waiting(world).filter((x) => x.id === args[args.indexOf('--id') + 1]), waiting: [], error: null })
			: { ...done({ approved: [], waiting: waiting(world).filter((x) => !names.length || names.includes(x.name)), error: 'nothing was approved, because there is no terminal to ask on.' }), exit: 7 };
	case 'add-json':
		return add(names[0], JSON.parse(args[1] === '-' ? input : args[1]));
	case 'secret':
		return args[0] === 'list' ? done({ secrets: [{ name: 'TEAM', place: 'keyring', savedMs: 1 }] }) : done({ name: args[1], place: 'keyring' });
	case 'edit':
		return args.some((a) => a.includes('"bad"')) ? failed('"cwd" must be a folder') : done({ changed: { name: args[0] } }, args.some((a) => a.startsWith('toolTimeout:="0')) ? 'mcpool: note: "toolTimeout" must be more than 0\n' : '');
	case 'import': {
		const all = [['github', 'claude', '.claude.json', 13], ['sentry', 'claude', '.claude.json', 30], ['postgres', 'codex', '.codex/config.toml', 8], ['browser', 'cursor', 'src/web-app/.cursor/mcp.json', 3]];
		const yes = args.includes('--yes');

		return { ...done({ servers: all.filter(([n]) => !yes || names.includes(n)).map(([name, tool, file, line]) => ({ name, result: name === 'browser' ? 'failed' : yes ? 'imported' : 'skipped', source: source(`${HOME}/${file}`, line, tool),
			error: name === 'browser' ? `mcp 'browser' at ${HOME}/${file} has \${input:token}, which means something else in our own file.` : null })) }), exit: yes ? 0 : 2 };
	}
	case 'connect': {
		const one = AGENTS.find(([name]) => name === names[0]);

		if (!names.length)
			return done({ agents: AGENTS.map((a) => agent(a)) });
		if (!one)
			return failed(`there is no agent '${names[0]}'. \`mcpool connect\` lists them.`);
		if (args.includes('--write') || args.includes('--undo'))
			linked.set(one[0], args.includes('--write'));
		return done({ ...agent(one, args.includes('--project')), snippet: SNIPPET, command: one[0] === 'cursor' ? null : [one[0], 'mcp', 'add', 'mcpool', '--', '/usr/local/bin/mcpool', 'stdio', '--naming', 'server__tool'],
			twice: one[0] === 'codex' ? ['postgres'] : [], result: args.includes('--write') ? 'connected' : args.includes('--undo') ? 'undone' : null });
	}
	case 'config': {
		const s = world.servers.find((x) => x.name === args[1]);

		if (s?.name === 'playwright')
			return done({ command: { value: 'npx', from: `${s.source.file}:3` }, env: { value: { GITHUB_TOKEN: '${GITHUB_TOKEN}' }, from: `${s.source.file}:8` } });
		if (s?.source.tool !== 'mcpool')
			return undefined;
		return done({ ...Object.fromEntries(Object.entries(CONFIG).map(([k, value]) => [k, { value, from: `${s.source.file}:${s.source.line}` }])), ...Object.fromEntries(Object.entries(DEFAULTS).map(([k, value]) => [k, { value, from: 'default' }])) });
	}
	default:
		return undefined;
	}
}

const wait = (ms) => new Promise((end) => setTimeout(end, ms));

export const FORM = {
	type: 'object', required: ['name', 'plan'], properties: { name: { type: 'string', title: 'Your name', description: 'As it stands on the invoice.', minLength: 2 }, plan: { type: 'string', oneOf: [{ const: 'free', title: 'Free' }, { const: 'team', title: 'Team' }] },
		seats: { type: 'integer', minimum: 1, maximum: 50, default: 5 }, email: { type: 'string', format: 'email' }, news: { type: 'boolean', default: false },
		topics: { type: 'array', items: { anyOf: [{ const: 'api', title: 'API' }, { const: 'web', title: 'Web' }, { const: 'db', title: 'Database' }] } } },
};
const TEXT = '# Issue #1842 opened\n\nRetry after 503 loops when `Retry-After` is `0`. See [the docs](https://example.com/docs/retry?x=1).\n\n| state | count |\n| --- | --- |\n| done | 9114 |\n| queued | 318 |\n\n- first\n- **second**\n  - inner\n\n```\nGET /issues/1842\n```';
const results = () => ({
	create_issue: { content: [{ type: 'text', text: '## Issue #1842 opened\n\nRetry after 503 loops when `Retry-After` is `0`' }], structuredContent: { issue: { number: 1842, state: 'open', labels: ['regression', 'p1'], url: 'https://github.com/acme/api-gateway/issues/1842', big: 1, assignee: null } } },
	media: { content: [{ type: 'text', text: TEXT }, { type: 'image', mimeType: 'image/png', data: PNG }, { type: 'image', mimeType: 'image/svg+xml', data: PNG }, { type: 'audio', mimeType: 'audio/wav', data: tone() },
		{ type: 'resource_link', uri: 'file:///home/ada/notes.md', name: 'notes.md', description: 'What was decided' }, { type: 'resource', resource: { uri: 'repo://acme/x', mimeType: 'application/json', text: '{"rows":[{"status":"done","count":9114}]}' } },
		{ type: 'resource', resource: { uri: 'repo://acme/y', mimeType: 'application/pdf', blob: PNG } }] },
	rows: { content: [{ type: 'text', text: JSON.stringify({ rows: Array.from({ length: 512 }, (_, i) => ({ status: ['done', 'queued', 'failed'][i % 3], count: 9114 - i })) }) }] },
	hostile: { content: [{ type: 'text', text: 'a\u202eb\u0007 <img src=x onerror=alert(1)> [click](javascript:alert(1)) [ok](https://evil.example/\u202e) **x** ![i](https://x/y.png)\n\n`<script>`' }, { type: 'image', mimeType: 'image/png', data: 'AAAA' }], structuredContent: { '__proto__': 1, 'a\u202e': '<b>' } },
});

// mockAnswer(world, method, params, peer): peer: {progress(p), notify(method, params), ask(method, params), signal}
export async function mockAnswer(world, method, params, peer)
{
	if (method === 'mcpool/login') {
		peer.notify('mcpool/login/visit', { server: params.name, url: `https://linear.app/oauth/authorize?response_type=code&client_id=mcpool&scope=read+write&state=81ba7c&redirect_uri=http%3A%2F%2F127.0.0.1%3A41023%2Fcallback`, issuer: 'https://linear.app', scope: 'read write issues:create', redirectUri: 'http://127.0.0.1:41023/callback' });
		await wait(4000);
		return {};
	}
	if (method === 'mcpool/login/paste') {
		if (!/code=/.test(params.url))
			throw Object.assign(new Error('This address is not the answer to this login: it has no "code".'), { code: -32602 });
		return {};
	}
	if (method !== 'mcpool/call')
		return undefined;
	const tool = params.tool ?? '';

	if (params.method === 'resources/read')
		return { outcome: 'answered', tookUs: 2100, result: { contents: [{ uri: params.params.uri, mimeType: 'text/markdown', text: TEXT }] } };
	if (params.method === 'prompts/get')
		return { outcome: 'answered', tookUs: 900, result: { description: 'Sort new issues', messages: [{ role: 'user', content: { type: 'text', text: 'Sort the new issues by what they need.' } }] } };
	if (tool === 'ask' || tool === 'ask_url') {
		const answer = await peer.ask('elicitation/create', tool === 'ask' ? { message: 'To open the account, github needs a few things.', requestedSchema: FORM }
			: { mode: 'url', message: 'Confirm the payment in your browser.', url: 'https://pay.example.com/confirm?id=81ba7c', elicitationId: 'e1' });

		return { outcome: 'answered', tookUs: 3200000, result: { content: [{ type: 'text', text: JSON.stringify(answer) }] } };
	}
	if (tool === 'fails')
		return { outcome: 'unknown', code: 'mcp_outcome_unknown', rpcCode: 1003, fault: 3, message: 'MCP error: the server exited with code 1 while it had the call', cause: { code: 'closed', message: 'exited with code 1' }, retryable: false, nextAt: 0,
			stderr: 'Traceback (most recent call last):\n  File "server.py", line 12\nValueError: no such table', tookUs: 310000 };
	if (tool === 'refused')
		return { outcome: 'answered', tookUs: 800, error: { code: -32602, message: 'Invalid arguments: repo is unknown', data: { repo: 'acme/none' } } };
	for (let i = 1; i <= 50 && tool === 'create_issue' && !peer.signal.aborted; i++) {
		peer.progress({ progress: i, total: 50, message: 'Looking for duplicates' });
		await wait(i < 31 ? 10 : (world.slow ?? 10));
	}
	if (peer.signal.aborted)
		return { outcome: 'cancelled', code: 'canceled', message: 'MCP error: cancelled', tookUs: 100000 };
	return { outcome: 'answered', tookUs: 412000, result: { ...(results()[tool] ?? results().create_issue), isError: tool === 'tool_error' } };
}

const tool = (name, description, inputSchema, annotations = {}) => ({ name, description, inputSchema, annotations });

// Tools that mockAnswer() has something to say to
export const TOOLS = [
	tool('create_issue', 'Open an issue in a repository', { type: 'object', required: ['repo', 'title'], properties: { repo: { type: 'string', description: 'owner/name' }, title: { type: 'string' }, type: { type: 'string', enum: ['bug', 'feature', 'task', 'docs', 'other'], default: 'bug' },
		labels: { type: 'array', items: { type: 'string' } }, milestone: { type: 'object', properties: { number: { type: 'integer' }, due: { type: 'string', format: 'date' } } } } }),
	tool('every_kind', 'Every kind of field there is, to see that all of them look like one form', { type: 'object', required: ['query', 'count', 'target', 'points'], properties: {
		query: { type: 'string', description: 'Searched for in titles and bodies.' }, count: { type: 'integer', minimum: 1, maximum: 100 }, ratio: { type: 'number', default: 0.5 }, exact: { type: 'boolean' }, mode: { enum: ['fast', 'full'], default: 'fast' },
		language: { enum: ['C', 'C++', 'Rust', 'Go', 'JavaScript', 'Python'] }, since: { type: ['string', 'null'], format: 'date' }, mail: { type: 'string', format: 'email' }, tags: { type: 'array', items: { enum: ['a', 'b', 'c'] }, uniqueItems: true }, sizes: { type: 'array', items: { type: 'integer' } },
		target: { oneOf: [{ title: 'File', type: 'object', required: ['path'], properties: { kind: { const: 'file' }, path: { type: 'string' } } }, { title: 'Address', type: 'object', required: ['url'], properties: { kind: { const: 'url' }, url: { type: 'string', format: 'uri' } } }] },
		points: { type: 'array', items: { type: 'object', required: ['x'], properties: { x: { type: 'number' }, y: { type: 'number' } } } }, headers: { type: 'object', title: 'Header', additionalProperties: { type: 'string' } }, limit: { type: ['string', 'integer'] }, extra: {} } }, { readOnlyHint: true }),
	...['media', 'rows', 'hostile', 'fails', 'refused', 'ask', 'ask_url', 'tool_error'].map((name) => tool(name, `Answers with ${name}`, { type: 'object', properties: {} }, { readOnlyHint: true })),
];

// addTools(world): the server "memory" offers them, so that forms can be tried at its page
export function addTools(world)
{
	const catalog = world.catalog.bind(world);

	world.catalog = (name) => {
		const c = catalog(name);

		return name === 'memory' ? { ...c, lists: [{ page: { tools: TOOLS }, problems: [] }, ...c.lists.slice(1)] } : c;
	};
	return world;
}
