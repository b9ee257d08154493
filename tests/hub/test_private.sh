# test_private.sh - servers that belong to one session: aborts, timeouts, the end of the session.
# `sh tests/hub/test_private.sh aborts` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=private
. tests/hub/lib.sh
export STATE="$work/state"
log=$XDG_STATE_HOME/mcpool/hub.log

# private SETTINGS [MEMBERS]: a server of its own for each session, with two descendants
private() {
	mkdir -p "$(dirname "$user")" && : >"$STATE" && printf '{"mcpServers":{"x":{"command":"%s","shared":false%s,"env":{"MCPOOL_DEMO_STATE":"%s",
		"MCPOOL_DEMO_FORK":"2"}}},"mcpool":{%s}}\n' "$demo_server" "${2:-}" "$STATE" "$1" >"$user" && run 0 trust --user-file --yes
}
no_servers() { [ -z "$(grep -lsF "MCPOOL_DEMO_STATE=$STATE" /proc/[0-9]*/environ)" ]; }

# D16 U18 E64
# The session leaves, and the whole tree of its server with it, while the hub goes on.
t_aborts() {
	private '"profile":"netdata","log":{"level":"verbose","names":"instance"}' && up && TOOL_PREFIX=x__ talk private_steps.mjs#abort &&
		eventually 5 no_servers && running && wait_for_line "$log" "VRB x#[0-9]*: process ended: pid $(sed -n 's/^server: //p' "$work/out") " 5 && finish
}

# E50 U18 X37 E44 E67
t_timeouts_restart_it() {
	private '"profile":"netdata"' ',"toolTimeout":400' && TOOL_PREFIX=x__ NETDATA=1 talk private_steps.mjs#time_out &&
		says out 'starts: 4' && eventually 5 no_servers && finish
}

# U18 X37
t_timeouts_probe_it_by_default() {
	private '' ',"toolTimeout":400' && TOOL_PREFIX=mcp__x__ talk private_steps.mjs#time_out && says out 'starts: 1' && finish
}

run_cases "$@"
