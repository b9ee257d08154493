// test_format.mjs - what the dashboard writes: values, times, and text of servers that tries to deceive.
import assert from 'node:assert/strict';
import { safe, safeLines, duration, latency, bytes, count, rate, percent, countdown, cut } from '../../src/web/page/format.js';

let failures = 0;

function test(name, run)
{
	try {
		run();
		console.log(`ok format/${name.replaceAll(' ', '_').replace(/[^a-z0-9_]/gi, '')}`);
	} catch (e) {
		failures++;
		console.log(`FAIL format/${name}: ${e.message}`);
	}
}

test('hostile text is shown escaped', () => {
	assert.equal(safe('a\u202eb'), 'a\\u202eb');
	assert.equal(safe('a\x07\x1b[31m'), 'a\\x07\\x1b[31m');
	assert.equal(safe('a\u{e0041}\u200b'), 'a\\u{e0041}\\u200b');
	assert.equal(safe('\ud800'), '\\ud800');
	assert.equal(safe('one\n\ttwo'), 'one two');
	assert.equal(safeLines('one\r\n\ttwo\x00'), 'one\n\ttwo\\x00');
	assert.equal(safe(null), '');
	assert.equal(safe('Müller 日本 👍'), 'Müller 日本 👍');
});

test('an unknown value is a dash, not 0', () => {
	for (const write of [duration, latency, bytes, count, rate, percent, countdown])
		assert.equal(write(null), '–');
});

test('values have the units of the design', () => {
	assert.equal(duration(1800), '1.8 s');
	assert.equal(duration(41999), '41 s');
	assert.equal(duration(17280000), '4 h 48 m');
	assert.equal(duration(532800000), '6 d 4 h');
	assert.equal(latency(310, 2), '0.31 ms');
	assert.equal(latency(900), '0.9 ms');
	assert.equal(latency(412000), '412 ms');
	assert.equal(latency(6200000), '6.2 s');
	assert.equal(latency(60000000), '60.0 s');
	assert.equal(bytes(212 * 1048576), '212 MiB');
	assert.equal(bytes(3.3 * 1073741824), '3.3 GiB');
	assert.equal(bytes(18842), '18.4 KiB');
	assert.equal(count(1210000), '1.21 M');
	assert.equal(rate(0), '0');
	assert.equal(rate(14.23), '14.2');
	assert.equal(percent(0.003), '0.3 %');
	assert.equal(countdown(13200), '0:14');
});

test('a long name loses its middle', () => {
	assert.equal(cut('abcdefghij', 5), 'ab…ij');
	assert.equal(cut('abcde', 5), 'abcde');
});

process.exit(failures ? 1 : 0);
