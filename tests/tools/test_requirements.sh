#!/bin/sh
# Tests tools/requirements on small trees of its own: a good one, and one for each way in which
# the list of requirements and the tests can disagree. TOOL names another script to test.

set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tool=${TOOL:-$here/../../tools/requirements}
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
trap 'exit 1' HUP INT TERM
trees=0
failed=0
tab=$(printf '\t')

# A fresh tree in $tree: every row waits for issue 9, except A2, which a C test proves.
new_tree() {
	trees=$((trees + 1))
	tree=$top/$trees
	list=$tree/doc/requirements.tsv
	mkdir -p "$tree/doc" "$tree/tests/unit" "$tree/tests/talk" "$tree/fuzz/seeds"
	{
		printf '# id\twhat\tproof\twhy not\n'
		for range in A:74 B:78 C:26 D:51 E:79 U:36; do
			awk -v l="${range%:*}" -v n="${range#*:}" 'BEGIN {
				rest = " asks for.\t-\tissue 9; for a test"
				for (i = 1; i <= n; i++)
					print l i "\tDoes what row " l i rest
			}'
		done
	} >"$list"
	set_row A2 tests/unit/test_a.c:a ''
	add tests/unit/test_a.c 'TEST(a)		/* A2 V33 O9a */'
}

# Replaces proof and reason of one row.
set_row() {
	awk -F '\t' -v OFS='\t' -v id="$1" -v proof="$2" -v why="$3" '
		$1 == id { $3 = proof; $4 = why }
		{ print }' "$list" >"$list.new" && mv "$list.new" "$list"
}

# Replaces the whole line of one row by the lines given; none removes it.
replace_row() {
	sed "/^$1$tab/d" "$list" >"$list.new" && mv "$list.new" "$list"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@" >>"$list"
}

# Appends a line to a file of the tree.
add() {
	printf '%s\n' "$2" >>"$tree/$1"
}

run() {
	"$tool" --root "$tree" "$@" >"$top/out" 2>"$top/err"
	status=$?
	why=
}

# The checks of a case; the first one that fails is the one reported.
fail_with() {
	[ -n "$why" ] || why=$1
}
exits() {
	[ "$status" -eq "$1" ] || fail_with "status $status instead of $1: $(head -n 1 "$top/err")"
}
prints() {
	grep -Fqx -- "$1" "$top/out" || fail_with "no line '$1' on stdout"
}
prints_not() {
	if grep -Fq -- "$1" "$top/out"; then fail_with "'$1' on stdout"; fi
}
complains() {
	exits 1
	[ "$(cat "$top/err")" = "requirements: $1" ] ||
		fail_with "stderr is '$(cat "$top/err")' instead of 'requirements: $1'"
}
is_quiet() {
	[ ! -s "$top/err" ] || fail_with "stderr is '$(cat "$top/err")'"
}
end() {
	if [ -z "$why" ]; then
		echo "ok requirements/$1"
	else
		echo "FAIL requirements/$1: $why"
		failed=1
	fi
}

new_tree
run
exits 0
is_quiet
prints 'A   1 covered, 73 not yet'
prints 'U   0 covered, 36 not yet'
prints 'total   1 covered, 343 not yet'
prints '    343  issue 9'
prints_not 'Does what'
end good

new_tree
set_row D21 - 'not for us: a habit'
run
exits 0
prints 'D   0 covered, 50 not yet, 1 not for us'
prints 'total   1 covered, 342 not yet, 1 not for us'
prints '    342  issue 9'
end not-for-us

new_tree
run -v
exits 0
prints 'A2   covered     Does what row A2 asks for. [tests/unit/test_a.c:a]'
prints 'U36  not yet     Does what row U36 asks for. [issue 9; for a test]'
prints 'total   1 covered, 343 not yet'
end verbose

new_tree
add tests/a.sh "# A2"
add tests/a.sh "t_b() {"
run A2 A3
exits 0
prints 'A2   covered     Does what row A2 asks for. [tests/unit/test_a.c:a]'
prints '     named above tests/unit/test_a.c:a'
prints '     named above tests/a.sh:b'
prints 'A3   not yet     Does what row A3 asks for. [issue 9; for a test]'
prints '     no test names it'
prints_not total
end one-row

new_tree
run A75
complains 'There is no row A75.'
end unknown-row-asked

# Every place of a comment that counts.
new_tree
add tests/unit/test_b.c '/* B1 */'
add tests/unit/test_b.c '/* A sentence. */'
add tests/unit/test_b.c 'HEAVY_TEST(b) /* B2, G4 B3 */'
add tests/check.sh '# B4 P15'
add tests/check.sh 't_one() { true; }'
add tests/check.sh 't_two() { true; } # B5'
add tests/check.sh '# B6'
add tests/check.sh 'check three true'
add tests/check.sh '# B7'
add tests/check.sh 'new_tree'
add tests/check.sh 'end four-four'
for row in B1 B2 B3; do
	set_row "$row" tests/unit/test_b.c:b ''
done
set_row B4 tests/check.sh:one ''
set_row B5 tests/check.sh:two ''
set_row B6 tests/check.sh:three ''
set_row B7 tests/check.sh:four-four ''
run
exits 0
is_quiet
prints 'B   7 covered, 71 not yet'
end kinds-of-comments

# Comments and files that do not count, though ids stand in them.
new_tree
add tests/unit/test_b.c '/* B1 sauce */ /* see B2 */ // B3'
add tests/unit/test_b.c 'parse("[1 /* B4 */, \" /* B5 */]");'
add tests/check.sh 'echo "#" B6 # as B7 says'
add tests/page.mjs '/* B12 */'
add fuzz/seeds/a.json '/* B8 */'
printf '#!\n# B9\n' >"$tree/fuzz/seeds/b"
printf '\n# B10\n' >"$tree/tests/program"
chmod +x "$tree/tests/program"
mkdir "$tree/tests/node_modules"
add tests/node_modules/c.js '/* B11 */'
run
exits 0
is_quiet
prints 'B   0 covered, 78 not yet'
end other-comments

new_tree
replace_row C7
run
complains 'Row C7 is missing from doc/requirements.tsv.'
end missing-row

new_tree
replace_row U36 "U36${tab}First.${tab}-${tab}issue 9" "U36${tab}Second.${tab}-${tab}issue 9"
run
complains 'doc/requirements.tsv:346: row U36 stands in line 345 already.'
end doubled-row

new_tree
add doc/requirements.tsv "A07${tab}Something.${tab}-${tab}issue 9"
run
complains 'doc/requirements.tsv:346: "A07" is not one of the row ids.'
end malformed-id

new_tree
add doc/requirements.tsv "C27${tab}Something.${tab}-${tab}issue 9"
run
complains 'doc/requirements.tsv:346: "C27" is not one of the row ids.'
end id-out-of-range

sentence='doc/requirements.tsv:345: row U36 is malformed; it needs id, what, proof and why not.'
new_tree
replace_row U36 "U36${tab}Something.${tab}-${tab}issue 9${tab}more"
run
complains "$sentence"
end too-many-columns

new_tree
replace_row U36 "U36${tab}${tab}-${tab}issue 9"
run
complains "$sentence"
end empty-wording

# The last tab of a row with a proof may be left off, since editors remove it.
new_tree
replace_row A2 "A2${tab}Something.${tab}tests/unit/test_a.c:a"
run
exits 0
is_quiet
end last-tab-left-off

new_tree
set_row A2 tests/unit/gone.c:a ''
run
complains 'Row A2 names the proof tests/unit/gone.c:a, but tests/ and fuzz/ have no such file.'
prints 'A   0 covered, 74 not yet'
end proof-file-missing

new_tree
set_row A3 tests/unit/test_a.c:a ''
run
complains 'Row A3 names the proof tests/unit/test_a.c:a, but no comment above that test names A3.'
prints 'A   1 covered, 73 not yet'
end proof-names-not

new_tree
set_row A2 'tests/unit/test_a.c:a tests/unit/test_a.c:b' ''
run
complains 'Row A2 names the proof tests/unit/test_a.c:b, but no comment above that test names A2.'
end every-proof-is-checked

new_tree
add tests/unit/test_a.c '/* A2 */'
add tests/unit/test_a.c 'static int x;'
run
complains 'tests/unit/test_a.c:2 names A2, but no test follows.'
end id-above-no-test

new_tree
add doc/requirements.tsv "X1${tab}Seeds differ.${tab}-${tab}issue 9"
add doc/requirements.tsv "X3${tab}Seeds differ.${tab}-${tab}issue 9"
run
complains 'Row X2 is missing from doc/requirements.tsv.'
end contradictions-have-rows

new_tree
set_row B9 - 'later: some day'
run
complains 'Row B9: the reason must begin with "issue N", "no issue yet: " or "not for us: ".'
end vague-reason

new_tree
add log 'ok test_a/a'
run --ran "$tree/log"
exits 0
is_quiet
end proof-ran

new_tree
add log 'ok test_a/b'
add log 'FAIL test_a/a'
run --ran "$tree/log"
complains 'Row A2: its proof tests/unit/test_a.c:a did not run, or did not pass.'
end proof-did-not-run

new_tree
add tests/check.sh 'group=checks profile=omp'
add tests/check.sh 't_two() { true; } # A2'
set_row A2 tests/check.sh:two ''
add log 'ok checks/two'
run --ran "$tree/log"
exits 0
is_quiet
end script-ran


new_tree
add tests/unit/test_a.c 'TEST(b) /* A2 E80 */'
run
complains 'tests/unit/test_a.c:2 names E80, which is not in doc/requirements.tsv.'
end test-names-unknown-id

new_tree
add tests/unit/test_a.c 'TEST(b) /* A2 E79 */'
run
complains "tests/unit/test_a.c:2 names E79, but row E79 of doc/requirements.tsv has no proof yet; \
write the test into that row."
end test-names-unproved-row

new_tree
add tests/unit/test_a.c 'TEST(b) /* A2 E79 */'
run A2
exits 0
is_quiet
end other-rows-do-not-matter

new_tree
set_row B9 - ''
run
complains 'Row B9 has neither a proof nor a reason why not.'
end no-reason

new_tree
set_row A2 tests/unit/test_a.c:a 'issue 9'
run
complains 'Row A2 has a proof and also a reason why not; remove one of them.'
end proof-and-reason

new_tree
replace_row C7
set_row B9 - ''
run
exits 1
[ "$(wc -l <"$top/err")" -eq 2 ] || fail_with "$(wc -l <"$top/err") sentences instead of 2"
end every-problem-is-told

new_tree
mv "$tree/tests" "$tree/elsewhere"
rm -r "$tree/fuzz"
set_row A2 - 'issue 9'
run
exits 0
prints 'total   0 covered, 344 not yet'
end no-tests-yet

new_tree
rm "$list"
run
exits 1
grep -q 'no readable doc/requirements.tsv' "$top/err" || fail_with "stderr is '$(cat "$top/err")'"
end no-list

# Without --root the tree is that of the script, wherever it is called from.
new_tree
mkdir "$tree/tools"
cp "$tool" "$tree/tools/requirements"
why=
(cd / && "$tree/tools/requirements") >"$top/out" 2>"$top/err"
status=$?
exits 0
prints 'total   1 covered, 343 not yet'
end finds-its-tree

new_tree
run --help
exits 0
prints 'Usage: tools/requirements [-v] [--root DIR] [--ran FILE] [ID ...]'
end help

new_tree
run --nonsense
exits 2
grep -q -- "'--nonsense' is neither an option nor a row id" "$top/err" || fail_with 'no sentence'
end wrong-usage

# The project's own list: the wording of every row fits a line and is ASCII.
awk -F '\t' '
	/^#/ { next }
	length($2) < 40 || length($2) > 220 { print $1 " has " length($2) " characters" }
	/[^\t -~]/ { print $1 " is not plain ASCII" }
' "$here/../../doc/requirements.tsv" >"$top/out" 2>&1
why=$(head -n 1 "$top/out")
end wording

exit "$failed"
