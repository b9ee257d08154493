# soak.sh - `make soak`: a server that dies right after its handshake, for SOAK_SECONDS (60) of real time with the
# default schedule: few starts, and a hub that costs next to nothing meanwhile. Too long for `make test`.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=soak
. tests/pool/lib.sh
seconds=${SOAK_SECONDS:-60}

cpu_ms() { # PID: its processor time, and that of its children that have ended
	awk -v tick="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13 + $14 + $15) * 1000 / tick }' "/proc/$1/stat"
}

crash_loop() {
	demo '' '"MCPOOL_DEMO_EXIT_IDLE": "1",' || return 1
	start serve --strict-config --config "$work/config.json"
	wait_for_line "$work/out" '^mcpool: ready' 20 || return 1
	before=$(cpu_ms "$mcpool_pid")
	sleep "$seconds"
	spent=$(($(cpu_ms "$mcpool_pid") - before)) starts=$(wc -c <"$state")
	kill -TERM "$mcpool_pid"
	ended 0 5 && nothing_left || return 1
	echo "   $group: $starts starts in $seconds s, $spent ms of processor time" >&3
	# 0, 1, 2, 5, 10, 30, 60 s: seven starts within the first 50 s, and then one a minute
	[ "$starts" -ge 2 ] && [ "$starts" -le $((8 + seconds / 60)) ] || { echo "$starts starts in $seconds s"; return 1; }
	[ "$spent" -le $((seconds * 10)) ] || { echo "$spent ms of processor time in $seconds s"; return 1; }
}

check "a_crash_loop_is_slow_and_cheap" crash_loop
exit $bad
