// broken.mjs HOW [PORT] - a server that is broken in one way, as servers on real machines are:
//   port      listens at PORT, which another process has
//   node      needs a module that this Node.js does not have
//   variable  wants DATABASE_URL and ends
//   hang      reads, and never answers
//   crash     answers the handshake and its lists, then ends
//   denied    HTTP, all requests are answered 401; prints its port and notes each request on stderr
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const [how, port] = process.argv.slice(2);

function answer({ id, method }) {
	const results = {
		initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'broken', version: '1' } },
		'tools/list': { tools: [] },
	};
	if (id === undefined) return;
	const body = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'no such method' } };
	process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\n');
	if (method === 'tools/list') setTimeout(() => process.exit(7), 20);
}

const ways = {
	port: () => createServer().listen(Number(port), '127.0.0.1'),
	node: () => import('node:of_the_future'),
	variable: () => {
		console.error('Error: DATABASE_URL environment variable is required');
		process.exit(3);
	},
	hang: () => process.stdin.resume(),
	crash: () => createInterface({ input: process.stdin }).on('line', (line) => answer(JSON.parse(line))),
	denied: () => {
		const server = createServer((req, res) => {
			console.error(`${req.method} ${req.url} ${req.headers.authorization ? 'authorization' : ''}`);
			res.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
		});
		server.listen(0, '127.0.0.1', () => console.log(server.address().port));
	},
};
ways[how]();
