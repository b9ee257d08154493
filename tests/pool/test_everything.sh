# test_everything.sh - ten of a server that people run: once their tools are remembered, `mcpool tools` starts none of
# them and answers in less than a twentieth of the time.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=everything
. tests/pool/lib.sh
rounds=40 servers=10

{
	printf '{"mcpServers": {\n'
	seq $servers | awk -v node="$PWD/$node" -v script="$PWD/$npm/server-everything/dist/index.js" '
		{ printf "%s\"everything-%d\": {\"command\": \"%s\", \"args\": [\"%s\"], \"start\": \"lazy\", \"env\": {\"N\": \"%d\"}}\n",
			n++ ? "," : "", $1, node, script, $1 }'
	printf '}}\n'
} >"$work/config.json"

timed() { # FILE: its output there, the time in $us
	before=$(date +%s%N)
	MCPOOL_TEST_MARK="$work" timeout -k 2 60 "$mcpool" tools --strict-config --config "$work/config.json" >"$1" 2>"$work/err" </dev/null || return 1
	us=$((($(date +%s%N) - before) / 1000))
}
bare() { # a process that does next to nothing
	before=$(date +%s%N)
	"$mcpool" --version >/dev/null
	us=$((($(date +%s%N) - before) / 1000))
}
best() { # FILE: the least of its numbers
	sort -n "$1" | head -n 1
}

cold_and_warm() {
	timed "$work/cold" && cold=$us && nothing_left 5 && [ ! -s "$work/err" ] || return 1
	[ "$(grep -c echo "$work/cold")" -ge $servers ] || { echo "not all of them: $(cut -c1-60 "$work/cold" | tail -n 2)"; return 1; }
	: >"$work/warm"
	: >"$work/bare"
	for _ in $(seq $rounds); do # as often as a loaded machine needs
		timed "$work/now" && echo "$us" >>"$work/warm" && cmp "$work/cold" "$work/now" && [ ! -s "$work/err" ] || return 1
		bare
		echo "$us" >>"$work/bare"
		[ $(($(best "$work/warm") * 20)) -ge "$cold" ] || break
	done
	warm=$(best "$work/warm") empty=$(best "$work/bare")
	echo "   $group: $servers servers, $(wc -l <"$work/cold") tools: cold $((cold / 1000)) ms, warm $warm us, an empty process $empty us:" \
		"$((cold / warm)) times as fast, $((warm * 10 / empty))/10 of an empty process" >&3
	[ $((warm * 20)) -lt "$cold" ] || { echo "cold $cold us, warm $warm us"; return 1; }
}

check "warm_is_a_twentieth_of_cold" cold_and_warm
exit $bad
