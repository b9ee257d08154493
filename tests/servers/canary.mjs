// canary.mjs - a listener on loopback that must not be visited: canary.mjs PORT_FILE VISITS_FILE
// Writes its port to the first file, and a line to the second for each connection.
import { appendFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";

const [portFile, visitsFile] = process.argv.slice(2);
const server = createServer((socket) => {
	appendFileSync(visitsFile, "visit\n");
	socket.destroy();
});
server.listen(0, "127.0.0.1", () => {
	writeFileSync(portFile + ".new", String(server.address().port));
	renameSync(portFile + ".new", portFile);
});
