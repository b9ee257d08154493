// fits.mjs - node fits.mjs FILE COLUMNS: ten lines that fit so many columns; a line with a name alone may be longer.
import { readFileSync } from "node:fs";

const [file, columns] = process.argv.slice(2);
const lines = readFileSync(file, "utf8").trimEnd().split("\n");
const fits = (line) => line.length <= columns - 1 || /^[a-z]+ *$/.test(line);
process.exit(lines.length === 10 && lines.every(fits) ? 0 : 1);
