// secure.mjs PORT KEY CERT [CLIENTS] - HTTP/2 and HTTP/1.1 over TLS. CLIENTS: clients must show this certificate.
//   /who           who the client is, by its certificate
//   /version       which HTTP this is
//   /together?n=N  answers when N requests are there at once, and says on how many connections
//   /goodbye       answers, then closes the connection, as servers do that had enough
// Notes each connection and each request. Upgrades to WebSocket are answered, too.
import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';

const [port, key, cert, clients] = process.argv.slice(2);
const note = (text) => appendFileSync(process.env.TEST_NOTES, text + '\n');
const server = createSecureServer({
	key: readFileSync(key),
	cert: readFileSync(cert),
	allowHTTP1: true,
	requestCert: true,
	rejectUnauthorized: Boolean(clients),
	ca: clients ? [readFileSync(clients)] : undefined,
});
const waiting = [];

function answer(res, status, text) {
	res.writeHead(status, { 'content-type': 'text/plain' });
	res.end(text);
}

function answer_together(req, res, n) {
	waiting.push([req, res]);
	if (waiting.length === n) {
		const connections = new Set(waiting.map(([r]) => r.stream?.session ?? r.socket)).size;
		for (const [, r] of waiting.splice(0)) answer(r, 200, `${n} on ${connections}`);
	} else {
		setTimeout(() => answer(res, 500, `only ${waiting.length}`), 5000).unref();
	}
}

server.on('secureConnection', () => note('connection'));
server.on('request', (req, res) => {
	const url = new URL(req.url, 'https://x');
	const socket = req.stream?.session?.socket ?? req.socket;
	note(`${req.method} ${url.pathname}`);
	req.resume();
	if (url.pathname === '/who') answer(res, 200, socket.getPeerCertificate().subject?.CN ?? 'nobody');
	else if (url.pathname === '/version') answer(res, 200, req.httpVersion);
	else if (url.pathname === '/together') answer_together(req, res, Number(url.searchParams.get('n')));
	else if (url.pathname === '/goodbye') {
		const session = req.stream?.session;
		answer(res, 200, 'goodbye');
		res.on('finish', () => setTimeout(() => (session ? session.close() : socket.end()), 10));
	} else answer(res, 404, 'not here');
});
server.on('upgrade', (req, socket) => {
	const accept = createHash('sha1').update(req.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
	note(`upgrade ${req.headers['sec-websocket-protocol']}`);
	socket.on('error', () => {});
	socket.write(`HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
	socket.once('data', () => socket.end('\x88\x02\x03\xe8', 'latin1'));
});
server.listen(Number(port), '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
