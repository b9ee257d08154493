// seeded.mjs - what the second opinions share: a generator with a seed, and a line for each case.

// mulberry32: small, and every run sees the same documents.
export function seeded(seed) {
	let state = seed;
	const random = () => {
		state = (state + 0x6d2b79f5) | 0;
		let t = Math.imul(state ^ (state >>> 15), 1 | state);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
	};
	const below = (n) => Math.floor(random() * n);
	const pick = (list) => list[below(list.length)];
	return { random, below, pick };
}

export let failures = 0;

export function report(name, why) {
	console.log(why ? `FAIL js/${name}: ${why}` : `ok js/${name}`);
	if (why) failures++;
}
