// team.mjs - members of a team at a hub: team.mjs CASE URL MCPOOL. Says what is not as it should be, and exits 1.
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

const [, , which, url, mcpool] = process.argv;
let wrong = 0;
const must = (truth, why) => { if (!truth) { wrong = 1; console.log(why); } };
const run = (...words) => execFileSync(mcpool, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/* --- raw HTTP --------------------------------------------------------------------------------------------- */

const version = '2025-11-25';
function send(token, method, message, session) {
	return fetch(url, {
		method, body: message && JSON.stringify({ jsonrpc: '2.0', ...message }),
		headers: {
			...(token && { authorization: `Bearer ${token}` }), 'content-type': 'application/json',
			accept: 'application/json, text/event-stream', ...(session && { 'mcp-session-id': session, 'mcp-protocol-version': version }),
		},
	});
}

const body = async (response) => JSON.parse((await response.text()).replace(/^[^{]*data: (?=\{)/s, ''));

async function open(token) {
	const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'x', version: '1' } };
	const response = await send(token, 'POST', { id: 0, method: 'initialize', params });
	const session = response.headers.get('mcp-session-id');
	await response.text();
	if (session) await (await send(token, 'POST', { method: 'notifications/initialized' }, session)).text();
	return { status: response.status, session };
}

const list = async (token, session) => {
	const response = await send(token, 'POST', { id: 1, method: 'tools/list' }, session);
	return response.status === 200 ? (await body(response)).result.tools.map((t) => t.name) : response.status;
};

// A stream of this session, and when it ended.
async function listen(token, session) {
	const response = await send(token, 'GET', undefined, session);
	const stream = { status: response.status, ended: 0 };
	stream.over = (async () => {
		try {
			for await (const piece of response.body) void piece;
		} catch { // cut
		}
		stream.ended = Date.now();
	})();
	return stream;
}

const within = (promise, ms) => Promise.race([promise, sleep(ms)]);

/* --- cases ------------------------------------------------------------------------------------------------ */

async function names() {
	const { ALL: all, ONLY: only, BRIEF: brief } = process.env;
	const began = Date.now();
	const short = await open(brief);
	const shortStream = await listen(brief, short.session);
	must(short.status === 200 && shortStream.status === 200, `brief: ${short.status} ${shortStream.status}`);

	const one = await open(all), other = await open(only);
	const everything = await list(all, one.session), some = await list(only, other.session);
	must(everything.some((n) => n.startsWith('mcp__a__')) && everything.some((n) => n.startsWith('mcp__b__')), `all sees ${everything}`);
	must(some.length === 1 && some[0] === 'mcp__a__echo', `only-a sees ${some}`);
	const called = await body(await send(only, 'POST', { id: 2, method: 'tools/call', params: { name: 'mcp__a__echo', arguments: { message: 'x' } } }, other.session));
	must(called.result && !called.result.isError, `echo: ${JSON.stringify(called)}`);
	for (const name of ['mcp__b__echo', 'mcp__a__add', 'echo', 'b__echo']) {
		const refused = await body(await send(only, 'POST', { id: 3, method: 'tools/call', params: { name, arguments: {} } }, other.session));
		must(name === 'echo' || /Unknown tool/.test(refused.error?.message ?? ''), `${name}: ${JSON.stringify(refused)}`);
	}
	must(await list(all, other.session) === 404, "another holder's session");
	must((await open(`mcpool_${'0'.repeat(64)}`)).status === 401 && (await open(all.slice(0, -1))).status === 401, 'a wrong token');

	const described = (name) => JSON.parse(run('token', 'list', '--json')).tokens.find((t) => t.name === name);
	const used = described('all').usedMs, { expiresMs } = described('brief');
	must(used >= began - 1000 && used <= Date.now(), `used ${used}`);

	const stream = await listen(all, one.session), kept = await listen(only, other.session);
	run('token', 'rm', 'all');
	const removed = Date.now();
	must(await list(all, one.session) === 401, 'the removed token');
	await within(stream.over, 3000);
	must(stream.ended && stream.ended - removed < 2500, 'the stream of the removed token goes on');
	must(!kept.ended && (await list(only, other.session)).length === 1, 'the other token was harmed');

	await within(shortStream.over, 4000);
	must(shortStream.ended && shortStream.ended >= expiresMs - 10, `the stream of the expired token: ended ${shortStream.ended}, expires ${expiresMs}`);
	must(await list(brief, short.session) === 401, 'the expired token');
	await send(only, 'DELETE', undefined, other.session);
}

/* --- tokens of an issuer ---------------------------------------------------------------------------------- */

const issuer = process.env.ISSUER;
const ask = (path, wanted) => fetch(`${issuer}${path}`, { method: 'POST', body: JSON.stringify(wanted) }).then((r) => r.json());
const tokenOf = async (wanted = {}) => (await ask('/sign', { ...wanted, claims: { aud: url, scope: 'mcp:read mcp:call', ...wanted.claims } })).token;
const fetches = async () => (await (await fetch(`${issuer}/counts`)).json())['/jwks'];
const metadataUrl = new URL('/.well-known/oauth-protected-resource/mcp', url).href;

async function checkMetadata() {
	for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
		const response = await fetch(new URL(path, url));
		const document = await response.json();
		must(response.status === 200 && document.resource === url && document.authorization_servers.join() === issuer &&
			document.scopes_supported.join() === 'mcp:read,mcp:call' && document.bearer_methods_supported.join() === 'header', `${path}: ${JSON.stringify(document)}`);
	}
	must((await fetch(new URL('/.well-known/oauth-protected-resource/sse', url))).status === 404, 'metadata of another path');
	must((await fetch(metadataUrl, { method: 'POST' })).status === 405, 'POST of the metadata');
	const byName = await (await fetch(metadataUrl.replace('127.0.0.1', 'localhost'))).json();
	must(byName.resource === url.replace('127.0.0.1', 'localhost'), `by another name: ${byName.resource}`);
}

async function challenge(token) {
	const response = await send(token, 'POST', { id: 1, method: 'ping' });
	await response.text();
	return `${response.status} ${response.headers.get('www-authenticate')}`;
}

async function checkChallenges() {
	const about = `Bearer resource_metadata="${metadataUrl}"`;
	must(await challenge() === `401 ${about}, scope="mcp:read"`, await challenge());
	must(await challenge('nonsense') === `401 ${about}, error="invalid_token", scope="mcp:read"`, await challenge('nonsense'));
	must(await challenge('a.b.c') === `401 ${about}, error="invalid_token", scope="mcp:read"`, await challenge('a.b.c'));
	const narrow = await tokenOf({ claims: { scope: 'mcp:call' } });
	must(await challenge(narrow) === `403 ${about}, error="insufficient_scope", scope="mcp:read"`, await challenge(narrow));
}

async function checkHostile() {
	const now = Math.floor(Date.now() / 1000);
	const hostile = {
		none: { header: { alg: 'none' } }, 'HS256 by the public key': { alg: 'RS256', header: { alg: 'HS256' } },
		crit: { header: { crit: ['exp'] } }, typ: { header: { typ: 'dpop+jwt' } }, 'another key': { header: { kid: 'EdDSA-3', alg: 'EdDSA' } },
		issuer: { claims: { iss: `${issuer}/` } }, audience: { claims: { aud: 'http://127.0.0.1:1/mcp' } }, 'no audience': { claims: { aud: null } },
		'no expiry': { claims: { exp: null } }, expired: { claims: { exp: now - 61 } }, 'not yet': { claims: { nbf: now + 90 } },
		'of the future': { claims: { iat: now + 90 } }, 'of nobody': { claims: { sub: null, client_id: null } },
	};
	for (const [words, wanted] of Object.entries(hostile)) {
		const status = (await open(await tokenOf(wanted))).status;
		must(status === 401, `${words}: ${status}`);
	}
}

async function checkSessions() {
	const amy = await tokenOf(), bob = await tokenOf({ claims: { sub: 'bob' } });
	const { session } = await open(amy);
	must((await list(amy, session)).length > 1, 'amy sees nothing');
	must(await list(bob, session) === 404, "bob has amy's session");
	must((await list(await tokenOf({ alg: 'EdDSA' }), session)).length > 1, 'a renewed token does not go on with the session');
	must((await list(await tokenOf({ claims: { aud: ['x', url] } }), session)).length > 1, 'a list of audiences');
	const brief = await tokenOf({ claims: { sub: 'brief', exp: Math.floor(Date.now() / 1000) - 58 } }); // for 2 s, with the skew
	const stream = await listen(brief, (await open(brief)).session);
	must(stream.status === 200, `brief: ${stream.status}`);
	await within(stream.over, 5000);
	must(stream.ended, 'the stream of an expired token goes on');
}

async function checkRotation() {
	const before = await fetches();
	await ask('/set', { jwks: 'slow' });
	const { kid } = await ask('/set', { add: 'ES256' });
	const token = await tokenOf({ kid });
	const began = Date.now();
	const both = await Promise.all([open(token), open(token), open(await tokenOf())]);
	must(both.every((one) => one.status === 200), `a new key: ${both.map((one) => one.status)}`);
	must(Date.now() - began > 300, 'nothing was waited for');
	must(await fetches() === before + 1, `${await fetches() - before} fetches`);
	must((await open(await tokenOf({ header: { kid: 'unknown' } }))).status === 401, 'an unknown key');
	must(await fetches() === before + 1, 'unknown keys are fetched more than once a minute');
}

async function issuerCase() {
	for (const alg of ['RS256', 'ES256', 'EdDSA']) must((await open(await tokenOf({ alg }))).status === 200, alg);
	await checkMetadata();
	await checkChallenges();
	await checkHostile();
	await checkSessions();
	await checkRotation();
	must((await open(run('token').trim())).status === 200, 'the token of the file');
}

async function audience() {
	must((await open(await tokenOf({ claims: { aud: 'urn:team', scope: null } }))).status === 200, 'the configured audience');
	must((await open(await tokenOf())).status === 401, 'our address is not the audience');
}

async function without_keys() {
	const began = Date.now();
	must((await open('e30.e30.AAAA')).status === 503, 'a token of the issuer');
	must(Date.now() - began < 9000, 'that took too long');
	must((await open(process.env.ALL)).status === 200 && (await open(run('token').trim())).status === 200, 'other tokens');
}

/* --- the SDK ---------------------------------------------------------------------------------------------- */

// A user in front of a browser, who allows it.
async function consent(address, log) {
	const page = await (await fetch(address)).text();
	log.push(/Allow (\S+)\?/.exec(page)[1]);
	const action = /action="([^"]*)"/.exec(page)[1].replace(/&#(\d+);/g, (_, n) => String.fromCharCode(n));
	const answer = await fetch(new URL(action, address), { method: 'POST', redirect: 'manual', body: new URLSearchParams({ decision: 'allow' }) });
	const back = new URL(answer.headers.get('location'));
	must(back.searchParams.get('iss') === issuer, `iss: ${back}`);
	return back.searchParams.get('code');
}

async function login() {
	const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
	const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
	const { UnauthorizedError } = await import('@modelcontextprotocol/sdk/client/auth.js');
	const kept = {}, log = [];
	const authProvider = {
		redirectUrl: 'http://127.0.0.1:1/callback',
		clientMetadata: { client_name: 'team', redirect_uris: ['http://127.0.0.1:1/callback'], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none' },
		clientInformation: () => kept.client, saveClientInformation: (client) => { kept.client = client; },
		tokens: () => kept.tokens, saveTokens: (tokens) => { kept.tokens = tokens; },
		codeVerifier: () => kept.verifier, saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
		redirectToAuthorization: async (address) => { kept.code = await consent(address, log); },
	};
	let transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
	const refused = await new Client({ name: 'team', version: '1' }).connect(transport).then(() => null, (why) => why);
	must(refused instanceof UnauthorizedError, `without a login: ${refused}`);
	await transport.finishAuth(kept.code);
	transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
	const client = new Client({ name: 'team', version: '1' });
	await client.connect(transport);
	const { tools } = await client.listTools();
	must(tools.some((t) => t.name === 'mcp__a__echo'), `tools: ${tools.map((t) => t.name)}`);
	const result = await client.callTool({ name: 'mcp__a__echo', arguments: { message: 'hello' } });
	must(/hello/.test(result.content?.[0]?.text), JSON.stringify(result));
	const claims = JSON.parse(Buffer.from(kept.tokens.access_token.split('.')[1], 'base64url'));
	must(claims.aud === url && claims.scope === 'mcp:read' && log.length === 1, `${JSON.stringify(claims)} ${log}`);
	await client.close();
}

/* --- nothing is passed on --------------------------------------------------------------------------------- */

// Prints the tokens it has shown to the hub.
async function passthrough() {
	const tokens = [process.env.NAME, await tokenOf(), run('token').trim()];
	for (const token of tokens) {
		const { session, status } = await open(token);
		must(status === 200, `${status}`);
		for (const name of ['mcp__up__echo', 'mcp__a__echo'])
			await (await send(token, 'POST', { id: 5, method: 'tools/call', params: { name, arguments: { message: 'x' }, _meta: { progressToken: 1 } } }, session)).text();
	}
	console.log(tokens.join('\n'));
}

await { names, issuer: issuerCase, audience, without_keys, login, passthrough }[which]();
process.exit(wrong);
