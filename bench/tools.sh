# tools.sh - `mcpool tools` and `call` when all is remembered, and with a server behind `--`, beside an empty process:
# sh bench/tools.sh [MCPOOL]. So many demo servers are started once; then rounds by turns, the best of each, as ratios.
set -eu
mcpool=$(realpath "${1:-build/mcpool}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work" XDG_STATE_HOME="$work/state" XDG_CONFIG_HOME="$work/config" XDG_RUNTIME_DIR="$work"

configure() { # N
	printf '{"mcpool": {"initConcurrency": 64}, "mcpServers": {'
	seq "$1" | awk -v exe="$mcpool" '{ printf "%s\"s%d\": {\"command\": \"%s\", \"args\": [\"demo-server\"], \"start\": \"lazy\", \"env\": {\"N\": \"%d\"}}\n",
		n++ ? "," : "", $1, exe, $1 }'
	printf '}}'
}
time_of() { # COMMAND...: in microseconds
	before=$(date +%s%N)
	"$@" >/dev/null </dev/null
	echo $((($(date +%s%N) - before) / 1000))
}
tools() { "$mcpool" tools --strict-config --config "$work/$1.json"; }
call() { "$mcpool" call mcp__s1__echo message=hi --strict-config --config "$work/$1.json"; }
behind() { "$mcpool" "$@" -- "$mcpool" demo-server; }

for n in 10 100 1000; do
	configure $n >"$work/$n.json"
	echo "cold $n $(time_of tools $n)"
done >"$work/times"
for _ in 1 2 3 4 5 6 7; do
	echo "empty 0 $(time_of "$mcpool" --version)"
	for n in 10 100 1000; do echo "warm $n $(time_of tools $n)"; done
	echo "call 0 $(time_of call 10)"
	echo "tools -- $(time_of behind tools)"
	echo "call -- $(time_of behind call echo message=hi)"
done >>"$work/times"
echo "mcpool tools and call, 7 rounds by turns, the best of each"
awk '
	function tell(key, words) { printf "  %-35s %8.1f ms   %.1f empty processes\n", words, best[key] / 1000, best[key] / best["empty 0"] }
	{ key = $1 " " $2; if (!(key in best) || $3 < best[key]) best[key] = $3 }
	END {
		printf "  an empty process (mcpool --version) %8.1f ms\n", best["empty 0"] / 1000
		for (n = 10; n <= 1000; n *= 10)
			printf "  %4d servers: warm %8.1f ms   %.1f empty processes; those not known yet %8.1f ms\n", n,
				best["warm " n] / 1000, best["warm " n] / best["empty 0"], best["cold " n] / 1000
		tell("call 0", "call, one of 10 servers")
		tell("tools --", "tools -- demo-server")
		tell("call --", "call -- demo-server")
	}' "$work/times"
