// free_ports.mjs N - ports of 127.0.0.1 that are free, one per line. They are below those that the kernel gives to
// connections and to listeners without a port, so that a port stays free while the server of a test is away.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";

const lowest = 10000;
const [first] = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").trim().split(/\s+/).map(Number);

async function listen() {
	for (;;) {
		const port = lowest + Math.floor(Math.random() * (first - lowest));
		const server = createServer().listen(port, "127.0.0.1");
		if (await once(server, "listening").then(() => true, () => false)) return server;
	}
}

for (const server of await Promise.all(Array.from({ length: process.argv[2] }, listen))) {
	console.log(server.address().port);
	server.close();
}
