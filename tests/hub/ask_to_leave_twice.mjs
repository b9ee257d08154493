// ask_to_leave_twice.mjs SOCKET - two newer peers ask the hub to leave in the same moment; both are answered.
import { connect } from "node:net";

const line = (o) => JSON.stringify({ jsonrpc: "2.0", id: 1, ...o }) + "\n";
const hello = { protocol: 1, version: "99.1.0", role: "control", pid: process.pid, cwd: "/", env: {} };
const greet = () => new Promise((greeted) => {
	const s = connect(process.argv[2], () => s.write(line({ method: "mcpool/hello", params: hello })));
	s.once("data", () => greeted(s));
});
const ask = (s) => new Promise((answered) => {
	s.on("data", (d) => String(d).includes('"pid"') && answered());
	s.write(line({ method: "mcpool/shutdown", params: { drain: true, replace: true } }));
});

const both = await Promise.all([greet(), greet()]);
await Promise.all(both.map(ask));
console.log("both were answered");
process.exit();
