// listen.mjs - ways in for the test servers: `NAME.mjs [stdio | http [PORT] | sse [PORT] | ws [PORT]]`, as far as
// each has them. A port of 0 is any; `listening on PORT` is the first line of stdout then.
import { createServer } from './http.mjs';

export const [how = 'stdio', port = '0'] = process.argv.slice(2);

// What is not answered by handle(req, res, path) is an error of the test server itself.
export function listen(handle) {
	const server = createServer((req, res) =>
		Promise.resolve(handle(req, res, new URL(req.url, 'http://localhost'))).catch((why) => {
			console.error(why);
			if (!res.headersSent) res.writeHead(500);
			res.end();
		}));
	server.listen(Number(port), process.env.TEST_HOST ?? '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
	return server;
}

export const refuse = (res, status, words) => res.writeHead(status, { 'content-type': 'text/plain' }).end(words);

// A handler as the web has them, (Request) => Response, for Node: what SDK 2.x offers.
export const toNode = (fetch) => async (req, res) => {
	const gone = new AbortController();
	res.on('close', () => gone.abort());
	const request = new Request(new URL(req.url, `http://${req.headers.host}`), {
		method: req.method, headers: req.headers, signal: gone.signal, duplex: 'half',
		body: req.method === 'GET' || req.method === 'HEAD' ? undefined : req,
	});
	const response = await fetch(request);
	res.writeHead(response.status, Object.fromEntries(response.headers)).flushHeaders();
	try {
		for await (const piece of response.body ?? []) res.write(piece);
	} catch { // the client left
	}
	res.end();
};
