# test_returns.sh - a server whose command is installed later, and one whose URL answers 404 for a while, come up by
# themselves while a session is open. `sh tests/hub/test_returns.sh installed` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=returns
. tests/hub/lib.sh
unset http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY
servers=$PWD/$servers
export LATE="$work/late.sh" PATH="$work/bin:$PATH"
mkdir "$work/bin"

# given ENTRY SETTINGS: in the user's file, approved
given() {
	mkdir -p "$(dirname "$user")" && printf '{"mcpServers":{%s},"mcpool":{%s}}\n' "$1" "$2" >"$user" && run 0 trust --user-file --yes
}

# http MODE [PORT]: a server of hostile_http.mjs as $http_pid at $port; what it is asked goes to $work/http.notes
http() {
	: >"$work/http.log"
	TEST_NOTES="$work/http.notes" MCPOOL_TEST_MARK="$work" "$node" "$servers/hostile_http.mjs" "$@" >"$work/http.log" 2>&1 </dev/null &
	http_pid=$!
	wait_for_line "$work/http.log" 'listening on' 15 && port=$(sed -n 's/^listening on //p' "$work/http.log")
}

# absent [PORT]: a URL that answers 404, and $LATE, which puts a good server in its place
absent() {
	http 404 "$@" &&
		cat >"$LATE" <<EOF
kill $http_pid
while kill -0 $http_pid 2>/dev/null; do sleep 0.02; done
TEST_NOTES=$work/good.notes MCPOOL_TEST_MARK=$work $node $servers/hostile_http.mjs plain $port >$work/good.log 2>&1 </dev/null &
echo \$! >$work/good.pid
until grep -qs 'listening on' $work/good.log; do sleep 0.02; done
EOF
}
remote() { printf '"x":{"type":"http","url":"http://127.0.0.1:%s/mcp"%s}' "$port" "${1:-}"; }

# end: the server that came goes, too
end() {
	[ ! -f "$work/good.pid" ] || kill "$(cat "$work/good.pid")"
	finish
}

log_says() { grep -q "$1" "$XDG_STATE_HOME/mcpool/hub.log" || { echo "no '$1' in the log"; return 1; }; }

# --- the default: what changed ----------------------------------------------------------------------

# U12 X33
t_installed() {
	echo "ln -s $demo_server $work/bin/late-server" >"$LATE"
	given '"x":{"command":"late-server"}' '"restart":{"finalRetryMs":600000}' &&
		TOOL=mcp__x__echo talk returns_steps.mjs#comes_up && end
}

# U12
t_installed_in_a_folder_that_was_not_there() {
	echo "mkdir -p $work/opt/late/bin && cp $demo_server $work/opt/late/bin/late-server" >"$LATE"
	given "\"x\":{\"command\":\"$work/opt/late/bin/late-server\"}" '"restart":{"finalRetryMs":600000}' &&
		TOOL=mcp__x__echo talk returns_steps.mjs#comes_up && end
}

# U12
t_edited() {
	absent && given "$(remote ',"toolTimeout":5000')" '"restart":{"finalRetryMs":600000}' &&
		echo "sed s/:5000/:6000/ $user >$user.new && mv $user.new $user" >>"$LATE" &&
		TOOL=mcp__x__echo talk returns_steps.mjs#comes_up && end
}

# --- the default: time ------------------------------------------------------------------------------

# U12 X33
t_found_again() {
	absent && given "$(remote)" '"restart":{"finalRetryMs":1500}' &&
		TOOL=mcp__x__echo AFTER=2000 talk returns_steps.mjs#comes_up &&
		[ "$(grep -c initialize "$work/http.notes")" -ge 1 ] && end
}

# --- netdata: the schedule --------------------------------------------------------------------------

# by_schedule: the server comes up with the next attempt. A loaded machine decides how many attempts have passed by
# then, and the longest delay is 60 s.
by_schedule() {
	TOOL=x__echo AFTER=1500 WITHIN=90000 patience=150 talk returns_steps.mjs#comes_up || {
		echo "the hub's last words: $(tail -n 12 "$XDG_STATE_HOME/mcpool/hub.log")"
		return 1
	}
}

# D3 D5 D29 X33
t_netdata_command() {
	echo "ln -s $demo_server $work/bin/late-server" >"$LATE"
	given '"x":{"command":"late-server"}' '"profile":"netdata"' &&
		by_schedule && scheduled && end
}

# scheduled: not before the attempt after 3 s
scheduled() { log_says 'attempt 3$'; }

# D3 D5 D29 X33
t_netdata_404() {
	absent && given "$(remote)" '"profile":"netdata"' &&
		by_schedule && scheduled && end
}

# D29 X33
# The agent's list waits for nothing here: the server has no values yet, and so no start.
t_netdata_values() {
	echo "echo LATE_VALUE=1 >$work/late.env" >"$LATE"
	given "\"x\":{\"command\":\"$demo_server\",\"envFile\":\"$work/late.env\"}" '"profile":"netdata"' &&
		by_schedule && end
}

# E34 E37 D5
# The session knows the tools from an earlier hub. Two calls, a second apart, wait for the same start.
t_netdata_callers() {
	http plain && given "$(remote)" '"profile":"netdata"' && talk 'await init(); await tools()' && run 0 down &&
		kill $http_pid && wait $http_pid 2>/dev/null
	absent "$port" && TOOL=x__echo AFTER=500 talk returns_steps.mjs#callers_wait && scheduled && end
}

run_cases "$@"
