// knock.mjs - takes all descriptors of a hub, and looks how busy it is then: knock.mjs SOCKET ADDRESS HUB_PID
// Prints what is not as it should be, and exits 1.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

const [, , path, address, pid] = process.argv;
const { hostname, port } = new URL(address);
const sleep = ms => new Promise(done => setTimeout(done, ms));
// Processor time so far, in ticks of 10 ms.
const used = () => readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ').slice(11, 13).reduce((a, b) => +a + +b, 0);
const isAlive = socket => new Promise(done => {
	socket.on('data', () => done(true)).on('error', () => done(false));
	socket.write(`GET / HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
	setTimeout(() => done(false), 5000);
});

const sockets = [];
for (let i = 0; i < 80; i++)
	sockets.push(connect(path).on('error', () => {}));
await sleep(300);
const late = connect(+port, hostname).on('error', () => {}); // in the backlog of the other listener
await sleep(300);
const before = used(), began = Date.now();
await sleep(2000);
const share = (used() - before) * 10 / (Date.now() - began);
if (share > 0.25) {
	console.log(`without descriptors the hub takes ${(share * 100).toFixed()} % of a core`);
	process.exit(1);
}
sockets.forEach(s => s.destroy());
if (!await isAlive(late)) {
	console.log('who waited meanwhile is not served afterwards');
	process.exit(1);
}
process.exit(0);
