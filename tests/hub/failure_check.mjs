// failure_check.mjs STAGE CLASS CODE STEP [STDERR] - is the error in the JSON on stdin such a one? Prints the verbs that its
// next step names. STDERR is a file with what the command line said of it: the same fields, in this order (U23).
import { readFileSync } from "node:fs";

const [stage, kind, code, step, stderr] = process.argv.slice(2);
const { error } = JSON.parse(readFileSync(0, "utf8"));
const d = error.data;

const wrong = (words) => {
	console.log(words);
	process.exit(1);
};
const is = (found, wanted, what) => {
	if (!wanted.includes(found)) wrong(`${what} ${found} and not ${wanted.join(" or ")}`);
};

function compare_text(text) {
	const [first, ...lines] = text.trimEnd().split("\n");
	const fields = Object.fromEntries(lines.filter((l) => /^  [a-z]/.test(l)).map((l) => [l.slice(2, 12).trim(), l.slice(13)]));
	const wanted = { "server:": "x", "stage:": d.stage, "class:": d.class, "retryable:": d.retryable ? "yes" : "no",
		"code:": `${error.code} ${d.code}`, "next step:": d.nextStep, "transport:": d.transport };
	const order = ["server:", "tool:", "transport:", "stage:", "class:", "env from:", "retryable:", "next try:", "code:", "next step:"];
	const places = Object.keys(fields).map((k) => order.indexOf(k));

	is(first, [error.message], "first line");
	for (const k in wanted) is(fields[k], [wanted[k]], k);
	if (places.some((p, i) => p < 0 || p < places[i - 1])) wrong(`order: ${Object.keys(fields)}: ${text}`);
	const words = lines.findIndex((l) => l.startsWith("  | ")); // of the server, behind all fields
	if (words >= 0 && lines.slice(words).some((l) => /^  [a-z]/.test(l))) wrong(`its last words are not last: ${text}`);
}

const unlisted = stage === "connect" && !stderr && error.message.startsWith("Unknown tool: "); // an agent asked for a tool that no list had
if (!error.message.startsWith("MCP error: ") && !unlisted) wrong(`it begins: ${error.message}`);
is(d.server, ["x"], "server");
is(d.stage, [stage], "stage");
is(d.class, kind.split("/"), "class");
is(d.code, [code], "code");
if (!d.nextStep.includes(step)) wrong(`next step: ${d.nextStep}`);
if (stderr) compare_text(readFileSync(stderr, "utf8"));
for (const [, verb] of d.nextStep.replace("mcpool runs", "").matchAll(/mcpool ([a-z]*)/g)) console.log(verb);
