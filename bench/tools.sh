# tools.sh - `mcpool tools` and `call` when all is remembered, with a server behind `--`, and by a running hub, beside an
# empty process: sh bench/tools.sh [MCPOOL [OTHER]]. So many demo servers are started once; then rounds by turns, the best
# of each, as ratios. With OTHER, an earlier build, both take turns in each round, and the last column is MCPOOL by OTHER.
set -eu
mcpool=$(realpath "${1:-build/mcpool}")
other=$(realpath "${2:-$mcpool}")
rounds=${ROUNDS:-7}
work=$(mktemp -d)
hubs=
trap 'for pid in $hubs; do kill "$pid" 2>/dev/null || :; done; rm -rf "$work"' EXIT
export HOME="$work" XDG_CONFIG_HOME="$work/config"

configure() { # N
	printf '{"mcpool": {"initConcurrency": 64}, "mcpServers": {'
	seq "$1" | awk -v exe="$mcpool" '{ printf "%s\"s%d\": {\"command\": \"%s\", \"args\": [\"demo-server\"], \"start\": \"lazy\", \"env\": {\"N\": \"%d\"}}\n",
		n++ ? "," : "", $1, exe, $1 }'
	printf '}}'
}
use() { # WHICH: the program of what follows, with a state and a hub of its own
	which=$1
	case $which in mcpool) program=$mcpool ;; *) program=$other ;; esac
	export XDG_STATE_HOME="$work/$which/state" XDG_RUNTIME_DIR="$work/$which/run"
}
time_of() { # COMMAND...: in microseconds
	before=$(date +%s%N)
	"$@" >/dev/null </dev/null
	echo $((($(date +%s%N) - before) / 1000))
}
tools() { "$program" tools --strict-config --config "$work/$1.json"; }
call() { "$program" call mcp__s1__echo message=hi --strict-config --config "$work/$1.json"; }
behind() { "$program" "$@" -- "$mcpool" demo-server; }
by_hub() { (cd "$work" && "$program" "$@"); }

mkdir -p "$XDG_CONFIG_HOME/mcpool"
configure 10 >"$XDG_CONFIG_HOME/mcpool/mcp.json"
both='mcpool other'
[ "$other" != "$mcpool" ] || both=mcpool
for which in $both; do
	use "$which"
	mkdir -p "$XDG_STATE_HOME"
	mkdir -m 700 "$XDG_RUNTIME_DIR"
	for n in 10 100 1000; do
		configure $n >"$work/$n.json"
		echo "$which cold $n $(time_of tools $n)"
	done
	by_hub trust --yes >/dev/null 2>&1
	(cd "$work" && exec "$program" serve >/dev/null 2>&1) &
	hubs="$hubs $!"
	until by_hub status --json | grep -q '"hub"'; do sleep 0.1; done
	by_hub tools >/dev/null # from now on its catalogs are known
done >"$work/times"
for _ in $(seq "$rounds"); do
	for which in $both; do
		use "$which"
		echo "$which empty 0 $(time_of "$program" --version)"
		for n in 10 100 1000; do echo "$which warm $n $(time_of tools $n)"; done
		echo "$which call 0 $(time_of call 10)"
		echo "$which tools -- $(time_of behind tools)"
		echo "$which call -- $(time_of behind call echo message=hi)"
		echo "$which tools hub $(time_of by_hub tools)"
		echo "$which call hub $(time_of by_hub call mcp__s1__echo message=hi)"
	done
done >>"$work/times"
echo "mcpool tools and call, $rounds rounds by turns, the best of each"
awk -v both="$both" '
	function tell(key, words) {
		printf "  %-36s %8.1f ms   %5.1f empty processes", words, best["mcpool " key] / 1000, best["mcpool " key] / best["mcpool empty 0"]
		if (both != "mcpool") printf "   %.2f of the other", best["mcpool " key] / best["other " key]
		print ""
	}
	{ key = $1 " " $2 " " $3; if (!(key in best) || $4 < best[key]) best[key] = $4 }
	END {
		tell("empty 0", "an empty process (mcpool --version)")
		for (n = 10; n <= 1000; n *= 10) tell("cold " n, "tools, " n " servers, not known yet")
		for (n = 10; n <= 1000; n *= 10) tell("warm " n, "tools, " n " servers, remembered")
		tell("call 0", "call, one of 10 servers")
		tell("tools --", "tools -- demo-server")
		tell("call --", "call -- demo-server")
		tell("tools hub", "tools, 10 servers, by the hub")
		tell("call hub", "call, one of 10 servers, by the hub")
	}' "$work/times"
