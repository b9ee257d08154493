// changing.mjs - a legacy server by stdio whose tools stand in a file (TOOLS): when that changes it says so, and lists
// what it says then. A call notes the tool's name in TEST_NOTES.
import { appendFileSync, readFileSync, watchFile } from 'node:fs';
import { createInterface } from 'node:readline';

const tools = () => JSON.parse(readFileSync(process.env.TOOLS, 'utf8'));
const out = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const methods = {
	initialize: () => ({ protocolVersion: '2025-06-18', capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'changing', version: '1' } }),
	ping: () => ({}),
	'tools/list': () => ({ tools: tools() }),
	'tools/call': ({ name }) => {
		appendFileSync(process.env.TEST_NOTES, `called ${name}\n`);
		return { content: [{ type: 'text', text: name }] };
	},
};

watchFile(process.env.TOOLS, { interval: 50 }, () => out({ method: 'notifications/tools/list_changed' }));
createInterface({ input: process.stdin }).on('line', (line) => {
	const { id, method, params } = JSON.parse(line);
	if (id === undefined) return;
	if (methods[method]) out({ id, result: methods[method](params ?? {}) });
	else out({ id, error: { code: -32601, message: `no ${method}` } });
}).on('close', () => process.exit());
