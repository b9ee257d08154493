// table.mjs SEEDS SEEN LONG MODE DOCUMENT - the sentences of a document (DOCUMENT.tsv) and what the cases saw (files in SEEN).
//   compare   is every line of the document in the table, word for word?
//   print     the table
//   shown     did every case that the table names see what it is named for?
import { existsSync, readdirSync, readFileSync } from "node:fs";

const [seeds, folder, long, mode, document] = process.argv.slice(2);
const root = new URL("../../", import.meta.url).pathname;
const rows = readFileSync(new URL(`${document}.tsv`, import.meta.url), "utf8").split("\n").filter((l) => l && !l.startsWith("#")).map((l) => {
	const [line, sentence, proof, ...rest] = l.split("\t");
	return { line: Number(line), sentence, proof, where: `${document}:${line}`, bad: !proof || rest.length > 0 };
});
const faults = [];

const seen = new Map(); // CASE#KEY -> lines
for (const name of mode === "compare" ? [] : readdirSync(folder))
	for (const l of readFileSync(`${folder}/${name}`, "utf8").split("\n").filter(Boolean)) {
		const [key, words] = l.split("\t");
		const id = `${name}#${key}`;
		seen.set(id, [...(seen.get(id) ?? []), words]);
	}
const decisions = () => new Map(readFileSync(`${root}doc/requirements.tsv`, "utf8").split("\n").map((l) => l.split("\t")).map(([id, what]) => [id, what]));
const has_test = (proof) => {
	const [file, test] = proof.split(":");
	return existsSync(root + file) && new RegExp(`TEST\\(${test}\\)|^(t_)?${test}\\(\\)`, "m").test(readFileSync(root + file, "utf8"));
};

// What a row says was seen: lines, and what is missing
function evidence({ where, proof }) {
	if (proof === "no behaviour") return [proof];
	const found = [];
	for (const one of proof.replaceAll(/decision (X\d+),?/g, "$1").replaceAll(/issue (\d+)/g, "issue-$1").split(" ")) {
		if (/^issue-\d+$/.test(one)) found.push(one.replace("-", " "));
		else if (/^X\d+$/.test(one)) found.push(`decision ${one}: ${decisions().get(one) ?? faults.push(`${where}: there is no ${one}`)}`);
		else if (/^tests\/.*:/.test(one)) {
			if (!has_test(one)) faults.push(`${where}: there is no ${one}`);
			found.push(`tested by ${one}`);
		} else if (seen.has(one)) found.push(...seen.get(one));
		else if (/^long_/.test(one) && !long) found.push(`with --long: ${one}`);
		else faults.push(`${where}: ${one} was not seen`);
	}
	return found;
}

if (mode === "compare") {
	const name = readdirSync(seeds).find((n) => n.startsWith(`${document}_`));
	const plain = (text) => text.replaceAll(/\s+/g, " ").trim();
	const texts = readFileSync(`${seeds}/${name}`, "utf8").split("\n");
	for (const r of rows) if (!(r.line <= texts.length)) faults.push(`${r.where} is behind the end of the document`);
	texts.forEach((text, i) => {
		const ours = plain(rows.filter((r) => r.line === i + 1).map((r) => r.sentence).join(" "));
		if (ours !== plain(text)) faults.push(`${document}:${i + 1} is "${plain(text)}" and not "${ours}"`);
	});
} else {
	for (const r of rows) {
		const found = r.bad ? (faults.push(`${r.where}: not three columns`), []) : evidence(r);
		if (mode === "print") console.log(`${r.where} "${r.sentence}"\n${found.map((f) => `\t${f}\n`).join("")}`.trimEnd());
	}
}
if (mode !== "print" && faults.length) {
	console.log(faults.slice(0, 3).join("\n"));
	process.exitCode = 1;
}
