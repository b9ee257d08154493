// mock_data.mjs - the invented world of mock_hub.mjs: servers, sessions, traffic and histories like those of the design's pictures.
const MiB = 1048576;
const HOSTILE = 'a\u202eexe.txt\u0007<img src=x onerror=alert(1)>\u200b"\'`{{}}${x}' + 'L'.repeat(300);

function random(seed)
{
	let x = seed;

	return () => {
		x = (x * 1664525 + 1013904223) >>> 0;
		return x / 4294967296;
	};
}

// name, transport, tools, uptime ms, restarts, MiB, cpu, calls/s, p50 ms, p99 ms, waiting
const H = 3600e3, D = 24 * H, UP = 6 * D + 4 * H;
const UPS = [
	['github', 'stdio', 41, 4 * H + 48 * 60e3, 3, 212, 1.4, 14.2, 84, 412, 0], ['filesystem', 'stdio', 11, UP, 0, 64, 0.6, 11.8, 1.1, 4.2, 0],
	['postgres', 'stdio', 9, 2 * D + H, 1, 118, 2.2, 7.4, 6.3, 38, 3], ['context7', 'http', 2, UP, 0, null, null, 3.1, 210, 890, 0],
	['ripgrep', 'stdio', 4, UP, 0, 22, 0.3, 2.6, 12, 61, 0], ['sentry', 'http', 16, 19 * H + 2 * 60e3, 2, null, null, 1.9, 164, 720, 0],
	['memory', 'stdio', 8, UP, 0, 71, 0.1, 1.1, 0.9, 2.8, 0], ['figma', 'ws', 6, 51 * 60e3, 4, null, null, 0.5, 96, 340, 0],
];
const SESSIONS = [['claude-code', 'api-gateway', 15.6], ['claude-code', 'web-app', 9.1], ['codex-mcp-client', 'api-gateway', 6.4], ['cursor-vscode', 'web-app', 5.2],
	['Visual Studio Code', 'infra', 2.9], ['gemini-cli-mcp-client', 'docs-site', 1.8], ['opencode', 'infra', 1.1], ['nightly.sh', 'mcpool call', 0.5]];
const SHARES = [ // of each session, over UPS
	[6.2, 4.4, 3.1, 0.9, 0.4, 0.4, 0.2, 0], [3.9, 2.8, 0.8, 0.6, 0.5, 0.3, 0.2, 0], [2.2, 1.6, 1.6, 0.4, 0.6, 0, 0, 0], [0.9, 1.2, 1.2, 0.5, 0.9, 0.4, 0.1, 0],
	[0.5, 0.9, 0.4, 0.3, 0, 0.3, 0, 0.5], [0.2, 0.5, 0.2, 0.4, 0.1, 0.1, 0.3, 0], [0.2, 0.3, 0, 0, 0.1, 0.2, 0.3, 0], [0.1, 0.1, 0.1, 0, 0, 0.2, 0, 0],
];
const TOOLS = { github: ['create_issue', 'search_issues', 'add_issue_comment', 'get_file_contents', 'list_commits', 'search_code', 'create_pull_request'],
	filesystem: ['read_file', 'list_directory', 'write_file'], postgres: ['query', 'describe_table'], context7: ['get_library_docs', 'resolve_library_id'], ripgrep: ['search'],
	sentry: ['search_events', 'get_issue'], memory: ['read_graph', 'create_entities'], figma: ['get_node'] };
const DESCRIPTIONS = { create_issue: 'Open an issue in a repository', search_issues: 'Find issues and pull requests', add_issue_comment: 'Comment on an issue', get_file_contents: 'Read a file or a folder',
	list_commits: 'Commits of a branch', search_code: 'Search code across repositories', create_pull_request: 'Open a pull request', query: 'Run a read-only query' };
const CREATE_ISSUE = { type: 'object', required: ['repo', 'title'], properties: { repo: { type: 'string' }, title: { type: 'string' }, type: { type: 'string', enum: ['bug', 'feature', 'task', 'docs', 'other'] },
	labels: { type: 'array', items: { type: 'string' } }, milestone: { type: 'object', properties: { number: { type: 'integer' }, due: { type: 'string', format: 'date' } } } } };

function history(rate, seed, n = 60)
{
	const r = random(seed);
	let level = 1, burst = 0;

	return Array.from({ length: n }, () => {
		level += (1 - level) * 0.3 + (r() - 0.5) * 0.3;
		burst = r() < 0.06 && rate < 4 ? 2 : burst * 0.5;
		return Math.max(0, Math.round(rate * 15 * (level + burst)));
	});
}

const base = (name, transport, state, more) => ({
	name, state, status: state === 'connected' ? 'connected' : state === 'pending' ? 'connecting' : 'disconnected', detail: state === 'connected' ? 'up' : '', error: null, nextAt: null,
	transport, mode: 'shared', withheld: [], source: { file: '/home/ada/.claude.json', line: 13, tool: 'claude', level: 'user' }, shadowed: false, tools: null, seenAt: null, pid: null,
	uptimeMs: null, restarts: null, attempt: null, maxAttempts: null, calls: null, failures: null, p50us: null, p99us: null, waiting: 0, open: 0, environment: '', memory: null,
	cpuUs: null, processes: null, sessions: null, callsLastMinute: null, toolTokens: null, ...more,
});

function connected([name, transport, tools, uptimeMs, restarts, mib, cpu, rate, p50, p99, waiting], i)
{
	return base(name, transport, 'connected', {
		tools, uptimeMs, restarts, memory: mib === null ? null : mib * MiB, cpuUs: mib === null ? null : 1e9, processes: mib === null ? null : name === 'github' ? 3 : 1,
		pid: mib === null ? null : 3861 + i, callsLastMinute: Math.round(rate * 60), calls: Math.round(rate * 4e4), failures: 12, p50us: p50 * 1000, p99us: p99 * 1000, waiting,
		open: Math.round(rate / 4), sessions: 6, mode: name === 'postgres' ? 'serial' : 'shared', history: history(rate, 7 + i), _cpu: cpu, toolTokens: tools * 140,
	});
}

function others(now)
{
	return [
		base('slack', 'stdio', 'pending', { detail: 'starting', tools: 12, seenAt: now - D }),
		base('warehouse', 'stdio', 'failed', { detail: 'backoff', error: 'exited with code 3: DATABASE_URL is not set', nextAt: now + 14200, attempt: 4, restarts: 3, sessions: 2,
			health: { cause: 'DATABASE_URL is not set', fix: 'Set DATABASE_URL in "env" of the entry, or in the environment that the hub starts with.', variable: 'DATABASE_URL',
				limits: { startMs: 30000, callMs: 60000, totalMs: 3600000 }, restart: { mode: 'relentless', delaysMs: [0, 1000, 5000, 20000], stableMs: 60000 }, changes: [] } }),
		base('linear', 'http', 'needs-auth', { detail: 'barred', error: 'token expired 12 min ago; 2 calls refused', health: { cause: 'its token expired at 14:20. 2 calls were refused', fix: 'Log in.' } }),
		base('playwright', 'stdio', 'needs-approval', { changed: true, source: { file: '/home/ada/src/web-app/.cursor/mcp.json', line: 3, tool: 'cursor', level: 'project' } }),
		base('kubernetes', 'stdio', 'ready', { tools: 23, seenAt: now - D }),
		base('jira', 'http', 'disabled', { error: 'disabled by you in /home/ada/.config/mcpool/mcp.json:41', source: { file: '/home/ada/.config/mcpool/mcp.json', line: 41, tool: 'mcpool', level: 'user' } }),
	];
}

function manyServers(now)
{
	const r = random(3);

	return Array.from({ length: 1000 }, (_, i) => (i % 20 === 19 ? { ...others(now)[i % 6], name: `${others(now)[i % 6].name}-${i}` }
		: connected([`server-${String(i).padStart(4, '0')}`, ['stdio', 'http', 'stdio'][i % 3], 10, UP - i * 1000, i % 3, i % 3 === 1 ? null : 40 + i % 90, 0.2, r() * r() * r() * 20, 1 + r() * 90, 100 + r() * 800, i % 50 === 0 ? i % 7 : 0], i)));
}

const hostile = (value) => (typeof value === 'string' ? HOSTILE : Array.isArray(value) ? value.map(hostile) : value && typeof value === 'object'
	? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, hostile(v)])) : value);

function hostileServers(now)
{
	return [...UPS.map(connected), ...others(now)].map((s, i) => ({ ...s, ...(s.error ? { error: HOSTILE } : {}), ...(s.health ? { health: { ...s.health, cause: HOSTILE, fix: HOSTILE } } : {}),
		name: `${i} ${HOSTILE}`, transport: s.transport, source: hostile(s.source) }));
}

function firstServers()
{
	const files = [['.claude.json', 13], ['.claude.json', 21], ['.codex/config.toml', 8], ['src/web-app/.cursor/mcp.json', 3], ['.claude.json', 30], ['.gemini/settings.json', 4], ['.claude.json', 44]];

	return ['github', 'filesystem', 'postgres', 'sentry', 'context7', 'figma', 'memory'].map((name, i) => base(name, i === 3 ? 'http' : 'stdio', 'needs-approval',
		{ source: { file: `/home/ada/${files[i][0]}`, line: files[i][1], tool: 'claude', level: 'user' } }));
}

const COMMANDS = { github: 'npx -y @github/mcp-server@1.4.2', filesystem: 'npx -y @modelcontextprotocol/server-filesystem', postgres: 'uvx postgres-mcp --access-mode=restricted',
	sentry: 'https://mcp.sentry.dev/mcp' };

export class World {
	constructor({ scene = 'normal', rate })
	{
		const now = Date.now();
		const isQuiet = scene === 'first' || scene === 'empty';

		this.scene = scene;
		this.pid = 29434;
		this.random = random(11);
		this.began = now - (isQuiet ? 8000 : UP);
		this.servers = { normal: () => [...UPS.map(connected), ...others(now)], many: () => manyServers(now), hostile: () => hostileServers(now), first: firstServers, empty: () => [] }[scene]();
		this.sessions = isQuiet ? [] : SESSIONS.map(([client, project, perSecond], i) => ({ id: `s${i + 1}`, parent: null, way: 'stdio', principal: 'uid:1000', pid: 4000 + i, client: scene === 'hostile' ? HOSTILE : client, clientVersion: '2.1',
			protocol: '2026-07-28', root: project === 'mcpool call' ? '/mcpool call' : `/home/ada/src/${scene === 'hostile' ? HOSTILE : project}`, since: now - H, last: now, open: i < 5 ? 1 : 0, received: 100, answered: 99, servers: 12, calls: 1e4,
			callsLastMinute: Math.round(perSecond * 60) }));
		this.flows = isQuiet ? [] : scene === 'many' ? this.manyFlows() : this.normalFlows();
		this.rate = rate ?? (isQuiet ? 0 : scene === 'many' ? 1000 : 42.6);
		this.number = 37702;
		this.records = [];
		this.events = scene === 'normal' ? [{ number: 1, time: now - 1800, server: 'slack', instance: 'slack#1', what: 'starting', text: 'npx -y slack-mcp' }] : [];
		this.running = isQuiet ? [] : [{ session: 's9', client: 'mcpool-dashboard', server: this.servers[0].name, method: 'tools/call', tool: 'create_issue', since: now - 6200, sentAt: now - 6190 }];
		this.usedAt = now;
		if (this.rate)
			this.fill(now);
	}

	normalFlows()
	{
		const names = this.servers.slice(0, 8).map((s) => s.name);
		const flows = SHARES.flatMap((row, i) => row.map((rate, k) => ({ session: `s${i + 1}`, server: names[k], callsLastMinute: Math.round(rate * 60), waiting: 0 }))).filter((f) => f.callsLastMinute);

		return [...flows, { session: 's1', server: this.servers[9].name, callsLastMinute: 0, waiting: 1 }, { session: 's5', server: this.servers[9].name, callsLastMinute: 0, waiting: 1 },
			{ session: 's3', server: this.servers[8].name, callsLastMinute: 0, waiting: 1 }];
	}

	manyFlows()
	{
		return this.servers.filter((s) => s.state === 'connected').flatMap((s, i) => [0, 1].map((k) => ({ session: `s${1 + (i * 3 + k * 2) % 8}`, server: s.name, callsLastMinute: Math.ceil(s.callsLastMinute / 2), waiting: 0 })));
	}

	record(time)
	{
		const r = this.random, session = this.sessions[Math.floor(r() * r() * this.sessions.length)];
		const up = this.servers.filter((s) => s.state === 'connected'), server = up[Math.floor(r() * r() * up.length)];
		const tools = TOOLS[server.name] ?? ['tool_a', 'tool_b'], chance = r();
		const outcome = chance < 0.97 ? 'answered' : chance < 0.985 ? 'tool_error' : chance < 0.989 ? 'timeout' : chance < 0.994 ? 'refused' : chance < 0.997 ? 'cancelled' : 'unknown';
		const codes = { timeout: 'timeout', refused: 'needs_auth', unknown: 'server_exited', cancelled: 'cancelled' };

		return { number: ++this.number, time, session: session.id, client: session.client, principal: 'uid:1000', project: session.root, server: outcome === 'refused' ? 'linear' : server.name, method: 'tools/call',
			tool: this.scene === 'hostile' ? HOSTILE : outcome === 'refused' ? 'list_issues' : tools[Math.floor(r() * tools.length)], outcome, code: codes[outcome] ?? null, latencyUs: outcome === 'refused' ? 0 : outcome === 'timeout' ? 6e7
			: Math.round(server.p50us * (0.5 + r() * r() * 4)), queueUs: server.name === 'postgres' && r() < 0.6 ? Math.round(r() * 31000) : Math.round(r() * 90), bytesIn: 180, bytesOut: Math.round(400 + r() * 18000),
			argsHash: '91c4e2f007ae', ...(server.name === 'postgres' ? { args: { sql: "select status, count(*) from jobs where created_at > now() - '1 h'", limit: 500 } } : {}) };
	}

	fill(now)
	{
		for (let i = 511; i >= 0; i--)
			this.records.push(this.record(now - Math.round(i * 1000 / this.rate)));
	}

	callSome(seconds)
	{
		const wanted = this.rate * seconds, n = Math.floor(wanted) + (this.random() < wanted % 1 ? 1 : 0), now = Date.now();
		const made = Array.from({ length: n }, () => this.record(now));

		this.records = [...this.records, ...made].slice(-512);
		return made;
	}

	hub()
	{
		const now = Date.now(), isQuiet = !this.sessions.length, memory = this.servers.reduce((sum, s) => sum + (s.memory ?? 0), 0);

		return { pid: this.pid, version: '0.1.0', uptimeMs: now - this.began, views: 4, sessionCount: this.sessions.length, serverCount: 8, callsLastMinute: Math.round(this.rate * 60),
			usage: { measuredAt: this.usedAt, hub: { processes: 1, memory: 9 * MiB, cpuUs: 1e8 }, servers: { processes: isQuiet ? 0 : 5, memory, cpuUs: 1e9 }, saved: { processes: isQuiet ? 0 : 35, memory: isQuiet ? 0 : Math.round(3.3 * 1024 * MiB) } },
			path: '/usr/bin', projectTrust: 'ask', listening: { http: '127.0.0.1:8099' }, history: isQuiet ? Array(60).fill(0) : history(this.rate, 5), waiting: isQuiet ? 0 : 3, callsToday: isQuiet ? 0 : 1210000,
			failedToday: isQuiet ? 0 : 3630, overheadUs: isQuiet ? null : { p50: 90, p99: 310 } };
	}

	clean = (s) => ({ ...s, _cpu: undefined });

	hello()
	{
		return { protocol: 1, version: '0.1.0', pid: this.pid, project: '/home/ada/src/web-app', home: '/home/ada', projects: [{ project: '/home/ada/src/web-app', sessions: 2 }] };
	}

	watch()
	{
		return { time: Date.now(), hub: this.hub(), problem: null, servers: this.servers.map(this.clean), gone: [], sessions: this.sessions, ended: [], flows: this.flows, running: this.running };
	}

	// What a second changes
	change()
	{
		const at = Date.now(), r = this.random;

		for (const s of this.servers) {
			if (s.state !== 'connected')
				continue;
			s.uptimeMs += at - this.usedAt;
			if (s.cpuUs !== null)
				s.cpuUs += Math.round((at - this.usedAt) * 10 * (s._cpu ?? 0.2));
			s.callsLastMinute = Math.max(0, s.callsLastMinute + Math.round((r() - 0.5) * s.callsLastMinute * 0.03));
		}
		const failed = this.servers.find((s) => s.nextAt && s.nextAt < at);

		if (failed)
			failed.nextAt = at + 20000;
		this.usedAt = at;
		for (const f of this.flows)
			f.callsLastMinute = Math.max(0, f.callsLastMinute + Math.round((r() - 0.5) * f.callsLastMinute * 0.06));
		return { time: at, hub: this.hub(), servers: this.servers.filter((s) => s.state === 'connected' || s === failed).map(this.clean), flows: this.flows };
	}

	history({ server, hours })
	{
		const stepMs = hours * 25000, n = 144, now = Date.now(), from = now - hours * H, r = random(21);
		const at = (share) => Math.floor(n * share);
		const calls = [], failed = [], p50us = [], p99us = [];

		for (let i = 0; i < n; i++) {
			const spike = Math.exp(-(((i - at(0.735)) / 3) ** 2)), grow = i < at(0.52) ? Math.exp((i - at(0.525)) / 2) : 0, day = 0.75 + 0.4 * Math.sin((i - 20) / 40);
			const isOut = server && i === at(0.528);

			calls.push(isOut ? 0 : Math.round(stepMs / 1000 * (server ? 14 : 42.6) * (day + r() * 0.25 + spike * 0.5)));
			failed.push(isOut ? 40 : i === at(0.44) || i === at(0.55) ? Math.round(stepMs / 1000) : spike > 0.3 ? Math.round(stepMs / 1000 * 3.2 * spike) : 0);
			p50us.push(isOut ? null : Math.round((70 + r() * 15 + spike * 60 + day * 30) * 1000));
			p99us.push(isOut ? null : Math.round((240 + r() * 60 + spike * 600 + grow * 400 + (i > 30 && i < 76 ? (i - 30) * 5 : 0)) * 1000));
		}
		const T = (share) => from + share * hours * H;

		return { server, from, stepMs, calls, failed, p50us, p99us, changes: [{ time: from - 5 * H, what: 'up', state: 'connected', text: '' }, { time: T(0.526), what: 'exited', state: 'failed', text: 'out of memory' },
			{ time: T(0.526) + 41000, what: 'starting', state: 'pending', text: '' }, { time: T(0.526) + 43000, what: 'up', state: 'connected', text: '' }, { time: T(0.8), what: 'renewing', state: 'pending', text: 'restarted by you' },
			{ time: T(0.8) + 4000, what: 'up', state: 'connected', text: '' }] };
	}

	catalog(name)
	{
		const s = this.servers.find((one) => one.name === name), known = TOOLS[name] ?? [];
		const n = Math.max(s?.tools ?? 0, 0);
		const list = Array.from({ length: n }, (_, i) => ({ name: this.scene === 'hostile' ? `${i} ${HOSTILE}` : known[i] ?? `${known[0] ?? 'tool'}_${i}`, description: this.scene === 'hostile' ? HOSTILE : DESCRIPTIONS[known[i]] ?? 'Does one thing of many',
			inputSchema: known[i] === 'create_issue' ? CREATE_ISSUE : { type: 'object', properties: { query: { type: 'string' } } }, annotations: { readOnlyHint: !/create|add|write/.test(known[i] ?? '') } }));

		return { savedAt: Date.now() - H, server: { name }, lists: [{ page: { tools: list }, problems: [] }, { page: { prompts: [{ name: 'triage', description: 'Sort new issues' }, { name: 'review' }] }, problems: [] },
			{ page: { resources: [{ uri: 'repo://acme/api-gateway', name: 'api-gateway' }, { uri: 'repo://acme/web-app', name: 'web-app' }] }, problems: [] }, { page: { resourceTemplates: [{ uriTemplate: 'repo://{owner}/{name}', name: 'repository' }] }, problems: [] }] };
	}

	status({ servers, catalogs })
	{
		return { naming: 'mcp__server__tool', servers: this.servers.filter((s) => !servers || servers.includes(s.name)).map((s) => ({ ...this.clean(s), ...(catalogs && s.tools !== null ? { catalog: this.catalog(s.name) } : {}),
			...(catalogs ? {} : { serverInfo: { name: s.name, version: '1.4.2', title: 'GitHub' }, protocol: '2026-07-28' }) })) };
	}

	async answer(method, params, onProgress)
	{
		switch (method) {
		case 'mcpool/history':
			return this.history(params);
		case 'mcpool/status':
			return this.status(params);
		case 'mcpool/call':
			for (let i = 1; i <= 3; i++) {
				await new Promise((done) => setTimeout(done, 200));
				onProgress({ progress: i, total: 3, message: 'Looking for duplicates' });
			}
			return { outcome: 'answered', tookUs: 412000, result: { content: [{ type: 'text', text: 'Issue #1842 opened' }], structuredContent: { issue: { number: 1842, state: 'open', labels: ['a', 'b'] } } } };
		default:
			if (/^mcpool\/(server\/|reload|login|logout)/.test(method))
				return {};
			throw Object.assign(new Error(`unknown method ${method}`), { code: -32601 });
		}
	}

	log(name)
	{
		const now = Date.now();

		return ['GET /repos/acme/web-app 200 77ms', 'GET /search/code 200 164ms', 'GET /repos/acme/api-gateway/commits 200', 'GET /repos/acme/api-gateway 200 81ms', 'GET /search/issues 200 143ms', 'warning: rate limit: 812 of 5000 left',
			'GET /repos/acme/web-app/commits 200', 'POST /repos/acme/api-gateway/issues', 'error: 422 milestone "twelve" is not a number', 'GET /search/issues page 1 200 190ms', 'GET /search/issues page 2 200 177ms', 'GET /search/issues page 3 200 181ms', 'duplicate check 31/50']
			.map((text, i) => JSON.stringify({ server: name, time: now - (13 - i) * 14000, text: this.scene === 'hostile' ? HOSTILE : text }));
	}

	async verb({ verb, args, stream }, onLine)
	{
		const done = (json) => ({ exit: 0, stdout: typeof json === 'string' ? json : JSON.stringify(json), stderr: '' });

		if (verb === 'logs') {
			const lines = this.log(args[0]);

			if (!stream)
				return done(`${lines.join('\n')}\n`);
			lines.forEach(onLine);
			return new Promise(() => 0);
		}
		if (verb === 'list')
			return done({ servers: this.servers.map((s) => ({ ...this.clean(s), command: COMMANDS[s.name] ?? `npx -y ${s.name}-mcp` })), problems: [] });
		if (verb === 'connect')
			return done({ agents: [['claude', 'Claude Code', true], ['cursor', 'Cursor', true], ['codex', 'Codex', true], ['gemini', 'Gemini CLI', true], ['vscode', 'VS Code', false]].map(([agent, label, found]) => ({ agent, label, found, program: agent, level: 'user', file: '', connected: false, entry: null, problem: null })) });
		if (verb === 'config')
			return done(this.config(args[1]));
		if (verb === 'trust')
			return done({ approved: [{ name: 'github', file: '/home/ada/.claude.json', root: null, approvedMs: Date.now() - 10 * D, how: 'reviewed', id: 'x' }], files: [] });
		return { exit: 2, stdout: '', stderr: `the mock has no verb ${verb}` };
	}

	config()
	{
		const file = '/home/ada/.claude.json', text = (v) => (this.scene === 'hostile' ? HOSTILE : v);

		return { command: { value: text('npx'), from: `${file}:13` }, args: { value: ['-y', text('@github/mcp-server@1.4.2')], from: `${file}:14` }, env: { value: { GITHUB_TOKEN: '•••' }, from: `${file}:16` }, cwd: { value: '/home/ada/src/api-gateway', from: 'session root' },
			mode: { value: 'shared', from: 'default' }, start: { value: 'eager', from: 'default' }, toolTimeout: { value: 60000, from: '/home/ada/src/web-app/mcp.json:9' }, 'tools.deny': { value: ['delete_*', 'fork'], from: '/home/ada/src/web-app/.mcpool/mcp.json:4' },
			residency: { value: 'keep', from: 'default' }, 'restart.mode': { value: 'relentless', from: 'default' }, healthProbe: { value: 'ping', from: 'default' }, pins: { value: 'warn', from: 'default' } };
	}
}
