// test_schema.mjs - the forms that the dashboard makes from JSON Schemas (src/web/page/schema.js, pattern.js): what each field
// is, what it begins with, what is wrong with a value; hostile schemas end in time; the schemas of three real servers.
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Exact } from '../../src/web/page/json.js';
import { matches } from '../../src/web/page/pattern.js';
import { begin, check, fromText, hint, itemField, memberField, pickWay, readSchema, keyOf } from '../../src/web/page/schema.js';

let failures = 0;
function report(name, why) {
	console.log(why ? `FAIL schema/${name}: ${why}` : `ok schema/${name}`);
	if (why) failures++;
}
const show = (v) => JSON.stringify(v) ?? 'undefined';
function is(name, got, wanted) {
	report(name, show(got) === show(wanted) ? '' : `got ${show(got)}, wanted ${show(wanted)}`);
}
function quick(name, fn) {
	const start = performance.now();
	let why = '';
	try { why = fn() || ''; } catch (e) { why = e.message; }
	const ms = performance.now() - start;
	report(name, why || (ms > 1500 ? `took ${Math.round(ms)} ms` : ''));
}

// A field of one type, as the member `x` of an object.
const member = (schema, root = {}) => readSchema({ type: 'object', properties: { x: schema }, ...root }).props[0].field();
const wrong = (schema, x, root) => check(readSchema({ type: 'object', properties: { x: schema }, ...root }), { x }).map((e) => `${e.path.join('.')}: ${e.text}`);
const all = (schema, value) => check(readSchema(schema), value).map((e) => `${e.path.join('.')}: ${e.text}`);

// --- kinds -------------------------------------------------------------------------------------
const kind = (s, root) => { const f = member(s, root); return f.kind + (f.whole ? ' whole' : '') + (f.nullable ? ' or null' : ''); };
for (const [name, schema, wanted] of [
	['a_string_is_a_text', { type: 'string' }, 'text'],
	['an_integer_is_a_whole_number', { type: 'integer' }, 'number whole'],
	['a_boolean_is_a_flag', { type: 'boolean' }, 'flag'],
	['an_enum_is_a_choice', { enum: ['a', 'b'] }, 'choice'],
	['a_const_is_a_choice_of_one', { const: 7 }, 'choice'],
	['null_in_an_enum_makes_it_nullable', { enum: ['a', null] }, 'choice or null'],
	['a_type_of_two_with_null_is_nullable', { type: ['string', 'null'] }, 'text or null'],
	['a_type_of_two_is_a_union', { type: ['string', 'number'] }, 'union'],
	['integer_and_number_are_a_number', { type: ['integer', 'number'] }, 'number'],
	['optional_of_pydantic_is_nullable', { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null }, 'number whole or null'],
	['nullable_of_openapi_is_nullable', { type: 'string', nullable: true }, 'text or null'],
	['an_empty_schema_is_anything', {}, 'any'],
	['true_is_anything', true, 'any'],
	['false_is_never', false, 'never'],
	['an_unknown_type_is_anything', { type: 'file' }, 'any'],
	['properties_without_a_type_are_an_object', { properties: { a: {} } }, 'object'],
	['items_without_a_type_are_an_array', { items: { type: 'string' } }, 'array'],
	['a_format_without_a_type_is_a_text', { format: 'date' }, 'text'],
	['a_one_of_constants_is_a_choice', { oneOf: [{ const: 'a', title: 'A' }, { const: 'b', title: 'B' }] }, 'choice'],
	['a_one_of_objects_is_a_union', { oneOf: [{ type: 'object', title: 'A' }, { type: 'string', title: 'B' }] }, 'union'],
	['all_of_is_merged', { allOf: [{ type: 'number' }, { type: 'integer' }] }, 'number whole'],
	['types_that_exclude_each_other_are_never', { allOf: [{ type: 'string' }, { type: 'number' }] }, 'never'],
	['a_text_as_schema_is_anything', 'string', 'any'],
	['an_array_as_schema_is_anything', [1], 'any'],
]) is(name, kind(schema), wanted);
is('a_local_ref_is_followed', kind({ $ref: '#/$defs/a' }, { $defs: { a: { type: 'integer' } } }), 'number whole');
is('a_ref_of_draft_07_is_followed', kind({ $ref: '#/definitions/a~1b' }, { definitions: { 'a/b': { type: 'boolean' } } }), 'flag');
is('an_anchor_is_followed', kind({ $ref: '#here' }, { $defs: { a: { $anchor: 'here', type: 'boolean' } } }), 'flag');
is('words_beside_a_ref_win', member({ $ref: '#/$defs/a', description: 'mine' }, { $defs: { a: { type: 'string', description: 'its' } } }).description, 'mine');
is('a_ref_to_nowhere_says_so', member({ $ref: 'http://x/y' }).description, 'This part refers to http://x/y, which is not in the schema.');
is('a_ref_that_refers_to_itself_is_anything', kind({ $ref: '#/$defs/a' }, { $defs: { a: { $ref: '#/$defs/a' } } }), 'any');
is('titles_of_choices_are_their_labels', member({ oneOf: [{ const: 'a', title: 'First' }, { const: 'b' }] }).choices.map((c) => c.label), ['First', 'b']);
is('enum_names_are_labels', member({ enum: [1, 2], enumNames: ['one', 'two'] }).choices.map((c) => c.label), ['one', 'two']);
is('ways_are_named_by_title', member({ anyOf: [{ type: 'object', title: 'File' }, { type: 'string' }] }).ways.map((w) => w.label), ['File', 'text']);
is('ways_are_named_by_the_constant_that_tells_them_apart',
	member({ oneOf: ['a', 'b'].map((c) => ({ properties: { kind: { const: c } } })) }).ways.map((w) => w.label), ['a', 'b']);
is('what_all_ways_share_is_in_each', member({ type: 'object', properties: { id: { type: 'string' } }, oneOf: [{ title: 'A', properties: { a: {} } }, { title: 'B', properties: { b: {} } }] })
	.ways.map((w) => w.field().props.map((p) => p.name).sort()), [['a', 'id'], ['b', 'id']]);
is('needs_of_any_of_are_no_union', kind({ type: 'object', properties: { a: {}, b: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] }), 'object');
is('properties_of_all_of_are_joined', member({ allOf: [{ properties: { a: {} }, required: ['a'] }, { properties: { b: {} } }] }).props.map((p) => p.name + p.required), ['bfalse', 'atrue'].sort());
is('a_required_name_without_a_property_is_a_field', readSchema({ type: 'object', required: ['z'] }).props.map((p) => p.name), ['z']);
is('an_object_without_properties_takes_keys', member({ type: 'object' }).adds, true);
is('additional_properties_have_their_field', memberField(member({ type: 'object', additionalProperties: { type: 'number' } }), 'k').kind, 'number');
is('a_tuple_has_a_field_for_each_place', [0, 1, 2].map((i) => itemField(member({ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: { type: 'boolean' } }), i).kind), ['text', 'number', 'flag']);
is('a_tuple_of_draft_07_ends', itemField(member({ items: [{ type: 'string' }], additionalItems: false }), 1), null);
is('a_schema_without_type_is_an_object', readSchema({}).kind, 'object');

// --- beginnings ----------------------------------------------------------------------------------
is('defaults_are_filled_in', begin(readSchema({ type: 'object', properties: { a: { type: 'string', default: 'x' }, b: { type: 'string' }, c: { default: 0 } } })), { a: 'x', c: 0 });
is('a_required_object_begins_with_its_defaults', begin(readSchema({ type: 'object', required: ['o'], properties: { o: { type: 'object', properties: { a: { default: 1 } } } } })), { o: { a: 1 } });
is('an_optional_object_is_left_out', begin(readSchema({ type: 'object', properties: { o: { type: 'object', properties: { a: { default: 1 } } } } })), {});
is('a_required_constant_is_filled_in', begin(readSchema({ type: 'object', required: ['k'], properties: { k: { const: 'v' } } })), { k: 'v' });
is('a_required_list_begins_empty', begin(readSchema({ type: 'object', required: ['l'], properties: { l: { type: 'array' } } })), { l: [] });
is('a_null_default_stays_null', begin(readSchema({ type: 'object', properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null } } })), { a: null });
is('a_member_named_proto_is_a_member', show(begin(readSchema(JSON.parse('{"type":"object","properties":{"__proto__":{"default":1}}}')))), '{"__proto__":1}');

// --- what a person types ---------------------------------------------------------------------------
is('digits_become_a_number', fromText(member({ type: 'integer' }), ' 12 '), 12);
is('words_stay_words', fromText(member({ type: 'integer' }), 'twelve'), 'twelve');
is('nothing_is_left_out', fromText(member({ type: 'string' }), ''), undefined);
is('json_is_read_where_anything_goes', fromText(member({}), '{"a":[1]}'), { a: [1] });
is('text_is_kept_where_anything_goes', fromText(member({}), 'plain'), 'plain');
is('a_range_is_hinted', hint(member({ type: 'integer', minimum: 1, maximum: 5 })), 'whole number, 1 to 5');

// --- what is wrong ---------------------------------------------------------------------------------
for (const [name, schema, value, text] of [
	['a_word_is_no_whole_number', { type: 'integer' }, 'twelve', 'must be a whole number'],
	['a_fraction_is_no_whole_number', { type: 'integer' }, 1.5, 'must be a whole number'],
	['a_number_is_no_text', { type: 'string' }, 1, 'must be text'],
	['the_least_counts', { type: 'number', minimum: 1 }, 0, 'must be at least 1'],
	['the_greatest_counts', { type: 'number', maximum: 1 }, 2, 'must be at most 1'],
	['an_exclusive_limit_counts', { type: 'number', exclusiveMinimum: 0 }, 0, 'must be more than 0'],
	['an_exclusive_limit_of_draft_04_counts', { type: 'number', minimum: 0, exclusiveMinimum: true }, 0, 'must be more than 0'],
	['steps_count', { type: 'number', multipleOf: 5 }, 7, 'must be a multiple of 5'],
	['small_steps_are_not_too_exact', { type: 'number', multipleOf: 0.01 }, 0.07, ''],
	['a_rounded_number_is_refused', { type: 'integer' }, 2 ** 60, 'is too large to be sent exactly'],
	['an_exact_number_is_kept', { type: 'integer' }, new Exact('12345678901234567890'), ''],
	['length_is_in_characters', { type: 'string', maxLength: 2 }, '😀😀', ''],
	['too_short_is_said', { type: 'string', minLength: 3 }, 'ab', 'needs at least 3 characters'],
	['one_character_is_singular', { type: 'string', minLength: 1 }, '', 'needs at least 1 character'],
	['a_pattern_counts', { type: 'string', pattern: '^[a-z]+$' }, 'A', 'must match ^[a-z]+$'],
	['a_day_must_exist', { type: 'string', format: 'date' }, '2026-02-30', 'must be a date such as 2026-11-30'],
	['a_day_that_exists_is_fine', { type: 'string', format: 'date' }, '2028-02-29', ''],
	['a_time_needs_a_zone', { type: 'string', format: 'date-time' }, '2026-11-30T10:00:00', 'must be a date and time such as 2026-11-30T14:05:00Z'],
	['a_time_with_a_zone_is_fine', { type: 'string', format: 'date-time' }, '2026-11-30T10:00:00.5+02:00', ''],
	['an_email_needs_an_at', { type: 'string', format: 'email' }, 'x', 'must be an email address'],
	['an_address_needs_a_scheme', { type: 'string', format: 'uri' }, 'example.com', 'must be an address such as https://example.com'],
	['an_unknown_format_is_not_checked', { type: 'string', format: 'constructor' }, 'x', ''],
	['a_value_must_be_among_the_choices', { enum: ['a', 'b'] }, 'c', 'must be one of a, b'],
	['a_constant_must_be_itself', { const: 'a' }, 'b', 'must be a'],
	['choices_may_be_objects', { enum: [{ a: 1 }] }, { a: 1 }, ''],
	['a_list_has_a_least', { type: 'array', minItems: 1 }, [], 'needs at least 1 item'],
	['null_is_fine_where_it_may_be', { type: ['string', 'null'] }, null, ''],
	['null_is_no_text', { type: 'string' }, null, 'must be text'],
	['an_object_is_no_list', { type: 'array' }, {}, 'must be a list'],
	['a_flag_is_true_or_false', { type: 'boolean' }, 'yes', 'must be true or false'],
	['never_is_said', false, 1, 'is not allowed here'],
	['needs_are_said', { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b', 'c'] }] }, {}, 'needs a, or b and c'],
	['rules_beside_a_union_count', { anyOf: [{ type: 'string' }, { type: 'number' }], oneOf: [{ enum: ['a', 1] }] }, 'b', 'must be one of a, 1'],
]) is(name, wrong(schema, value), text ? [`x: ${text}`] : []);
is('a_missing_member_is_said_at_its_place', all({ type: 'object', required: ['a'], properties: { a: {} } }, {}), ['a: is missing']);
is('a_missing_member_deep_inside_is_said_there', all({ properties: { o: { type: 'object', required: ['a'] } } }, { o: {} }), ['o.a: is missing']);
is('a_key_too_many_is_said', all({ type: 'object', additionalProperties: false }, { zz: 1 }), ['zz: is not a key of this object']);
is('items_are_checked_each', all({ properties: { l: { items: { type: 'integer' } } } }, { l: [1, 'x'] }), ['l.1: must be a whole number']);
is('equal_items_are_said', all({ properties: { l: { type: 'array', uniqueItems: true } } }, { l: [1, 1] }), ['l.1: is there twice']);
is('pattern_properties_are_checked', all({ patternProperties: { '^n_': { type: 'number' } }, additionalProperties: false }, { n_a: 'x', b: 1 }), ['n_a: must be a number', 'b: is not a key of this object']);
is('dependent_members_are_needed', all({ type: 'object', dependentRequired: { a: ['b'] } }, { a: 1 }), ['b: is needed with a']);
is('if_then_else_counts', all({ type: 'object', if: { properties: { k: { const: 'a' } }, required: ['k'] }, then: { required: ['x'] }, else: { required: ['y'] } }, { k: 'a' }), ['x: is missing']);
const shapes = { oneOf: [{ title: 'Circle', required: ['kind', 'r'], properties: { kind: { const: 'c' }, r: { type: 'number' } } }, { title: 'Box', required: ['kind', 'w'], properties: { kind: { const: 'b' }, w: { type: 'number' } } }] };
is('the_constant_decides_the_way', pickWay(member(shapes), { kind: 'b' }), 1);
is('errors_are_those_of_the_way', wrong(shapes, { kind: 'b' }), ['x.w: is missing']);
is('a_way_that_was_chosen_stays', check(readSchema({ properties: { x: shapes } }), { x: { kind: 'b' } }, new Map([[keyOf(['x']), 0]])).map((e) => e.text), ['must be c', 'is missing']);
const tree = { $ref: '#/$defs/node', $defs: { node: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } } } } };
is('a_recursive_schema_is_followed_as_far_as_the_value', all(tree, { name: 'a', children: [{ name: 'b', children: [{}] }] }), ['children.0.children.0.name: is missing']);
is('a_recursive_schema_begins_small', begin(readSchema(tree)), {});

// --- hostile schemas ---------------------------------------------------------------------------------
quick('an_object_that_requires_itself_ends', () => {
	const f = readSchema({ $ref: '#/$defs/n', $defs: { n: { type: 'object', required: ['n'], properties: { n: { $ref: '#/$defs/n' } } } } });
	return show(begin(f)).length > 200 ? 'begins too deep' : check(f, begin(f)).length === 0 ? 'found nothing missing' : '';
});
quick('ways_that_double_end', () => {
	const $defs = { n: { oneOf: [{ properties: { a: { $ref: '#/$defs/n' } }, required: ['a', 'q'] }, { properties: { a: { $ref: '#/$defs/n' } }, required: ['a', 'z'] }] } };
	let v = {};
	for (let i = 0; i < 40; i++) v = { a: v };
	check(readSchema({ properties: { a: { $ref: '#/$defs/n' } }, $defs }), v);
});
quick('many_properties_are_cut', () => {
	const properties = Object.fromEntries(Array.from({ length: 50000 }, (_, i) => [`p${i}`, { type: 'string' }]));
	const f = readSchema({ type: 'object', properties });
	return f.props.length === 300 && f.left === 49700 ? '' : `${f.props.length} fields, ${f.left} left`;
});
quick('all_of_that_doubles_ends', () => {
	const $defs = { z: { type: 'object' } };
	for (let i = 0; i < 40; i++) $defs[`n${i}`] = { allOf: [{ $ref: `#/$defs/n${i + 1}` }, { $ref: `#/$defs/n${i + 1}` }] };
	readSchema({ properties: { a: { $ref: '#/$defs/n0' } }, $defs }).props[0].field();
});
quick('a_deep_schema_is_cut', () => {
	let s = { type: 'string' };
	for (let i = 0; i < 3000; i++) s = { type: 'object', properties: { a: s } };
	let f = readSchema(s), n = 0;
	while (f.kind === 'object') { f = f.props[0].field(); n++; }
	return n < 40 && f.kind === 'any' ? '' : `${n} deep, ${f.kind}`;
});
quick('a_long_list_with_errors_is_cut', () => (check(readSchema({ properties: { l: { items: { type: 'integer' } } } }), { l: Array(1e5).fill('x') }).length <= 50 ? '' : 'too many'));
quick('strange_words_do_no_harm', () => {
	for (const s of [{ required: 'a' }, { required: [1, {}] }, { enum: 'x' }, { oneOf: {} }, { oneOf: [] }, { allOf: [null, 1] }, { type: [null] }, { properties: [] }, { properties: { a: null } }, { items: null },
		{ pattern: 5 }, { minimum: 'x' }, { title: {}, description: [] }, { $ref: 5 }, { $ref: '#/%E0%A4%A' }, { type: 'object', properties: { constructor: { type: 'string' }, toString: {} } },
		{ enum: [] }, { anyOf: [false] }, { anyOf: [{ type: 'null' }] }, { default: { toString: 1 } }, { multipleOf: 0 }, { dependencies: { a: { type: 'object' } } }]) {
		const f = readSchema({ type: 'object', properties: { x: s }, ...s });
		begin(f);
		check(f, { x: 1, a: {} });
		check(f, {});
	}
});

// --- patterns --------------------------------------------------------------------------------------------
for (const [pattern, yes, no] of [
	['^a+b$', 'aab', 'b'], ['a|bc', 'xbcx', 'b'], ['^(a|b)*c?$', 'abab', 'abd'], ['^[^\\d\\s]{2,3}$', 'xy', 'x1'], ['\\d{4}-\\d\\d', 'on 2026-11', '202-11'],
	['^\\w+@\\w+\\.(com|org)$', 'a@b.org', 'a@b.net'], ['^[\\w.\\-/]+$', 'a/b-c.d', 'a b'], ['^(?:x{2}){2}$', 'xxxx', 'xxx'], ['^$', '', 'a'], ['\\bfoo\\b', 'a foo b', 'afoo'],
	['^\\p{L}+$', 'äß', 'a1'], ['^.{3}$', 'a😀b', 'ab'], ['^[\\]a]+$', ']a]', 'b'], ['^\\u0041\\x42$', 'AB', 'ab'], ['^(?<y>\\d+?)z*?$', '12zz', 'z'], ['^a{,2}$', 'a{,2}', 'aa'], ['', 'x', null],
]) is(`the_pattern_${pattern}_is_understood`, [matches(pattern, yes), no === null || !matches(pattern, no)], [true, true]);
is('a_pattern_with_look_ahead_is_left_to_the_server', matches('^(?!a)', 'a'), null);
is('a_pattern_with_a_back_reference_is_left_to_the_server', matches('(a)\\1', 'aa'), null);
is('a_broken_pattern_is_left_to_the_server', [matches('(a', 'a'), matches('[a', 'a'), matches('*', 'a')], [null, null, null]);
quick('a_catastrophic_pattern_ends', () => (matches('^(a+)+$', 'a'.repeat(5000) + '!') === false ? '' : 'matched'));
quick('an_empty_loop_ends', () => (matches('^(a*)*$', 'b') === false ? '' : 'matched'));
quick('a_large_repetition_ends', () => void matches('((a{1,1000}){1,1000}){1,1000}', 'a'.repeat(9000)));
quick('a_large_set_ends', () => void matches('^(([a-z]|[a-z0-9])*_?)*$', 'a'.repeat(9000) + '!'));

// --- real servers --------------------------------------------------------------------------------------------
for (const [server, args, least] of [['everything', ['stdio'], 10], ['filesystem', ['/tmp'], 10], ['memory', [], 8]]) {
	const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {}, sampling: {}, roots: {} } });
	const program = fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/server-${server}/dist/index.js`, import.meta.url));
	try {
		await client.connect(new StdioClientTransport({ command: process.execPath, args: [program, ...args], stderr: 'ignore' }));
		const { tools } = await client.listTools();
		const odd = [];
		const walk = (f, at, depth) => {
			if (f.kind === 'any' || f.kind === 'never') odd.push(`${at} is ${f.kind}`);
			if (depth > 5) return;
			for (const p of f.props || []) walk(p.field(), `${at}.${p.name}`, depth + 1);
			if (f.kind === 'array' && f.item) walk(f.item(), `${at}[]`, depth + 1);
		};
		for (const t of tools) {
			const f = readSchema(t.inputSchema);
			walk(f, t.name, 0);
			for (const e of check(f, begin(f))) if (!/^(is missing|needs at least)/.test(e.text)) odd.push(`${t.name}.${e.path.join('.')} ${e.text}`);
		}
		report(`every_field_of_server_${server}_has_a_kind`, odd.length ? odd.join(', ') : tools.length < least ? `only ${tools.length} tools` : '');
	} catch (e) {
		report(`every_field_of_server_${server}_has_a_kind`, e.message);
	}
	await client.close();
}
process.exit(failures ? 1 : 0);
