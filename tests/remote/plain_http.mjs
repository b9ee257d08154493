// plain_http.mjs - a server without TLS that says what it was asked; an upgrade is refused.
import { createServer } from "../servers/http.mjs";

const s = createServer((q, r) => {
	q.resume();
	r.end(`plain ${q.url} ${q.headers.host}`);
});
s.on("upgrade", (q, c) => c.end("HTTP/1.1 404 No\r\n\r\n"));
s.listen(0, "127.0.0.1", () => console.log(`listening on ${s.address().port}`));
