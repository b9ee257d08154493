// pattern.js - tests a text against a pattern of a JSON Schema in linear time, so that a hostile one cannot stop the page.
// The structure becomes a machine that follows all ways at once; a browser's own RegExp only sees single characters.
// Look-around and back references have no such machine: those patterns are left to the server.

const MOST_STEPS = 2000, MOST_WORK = 1e6;

const isWord = (c) => c !== undefined && /\w/.test(c);

function one(source)
{
	let re;
	try { re = new RegExp(`^${source}$`, 'su'); } catch { re = new RegExp(`^${source}$`, 's'); }
	return (c) => re.test(c);
}

// Each part is a function (next) that adds its steps in front of `next` and returns the number of its first step.
function read(text)
{
	const at = Array.from(text), steps = [];
	let i = 0;
	const add = (step) => {
		if (steps.length >= MOST_STEPS) throw new Error('too large');
		return steps.push(step) - 1;
	};
	const fail = () => { throw new Error('not supported'); };

	function either() {
		const ways = [row()];
		while (at[i] === '|') { i++; ways.push(row()); }
		return ways.length === 1 ? ways[0] : (next) => add({ to: ways.map((w) => w(next)) });
	}
	function row() {
		const parts = [];
		while (i < at.length && at[i] !== '|' && at[i] !== ')') parts.push(repeated(atom()));
		return (next) => parts.reduceRight((n, p) => p(n), next);
	}
	function repeated(part) {
		let [least, most] = [1, 1], braces;
		if (at[i] === '*') [least, most] = [0, Infinity];
		else if (at[i] === '+') most = Infinity;
		else if (at[i] === '?') least = 0;
		else if (at[i] === '{' && (braces = /^\{(\d+)(,(\d*))?\}/.exec(at.slice(i, i + 16).join('')))) {
			least = Number(braces[1]);
			most = !braces[2] ? least : braces[3] ? Number(braces[3]) : Infinity;
			i += braces[0].length - 1;
		} else return part;
		i++;
		if (at[i] === '?') i++;
		if (least > MOST_STEPS || (most !== Infinity && most > MOST_STEPS)) fail();
		return (next) => {
			let n = next;
			if (most === Infinity) {
				const loop = { to: [n] };
				n = add(loop);
				loop.to.push(part(n));
			}
			for (let k = least; most !== Infinity && k < most; k++) n = add({ to: [next, part(n)] });
			for (let k = 0; k < least; k++) n = part(n);
			return n;
		};
	}
	function group() {
		if (at[i] === '?') {
			const kind = at.slice(i, i + 3).join('');
			if (kind.startsWith('?:')) i += 2;
			else if (/^\?<[^=!]/.test(kind)) { while (i < at.length && at[i] !== '>') i++; i++; } else fail();
		}
		const inner = either();
		if (at[i++] !== ')') fail();
		return inner;
	}
	function escape() {
		const c = at[i++];
		if (c === undefined || /[1-9k]/.test(c)) fail();
		if (c === 'b' || c === 'B') return (next) => add({ when: c, to: [next] });
		let source = '\\' + c;
		const more = /^(?:\{[^}]*\}|[0-9a-fA-F]{2,4})/.exec(at.slice(i, i + 40).join(''));
		if (/[pPux]/.test(c) && more) {
			const tail = c === 'x' ? more[0].slice(0, 2) : more[0];
			source += tail;
			i += tail.length;
		} else if (c === 'c') source += at[i++];
		const test = one(source);
		return (next) => add({ test, to: [next] });
	}
	function set() {
		let source = '[';
		if (at[i] === '^') source += at[i++];
		while (i < at.length && at[i] !== ']') {
			if (at[i] === '\\') source += at[i++];
			source += at[i++];
		}
		if (at[i++] !== ']') fail();
		const test = one(source + ']');
		return (next) => add({ test, to: [next] });
	}
	function atom() {
		const c = at[i++];
		if (c === '(') return group();
		if (c === '[') return set();
		if (c === '\\') return escape();
		if (c === '^' || c === '$') return (next) => add({ when: c, to: [next] });
		if (c === '*' || c === '+' || c === '?') fail();
		const test = c === '.' ? (x) => x !== '\n' && x !== '\r' : (x) => x === c;
		return (next) => add({ test, to: [next] });
	}

	const all = either();
	if (i < at.length) fail();
	const end = add({ end: true });
	return { steps, first: all(end), end };
}

// Does `text` have a part that the pattern describes? null: this cannot be said here.
export function matches(pattern, text)
{
	let machine;
	try { machine = read(pattern); } catch { return null; }
	const { steps, first, end } = machine, chars = Array.from(text);
	if ((chars.length + 1) * steps.length > MOST_WORK) return null;
	let now = new Set();
	const follow = (set, from, k) => {
		const open = [from];
		while (open.length) {
			const n = open.pop(), s = steps[n];
			if (set.has(n)) continue;
			if (s.when === '^' && k !== 0) continue;
			if (s.when === '$' && k !== chars.length) continue;
			if ((s.when === 'b' || s.when === 'B') && (isWord(chars[k - 1]) !== isWord(chars[k])) !== (s.when === 'b')) continue;
			set.add(n);
			if (!s.test && !s.end) open.push(...s.to);
		}
	};
	for (let k = 0; k <= chars.length; k++) {
		follow(now, first, k);
		if (now.has(end)) return true;
		const next = new Set();
		for (const n of now) if (steps[n].test && k < chars.length && steps[n].test(chars[k])) follow(next, steps[n].to[0], k + 1);
		now = next;
	}
	return false;
}
