# test_displays.sh - displays of 1,000 servers while 10,000 events a second happen: they stay live, cost the hub little,
# and one that does not read holds up nothing.
set -u
exec 3>&1 # for figures
cd "$(dirname "$0")/../.." || exit 1
group=displays
. tests/hub/lib.sh
. tests/terminal.sh

many() { # 998 that are off, two that run
	entries=$(server a),$(server b)
	n=0
	while [ $((n += 1)) -le 998 ]; do
		entries="$entries,\"lazy$n\":{\"command\":\"$demo_server\",\"start\":\"lazy\",\"enabled\":false,\"env\":{\"N\":\"$n\"}}"
	done
	configure "$user" "$entries" && run 0 trust --user-file --yes && run 0 up && run 0 wait a b --timeout 60s
}
# load NAME [SECONDS]: events; what they made is in $work/NAME
load() { MCPOOL_TEST_MARK="$work" "$node" tests/hub/toggles.mjs "$sock" lazy7 3600 "${2:-2}" "$(hub_pid)" >"$work/$1" || { echo "no load: $(cat "$work/$1")"; return 1; }; }
background() { # FILE ARGUMENTS...: a display
	file=$work/$1
	shift
	MCPOOL_TEST_MARK="$work" "$mcpool" "$@" >"$file" 2>/dev/null </dev/null &
}
pictures() { grep -c '^{' "$work/watched"; }
more_pictures() { [ "$(pictures)" -gt "$1" ]; }

t_they_are_live_and_cheap() {
	command -v tmux >/dev/null || { echo 'tmux is missing: run tools/setup test'; return 1; }
	many && load warm 1 && load alone || return 1
	open_terminal "$work" 200 60 && types "'$mcpool' top" '1-56 of 1000' || return 1
	background watched status --watch --json
	watching=$!
	background stalled events -f --json
	stalled=$!
	wait_for_line "$work/watched" '^{' 10 && kill -STOP "$stalled" && was=$(pictures) && load together && keys End && shows '── lazy998 ──' &&
		eventually 5 more_pictures "$was" || return 1
	# Each answer costs the hub about the same; the displays' share is some per cent of a processor.
	"$node" -e 'const [alone, together] = process.argv.slice(1).map((f) => JSON.parse(fs.readFileSync(f, "utf8")));
		console.log(JSON.stringify({ alone, together }));
		process.exit(together.cpu / together.answered < 1.5 * alone.cpu / alone.answered && together.events > alone.events / 4 ? 0 : 1)' \
		"$work/alone" "$work/together" >"$work/figures" || { echo "too expensive: $(cat "$work/figures")"; return 1; }
	[ -z "${SHOW:-}" ] || cat "$work/figures" >&3
	# The reader that was stopped learns that it missed some, and goes on with the newest.
	kill -CONT "$stalled" && wait_for_line "$work/stalled" '"missed":' 10 && run 0 disable a --now && wait_for_line "$work/stalled" '"a: switched off' 10 &&
		kill "$watching" && tm kill-server && finish
}

run_cases "$@"
