// toggles.mjs SOCKET SERVER RATE SECONDS PID - switches a server off and on over a control connection, so many times a
// second, and prints {answered, events, cpu}, each a second: the answers, the events that they made, and the processor
// time of the hub PID in milliseconds.
import fs from 'node:fs';
import net from 'node:net';

const [socket, server, rate, seconds, pid] = process.argv.slice(2);

async function open() {
	const conn = net.connect(socket).setEncoding('utf8');
	const c = { conn, answered: 0, sent: 0, waiting: new Map() };
	let rest = '';
	conn.on('data', (text) => {
		const lines = (rest + text).split('\n');
		rest = lines.pop();
		for (const line of lines) {
			c.answered++;
			c.waiting.get(/"id":(\d+)/.exec(line)?.[1])?.(line);
		}
	});
	c.ask = (method, params) => new Promise((done) => {
		c.waiting.set(String(++c.sent), done);
		conn.write(JSON.stringify({ jsonrpc: '2.0', id: c.sent, method, params }) + '\n');
	});
	await c.ask('mcpool/hello', { protocol: 1, version: 'test', role: 'control', pid: process.pid, cwd: process.cwd(),
		env: { ...process.env }, options: {} });
	return c;
}
async function countEvents() {
	const c = await open();
	const line = await c.ask('mcpool/events', {});
	c.conn.destroy();
	return JSON.parse(line).result.last;
}
function cpuMs() {
	const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /s, '').split(' ');
	return (Number(fields[11]) + Number(fields[12])) * 10;
}

const c = await open();
const before = { answered: c.answered, events: await countEvents(), cpu: cpuMs() }, began = Date.now();
let due = 0;
while (Date.now() - began < seconds * 1000) {
	let out = '';
	for (due = (Date.now() - began) / 1000 * rate; c.sent < due && c.sent - c.answered < 2000;)
		out += `{"jsonrpc":"2.0","id":${++c.sent},"method":"mcpool/server/${c.sent % 2 ? 'enable' : 'disable'}","params":{"name":"${server}"}}\n`;
	if (out) c.conn.write(out);
	await new Promise((done) => setTimeout(done, 5));
}
const took = (Date.now() - began) / 1000;
const each = (now, was) => Math.round((now - was) / took);
const cpu = cpuMs();
console.log(JSON.stringify({ answered: each(c.answered, before.answered), events: each(await countEvents(), before.events), cpu: each(cpu, before.cpu) }));
c.conn.destroy();
