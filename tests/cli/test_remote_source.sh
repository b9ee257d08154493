# test_remote_source.sh - remote sources of servers behind a URL: fetched when they are due, kept as a copy, and never in
# the way of anything else.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=remote_source
. tests/remote/lib.sh

# begin: a remote source with one server, its address approved in the user's file
begin() {
	port=$(free_ports 1)
	url=http://127.0.0.1:$port/c.json
	says_so one
	serve source "$node" $servers/remote_source.mjs "$port" "$work/c.json" && listens source || return 1
	mkdir -p "$XDG_CONFIG_HOME/mcpool"
	printf '{"mcpool": {"remote": ["%s"]}}\n' "$url" >"$XDG_CONFIG_HOME/mcpool/mcp.json"
	[ "${1:-}" = unapproved ] || run 0 trust --user-file --yes
}
says_so() { printf '{"mcpServers": {"%s": {"command": "true"}}}\n' "$1" >"$work/c.json"; }
mode() { echo "$1" >"$work/c.json.mode"; }
asked() { # N: so often, in all
	n=$(grep -c '^GET' "$work/source.log")
	[ "$n" -eq "$1" ] || { echo "asked $n times, not $1: $(cat "$work/source.log")"; return 1; }
}
due() { # as if the time were over
	for note in "$XDG_STATE_HOME"/mcpool/catalogues/*.note; do
		sed -i 's/"nextAt":[0-9]*/"nextAt":1/' "$note"
	done
}
lists() { run 0 list --all --json && json "d.servers.map((s) => s.name).join() === '$1'"; }
over() { kill_server source; nothing_left 2; }

t_fetched_once_and_kept() {
	begin && lists one && asked 1 && lists one && asked 1 &&
		json "d.servers[0].source.tool === 'remote' && d.servers[0].source.file === '$url'" &&
		due && lists one && says source.log '304' && asked 2 && over
}
t_a_change_is_seen() { begin && lists one && says_so two && due && lists two && over; }
t_an_unapproved_address_is_not_asked() {
	begin unapproved && lists "" && asked 0 && says out "needs your approval" && over
}
t_the_copy_counts_when_the_source_is_down() {
	begin && lists one && due && mode down && lists one && says out "HTTP 500" "the copy of 0 minutes ago counts" &&
		lists one && asked 2 && over # and it is left alone for a while
}
t_without_a_copy_nothing_else_is_affected() {
	begin && mode down && lists "" && says out "HTTP 500" "nothing else is affected" && over
}
t_nobody_there() {
	begin && lists one && kill_server source && due && lists one && says out "could not connect" "the copy of 0 minutes ago counts" && nothing_left 2
}
t_garbage_does_not_replace_the_copy() { begin && lists one && due && mode garbage && lists one && says out "not a JSON object" && over; }
t_too_much_does_not_either() { begin && lists one && due && mode huge && lists one && says out "larger than 1 MiB" && over; }
t_a_slow_one_is_not_waited_for() {
	begin && lists one && due && mode slow && lists one || return 1
	within 6000 && over
}
# C9 X36
t_a_slow_one_delays_no_local_server() {
	begin && printf '{"mcpool": {"remote": ["%s"]}, "mcpServers": {"near": {"command": "%s"}}}\n' "$url" "$demo_server" \
		>"$XDG_CONFIG_HOME/mcpool/mcp.json" && run 0 trust --user-file --yes && rm -f "$XDG_STATE_HOME"/mcpool/catalogues/* && mode slow && start serve --json || return 1
	wait_for_line "$work/out" '"gate":{"live":\["near"\]' 3 && wait_for_line "$work/source.log" '^GET.*slow' 5 || return 1
	! grep -q 'gave up' "$work/source.log" || { echo 'the gate waited for the source'; return 1; }
	! grep -q '"what":"reloaded"' "$work/out" || { echo "the source answered: $(cat "$work/out")"; return 1; }
	kill -TERM "$mcpool_pid"
	ended 0 5 && over
}
# C10: the same command as a local server has.
t_a_local_server_shadows_it() {
	begin && lists one && printf '{"mcpool": {"remote": ["%s"]}, "mcpServers": {"near": {"command": "true"}}}\n' "$url" >"$XDG_CONFIG_HOME/mcpool/mcp.json" &&
		run 0 trust --user-file --yes && lists near,one && json 'd.servers[0].state === "ready" && d.servers[1].state === "shadowed" && d.servers[1].shadowed.by === "near"' &&
		run 0 list --all && grep -q '^one .*shadowed .*same connection as near, ' "$work/out" && run 0 list --json && json 'd.servers.length === 1' && over
}
t_redirects_stay_on_the_server() {
	begin && mode near && lists one && says source.log "GET /d.json" && due && mode away && lists one && says out "HTTP 302" && over
}
# While it serves a new copy is a change like any other.
# X36 A48 C9
t_serve_follows() {
	begin && start serve --json || return 1
	wait_for_line "$work/source.log" '^GET' 5 && wait_for_line "$work/out" '"what":"reloaded","text":"added one"' 5 || return 1
	kill -TERM "$mcpool_pid"
	ended 0 5 && over
}

run_cases "$@"
