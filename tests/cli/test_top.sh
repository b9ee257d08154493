# test_top.sh - `mcpool top` on terminals: what it shows, its keys, other sizes, a hub that goes, and how it leaves.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=top
. tests/hub/lib.sh
. tests/terminal.sh

# github and postgres run, warehouse does not; what it writes is not for a terminal.
some() {
	configure "$user" "$(server github),$(server postgres),\"warehouse\":{\"command\":\"sh\",\"args\":[\"-c\",\"printf 'no \\\\033[31mDATABASE_URL\\\\n' >&2; exit 3\"]}" &&
		run 0 trust --user-file --yes && run 0 up && run 0 wait github postgres && run 0 wait warehouse --for failed
}
# opened [COLUMNS LINES]: a terminal, and top on it
opened() {
	command -v tmux >/dev/null || { echo 'tmux is missing: run tools/setup test'; return 1; }
	open_terminal "$work" "${1:-80}" "${2:-24}" && types "stty -g >before; '$mcpool' top; echo exit=\$?; stty -g >after" 'q quit'
}
over() { tm kill-server && finish; }
top_pid() { cat "/proc/$(tm list-panes -F '#{pane_pid}')/task/"*/children; }
without() { ! has "$1"; }
lacks() { eventually 10 without "$1" || { echo "'$1' is still on the screen: $(tail -c 900 "$work/out")"; return 1; }; }
# left CODE: its exit code is shown on the screen that was there before, and the terminal is as it was
left() { shows "exit=$1" && lacks 'q quit' && eventually 5 cmp -s "$work/before" "$work/after"; }
in_order() { # NAME...: in the lines of the screen
	screen && [ "$(grep -o "^\($(echo "$*" | sed 's/ /\\|/g')\) " "$work/out" | tr -d '\n')" = "$* " ]
}
ordered() { eventually 10 in_order "$@" || { echo "not in the order $*: $(cat "$work/out")"; return 1; }; }
calls() { for _ in 1 2 3; do run 0 call "$1/echo" message=hi || return 1; done; }

t_what_it_shows() {
	some && calls postgres && opened && shows '2 connected, 1 failed   by calls' && shows 'CPU  CALLS/S' && ordered postgres warehouse github &&
		keys j && shows '── postgres ──' && shows 'tools/call echo  answered in' && shows '3 in all, 0 failed' && shows 'Enter details' &&
		keys j && shows '── warehouse ──' && shows 'why     handshake: exited with code 3' && shows 'no \x1b[31mDATABASE_URL' &&
		keys Enter && shows 'details of warehouse' && shows 'mcpool status warehouse' && keys l && shows 'stderr of warehouse' && keys Escape && lacks 'stderr of' &&
		keys k && keys c && shows 'calls of postgres' && keys Escape && keys '?' && shows 'all processes of a server' && keys Tab && shows 'No agent is connected' &&
		keys q && left 0 && over
}
t_order_and_filter() {
	some && calls github && opened 200 60 && ordered github warehouse postgres && shows 'UPTIME  RESTARTS' && keys j && shows '── github ──' &&
		calls postgres && calls postgres && sleep 1.2 && ordered github warehouse postgres && # it is selected: nothing moves
		keys Escape && ordered postgres github warehouse &&
		keys s && shows 'by latency' && keys s && keys s && keys s && shows 'by name' && ordered github postgres warehouse &&
		keys f && tm send-keys -l GRE && shows 'filter: GRE_' && lacks github && keys Enter && shows '   filter: GRE' && shows postgres &&
		keys f && tm send-keys -l xyz && shows 'No server has' && keys Escape && shows github && keys q && left 0 && over
}
pid_of() { "$mcpool" status github --json | sed -n 's/.*"pid": *\([0-9]*\).*/\1/p'; }
another_pid() { [ "$(pid_of)" ] && [ "$(pid_of)" != "$1" ]; }
t_restart_and_disable() {
	some && calls github && was=$(pid_of) && [ "$was" ] && opened && keys r && shows 'j or k selects a server first' && keys j && shows '── github ──' &&
		keys r && shows 'Restart github? y/n' && keys n && lacks 'y/n' && [ "$(pid_of)" = "$was" ] &&
		keys r && shows 'Restart github? y/n' && keys y && shows 'github: a new connection begins' && eventually 10 another_pid "$was" &&
		keys d && shows 'Disable github, until the hub ends? y/n' && keys y && shows 'github     – disabled' && shows 'off, until the hub ends' &&
		keys d && shows 'Enable github' && keys y && shows 'github     ● connected' && keys q && left 0 && over
}
t_approve() {
	configure "$user" "$(server late)" && run 0 up && opened && keys j && shows 'why     not approved yet, in ' && shows 'a approve' && keys a && shows 'Approve? [y/N]' && types y 'Enter goes back to top.' &&
		keys Enter && shows 'late    ● connected' && keys q && left 0 && over
}
t_other_sizes() {
	some && opened && tm resize-window -x 50 -y 10 && shows 'top needs 60 x 15' && tm resize-window -x 60 -y 15 && shows 'github' && lacks 'top needs' &&
		tm resize-window -x 200 -y 60 && shows RESTARTS && keys q && left 0 && over
}
t_the_hub_ends_and_returns() {
	some && opened && keys j && kill -KILL "$(hub_pid)" && shows 'mcpool: no hub for' && shows 'This goes on when one runs' && run 0 up && shows '2 connected' &&
		run 0 down && shows 'mcpool: no hub for' && keys q && left 0 && tm kill-server && nothing_left 3
}
t_every_end_restores_the_terminal() {
	some && opened && keys C-c && left 130 && types "clear; '$mcpool' top; echo exit=\$?; stty -g >after" 'q quit' &&
		kill -TERM $(top_pid) && left 130 &&
		types "clear; '$mcpool' top" 'q quit' && keys C-z && lacks 'q quit' && types 'stty -g >after; cmp before after && echo same' same && types fg 'q quit' &&
		keys q && lacks 'q quit' && over
}
# ncurses itself loses memory where it does not know the terminal.
t_without_a_terminal() {
	with a && run 4 top && says err 'no hub runs' && up && run 2 top && says err 'top needs a terminal' 'mcpool status --watch' &&
		mkdir "$work/lib" && : >"$work/lib/libncursesw.so.6" &&
		open_terminal "$work" 120 24 && types "TERM=dumb '$mcpool' top; echo exit=\$?" 'TERM is "dumb"; `mcpool status --watch`' && shows exit=2 &&
		types "clear; LD_LIBRARY_PATH='$work/lib' '$mcpool' top; echo exit=\$?" 'install the package libncursesw6' && shows 'mcpool status --watch' && shows exit=3 &&
		{ [ "$sanitized" ] || { types "clear; TERM=unheard-of '$mcpool' top; echo exit=\$?" 'q quit' && keys q && shows exit=0; }; } && over
}

run_cases "$@"
