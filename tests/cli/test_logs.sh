# test_logs.sh - `mcpool logs`: what servers wrote to stderr, one or several of them, in the order of its times, and as it comes.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=logs
. tests/servers/lib.sh
folder=$XDG_STATE_HOME/mcpool/logs

# lines FILE SECOND...: a line of that second each
lines() {
	mkdir -p "$folder"
	file=$folder/$1.log
	shift
	for second in "$@"; do printf '2026-11-18T12:00:%s.000Z said at %s\n' "$second" "$second"; done >>"$file"
}

t_one_server() { lines a 01 02 && lines b 03 && run 0 logs a && says out 'said at 01' 'said at 02' && silent_on out 'said at 03' && [ "$(head -n 1 "$work/out")" = '2026-11-18T12:00:01.000Z said at 01' ]; }
t_several_in_the_order_of_their_times() {
	lines a 01 04 && lines long-name 02 05 && lines b 03 && run 0 logs && [ "$(grep -o 'at [0-9]*' "$work/out" | tr -d '\n')" = 'at 01at 02at 03at 04at 05' ] &&
		grep -q '^long-name  2026' "$work/out" && grep -q '^a          2026' "$work/out" && run 0 logs b a && [ "$(wc -l <"$work/out")" = 3 ]
}
# A line without a time belongs to the one before it.
t_a_line_without_a_time() { lines a 01 && echo '  at main.js:3' >>"$folder/a.log" && lines a 03 && lines b 02 && run 0 logs && [ "$(sed -n 2p "$work/out")" = 'a    at main.js:3' ]; }
t_json() {
	lines a 01 && run 0 logs a --json && json 'd.server === "a" && d.time === "2026-11-18T12:00:01.000Z" && d.text === "said at 01"'
}
t_the_last_hundred() { lines a $(seq -w 0 59) && lines b $(seq -w 0 59) && run 0 logs && [ "$(wc -l <"$work/out")" = 100 ] && silent_on out 'at 09' && says out 'at 10'; }
t_followed() {
	lines a 01 && { MCPOOL_TEST_MARK="$work" timeout 60 "$mcpool" logs -f a b >"$work/followed" 2>&1 & follower=$!; } && wait_for_line "$work/followed" 'at 01' 10 &&
		lines a 02 && wait_for_line "$work/followed" 'at 02' 10 && mv "$folder/a.log" "$folder/a.log.1" && lines a 03 && wait_for_line "$work/followed" 'at 03' 10 &&
		lines b 04 && wait_for_line "$work/followed" 'at 04' 10 && printf '2026-11-18T12:00:05.000Z ha' >>"$folder/b.log" && sleep 1 && silent_in_followed ' ha' &&
		printf 'lf\n' >>"$folder/b.log" && wait_for_line "$work/followed" ' half' 10 && [ "$(wc -l <"$work/followed")" = 5 ]
	r=$?
	kill "$follower" && wait "$follower"
	[ $r = 0 ] && nothing_left 3
}
silent_in_followed() { ! grep -q "$1" "$work/followed"; }
t_a_real_server() {
	run 0 add broke -- sh -c 'echo DATABASE_URL is not set >&2; exit 3' && run 4 test broke && run 0 logs broke && says out 'DATABASE_URL is not set'
}
t_nothing_there() { run 9 logs none && says err "'none' has written nothing" && run 0 logs && says err 'no server has written' && run 2 logs a --hub; }
t_the_hubs_own_as_json() {
	mkdir -p "$XDG_CONFIG_HOME/mcpool" && echo '{"mcpool":{"log":{"format":"json"}}}' >"$XDG_CONFIG_HOME/mcpool/mcp.json" && run 0 up && run 0 down &&
		grep '^{' "$XDG_STATE_HOME/mcpool/hub.log" | tail -n 1 >"$work/out" && json 'd.level === "INF" && d.object === "hub" && d.message === "stopped" && !isNaN(Date.parse(d.time))' &&
		! grep -q ' INF hub: ' "$XDG_STATE_HOME/mcpool/hub.log"
}
t_the_hubs_own() { run 0 up && run 0 down && run 0 logs --hub && says out ' INF '; }
t_what_is_no_file_is_left_alone() { mkdir -p "$folder/dir.log" && ln -s /etc/passwd "$folder/link.log" && mkfifo "$folder/pipe.log" && run 0 logs && silent_on out root && [ ! -s "$work/out" ]; }
t_on_a_terminal_nothing_is_obeyed() { mkdir -p "$folder" && printf '2026-11-18T12:00:01.000Z \033[31mred\033[0m\n' >"$folder/a.log" && on_terminal 0 logs a && says out '\x1b[31mred'; }

run_cases "$@"
