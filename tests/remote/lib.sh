# lib.sh - for tests with remote servers: started, killed and started again on ports of their own. Source it
# behind tests/servers/lib.sh, or instead of it. Set group before.
. tests/servers/lib.sh
case $mcpool in
/*) ;;
*) mcpool=$PWD/$mcpool ;;
esac
bin=$(dirname "$mcpool")
unset http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY

# free_ports N: ports without a listener, one per line
free_ports_mjs=$PWD/tests/remote/free_ports.mjs
free_ports() { $node "$free_ports_mjs" "$1"; }

# serve NAME COMMAND...: in the background, its pid in $work/NAME.pid, its notes in $work/NAME.notes
serve() {
	served=$1
	shift
	: >"$work/$served.log"
	TEST_NOTES="$work/$served.notes" MCPOOL_TEST_MARK="$work" "$@" >>"$work/$served.log" 2>&1 </dev/null &
	echo $! >"$work/$served.pid"
}

listens() { wait_for_line "$work/$1.log" '\(listening\|running\) on' "${2:-15}"; }

kill_server() { # NAME [SIGNAL]
	kill "-${2:-KILL}" "$(cat "$work/$1.pid")" 2>/dev/null
}
