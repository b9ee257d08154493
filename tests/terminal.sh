# terminal.sh - for tests on a real terminal: a shell in tmux, what it shows, and what is typed there. Source it behind
# tests/servers/lib.sh.
trap 'tm kill-server; kill_marked; rm -rf "$work"' EXIT

tm() { MCPOOL_TEST_MARK="$work" tmux -S "$work/tmux" -f /dev/null "$@" 2>/dev/null; }

screen() { tm capture-pane -p -J >"$work/out"; }
has() { screen && grep -qF -- "$1" "$work/out"; }
shows() { eventually 10 has "$1" || { echo "no '$1' on the screen: $(tail -c 700 "$work/out")"; return 1; }; }

# types LINE [WORDS]: and then the screen shows these
types() {
	tm send-keys -l -- "$1" && tm send-keys Enter && [ $# -eq 1 ] || shows "$2"
}
keys() { tm send-keys "$1"; }

# open_terminal FOLDER [COLUMNS LINES]: a shell there
open_terminal() {
	TERM=xterm tm -u new-session -d -x "${2:-120}" -y "${3:-50}" "cd '$1' && PS1='$ ' sh" || { echo 'tmux does not start'; return 1; }
	shows '$ '
}
