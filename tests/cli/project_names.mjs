// project_names.mjs - node project_names.mjs <LIST: names of the project's servers, but for the one that paints the terminal.
import { readFileSync } from "node:fs";

const { servers } = JSON.parse(readFileSync(0, "utf8"));
const names = servers.filter((s) => s.source.level === "project").map((s) => s.name);
for (const name of new Set(names)) if (/^[\w:. -]+$/.test(name)) console.log(name);
