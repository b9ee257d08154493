// hostile.mjs MODE - stdio servers that misbehave, one way each, without an SDK. Every mode starts
// from the well-behaved legacy server below (one tool, echo) and changes one thing. What reached
// the server goes into the file $TEST_NOTES, one line per event.
import { appendFileSync, closeSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const mode = process.argv[2];
const note = (words) => process.env.TEST_NOTES && appendFileSync(process.env.TEST_NOTES, `${words}\n`);
const put = (bytes, then) => void process.stdout.write(bytes, then);
const message = (fields) => JSON.stringify({ jsonrpc: '2.0', ...fields });
const send = (fields) => put(`${message(fields)}\n`);
const notify = (method, params) => send({ method, params });
const text = (words) => ({ content: [{ type: 'text', text: words }] });
const tool = (name, more) => ({ name, description: `tool ${name}`, inputSchema: { type: 'object' }, ...more });
const refuse = (code, words, data) => {
	throw { code, message: words, data };
};
const log = (words) => writeSync(2, `${words}\n`);

// What a client asks for; undefined means that nothing is answered here.
const answers = {
	initialize: ({ protocolVersion }) => ({
		protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: mode, version: '1' },
	}),
	ping: () => ({}),
	'tools/list': () => ({ tools: [tool('echo')] }),
	'tools/call': ({ arguments: args }) => text(`Echo: ${args?.message}`),
};
let atEnd = () => process.exit(0); // stdin was closed
let wire = send; // how an answer leaves
let before = () => false; // sees every message first; true: it has dealt with it
const waiting = new Map(); // our own requests: id as written -> resolve

function ask(id, method, params) {
	send({ id, method, params });
	return new Promise((resolve) => waiting.set(JSON.stringify(id), resolve));
}

async function receive(request) {
	note(request.method ?? `answer ${JSON.stringify(request.id)}`);
	if (before(request) || (request.method && request.id === undefined)) return;
	if (!request.method) return waiting.get(JSON.stringify(request.id))?.(request);
	try {
		const answer = answers[request.method] ?? (() => refuse(-32601, 'Method not found'));
		const result = await answer(request.params ?? {}, request.id);
		if (result !== undefined) wire({ id: request.id, result });
	} catch ({ code, message: words, data }) {
		wire({ id: request.id, error: { code, message: words, data } });
	}
}

function listen() {
	const lines = createInterface({ input: process.stdin });
	lines.on('line', (line) => receive(JSON.parse(line)));
	lines.on('close', () => atEnd());
	process.stdout.on('error', () => {}); // stdout is not read any more
}

// Write count times, as fast as the reader takes it.
const flood = (fd, block, count) => {
	for (let i = 0; i < count; i++)
		for (let at = 0; at < block.length;) at += writeSync(fd, block, at);
};
const stderrFlood = (megabytes, line) => {
	const answer = answers.initialize;
	answers.initialize = (params) => {
		flood(2, Buffer.from(line.repeat(1 << 20).slice(0, 1 << 20)), megabytes);
		log('\nend of the flood');
		return answer(params);
	};
};
const brokenText = (result) => Buffer.concat([
	Buffer.from(result.slice(0, result.indexOf('@'))), Buffer.from([0xff, 0xc0, 0x80]),
	Buffer.from(`${result.slice(result.indexOf('@') + 1)}\n`),
]);
const lingering = () => { // so that a test can look at mcpool before it ends
	atEnd = () => setTimeout(() => process.exit(0), 400);
};
const pages = (next) => {
	let count = 0;
	answers['tools/list'] = ({ cursor }) => {
		note(`cursor ${JSON.stringify(cursor)}`);
		return { tools: [tool(`page${++count}`)], nextCursor: next(cursor, count) };
	};
};

const modes = {
	plain() {},

	// The handshake goes wrong, or nearly.
	exit() {
		log('cannot open the database\nthe second of the last words');
		process.exit(3);
	},
	garbage() {
		for (let i = 0; i < 1000; i++) put(`garbage line ${i} {"not": json\n`);
		before = () => true;
	},
	'garbage-endless'() {
		const more = () => put('all work and no play makes a dull server\n'.repeat(1000), () => setImmediate(more));
		before = () => true;
		more();
	},
	hang() {
		log('waiting for a licence server');
		before = () => true;
	},
	version() {
		answers.initialize = () => ({
			protocolVersion: '2099-01-01', capabilities: {}, serverInfo: { name: 'future', version: '1' },
		});
	},
	'version-modern'() { // modern only, of a revision we don't know
		const data = { supported: ['2099-01-01'] };
		answers['server/discover'] = () => refuse(-32022, 'Unsupported protocol version', data);
		answers.initialize = () => refuse(-32022, 'Unsupported protocol version', data);
	},
	'die-on-probe'() {
		let first = true;
		before = ({ method }) => {
			if (first && method !== 'initialize') process.exit(1);
			first = false;
			return false;
		};
	},
	'silent-to-probe'() {
		before = ({ method }) => method === 'server/discover';
	},
	'late-discover'() { // dual era, but slow: by the time it answers, initialize has been seen
		answers['server/discover'] = async () => {
			await sleep(3000);
			note('discover answered');
			return {
				resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} },
				ttlMs: 0, cacheScope: 'private',
			};
		};
		answers['tools/call'] = async ({ _meta }) => {
			await sleep(2500);
			return text(_meta?.['io.modelcontextprotocol/protocolVersion'] ? 'modern' : 'legacy');
		};
	},
	'early-notification'() {
		const answer = answers.initialize;
		answers.initialize = (params) => {
			notify('notifications/tools/list_changed');
			notify('notifications/message', { level: 'info', data: 'hello before the handshake' });
			return answer(params);
		};
	},
	'close-stdout-early'() {
		log('stdout is closed');
		closeSync(1);
		before = () => true;
	},
	'close-stdout'() {
		answers['tools/list'] = () => {
			log('stdout is closed');
			closeSync(1);
		};
		atEnd = () => setInterval(() => {}, 1000);
	},

	// Lines that are no messages, or strange ones.
	banner() {
		put('*** Welcome to the banner server ***\n\n');
		wire = (fields) => {
			put(`[info] about to answer\nDEBUG ${JSON.stringify({ id: fields.id })}\n{}\n`);
			send(fields);
			put('[info] answered\n');
		};
	},
	crlf() {
		wire = (fields) => put(`${message(fields)}\r\n`);
	},
	dribble() { // two bytes at a time, so that characters are cut too
		let last = Promise.resolve();
		wire = (fields) => {
			const bytes = Buffer.from(`${message(fields)}\n`);
			last = last.then(async () => {
				for (let i = 0; i < bytes.length; i += 2) {
					put(bytes.subarray(i, i + 2));
					if (i % 32 === 0) await sleep(1);
				}
			});
		};
		answers['tools/call'] = () => text('drip ☔ drop 💧 é');
	},
	unterminated() { // the last answer has no newline, then comes the end
		const end = () => process.exit(0);
		answers['tools/call'] = (_, id) => put(message({ id, result: text('the end') }), end);
	},
	'closes-stdin'() { // and lives on
		answers['tools/list'] = () => {
			atEnd = () => {};
			setInterval(() => {}, 1000);
			setTimeout(() => (process.stdin.destroy(), closeSync(0)), 50); // libuv leaves the descriptor open
			return { tools: [tool('echo')] };
		};
	},
	'exit-after-answer'() {
		const end = () => process.exit(0);
		answers['tools/call'] = (_, id) => put(`${message({ id, result: text('last words') })}\n`, end);
	},
	'wrong-id'() {
		wire = (fields) => {
			send({ id: 987654, result: text('wrong') });
			send({ id: 'stranger', error: { code: -1, message: 'wrong' } });
			send({ id: null, error: { code: -32700, message: 'wrong' } });
			send(fields);
		};
	},
	twice() {
		answers['tools/call'] = (_, id) => {
			send({ id, result: text('first') });
			send({ id, result: text('second') });
		};
	},
	batch() {
		answers.initialize = () => ({
			protocolVersion: '2025-03-26', capabilities: { tools: {} }, serverInfo: { name: mode, version: '1' },
		});
		const news = message({ method: 'notifications/message', params: { level: 'info', data: 'x' } });
		wire = (fields) => put(`[${news},${message(fields)}]\n`);
	},
	utf8() {
		answers['tools/call'] = (_, id) => {
			put(brokenText(message({ id, result: text('broken @ text') })));
		};
	},
	'utf8-list'() {
		answers['tools/list'] = (_, id) => {
			put(brokenText(message({ id, result: { tools: [tool('broken@name')] } })));
		};
	},
	'broken-notifications'() { // none of them is the answer
		const news = (data) => message({ method: 'notifications/message', params: { level: 'info', data } });
		answers['tools/call'] = () => {
			put(brokenText(news('broken @ text')));
			put(`${news('deep').replace('"deep"', `${'['.repeat(1000)}${']'.repeat(1000)}`)}\n`);
			put(`${news('x'.repeat(40 << 20))}\n`);
			return text('the answer');
		};
	},
	'broken-strangers'() { // malformed answers without a request
		answers['tools/call'] = () => {
			put(brokenText(message({ id: 987654, result: text('broken @ text') })));
			put(brokenText(message({ id: 'stranger', result: text('broken @ text') })));
			put('{"jsonrpc":"2.0","id":null,"result":{}}\n');
			return text('the answer');
		};
	},
	deep() {
		answers['tools/call'] = (_, id) => {
			put(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${'['.repeat(100000)}${']'.repeat(100000)}}\n`);
		};
	},

	// Too much of something.
	big() {
		lingering();
		answers['tools/call'] = (_, id) => {
			put(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`);
			const block = 'x'.repeat(1 << 20);
			for (let i = 0; i < 100; i++) put(block);
			put('"}]}}\n');
		};
	},
	'huge-line'() { // never a newline
		lingering();
		answers['tools/call'] = () => {
			const block = 'y'.repeat(1 << 20);
			for (let i = 0; i < 200; i++) put(block);
		};
	},
	'flood-stderr'() {
		lingering();
		stderrFlood(1024, `${'stderr '.repeat(14)}\n`);
	},
	'flood-stderr-50'() {
		stderrFlood(50, `${'stderr '.repeat(14)}\n`);
	},
	'flood-stderr-line'() { // one endless line
		lingering();
		stderrFlood(200, 'e');
	},
	'flood-stdout'() {
		const answer = answers['tools/list'];
		answers['tools/list'] = () => {
			const line = `${message({ method: 'notifications/message', params: { level: 'debug', data: 'flood' } })}\n`;
			for (let i = 0; i < 100; i++) put(line.repeat(1000));
			return answer();
		};
	},
	'progress-flood'() {
		answers['tools/call'] = ({ _meta }) => {
			const progressToken = _meta?.progressToken;
			if (progressToken === undefined) return text('no token');
			for (let i = 1; i <= 100000; i++)
				notify('notifications/progress', { progressToken, progress: i, total: 100000 });
			return text('100000 steps');
		};
	},

	// Lists.
	'bad-schema'() {
		answers['tools/list'] = () => ({
			tools: [
				tool('good1'),
				tool('schema-is-text', { inputSchema: 'object' }),
				tool('schema-is-missing', { inputSchema: undefined }),
				tool('schema-is-array', { inputSchema: { type: 'array' } }),
				tool('properties-are-a-list', { inputSchema: { type: 'object', properties: [] } }),
				{ description: 'has no name', inputSchema: { type: 'object' } },
				tool('good2'),
			],
		});
	},
	paging: () => pages((cursor) => ({ undefined: '', '': 'x' })[cursor]),
	'endless-pages': () => pages((_, count) => `page ${count}`),
	'same-cursor': () => pages(() => 'again'),

	// The server asks, and dies, and paints.
	requests() {
		answers['tools/call'] = async () => {
			const sample = { messages: [], maxTokens: 1 };
			const asked = [
				ask(1, 'ping'), ask(2, 'roots/list'), ask(3, 'sampling/createMessage', sample),
				ask(4, 'elicitation/create', { message: '?', requestedSchema: { type: 'object', properties: {} } }),
				ask(5, 'no/such/method'),
			];
			send({ id: 6, method: 'ping' }); // the same id twice, together in flight
			asked.push(ask(6, 'ping'));
			const got = (await Promise.all(asked)).map((a) => `${a.id}:${a.error?.code ?? JSON.stringify(a.result)}`);
			return text(got.join(' '));
		};
	},
	'id-types'() {
		answers['tools/call'] = async () => {
			const got = [];
			for (const id of ['a string', '', '7', 7, 0, -3, 'x'.repeat(200)])
				got.push(JSON.stringify((await ask(id, 'ping')).id) === JSON.stringify(id));
			return text(`same ids: ${got.join(' ')}`);
		};
	},
	'crash-in-call'() {
		answers['tools/call'] = () => {
			log('segmentation fault, more or less');
			process.exit(7);
		};
	},
	extras() { // more than text
		answers['tools/call'] = () => ({
			content: [{ type: 'text', text: 'one' }, { type: 'text', text: 'two' }], structuredContent: { n: 1 }, _meta: { 'a.b/c': [1] }, more: true,
		});
	},
	'liar-result'() { // members named like those of `call --json`
		answers['tools/call'] = () => ({ content: [{ type: 'text', text: 'x' }], ok: 'yes', namespace: 'other' });
	},
	'refuse-call'() { // in the words of JSON-RPC
		answers['tools/call'] = () => refuse(-32050, 'the file is locked', { path: 'a.txt', password: 'hunter2hunter2' });
	},
	'hang-in-call'() {
		answers['tools/call'] = () => {
			log('thinking');
		};
	},
	deaf() { // answers, then reads nothing any more
		const answer = answers['tools/list'];
		answers['tools/list'] = () => {
			process.stdin.removeAllListeners('data').pause();
			setInterval(() => {}, 1000);
			return answer();
		};
	},
	ansi() {
		const evil = '\x1b[2J\x1b]0;title\x07\x9b5m\u202edlrow\u202c\u{e0041}\u2066\r\b\x7f';
		answers['tools/list'] = () => ({
			tools: [tool('plain', { title: `T${evil}`, description: `D${evil}end` }), tool(`n${evil}`)],
		});
		answers['tools/call'] = ({ name }) => ({ ...text(`R${evil}end`), isError: name !== 'plain' });
		log(`E${evil}end`);
	},

	// Modern, and strange.
	modern() {
		const result = { resultType: 'complete' };
		const cached = { ...result, ttlMs: 0, cacheScope: 'private' };
		const form = { message: '?', requestedSchema: { type: 'object', properties: {} } };
		answers.initialize = () => refuse(-32022, 'Unsupported protocol version', { supported: ['2026-07-28'] });
		answers['server/discover'] = () => ({
			...cached, supportedVersions: ['2026-07-28'], capabilities: { tools: {} },
		});
		answers['tools/list'] = () => ({
			...cached, tools: ['strange', 'state', 'endless', 'asks'].map((name) => tool(name)),
		});
		answers['tools/call'] = ({ name, requestState }) => {
			if (name === 'strange') return { resultType: 'strange', ...text('strange') };
			if (name === 'asks')
				return { resultType: 'input_required', inputRequests: { who: { method: 'elicitation/create', params: form } } };
			if (name === 'endless') return { resultType: 'input_required', requestState: 'again' };
			if (requestState === 'a "state" é') return { ...result, ...text('state came back') };
			return { resultType: 'input_required', requestState: 'a "state" é' };
		};
	},
};

if (!modes[mode]) throw new Error(`there is no mode '${mode}'`);
note(`start ${mode}`);
modes[mode]();
listen();
