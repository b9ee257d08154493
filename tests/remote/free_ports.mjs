// free_ports.mjs N - ports of 127.0.0.1 that are free, one per line.
import { once } from "node:events";
import { createServer } from "node:net";

const servers = Array.from({ length: process.argv[2] }, () => createServer().listen(0, "127.0.0.1"));
await Promise.all(servers.map((s) => once(s, "listening")));
for (const s of servers) {
	console.log(s.address().port);
	s.close();
}
