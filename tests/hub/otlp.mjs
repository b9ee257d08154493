// otlp.mjs - a collector of spans, and our spans beside those of OpenTelemetry's own exporter.
// node otlp.mjs collect PORT_FILE BODY_FILE   answers 200 and keeps each body as a line; until it is killed
// node otlp.mjs compare BODY_FILE             prints what differs, a line each; exits 1 then
import { createServer } from 'node:http';
import { once } from 'node:events';
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';

// What is posted to /v1/traces, as (headers, body).
async function listen(take) {
	const server = createServer((request, response) => {
		let body = '';
		request.setEncoding('utf8').on('data', d => { body += d; }).on('end', () => {
			const good = request.method === 'POST' && request.url === '/v1/traces' && request.headers['content-type'] === 'application/json';
			response.writeHead(good ? 200 : 400, { 'Content-Type': 'application/json' }).end('{}');
			take(good ? request.headers : null, body);
		});
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	return server;
}

async function collect(portFile, bodyFile) {
	const server = await listen((headers, body) => appendFileSync(bodyFile, `${JSON.stringify({ key: headers?.['x-key'], body: JSON.parse(body) })}\n`));
	writeFileSync(`${portFile}.new`, `${server.address().port}\n`);
	renameSync(`${portFile}.new`, portFile);
}

const plain = attributes => Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]));
const time = nanos => [Number(BigInt(nanos) / 1000000000n), Number(BigInt(nanos) % 1000000000n)];
const context = (traceId, spanId) => ({ traceId, spanId, traceFlags: 1, isRemote: true });

// The same span as an SDK has it when it ends.
const readable = (span, scope, resource) => ({
	name: span.name,
	kind: 1, // SpanKind.SERVER of the API; 2 in OTLP
	spanContext: () => ({ ...context(span.traceId, span.spanId), isRemote: false }),
	parentSpanContext: span.parentSpanId && context(span.traceId, span.parentSpanId),
	startTime: time(span.startTimeUnixNano),
	endTime: time(span.endTimeUnixNano),
	status: span.status,
	attributes: plain(span.attributes),
	links: [], events: [], duration: [0, 0], ended: true,
	resource,
	instrumentationScope: scope,
	droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0,
});

async function theirs(spans) {
	let said;
	const server = await listen((headers, body) => { said = JSON.parse(body); });
	const exporter = new OTLPTraceExporter({ url: `http://127.0.0.1:${server.address().port}/v1/traces` });
	await new Promise((done, failed) => exporter.export(spans, r => r.code === 0 ? done() : failed(r.error)));
	await exporter.shutdown();
	server.close();
	return said;
}

let wrong = 0;
function compareField(path, our, their) {
	if (isDeepStrictEqual(our, their))
		return;
	if (our && their && typeof our === 'object' && typeof their === 'object') {
		for (const key of new Set([...Object.keys(our), ...Object.keys(their)]))
			compareField(`${path}.${key}`, our[key], their[key]);
		return;
	}
	wrong = 1;
	console.log(`${path}: ${JSON.stringify(our)}, and an SDK sends ${JSON.stringify(their)}`);
}

function expect(ok, words) {
	if (ok)
		return;
	wrong = 1;
	console.log(words);
}

async function compare(bodyFile) {
	const requests = readFileSync(bodyFile, 'utf8').trim().split('\n').map(line => JSON.parse(line));
	const spans = [];
	for (const { key, body } of requests) {
		const [{ resource, scopeSpans: [{ scope, spans: some }] }] = body.resourceSpans;
		spans.push(...some);
		expect(key === 'hunter2hunter2', `the header x-key is ${key}`);
		expect(plain(resource.attributes)['service.name'] === 'hub-of-tests', 'service.name');
		const shared = { attributes: plain(resource.attributes), asyncAttributesPending: false }; // one object: requests are grouped by it
		compareField('request', body, await theirs(some.map(span => readable(span, scope, shared))));
	}
	expect(spans.length === 3, `${spans.length} spans`);
	const [traced, failed, own] = spans;
	expect(traced?.traceId === '4bf92f3577b34da6a3ce929d0e0e4736' && traced.parentSpanId === '00f067aa0ba902b7', 'the trace of the agent');
	expect(traced?.name === 'tools/call echo' && plain(traced.attributes)['mcpool.server'] === 'a' && plain(traced.attributes)['gen_ai.tool.name'] === 'echo', JSON.stringify(traced));
	expect(failed?.status.code === 2 && plain(failed.attributes)['error.type'] === 'tool_error', JSON.stringify(failed));
	expect(own && !own.parentSpanId && own.traceId !== traced.traceId, 'a trace of our own');
}

const [, , which, ...files] = process.argv;
await { collect, compare }[which](...files);
process.exitCode = wrong;
