// same_blob.mjs - node same_blob.mjs RESULT FILE: FILE has the bytes of the blob in RESULT, which is JSON.
import { readFileSync } from "node:fs";

const [result, file] = process.argv.slice(2);
const { contents } = JSON.parse(readFileSync(result));
process.exit(Buffer.from(contents[0].blob, "base64").equals(readFileSync(file)) ? 0 : 1);
