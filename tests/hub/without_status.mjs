// without_status.mjs HUB SOCKET - passes lines on between SOCKET and the hub's, and takes the status out of each outcome.
import { connect, createServer } from "node:net";

const [hub_socket, socket] = process.argv.slice(2);
const lines = (s, fn) => {
	let rest = "";
	s.on("data", (d) => {
		const all = (rest + d).split("\n");
		rest = all.pop();
		all.forEach(fn);
	});
};

createServer((cli) => {
	const hub = connect(hub_socket);
	lines(cli, (l) => hub.write(l + "\n"));
	lines(hub, (l) => {
		const m = JSON.parse(l);
		if (m.result?.outcome) delete m.result.status;
		cli.write(JSON.stringify(m) + "\n");
	});
	for (const s of [cli, hub])
		s.on("error", () => {}).on("close", () => {
			cli.destroy();
			hub.destroy();
		});
}).listen(socket);
