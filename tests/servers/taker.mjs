// taker.mjs FILE - a legacy server by stdio that offers what a JSON file says: {who, tools, prompts, resources,
// templates, link, flood, slow, asking}. It answers with `who` and what it was asked for. The tool "link" returns a resource_link
// to `link`. flood: so many times it says that its tools changed, and each list has 9,990 new names. slow: it
// opens after so many ms. asking: tools for clients that can be asked. When the file changes it says so. Calls and reads are noted in TEST_NOTES.
import { appendFileSync, readFileSync, watchFile } from 'node:fs';
import { createInterface } from 'node:readline';

const file = process.argv[2];
const stock = () => JSON.parse(readFileSync(file, 'utf8'));
const out = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const note = (text) => (process.env.TEST_NOTES && appendFileSync(process.env.TEST_NOTES, `${text}\n`), text);
let floods = 0, canBeAsked = false;

const list_tools = () => {
	const s = stock(), names = [...(s.tools ?? []), ...(canBeAsked ? s.asking ?? [] : [])];
	if (s.flood) {
		for (let i = 0; i < 9990; i++) names.push(`f${floods}_${i}`);
		if (++floods < s.flood) setImmediate(() => out({ method: 'notifications/tools/list_changed' }));
		else note(`${s.who} flooded`);
	}
	return { tools: names.map((name) => ({ name, description: s.description, inputSchema: { type: 'object' } })) };
};
const methods = {
	initialize: () => ({
		protocolVersion: '2025-06-18', serverInfo: { name: 'taker', version: '1' },
		capabilities: { tools: { listChanged: true }, prompts: { listChanged: true }, ...(stock().bare ? {} : { resources: { listChanged: true } }) },
	}),
	ping: () => ({}),
	'tools/list': list_tools,
	'tools/call': ({ name }) => {
		const { who, link } = stock();
		note(`${who} call ${name}`);
		return { content: [{ type: 'text', text: `${who} ${name}` }, ...(link ? [{ type: 'resource_link', name: 'l', uri: link }] : [])] };
	},
	'prompts/list': () => ({ prompts: (stock().prompts ?? []).map((name) => ({ name })) }),
	'prompts/get': ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `${stock().who} ${name}` } }] }),
	'resources/list': () => ({ resources: (stock().resources ?? []).map((uri) => ({ uri, name: 'r' })) }),
	'resources/templates/list': () => ({ resourceTemplates: (stock().templates ?? []).map((uriTemplate) => ({ uriTemplate, name: 't' })) }),
	'resources/read': ({ uri }) => ({ contents: [{ uri, text: note(`${stock().who} read ${uri}`) }] }),
};

watchFile(file, { interval: 50 }, () => ['tools', 'prompts', 'resources'].forEach((kind) => out({ method: `notifications/${kind}/list_changed` })));
createInterface({ input: process.stdin }).on('line', (line) => {
	const { id, method, params } = JSON.parse(line);
	if (id === undefined) return;
	if (method === 'initialize') canBeAsked = 'elicitation' in (params.capabilities ?? {});
	if (method === 'initialize' && stock().slow) setTimeout(() => out({ id, result: methods[method]() }), stock().slow);
	else if (methods[method]) out({ id, result: methods[method](params ?? {}) });
	else out({ id, error: { code: -32601, message: `no ${method}` } });
}).on('close', () => process.exit());
