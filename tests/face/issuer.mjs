// issuer.mjs [--metadata=off] - an issuer of access tokens: metadata, keys, and tokens as a test wants them, good or not.
// First lines on stdout: `issuer URL`, `ready`. It needs Node alone.
//   GET /.well-known/oauth-authorization-server, GET /jwks
//   POST /sign {"alg", "header", "claims", "kid", "key"}: a token; header and claims over the usual ones, null takes one away
//   POST /set {"jwks": "ok" | "empty" | "slow" | "down", "add": ALG}: what /jwks does; a new key
//   GET /counts: how often each path was asked for
import { createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
const { createServer } = process.getBuiltinModule('node:http');

const option = Object.fromEntries(process.argv.slice(2).map((word) => /^--([^=]+)=?(.*)$/.exec(word).slice(1)));
const kinds = { RS256: ['rsa', { modulusLength: 2048 }], ES256: ['ec', { namedCurve: 'P-256' }], EdDSA: ['ed25519', {}] };
const keys = {}; // by kid
const counts = {};
let issuer, jwks = 'ok', n = 0;

function addKey(alg) {
	const kid = `${alg}-${++n}`, { privateKey } = generateKeyPairSync(...kinds[alg]);
	keys[kid] = { alg, privateKey, jwk: { ...createPublicKey(privateKey).export({ format: 'jwk' }), kid, alg, use: 'sig' } };
	return kid;
}
const first = Object.fromEntries(Object.keys(kinds).map((alg) => [alg, addKey(alg)]));

const part = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const without = (object) => Object.fromEntries(Object.entries(object).filter(([, v]) => v !== null));

function makeToken({ alg = 'ES256', header = {}, claims = {}, kid }) {
	const now = Math.floor(Date.now() / 1000);
	const key = keys[kid ?? first[alg]];
	const text = [without({ alg, typ: 'at+jwt', kid: kid ?? first[alg], ...header }), without({ iss: issuer, sub: 'amy', client_id: 'test', iat: now, exp: now + 300, ...claims })].map(part).join('.');
	if (header.alg === 'none') return `${text}.`;
	if (header.alg === 'HS256') return `${text}.${createHmac('sha256', JSON.stringify(key.jwk)).update(text).digest('base64url')}`;
	const how = key.alg === 'ES256' ? { key: key.privateKey, dsaEncoding: 'ieee-p1363' } : key.privateKey;
	return `${text}.${sign(key.alg === 'EdDSA' ? null : 'sha256', Buffer.from(text), how).toString('base64url')}`;
}

function giveKeys(res, give) {
	if (jwks === 'down') return void res.destroy();
	const set = { keys: jwks === 'empty' ? [] : Object.values(keys).map((k) => k.jwk) };
	setTimeout(() => give(set), jwks === 'slow' ? 500 : 0);
}

const read = async (req) => {
	let text = '';
	for await (const piece of req) text += piece;
	return JSON.parse(text || '{}');
};

const server = createServer(async (req, res) => {
	const give = (object, status = 200) => res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(object));
	counts[req.url] = (counts[req.url] ?? 0) + 1;
	if (req.url === '/.well-known/oauth-authorization-server' && option.metadata !== 'off')
		give({ issuer, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/jwks`, response_types_supported: ['code'] });
	else if (req.url === '/jwks') giveKeys(res, give);
	else if (req.url === '/counts') give(counts);
	else if (req.url === '/sign') give({ token: makeToken(await read(req)) });
	else if (req.url === '/set') {
		const wanted = await read(req);
		jwks = wanted.jwks ?? jwks;
		give({ kid: wanted.add && addKey(wanted.add) });
	} else give({}, 404);
});
server.listen(0, '127.0.0.1', () => {
	issuer = `http://127.0.0.1:${server.address().port}`;
	console.log(`issuer ${issuer}\nready`);
});
