// proxy.mjs PORT [USER:PASSWORD] - a proxy whose name service knows one address for every name: this machine's.
// Notes what it is asked, headers too: `CONNECT name:port`, `GET http://name:port/path`, `header NAME`. It
// does not connect anybody to forbidden.test.
import { appendFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createServer, request } from './http.mjs';

const [port, user] = process.argv.slice(2);
const wanted = user && 'Basic ' + Buffer.from(user).toString('base64');
const note = (text) => appendFileSync(process.env.TEST_NOTES, text + '\n');

function write_down(req) {
	note(`${req.method} ${req.url}`);
	for (const name of Object.keys(req.headers)) note(`header ${name}`);
}

const server = createServer((req, res) => {
	const { port: to, pathname } = new URL(req.url);
	write_down(req);
	if (wanted && req.headers['proxy-authorization'] !== wanted) {
		res.writeHead(407, { 'proxy-authenticate': 'Basic' }).end();
		return;
	}
	req.pipe(request({ port: to, path: pathname, method: req.method, headers: req.headers }, (back) => {
		res.writeHead(back.statusCode, back.headers);
		back.pipe(res);
	}).on('error', () => res.destroy()));
});
server.on('connect', (req, socket) => {
	const [name, to] = req.url.split(':');
	write_down(req);
	socket.on('error', () => {});
	if (wanted && req.headers['proxy-authorization'] !== wanted)
		return socket.end('HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n');
	if (name === 'forbidden.test') return socket.end('HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n');
	const there = connect(Number(to), '127.0.0.1', () => {
		socket.write('HTTP/1.1 200 Fine\r\n\r\n');
		there.pipe(socket);
		socket.pipe(there);
	});
	there.on('error', () => socket.destroy());
	socket.on('close', () => there.destroy());
	there.on('close', () => socket.destroy());
});
server.listen(Number(port), '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
