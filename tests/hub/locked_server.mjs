// locked_server.mjs - node locked_server.mjs FILE: answers every request with 401; writes its port to FILE.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";

const server = createServer((request, response) => response.writeHead(401).end());
server.listen(0, "127.0.0.1", () => writeFileSync(process.argv[2], String(server.address().port)));
