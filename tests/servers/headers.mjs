// headers.mjs - a modern server over HTTP that wants an argument in a header, changes its mind about the header's
// name after the first list, and has a tool whose annotation is wrong. Notes each request: method and headers.
import { appendFileSync } from 'node:fs';
import { createServer } from './http.mjs';

let header = 'Old';
const note = (text) => process.env.TEST_NOTES && appendFileSync(process.env.TEST_NOTES, `${text}\n`);
const tool = (name, annotation) => ({
	name,
	inputSchema: { type: 'object', properties: { place: { type: 'string', 'x-mcp-header': annotation }, rest: {} } },
});

const answers = {
	'server/discover': () => ({
		supportedVersions: ['2026-07-28'],
		capabilities: { tools: {} },
		ttlMs: 0,
		cacheScope: 'private',
	}),
	'tools/list': () => {
		const tools = [tool('where', header), tool('wrong', 'A B')];
		header = 'New';
		return { tools, ttlMs: 0, cacheScope: 'private' };
	},
	'tools/call': ({ params }) => ({ content: [{ type: 'text', text: `at ${params.arguments.place}` }] }),
};

function decode(value) {
	const coded = /^=\?base64\?(.*)\?=$/.exec(value ?? '');
	return coded ? Buffer.from(coded[1], 'base64').toString() : value;
}

const server = createServer((request, response) => {
	let body = '';
	request.on('data', (bytes) => (body += bytes));
	request.on('end', () => {
		const message = JSON.parse(body || '{}');
		const own = request.rawHeaders.filter((name, i) => i % 2 === 0 && /^mcp-param-/i.test(name));
		note(`${message.method} ${own.join(',')}`);
		const wants = message.method === 'tools/call' && message.params.arguments.place !== undefined;
		const mismatch = wants && decode(request.headers[`mcp-param-${header.toLowerCase()}`]) !== message.params.arguments.place;
		const answer = answers[message.method];
		const result = !mismatch && answer && { resultType: 'complete', ...answer(message) };
		const error = mismatch ? { code: -32020, message: 'header mismatch' } : { code: -32601, message: 'no such method' };
		response.writeHead(result ? 200 : mismatch ? 400 : 404, { 'Content-Type': 'application/json' });
		response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...(result ? { result } : { error }) }));
	});
});
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
