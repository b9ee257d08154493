// golden.mjs - node golden.mjs PROJECT HOME <LIST: JSON laid out, with these two folders as @PROJECT@ and @HOME@.
import { readFileSync } from "node:fs";

const [project, home] = process.argv.slice(2);
const text = JSON.stringify(JSON.parse(readFileSync(0, "utf8")), null, "\t");
console.log(text.replaceAll(project, "@PROJECT@").replaceAll(home, "@HOME@"));
