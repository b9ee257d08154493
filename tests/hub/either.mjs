// either.mjs - an agent of either era, over any way in (ways.mjs): it asks, answers what it is asked, and
// keeps all it heard. Its name is in everything it says, so that what belongs to another is noticed.
import { open } from './ways.mjs';

export const capabilities = { elicitation: {}, sampling: {}, roots: {} };
const key = (name) => `io.modelcontextprotocol/${name}`;
const patience = 8000;

export async function within(promise, words, ms = patience) {
	let timer;
	const late = new Promise((_, no) => {
		timer = setTimeout(() => no(new Error(`${words} within ${ms} ms`)), ms);
	});
	return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export class Agent {
	heard = []; // notifications
	asked = []; // questions of servers, as they came
	stray = []; // answers without a request
	#waiting = new Map();
	#watching = new Set();
	#last = 0;

	constructor(name, way, era, can = capabilities) {
		Object.assign(this, { name, way, era, can });
	}

	async open(hub) {
		this.pipe = await open(this.way, this.era, hub, (message) => this.#hear(message));
		if (this.era === 'modern') return this.ask('server/discover');
		const answer = await this.ask('initialize', {
			protocolVersion: '2025-11-25', capabilities: this.can, clientInfo: { name: 'matrix', version: '1' },
		});
		this.pipe.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
		return answer;
	}

	close() {
		return within(this.pipe.close(), `${this.name} could not leave`);
	}

	#hear(message) {
		if ('method' in message && 'id' in message) this.#reply(message);
		else if ('method' in message) {
			this.heard.push(message);
			this.#watching.forEach((watch) => watch(message));
		} else if (this.#waiting.has(message.id)) {
			this.#waiting.get(message.id)(message);
			this.#waiting.delete(message.id);
		} else this.stray.push(message);
	}

	// What it says to a question, by its own name.
	#answer({ id, method, params }) {
		this.asked.push({ id, method, params });
		switch (method) {
		case 'elicitation/create':
			return { action: 'accept', content: { name: this.name } };
		case 'sampling/createMessage':
			return { role: 'assistant', model: 'none', content: { type: 'text', text: this.name } };
		case 'roots/list':
			return { roots: [{ uri: `file:///${this.name}`, name: this.name }] };
		}
		throw new Error(`asked for ${method}`);
	}

	#reply({ id, method, params }) {
		this.pipe.send({ jsonrpc: '2.0', id, result: method === 'ping' ? {} : this.#answer({ id, method, params }) });
	}

	#meta({ token, level }) {
		const meta = token === undefined ? {} : { progressToken: token };
		if (this.era === 'legacy') return token === undefined ? undefined : meta;
		return {
			...meta, [key('protocolVersion')]: '2026-07-28', [key('clientCapabilities')]: this.can,
			[key('clientInfo')]: { name: 'matrix', version: '1' }, ...(level && { [key('logLevel')]: level }),
		};
	}

	// One request and one answer. {id, answer}: for a caller that may cancel it.
	begin(method, params = {}, more = {}) {
		const id = ++this.#last;
		const answer = new Promise((done) => this.#waiting.set(id, done));
		const _meta = this.#meta({ ...more, token: more.token && id });
		this.pipe.send({ jsonrpc: '2.0', id, method, params: { ...params, ...(_meta && { _meta }) } });
		return { id, answer };
	}

	drop(id) {
		this.#waiting.delete(id);
		return this.pipe.drop(id);
	}

	// With all rounds of questions that a modern one takes.
	async ask(method, params = {}, more = {}) {
		let answer = await within(this.begin(method, params, more).answer, `${this.name}: no answer to ${method}`);
		for (let round = 0; answer.result?.resultType === 'input_required' && round < 8; round++) {
			const { inputRequests = {}, requestState } = answer.result;
			const given = Object.entries(inputRequests).map(([name, question]) => [name, this.#answer(question)]);
			const again = { ...params, inputResponses: Object.fromEntries(given), ...(requestState && { requestState }) };
			answer = await within(this.begin(method, again, more).answer, `${this.name}: no answer to a return`);
		}
		return answer;
	}

	call(name, args = {}, more = {}) {
		return this.ask('tools/call', { name, arguments: args }, more);
	}

	async list(kind, method = `${kind}/list`) {
		const all = [];
		for (let cursor; ;) {
			const { result, error } = await this.ask(method, cursor === undefined ? {} : { cursor });
			if (error) throw new Error(`${method}: ${error.message}`);
			all.push(...result[kind]);
			if ((cursor = result.nextCursor) === undefined) return all;
		}
	}

	// The next notification for which is(message) holds, from `since` on.
	async next(is, words, since = this.heard.length, ms = patience) {
		const there = this.heard.slice(since).find(is);
		if (there) return there;
		let watch;
		const found = new Promise((done) => {
			watch = (message) => is(message) && done(message);
			this.#watching.add(watch);
		});
		return within(found, `${this.name} did not hear of ${words}`, ms).finally(() => this.#watching.delete(watch));
	}

	// To hear of changes: modern ones open a stream for it, legacy ones hear of lists anyway.
	async listen(notifications) {
		const since = this.heard.length;
		const { id } = this.begin('subscriptions/listen', { notifications });
		await this.next((m) => m.method === 'notifications/subscriptions/acknowledged' &&
			m.params._meta[key('subscriptionId')] === id, 'its listening', since);
		return { id, owns: (m) => m.params._meta?.[key('subscriptionId')] === id };
	}
}
