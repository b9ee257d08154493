// model_stub.mjs - as much of the Responses API as Codex needs to call one tool: the first answer calls the tool
// whose name ends as MODEL_TOOL says, the second is a word. Prints its port, then a JSON line for each request:
// the names of the tools it was given, what the tool answered, and who is connected to the hub just now.
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';

const wanted = process.env.MODEL_TOOL;
let calls = 0;

// Tools may be listed one by one or in groups that have a name of their own.
const flatten = (tools = [], group) => tools.flatMap((tool) =>
	tool.type === 'namespace' ? flatten(tool.tools, tool.name) : [{ name: tool.name ?? tool.type, group }]);

function answer(body) {
	const tools = flatten(body.tools);
	const outputs = (body.input ?? []).filter(({ type }) => type === 'function_call_output');
	const tool = tools.find(({ name }) => name.endsWith(wanted));
	const { sessions } = JSON.parse(execFileSync(process.env.MCPOOL, ['status', '--json']));
	console.log(JSON.stringify({ tools: tools.map(({ name }) => name), output: outputs.map(({ output }) => output), sessions }));
	if (!tool || outputs.length)
		return { type: 'message', role: 'assistant', id: 'm1', content: [{ type: 'output_text', text: 'the end' }] };
	return {
		type: 'function_call', id: `f${++calls}`, call_id: `c${calls}`, name: tool.name,
		...(tool.group && { namespace: tool.group }), arguments: JSON.stringify({ message: 'from codex' }),
	};
}

function events(res, item) {
	const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 };
	const say = (event) => res.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
	res.writeHead(200, { 'content-type': 'text/event-stream' });
	say({ type: 'response.created', response: { id: 'r1' } });
	say({ type: 'response.output_item.done', output_index: 0, item });
	say({ type: 'response.completed', response: { id: 'r1', usage } });
	res.end();
}

createServer(async (req, res) => {
	const chunks = [];
	for await (const chunk of req) chunks.push(chunk);
	if (req.method !== 'POST' || !req.url.endsWith('/responses')) return res.writeHead(404).end();
	return events(res, answer(JSON.parse(Buffer.concat(chunks))));
}).listen(0, '127.0.0.1', function listening() {
	console.log(`port ${this.address().port}`);
});
