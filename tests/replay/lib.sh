# lib.sh - for the replays: a document from top to bottom, each sentence with what was seen. Set group, profile, documents, cases
# (a file beside this one), prefix and separator (of tool names) before. A case t_NAME is `play`, which runs the function NAME of $cases; `saw` there
# makes the lines of the table. The sentences are in NNN.tsv: line, sentence, and
#   CASE#KEY ...    what that case saw under this key
#   FILE:TEST ...   a test that shows it on the fake clock, because it takes minutes; `--long` shows it here, too
#   no behaviour    prose, or another program's inside
#   issue N         comes with that issue
#   decision Xn     we do otherwise: that row of doc/requirements.tsv
. tests/hub/lib.sh
unset http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY
replay=$PWD/tests/replay
seeds=$PWD/../shared/seeds
export DEMO="$demo_server" WORK="$work" ROOT="$PWD" PROFILE="$profile" PREFIX="$prefix" SEPARATOR="$separator"

# play: the function of this case; nothing is left of it
play() {
	MCPOOL_TEST_MARK="$work" SEEN="${REPLAY_SEEN:-$work/seen}/$name" timeout -k 2 "${patience:-200}" $node "$replay/play.mjs" "$cases" "$name" && nothing_left 10
}

table() { # MODE DOCUMENT...
	$node "$replay/table.mjs" "$seeds" "${REPLAY_SEEN}" "${long:-}" "$@"
}

# replay_cases [--long] [CASE]: all of them and the table, or one
replay_cases() {
	long=
	[ "${1-}" != --long ] || { long=yes; shift; }
	if [ $# -gt 0 ]; then
		mkdir -p "$work/seen"
		check "$1" "t_$1"
		[ -n "${REPLAY_SEEN-}" ] || cat "$work/seen/$1" 2>/dev/null
		exit $bad
	fi
	[ -x "$mcpool" ] && [ -x "$node" ] || { echo "FAIL $group/setup: build mcpool and run tools/setup js first"; exit 1; }
	export REPLAY_SEEN="$work/seen"
	mkdir -p "$REPLAY_SEEN"
	sed -n 's/^t_\([a-z0-9_]*\)() {.*/\1/p' "$0" | { [ -n "$long" ] && cat || grep -v '^long_'; } | xargs -P 4 -n 1 sh "$0" || bad=1
	for document in $documents; do
		if [ -e "$(echo "$seeds/$document"_*.txt)" ]; then
			check "all_of_$document" table compare "$document"
		else
			echo "skip $group/all_of_$document: no seeds here"
		fi
		table print "$document"
		check "all_of_${document}_is_shown" table shown "$document"
	done
	exit $bad
}
