// upstream.mjs - an MCP server over HTTP that notes all that it is sent, headers and bodies, in $TEST_NOTES.
// First line on stdout: `listening on PORT`.
import { appendFileSync } from 'node:fs';
const { createServer } = process.getBuiltinModule('node:http');

const answers = {
	initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'upstream', version: '1' } }),
	ping: () => ({}),
	'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
	'tools/call': ({ arguments: args }) => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }),
};

const server = createServer(async (req, res) => {
	let body = '';
	for await (const piece of req) body += piece;
	appendFileSync(process.env.TEST_NOTES, `${req.method} ${req.url} ${req.rawHeaders.join('|')} ${body}\n`);
	if (req.method !== 'POST') return void res.writeHead(405).end();
	const { id, method, params } = JSON.parse(body);
	if (id === undefined) return void res.writeHead(202).end();
	const result = answers[method]?.(params ?? {});
	const answer = { jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'not known' } }) };
	res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
});
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
