// pressure.mjs - clients that push, and a neighbour with the token who is measured meanwhile:
// pressure.mjs ADDRESS TOKEN_FILE HUB_PID LIMITS_H CONNECTIONS
// For each kind of pressure (attack-S1 bodies, attack-S8 drips, attack-S11 unread) the neighbour's 99th percentile is
// at most three times its own without pressure in the same run, and the hub grows by no more than MP_LIMIT_HTTP_GROWTH.
// The figures are the hub's, and not those of a scheduler with too few processors: those who push have the lowest
// priority, and what hub, server and neighbour wait for a processor does not count.
import { fork } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setPriority } from 'node:os';

const [, , address, tokenFile, hub, limits, count] = process.argv;
const { hostname, port } = new URL(address);
const token = readFileSync(tokenFile, 'utf8').trim();
const head = (verb, path, headers) => `${verb} ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${headers}\r\n`;
const call = (tool, args) => {
	const body = JSON.stringify({
		jsonrpc: '2.0', id: 1, method: 'tools/call', params: {
			name: `mcp__a__${tool}`, arguments: args, _meta: {
				'io.modelcontextprotocol/protocolVersion': '2026-07-28',
				'io.modelcontextprotocol/clientInfo': { name: 'pressure', version: '1' },
				'io.modelcontextprotocol/clientCapabilities': {},
			},
		},
	});
	return head('POST', '/mcp', `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\n` +
		'Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n' +
		`Mcp-Name: mcp__a__${tool}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`) + body;
};
const sleep = ms => new Promise(done => setTimeout(done, ms));

// --- those who push ----------------------------------------------------------------------------------------------------

const MIB = 1 << 20;
const block = Buffer.alloc(MIB, 0x61);

// Each is given its connection and may set a timer on it.
const kinds = {
	// attack-S1: large bodies where no route takes one
	bodies(socket, i) {
		socket.write(head(...[['GET', '/'], ['POST', '/nothing']][i % 2], i % 3 ? `Content-Length: ${32 * MIB}\r\n` : 'Transfer-Encoding: chunked\r\n'));
		if (i % 3 === 0)
			socket.write((31 * MIB).toString(16) + '\r\n');
		let left = 31;
		const pour = () => { while (left-- > 0) if (!socket.write(block)) return; };
		socket.on('drain', pour);
		pour();
	},
	// The same with the token, where a body is taken: one in ten. Only the memory is looked at: it is a load like any.
	holders(socket, i) {
		socket.write(head('POST', '/mcp', (i % 10 ? '' : `Authorization: Bearer ${token}\r\n`) + `Content-Length: ${32 * MIB}\r\n`));
		let left = 31;
		const pour = () => { while (left-- > 0) if (!socket.write(block)) return; };
		socket.on('drain', pour);
		pour();
	},
	// attack-S8: small bodies that never end, and heads that do not
	drips(socket, i) {
		socket.write(i % 2 ? head('POST', '/nothing', 'Content-Length: 60000\r\n') : 'GET / HTTP/1.1\r\nX: ');
		socket.timer = setInterval(() => socket.write('a'), 5000);
	},
	// attack-S11: responses that are never read; one in fifty has the token and asks for a large one
	unread(socket, i) {
		socket.pause();
		socket.write(i % 50 ? head('GET', '/', '').repeat(2000) : call('big', { bytes: 4 * MIB }));
	},
};

function push(kind) {
	const wait = Math.max(2000, +count * 2); // so that at most some 500 a second come again
	let open = 0;
	const one = i => {
		const socket = connect(+port, hostname, () => { open++; kinds[kind](socket, i); });
		socket.on('error', () => {});
		socket.on('close', () => { clearInterval(socket.timer); setTimeout(one, wait * (0.5 + Math.random()), i); });
	};
	for (let i = 0; i < +count; i++)
		setTimeout(one, i, i);
	setPriority(19);
	process.on('disconnect', () => process.exit());
	setInterval(() => process.send(open), 200);
}

// --- the neighbour -----------------------------------------------------------------------------------------------------

// The server, of this case alone.
function findServer() {
	const mark = `MCPOOL_TEST_MARK=${process.env.MCPOOL_TEST_MARK}`;
	return readdirSync('/proc').filter(pid => /^\d+$/.test(pid)).find(pid => {
		try {
			return readFileSync(`/proc/${pid}/comm`, 'latin1') === 'demo-server\n' &&
				readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark);
		} catch {
			return false; // it has ended meanwhile
		}
	});
}
const involved = [process.pid, hub];

// What these have waited for a processor so far, in microseconds; see proc_pid_schedstat(5).
const queue = pids => pids.reduce((sum, pid) => sum + +readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[1] / 1000, 0);

// One call: over this connection, or one of its own. In microseconds.
function ask(socket) {
	return new Promise((done, fail) => {
		const waited = queue(involved), began = process.hrtime.bigint(), s = socket ?? connect(+port, hostname);
		let heard = '';
		const end = (fn, value) => { s.removeAllListeners(); if (!socket) s.destroy(); fn(value); };
		s.on('error', e => end(fail, e)).on('close', () => end(fail, new Error('the hub closed the connection')));
		s.on('data', d => {
			heard += d;
			const [, length] = /content-length: (\d+)/i.exec(heard) ?? [], at = heard.indexOf('\r\n\r\n');
			if (at < 0 || heard.length < at + 4 + +length)
				return;
			if (!/^HTTP\/1.1 200/.test(heard) || !heard.includes('"hello"'))
				return end(fail, new Error(`the neighbour was told ${heard.slice(0, 200)}`));
			const took = Number(process.hrtime.bigint() - began) / 1000;
			end(done, Math.max(took - (queue(involved) - waited), 1));
		});
		s.write(call('echo', { message: 'hello' }));
	});
}

async function measure() {
	const times = [];
	let socket;
	for (let i = 0; i < 1000; i++) {
		if (i === 1)
			socket = connect(+port, hostname); // not earlier: a connection that asks for nothing may be closed
		times.push(await ask(i % 10 ? socket : undefined));
	}
	socket.destroy();
	times.sort((a, b) => a - b);
	const p50 = times[times.length >> 1], p99 = times[Math.floor(times.length * 0.99)];
	// Less than a few median calls is a figure of the scheduler's.
	return Math.max(p99, 4 * p50);
}

const memory = field => +new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${hub}/status`, 'utf8'))[1] / 1024;
const ceiling = +/MP_LIMIT_HTTP_GROWTH\s+MP_MIB\((\d+)\)/.exec(readFileSync(limits, 'utf8'))[1];
const middle = list => [...list].sort((a, b) => a - b)[list.length >> 1];

async function withPressure(kind, fn) {
	const child = fork(process.argv[1], process.argv.slice(2), { env: { ...process.env, PUSH: kind } });
	let open = 0;
	child.on('message', n => { open = n; });
	try {
		for (let tries = 0; open < +count * 0.9; tries++) {
			if (tries > 600) {
				console.log(`${kind}: only ${open} of ${count} connections could be opened`);
				process.exit(1);
			}
			await sleep(100);
		}
		return [await fn(), open];
	} finally {
		child.kill('SIGKILL');
		await new Promise(done => child.on('exit', done));
	}
}

async function judge(kind) {
	const quiet = [], pushed = [], before = memory('VmRSS');
	const alarm = setInterval(() => {
		if (memory('VmRSS') - before > ceiling) {
			console.log(`${kind}: the hub grew from ${before.toFixed()} MiB by more than ${ceiling} MiB`);
			process.exit(1);
		}
	}, 50);
	let most = 0;
	const isGood = f => f(pushed) <= 3 * f(quiet);
	const least = list => Math.min(...list);
	do {
		quiet.push(await measure());
		const [p99, opened] = await withPressure(kind, measure);
		pushed.push(p99);
		most = Math.max(most, opened);
	} while (kind !== 'holders' && !isGood(least) && !(quiet.length > 2 && isGood(middle)) && quiet.length < 6);
	if (kind === 'unread' || kind === 'holders')
		await sleep(2500); // what it held goes back to the system when that is idle
	clearInterval(alarm);
	console.log(`   ${kind}: ${most} connections opened, ${count} at a time; p99 ${least(quiet).toFixed()} us quiet, ${least(pushed).toFixed()} us under pressure ` +
		`(middle ${middle(quiet).toFixed()}, ${middle(pushed).toFixed()}; ${quiet.length} rounds); RSS ${before.toFixed()} MiB, at most ${memory('VmHWM').toFixed()}, afterwards ${memory('VmRSS').toFixed()}`);
	if (kind !== 'holders' && !isGood(least) && !isGood(middle)) {
		console.log(`${kind}: the neighbour's p99 is more than three times its own`);
		process.exit(1);
	}
	if (memory('VmRSS') - before > ceiling / 4) {
		console.log(`${kind}: memory is kept: RSS ${before.toFixed()} MiB, and ${memory('VmRSS').toFixed()} MiB afterwards`);
		process.exit(1);
	}
}

if (process.env.PUSH) {
	push(process.env.PUSH);
} else {
	await measure(); // the server is up, and the hub warm
	involved.push(findServer());
	for (const kind of process.env.KINDS?.split(' ') ?? Object.keys(kinds))
		await judge(kind);
	if (memory('VmHWM') > ceiling + 64) {
		console.log(`the hub had ${memory('VmHWM').toFixed()} MiB`);
		process.exit(1);
	}
	process.exit(0);
}
