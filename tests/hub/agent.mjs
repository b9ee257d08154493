// agent.mjs - an agent that speaks to `mcpool stdio` as its arguments say.
// node agent.mjs [--option VALUE ... --] STEP...   options go to `mcpool stdio`.
// A STEP is FILE.mjs#NAME, a function that FILE.mjs beside this file exports, or a few words of JavaScript. Both have
// what talk.mjs exports; what a step returns is printed.
import * as talk from "./talk.mjs";

const args = process.argv.slice(2);
const split = args.indexOf("--");
talk.open(split < 0 ? [] : args.slice(0, split));

const run = async (step) => {
	const [file, name] = step.split("#");
	if (/^\w+\.mjs$/.test(file)) return (await import(`./${file}`))[name]();
	const body = step.includes("return") || step.includes(";") ? step : `return ${step}`;
	return new Function(...Object.keys(talk), `return (async () => { ${body} })()`)(...Object.values(talk));
};

try {
	for (const step of args.slice(split + 1)) {
		const r = await run(step);
		if (r !== undefined) console.log(typeof r === "string" ? r : JSON.stringify(r));
	}
	talk.is(talk.answers.length === 0, `an answer without a request: ${JSON.stringify(talk.answers[0])}`);
} catch (e) {
	console.log(`FAILED: ${e.message}`);
	process.exitCode = 1;
}
talk.bridge.stdin.end();
await Promise.race([talk.ended, talk.sleep(3000)]);
talk.bridge.kill("SIGKILL");
process.exit();
