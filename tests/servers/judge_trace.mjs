// judge_trace.mjs - what a traced mcpool did: judge_trace.mjs TRACE ALLOWED
// TRACE is strace -f -y output, ALLOWED a file with one path per line; one that ends in / allows all below it.
// Prints what should not have happened and exits with 1: a second execve, a fork, any network call but a connection
// to a unix socket that is allowed, and any file opened that is not, by the path it was opened by and by the one it
// turned out to be.
import { readFileSync } from "node:fs";

const [traceFile, allowedFile] = process.argv.slice(2);
const allowed = readFileSync(allowedFile, "utf8").split("\n").filter(Boolean);
const lines = readFileSync(traceFile, "utf8").split("\n");
const isAllowed = (path) => allowed.some((a) => (a.endsWith("/") ? path.startsWith(a) : path === a));
const isOurHub = (call, line) =>
	(call === "socket" && /socket\(AF_UNIX,/.test(line)) ||
	(call === "connect" && isAllowed(/sa_family=AF_UNIX, sun_path="([^"]*)"/.exec(line)?.[1] ?? ""));
const bad = [];
let execs = 0;
let opens = 0;

for (const line of lines) {
	const call = /^\d+ +(?:<\.\.\. )?([a-z_0-9]+)/.exec(line)?.[1] ?? "";
	if (/^execve/.test(call) && ++execs > 1) bad.push(line);
	if (/^(connect|sendto|sendmsg|sendmmsg|bind|listen|socket|socketpair|fork|vfork)$/.test(call) && !isOurHub(call, line))
		bad.push(line);
	if (/^clone3?$/.test(call) && !/CLONE_THREAD/.test(line) && !/resumed/.test(line)) bad.push(line);
	if (!/^(open|openat|openat2|creat)$/.test(call) || !/ = \d+/.test(line)) continue;
	opens++;
	const given = /"((?:[^"\\]|\\.)*)"/.exec(line)?.[1] ?? "";
	if (!isAllowed(given)) bad.push(line);
}
if (execs !== 1 || opens === 0) bad.push(`this is no trace of mcpool: ${execs} execve, ${opens} files opened`);
if (bad.length) console.log([...new Set(bad)].slice(0, 5).join("\n"));
process.exit(bad.length ? 1 : 0);
