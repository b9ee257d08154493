// stranger.mjs SOCKET - says hello to the hub and prints how many bytes it heard.
import { connect } from "node:net";

const s = connect(process.argv[2]);
let n = 0;
s.on("connect", () => s.write(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "mcpool/hello", params: { protocol: 1, role: "control" } }) + "\n"));
s.on("data", (d) => (n += d.length));
s.on("error", () => {});
s.on("close", () => console.log(`heard ${n}`));
