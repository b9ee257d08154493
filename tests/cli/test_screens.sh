# test_screens.sh - what users see on a terminal of 80 by 24 and one of 200 by 60: the first screen, status --watch,
# a call with progress and one with a form, an approval. `mcpool top` is in test_top.sh, the wizard in test_wizard.sh.
# The terminal is tmux; where it is missing there is a reason instead of a test.
set -u
cd "$(dirname "$0")/../.." || exit 1
exec 3>&1 # for what is left out, and why
group=screens
. tests/servers/lib.sh
. tests/own.sh
. tests/terminal.sh

# each SIZE: two servers that run, one that cannot start, one that waits for approval; and a shell beside the hub
sizes='80x24 200x60'
begin() { # SIZE
	command -v tmux >/dev/null || { echo '   there is no tmux: left out' >&3; exit 0; }
	mkdir -p "$project/.mcpool" "$(dirname "$user")"
	printf '{"mcpServers":{"files":{"command":"%s","mode":"session"},"other":{"command":"%s","env":{"WHO":"other"}},"warehouse":{"command":"sh","args":["-c","echo DATABASE_URL is not set >&2; exit 3"]}}}\n' \
		"$demo_server" "$demo_server" >"$user"
	run 0 trust --user-file --yes && printf '{"mcpServers":{"theirs":{"command":"%s","env":{"WHO":"theirs%s"}}}}\n' "$demo_server" "$1" >"$project/.mcp.json" &&
		here 0 up && open_terminal "$project" && tm resize-window -x "${1%x*}" -y "${1#*x}" && here 0 wait other --timeout 20s
}
# fits WIDTH: no line is wider, and no control character is on the screen
fits() {
	screen && ! grep -qE ".{$(($1 + 1))}" "$work/out" && ! grep -q "$(printf '[\001-\010\013-\037]')" "$work/out" || { echo "wider than $1: $(cat "$work/out")"; return 1; }
}
end_all() {
	tm kill-server
	here 0 down && nothing_left 5
}

t_at_a_glance() {
	for size in $sizes; do
		begin $size && types "'$mcpool'" 'Needs you' && shows 'failing for ' && shows 'the variable DATABASE_URL, which it needs' && shows 'mcpool edit warehouse --env' && shows 'mcpool trust theirs' && shows "1 connected" && fits ${size%x*} &&
			types "clear; '$mcpool' status --watch" 'SERVER' && shows '● connected' && shows '▲ failed' && shows '◆ needs-approval' && shows 'mcpool trust theirs' && fits ${size%x*} || return 1
		here 0 disable other --now && shows '– disabled' && here 0 enable other --now && keys C-c && shows '$ ' || return 1
		types "clear; '$mcpool' --plain status" '* connected' && ! has '●' && types "clear; NO_COLOR=1 '$mcpool' status warehouse" 'DATABASE_URL is not set' || return 1
		end_all || return 1
	done
}
t_a_call_shows_its_progress() {
	for size in $sizes; do
		begin $size && types "'$mcpool' call files/sleep ms=2000" 'Ctrl-C cancels' && shows '█' && shows '/' && fits ${size%x*} && shows 'slept 2000 ms' && ! has 'Ctrl-C cancels' &&
			types "clear; '$mcpool' call files/sleep ms=30000" 'Ctrl-C cancels' && keys C-c && eventually 10 lacks 'Ctrl-C cancels' && types 'echo exit=$?' exit=130 && end_all || return 1
	done
}
lacks() { ! has "$1"; }
t_a_form_is_filled_in() {
	for size in $sizes; do
		begin $size && types "'$mcpool' call files/ask question=Who" 'files asks: Who' && fits ${size%x*} && types Ada 'Send this?' && types y Ada && shows '$ ' &&
			types "clear; '$mcpool' call files/ask question=Who" 'files asks: Who' && keys C-c && types 'echo exit=$?' exit=130 && end_all || return 1
	done
}
t_an_approval() {
	for size in $sizes; do
		begin $size && types "'$mcpool' trust theirs" 'Approve? [y/N]' && shows "WHO = \"theirs$size\"" && types y '$ ' && types "clear; '$mcpool' wait theirs --timeout 20s && echo it is there" 'it is there' && end_all || return 1
	done
}

run_cases "$@"
