// service_manager.mjs SOCKET - listens there and hands the socket over to a hub, as systemd does; asks it, sends HUP and TERM.
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const { MCPOOL } = process.env;
const [socket] = process.argv.slice(2);
const status = () => JSON.parse(execFileSync(MCPOOL, ["status", "--json"]));

const server = createServer();
await new Promise((listening) => server.listen(socket, listening));
server.close = () => {}; // the name stays, as with a service manager
const hub = spawn("sh", ["-c", 'LISTEN_PID=$$ exec "$MCPOOL" serve'], {
	stdio: ["ignore", "ignore", "inherit", server._handle.fd], env: { ...process.env, LISTEN_FDS: "1" },
});
const exit = new Promise((r) => hub.on("exit", r));
console.log(status().hub.pid === hub.pid ? "it is the hub" : "another one");
hub.kill("SIGHUP");
await sleep(300);
console.log(status().hub.pid === hub.pid ? "still there" : "gone");
hub.kill("SIGTERM");
console.log(`exit ${await exit}${existsSync(socket) ? ", its name stays" : ""}`);
process.exit();
