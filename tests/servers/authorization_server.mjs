// authorization_server.mjs [--OPTION[=VALUE]...] - an OAuth 2.1 authorization server, and an MCP server behind its tokens.
// It needs Node alone. First lines on stdout: `issuer URL`, `mcp URL`, `ready`.
//
//   --port=N --mcp-port=N     where to listen; 0 (default): any. --host=NAME: the name in URLs (127.0.0.1)
//   --path=/tenant            the issuer has a path: metadata is at /.well-known/oauth-authorization-server/tenant
//   --oidc                    metadata as OpenID Connect publishes it, instead of RFC 8414
//   --consent=page|auto|deny  /authorize shows a page with two buttons (default), or decides by itself
//   --access-seconds=N        how long access tokens live (3600)
//   --no-refresh              gives no refresh tokens; --refresh-seconds=N: how long they live (86400)
//   --no-rotation             a refresh token can be used again; default: used once, and reuse revokes its family
//   --alg=ES256|RS256|EdDSA   signature of the access tokens (ES256); --opaque: they are random words instead
//   --scopes=a,b              scopes_supported of both (mcp:read,mcp:call); --required=a,b: what /mcp needs (mcp:read)
//   --call-scope=s            tools/call needs this scope, too: 403 insufficient_scope without it
//   --no-dcr --no-pkce        no registration endpoint; metadata without code_challenge_methods_supported
//   --auth-method=NAME        of registered clients: none (default), client_secret_basic, client_secret_post
//   --client=ID:SECRET        a client that is registered already, for every redirect URI; no SECRET: a public one
//   --cimd                    client_id may be an https URL (not fetched here)
//   --iss=no|WRONG            `iss` is not in the redirect, or is this one; --iss-silent: and it is not advertised
//   --resource=URL            a further resource that tokens may be for (any, by default: only --strict-resource checks)
//   --no-challenge            401 of /mcp names no resource_metadata; --prm=root|path|off: where that document is (both)
//   --token-delay=MS          the token endpoint takes this long
//   --notes=FILE              each request is a line here: `POST /token grant_type=refresh_token 200`; default $TEST_NOTES
//   --secrets-in-notes        also what was sent in Authorization and bodies, for canaries
//
// Endpoints: /authorize /token /register /revoke /introspect /jwks; grants: authorization_code,
// refresh_token, client_credentials. For tests: GET /counts (JSON: `{"POST /token": 3, "POST /token refresh_token": 2}`),
// GET /test/tokens (all that were ever given, a line each), POST /test/expire (no access token is valid any more), POST /test/forget (nor a refresh token, nor a client),
// POST /test/fail?path=/token&status=503&times=2&location=URL, POST /test/rotate (a new signing key beside the old one).
import { createHash, createPublicKey, generateKeyPairSync, randomBytes, randomUUID, sign, timingSafeEqual } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
const { createServer } = process.getBuiltinModule?.('node:http') ?? await import('node:http');

const option = Object.fromEntries(process.argv.slice(2).map((word) => {
	const [, name, value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
	if (!name) throw new Error(`'${word}' is not an option`);
	return [name, value ?? true];
}));
const host = option.host ?? '127.0.0.1';
const words = (text) => (text ? text.split(/[ ,]+/).filter(Boolean) : []);
const scopes = words(option.scopes ?? 'mcp:read,mcp:call');
const required = words(option.required ?? 'mcp:read');
const accessSeconds = Number(option['access-seconds'] ?? 3600);
const refreshSeconds = Number(option['refresh-seconds'] ?? 86400);
const authMethod = option['auth-method'] ?? 'none';
const alg = option.alg ?? 'ES256';
const path = option.path ?? '';
const notes = option.notes ?? process.env.TEST_NOTES;
const random = () => randomBytes(32).toString('base64url');
const seconds = () => Math.floor(Date.now() / 1000);

let issuer, resource; // known once both listen
const clients = new Map(); // client_id → {secret, redirect_uris, method}
const codes = new Map(); // code → {client, redirect, challenge, resource, scope, until}
const grants = new Map(); // family → {client, resource, scope, revoked}
const refreshes = new Map(); // token → {family, used, until}
const accesses = new Map(); // token → {family, scope, aud, until}
const given = []; // all tokens, for canaries
const failures = new Map(); // path → {status, times}
const counts = {};
const keys = [];

if (option.client) {
	const [id, secret] = option.client.split(':');
	clients.set(id, { secret, redirect_uris: null, method: secret ? 'client_secret_basic' : 'none' });
}

/* --- tokens ----------------------------------------------------------------------------------------------- */

function makeKey() {
	const kinds = { ES256: ['ec', { namedCurve: 'P-256' }], RS256: ['rsa', { modulusLength: 2048 }], EdDSA: ['ed25519', {}] };
	const { privateKey } = generateKeyPairSync(...kinds[alg]);
	const kid = `key-${keys.length + 1}`;
	keys.push({ kid, privateKey, jwk: { ...createPublicKey(privateKey).export({ format: 'jwk' }), kid, alg, use: 'sig' } });
}

function signJwt(claims) {
	const { kid, privateKey } = keys.at(-1);
	const part = (object) => Buffer.from(JSON.stringify(object)).toString('base64url');
	const text = `${part({ alg, typ: 'at+jwt', kid })}.${part(claims)}`;
	const how = alg === 'ES256' ? { key: privateKey, dsaEncoding: 'ieee-p1363' } : privateKey;
	return `${text}.${sign(alg === 'EdDSA' ? null : 'sha256', Buffer.from(text), how).toString('base64url')}`;
}

function giveTokens(family) {
	const { client, scope, resource: aud } = grants.get(family);
	const claims = { iss: issuer, aud, sub: 'somebody', client_id: client, scope, iat: seconds(), exp: seconds() + accessSeconds, jti: randomUUID() };
	const access = option.opaque ? random() : signJwt(claims);
	given.push(access);
	accesses.set(access, { family, scope, aud, until: Date.now() + accessSeconds * 1000 });
	const answer = { access_token: access, token_type: 'Bearer', expires_in: accessSeconds, scope };
	if (grants.get(family).renewable && !option['no-refresh']) {
		answer.refresh_token = random();
		given.push(answer.refresh_token);
		refreshes.set(answer.refresh_token, { family, used: false, until: Date.now() + refreshSeconds * 1000 });
	}
	return answer;
}

function openGrant(client, aud, scope, renewable) {
	const family = randomUUID();
	grants.set(family, { client, resource: aud, scope, renewable, revoked: false });
	return giveTokens(family);
}

function revokeFamily(family) {
	grants.get(family).revoked = true;
	note('family revoked');
}

const isValid = (access) => access && access.until > Date.now() && !grants.get(access.family).revoked;

/* --- notes ------------------------------------------------------------------------------------------------ */

const note = (text) => notes && appendFileSync(notes, text + '\n');
function count(name) {
	counts[name] = (counts[name] ?? 0) + 1;
}

/* --- requests --------------------------------------------------------------------------------------------- */

class Refusal extends Error {
	constructor(status, error, description, headers = {}) {
		super(description ?? error);
		Object.assign(this, { status, error, headers });
	}
}
const refuse = (status, error, description, headers) => { throw new Refusal(status, error, description, headers); };

async function readBody(req) {
	let text = '';
	for await (const piece of req.setEncoding('utf8')) text += piece;
	return text;
}

function reply(res, status, object, headers = {}) {
	res.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers });
	res.end(object === undefined ? '' : JSON.stringify(object));
	return status;
}

const same = (a, b) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
const hash = (text) => createHash('sha256').update(text).digest('base64url');

// The client of a request to /token or /revoke, and whether it proved to be that one.
function authenticate(req, form) {
	const basic = /^Basic (.*)$/i.exec(req.headers.authorization ?? '');
	const [id, secret] = basic
		? Buffer.from(basic[1], 'base64').toString().split(':').map(decodeURIComponent)
		: [form.get('client_id') ?? undefined, form.get('client_secret') ?? undefined];
	const client = clients.get(id) ?? (option.cimd && /^https:\/\/[^/]+\/./.test(id) ? { method: 'none', redirect_uris: null } : undefined);
	if (!client) refuse(401, 'invalid_client', 'this client is not registered');
	if (client.secret && !(secret && same(secret, client.secret))) refuse(401, 'invalid_client', 'the secret is wrong');
	if (client.method === 'client_secret_basic' && client.secret && !basic) refuse(401, 'invalid_client', 'the secret belongs into the header');
	return id;
}

function checkResource(wanted) {
	if (wanted && option['strict-resource'] && wanted !== resource && wanted !== option.resource)
		refuse(400, 'invalid_target', `no tokens for ${wanted}`);
	return wanted ?? option.resource ?? resource;
}

function checkScope(wanted) {
	if (wanted && words(wanted).some((s) => !scopes.includes(s) && s !== 'offline_access')) refuse(400, 'invalid_scope', wanted);
	return wanted ?? scopes.join(' ');
}

function redeemCode(client, form) {
	const code = codes.get(form.get('code'));
	codes.delete(form.get('code'));
	if (!code || code.until < Date.now() || code.client !== client) refuse(400, 'invalid_grant', 'this code is not valid');
	if (code.redirect !== form.get('redirect_uri')) refuse(400, 'invalid_grant', 'another redirect_uri');
	if (!form.get('code_verifier') || !same(hash(form.get('code_verifier')), code.challenge)) refuse(400, 'invalid_grant', 'the code_verifier is wrong');
	const aud = form.get('resource') ?? code.resource;
	if (code.resource !== aud) refuse(400, 'invalid_target', 'another resource than before');
	return openGrant(client, code.resource, code.scope, true);
}

function redeemRefresh(client, form) {
	const token = refreshes.get(form.get('refresh_token'));
	const grant = token && grants.get(token.family);
	if (!grant || grant.client !== client) refuse(400, 'invalid_grant', 'this refresh token is not known');
	if (token.used && !option['no-rotation']) {
		revokeFamily(token.family);
		refuse(400, 'invalid_grant', 'this refresh token was used before');
	}
	if (grant.revoked || token.until < Date.now()) refuse(400, 'invalid_grant', 'this login is over');
	token.used = true;
	return giveTokens(token.family);
}

async function token(req, res) {
	const form = new URLSearchParams(await readBody(req));
	const grant = form.get('grant_type');
	req.detail = ` ${grant}`;
	count(`POST /token ${grant}`);
	if (option['secrets-in-notes']) note(`form ${form}`);
	const client = authenticate(req, form);
	await sleep(Number(option['token-delay'] ?? 0));
	if (grant === 'authorization_code') return reply(res, 200, redeemCode(client, form));
	if (grant === 'refresh_token') return reply(res, 200, redeemRefresh(client, form));
	if (grant === 'client_credentials' && clients.get(client).secret)
		return reply(res, 200, openGrant(client, checkResource(form.get('resource') ?? undefined), checkScope(form.get('scope') ?? undefined), false));
	return refuse(400, 'unsupported_grant_type', grant);
}

async function register(req, res) {
	const wanted = JSON.parse(await readBody(req));
	const loopback = (uri) => /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(:\d+)?\//.test(uri) || uri.startsWith('https://');
	if (!Array.isArray(wanted.redirect_uris) || !wanted.redirect_uris.every(loopback)) refuse(400, 'invalid_redirect_uri');
	const id = `client-${clients.size + 1}-${randomBytes(4).toString('hex')}`;
	const method = wanted.token_endpoint_auth_method && authMethod === 'none' ? 'none' : authMethod;
	const secret = method === 'none' ? undefined : random();
	clients.set(id, { secret, redirect_uris: wanted.redirect_uris, method });
	note(`registered ${id} ${wanted.client_name ?? ''} ${wanted.application_type ?? ''}`.trimEnd());
	return reply(res, 201, {
		...wanted, client_id: id, client_id_issued_at: seconds(), token_endpoint_auth_method: method,
		...(secret && { client_secret: secret, client_secret_expires_at: 0 }),
	});
}

async function revoke(req, res) {
	const form = new URLSearchParams(await readBody(req));
	authenticate(req, form);
	const known = refreshes.get(form.get('token')) ?? accesses.get(form.get('token'));
	if (known) revokeFamily(known.family);
	return reply(res, 200);
}

/* --- consent ---------------------------------------------------------------------------------------------- */

// What is wrong with client or redirect URI is said here: nothing is sent to an address that is not registered.
function readAuthorize(query) {
	const client = clients.get(query.get('client_id')) ?? (option.cimd && query.get('client_id')?.startsWith('https://') ? { redirect_uris: null } : undefined);
	const redirect = query.get('redirect_uri');
	const withoutPort = (uri) => uri.replace(/^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)):\d+/, '$1'); // RFC 8252, 7.3
	if (!client) refuse(400, 'invalid_client', 'this client is not registered');
	if (!redirect || (client.redirect_uris && !client.redirect_uris.map(withoutPort).includes(withoutPort(redirect))))
		refuse(400, 'invalid_request', 'this redirect_uri is not registered');
	return redirect;
}

function checkAuthorize(query) {
	if (query.get('response_type') !== 'code') refuse(302, 'unsupported_response_type');
	if (query.get('code_challenge_method') !== 'S256' || !/^[\w-]{43}$/.test(query.get('code_challenge') ?? '')) refuse(302, 'invalid_request', 'PKCE with S256 is needed');
	return {
		client: query.get('client_id'), redirect: query.get('redirect_uri'), challenge: query.get('code_challenge'),
		resource: checkResource(query.get('resource') ?? undefined), scope: checkScope(query.get('scope') ?? undefined), until: Date.now() + 60000,
	};
}

function sendBack(res, redirect, query, answer) {
	const back = new URL(redirect);
	for (const [name, value] of Object.entries({ ...answer, state: query.get('state'), iss: option.iss === 'no' ? null : (option.iss ?? issuer) }))
		if (value != null) back.searchParams.set(name, value);
	return reply(res, 302, undefined, { location: back.href });
}

const escape = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const page = (query) => `<!doctype html><title>Consent</title><h1>Allow ${escape(query.get('client_id'))}?</h1>
<p>It may: ${escape(query.get('scope') ?? scopes.join(' '))}, at ${escape(query.get('resource') ?? resource)}.
<form method=post action="?${escape(query.toString())}"><button name=decision value=allow>Allow</button>
<button name=decision value=deny>Deny</button></form>\n`;

async function authorize(req, res, { searchParams: query }) {
	const redirect = readAuthorize(query);
	try {
		const code = checkAuthorize(query);
		const decision = { auto: 'allow', deny: 'deny' }[option.consent]
			?? (req.method === 'POST' ? new URLSearchParams(await readBody(req)).get('decision') : null);
		req.detail = ` ${decision ?? 'page'}`;
		if (!decision) {
			res.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': "default-src 'none'; frame-ancestors 'none'" }).end(page(query));
			return 200;
		}
		if (decision !== 'allow') refuse(302, 'access_denied', 'the user said no');
		const word = random();
		codes.set(word, code);
		return sendBack(res, redirect, query, { code: word });
	} catch (why) {
		if (!(why instanceof Refusal)) throw why;
		return sendBack(res, redirect, query, { error: why.error, error_description: why.message });
	}
}

/* --- documents -------------------------------------------------------------------------------------------- */

const metadata = () => ({
	issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/jwks`,
	revocation_endpoint: `${issuer}/revoke`, introspection_endpoint: `${issuer}/introspect`,
	...(!option['no-dcr'] && { registration_endpoint: `${issuer}/register` }),
	...(!option['no-pkce'] && { code_challenge_methods_supported: ['S256'] }),
	...(!option['iss-silent'] && { authorization_response_iss_parameter_supported: true }),
	...(option.cimd && { client_id_metadata_document_supported: true }),
	...(option.oidc && { subject_types_supported: ['public'], id_token_signing_alg_values_supported: [alg] }),
	response_types_supported: ['code'], grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
	token_endpoint_auth_methods_supported: [...new Set([authMethod, ...(option.client ? ['client_secret_basic', 'none'] : [])])], scopes_supported: scopes,
});

async function introspect(req, res) {
	const access = accesses.get(new URLSearchParams(await readBody(req)).get('token'));
	return reply(res, 200, isValid(access) ? { active: true, scope: access.scope, aud: access.aud } : { active: false });
}

function doExpire(req, res) {
	accesses.clear();
	return reply(res, 200, {});
}

function doForget(req, res) {
	for (const map of [accesses, refreshes, clients]) map.clear();
	return reply(res, 200, {});
}

function doTokens(req, res) {
	res.end(given.join('\n') + '\n');
}

function doFail(req, res, { searchParams: query }) {
	failures.set(query.get('path'), { status: Number(query.get('status') ?? 500), times: Number(query.get('times') ?? 1), location: query.get('location') });
	return reply(res, 200, {});
}

function doRotate(req, res) {
	makeKey();
	return reply(res, 200, { kid: keys.at(-1).kid });
}

const well = option.oidc ? 'openid-configuration' : 'oauth-authorization-server';
const routes = {
	[`GET /.well-known/${well}${path}`]: (req, res) => reply(res, 200, metadata()),
	...(option.oidc && path && { [`GET ${path}/.well-known/${well}`]: (req, res) => reply(res, 200, metadata()) }),
	[`GET ${path}/jwks`]: (req, res) => reply(res, 200, { keys: keys.map((k) => k.jwk) }),
	[`GET ${path}/authorize`]: authorize,
	[`POST ${path}/authorize`]: authorize,
	[`POST ${path}/token`]: token,
	...(!option['no-dcr'] && { [`POST ${path}/register`]: register }),
	[`POST ${path}/revoke`]: revoke,
	[`POST ${path}/introspect`]: introspect,
	'GET /counts': (req, res) => reply(res, 200, counts),
	'POST /test/expire': doExpire,
	'POST /test/forget': doForget,
	'GET /test/tokens': doTokens,
	'POST /test/fail': doFail,
	'POST /test/rotate': doRotate,
};

/* --- the protected MCP server ----------------------------------------------------------------------------- */

const prm = () => ({ resource, authorization_servers: [issuer], scopes_supported: scopes, bearer_methods_supported: ['header'] });
const challenge = (more) => {
	const parts = option['no-challenge'] ? [] : [`resource_metadata="${new URL('/.well-known/oauth-protected-resource/mcp', resource)}"`];
	if (required.length) parts.push(`scope="${[...new Set([...required, ...(more.scope ?? [])])].join(' ')}"`);
	if (more.error) parts.push(`error="${more.error}"`);
	return { 'www-authenticate': `Bearer ${parts.join(', ')}` };
};

function admit(req) {
	const sent = /^Bearer (.+)$/i.exec(req.headers.authorization ?? '')?.[1];
	const access = accesses.get(sent);
	if (!sent) refuse(401, 'unauthorized', 'a token is needed', challenge({}));
	if (!isValid(access) || access.aud !== resource) refuse(401, 'invalid_token', 'this token is not valid', challenge({ error: 'invalid_token' }));
	if (!required.every((s) => words(access.scope).includes(s))) refuse(403, 'insufficient_scope', required.join(' '), challenge({ error: 'insufficient_scope' }));
	return access;
}

const versions = ['2025-11-25', '2025-06-18', '2025-03-26'];
const methods = {
	initialize: ({ protocolVersion }) => ({
		protocolVersion: versions.includes(protocolVersion) ? protocolVersion : versions[0],
		capabilities: { tools: {} }, serverInfo: { name: 'protected', version: '1' },
	}),
	ping: () => ({}),
	'tools/list': () => ({ tools: [{ name: 'echo', description: 'Says the same', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } }] }),
	'tools/call': ({ name, arguments: args }) =>
		(name === 'echo' ? { content: [{ type: 'text', text: String(args?.text ?? '') }] } : { isError: true, content: [{ type: 'text', text: `no tool ${name}` }] }),
};

async function mcp(req, res) {
	if (option['secrets-in-notes'] && req.headers.authorization) note(`authorization ${req.headers.authorization}`);
	const access = admit(req);
	if (req.method === 'DELETE') return reply(res, 200);
	if (req.method !== 'POST') return reply(res, 405, undefined, { allow: 'POST, DELETE' });
	const message = JSON.parse(await readBody(req));
	req.detail = ` ${message.method}`;
	count(`POST /mcp ${message.method}`);
	if (message.id === undefined) return reply(res, 202);
	if (message.method === 'tools/call' && option['call-scope'] && !words(access.scope).includes(option['call-scope']))
		refuse(403, 'insufficient_scope', option['call-scope'], challenge({ error: 'insufficient_scope', scope: [option['call-scope']] }));
	const answer = methods[message.method]?.(message.params ?? {});
	const error = { code: -32601, message: 'not known here' };
	return reply(res, 200, { jsonrpc: '2.0', id: message.id, ...(answer ? { result: answer } : { error }) });
}

const where = option.prm ?? 'both';
const protectedRoutes = {
	...(['both', 'path'].includes(where) && { 'GET /.well-known/oauth-protected-resource/mcp': (req, res) => reply(res, 200, prm()) }),
	...(['both', 'root'].includes(where) && { 'GET /.well-known/oauth-protected-resource': (req, res) => reply(res, 200, prm()) }),
	'GET /mcp': mcp, 'POST /mcp': mcp, 'DELETE /mcp': mcp,
};

/* --- listening -------------------------------------------------------------------------------------------- */

const failing = (at) => {
	const failure = failures.get(at);
	if (failure && --failure.times <= 0) failures.delete(at);
	return failure;
};

async function serve(table, req, res) {
	const url = new URL(req.url, `http://${host}`);
	const handle = table[`${req.method} ${url.pathname}`];
	let status;
	req.detail = '';
	count(`${req.method} ${url.pathname}`);
	try {
		const broken = failing(url.pathname);
		if (broken?.location) throw new Refusal(broken.status, 'moved', 'as the test wanted', { location: broken.location });
		if (broken) refuse(broken.status, 'server_error', 'as the test wanted');
		if (!handle) refuse(404, 'not_found', url.pathname);
		status = await handle(req, res, url);
	} catch (why) {
		if (!(why instanceof Refusal || why instanceof SyntaxError)) console.error(why);
		status = reply(res, why.status ?? 400, { error: why.error ?? 'invalid_request', error_description: why.message }, why.headers);
	}
	if (!url.pathname.startsWith('/test/') && url.pathname !== '/counts') note(`${req.method} ${url.pathname}${req.detail} ${status}`);
}

const open = (table, port) => new Promise((done) => {
	const server = createServer((req, res) => serve(table, req, res));
	server.listen(Number(port ?? 0), host === 'localhost' ? '127.0.0.1' : host, () => done(server.address().port));
});

makeKey();
issuer = `http://${host}:${await open(routes, option.port)}${path}`;
resource = `http://${host}:${await open(protectedRoutes, option['mcp-port'])}/mcp`;
console.log(`issuer ${issuer}\nmcp ${resource}\nready`);
