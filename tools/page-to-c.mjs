// page-to-c.mjs FOLDER OUT TARGET DEPFILE - the bundled page as C data, compressed, and which sources it was made from.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { resolve } from 'node:path';

const [folder, out, target, depfile] = process.argv.slice(2);
const files = [
	['/', 'index.html', 'text/html; charset=utf-8'],
	['/dashboard.js', 'dashboard.js', 'text/javascript; charset=utf-8'],
	['/dashboard-chunk.js', 'dashboard-chunk.js', 'text/javascript; charset=utf-8'],
	['/dashboard-forms.js', 'dashboard-forms.js', 'text/javascript; charset=utf-8'],
	['/dashboard.css', 'dashboard.css', 'text/css; charset=utf-8'],
	['/dashboard.svg', 'dashboard.svg', 'image/svg+xml'],
];
let text = '/* Made by tools/page-to-c.mjs from src/web/page. */\n#include "web/page.h"\n\n';
let table = '';
files.forEach(([path, name, type], i) => {
	const bytes = readFileSync(`${folder}/${name}`);
	const packed = gzipSync(bytes, { level: 9 });

	text += `static const char file_${i}[] = {\n`;
	for (let at = 0; at < packed.length; at += 24)
		text += '\t' + [...packed.subarray(at, at + 24)].map((b) => (b > 127 ? b - 256 : b) + ',').join('') + '\n';
	text += '};\n';
	table += `\t{"${path}", "${type}", file_${i}, sizeof(file_${i})},\n`;
});
text += `\nconst struct mp_page_file mp_page_files[] = {\n${table}};\nconst size_t mp_page_n_files = ${files.length};\n`;
writeFileSync(out, text);

const sources = readdirSync('src/web/page', { recursive: true, withFileTypes: true })
	.filter((f) => f.isFile()).map((f) => resolve(f.parentPath, f.name));
writeFileSync(depfile, `${target}: ${[...sources, resolve('package-lock.json'), resolve('tools/build-page'), resolve('tools/page-to-c.mjs')].join(' ')}\n`);
