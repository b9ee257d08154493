# test_failures.sh - calls that fail, each for a real reason, through the hub and through `mcpool call`: both say the
# same of it, and every next step is a command that exists. `sh tests/hub/test_failures.sh dead_server` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=failures
. tests/hub/lib.sh
unset http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY

servers=$PWD/$servers
hostile() { printf '"x":{"command":"%s","args":["%s","%s"]%s}' "$node" "$servers/hostile.mjs" "$1" "${2:-}"; }
demo() { printf '"x":{"command":"%s"%s}' "$demo_server" "${1:-}"; }

# http MODE [MEMBERS]: a server of hostile_http.mjs, and the entry for it
http() {
	: >"$work/http.log"
	TEST_NOTES="$work/http.notes" MCPOOL_TEST_MARK="$work" "$node" "$servers/hostile_http.mjs" "$1" >"$work/http.log" 2>&1 </dev/null &
	wait_for_line "$work/http.log" 'listening on' 15 || return 1
	entry=$(printf '"x":{"type":"http","url":"http://127.0.0.1:%s/mcp"%s}' "$(sed -n 's/^listening on //p' "$work/http.log")" "${2:-}")
}

# given ENTRY [SETTINGS]: in the user's file, approved
given() {
	mkdir -p "$(dirname "$user")" && printf '{"mcpServers":{%s},"mcpool":{%s}}\n' "$1" "${2:-}" >"$user" && run 0 trust --user-file --yes
}

# fails STAGE CLASS CODE STEP [STDERR]: the object in $work/out is such an error, and each command of its next step a verb of ours
fails() {
	verbs=$($node tests/hub/failure_check.mjs "$@" <"$work/out") || { echo "$verbs"; return 1; }
	for verb in $verbs; do
		"$mcpool" "$verb" --help >/dev/null 2>&1 </dev/null || { echo "there is no verb '$verb'"; return 1; }
	done
}

# through_hub TOOL ARGUMENTS STAGE CLASS CODE STEP
through_hub() {
	TOOL="mcp__x__$1" ARGUMENTS=$2 talk failure_steps.mjs#fail || return 1
	shift 2
	fails "$@"
}

# on_command_line WANTED TOOL ARGUMENTS STAGE CLASS CODE STEP: the same on stderr
on_command_line() {
	run "$1" call "x/$2" --args "$3" --json || return 1
	shift 3
	fails "$@" "$work/err"
}

# --- it is not there -------------------------------------------------------------------------------

# E73 B65
t_dead_server() { # U23
	given "$(hostile exit)" && on_command_line 4 echo '{}' connect eof mcp_unavailable 'mcpool test x' &&
		says err 'Failed to connect to "x": handshake: exited with code 3' 'its last words on stderr:' '  | cannot open the database' '  | the second of the last words' &&
		through_hub echo '{}' connect eof mcp_unavailable 'mcpool test x' && says out 'cannot open the database' && finish
}

t_command_that_is_not_there() { # U23
	given '"x":{"command":"/nonexistent/server"}' && on_command_line 4 echo '{}' connect connect mcp_unavailable 'mcpool edit x command=' &&
		through_hub echo '{}' connect connect mcp_unavailable 'mcpool edit x command=' && finish
}

# B66
t_server_that_does_not_get_ready() { # U23
	given "$(hostile hang ',"timeout":800')" && on_command_line 6 echo '{}' connect timeout mcp_timeout '"timeout"' &&
		says err 'waiting for a licence server' && finish
}

t_unapproved() { # U4 U23
	mkdir -p "$(dirname "$user")" && printf '{"mcpServers":{%s}}\n' "$(demo)" >"$user" &&
		on_command_line 7 echo '{}' connect closed mcp_needs_approval 'mcpool trust x' &&
		through_hub echo '{}' connect closed mcp_needs_approval 'mcpool trust x' && finish
}

t_disabled() { # U23
	given "$(demo ',"enabled":false')" && on_command_line 3 echo '{}' connect closed mcp_disabled 'mcpool enable x' &&
		through_hub echo '{}' connect closed mcp_disabled 'mcpool enable x' && finish
}

t_connection_refused() { # U23
	given '"x":{"type":"http","url":"http://127.0.0.1:9/mcp"}' && on_command_line 4 echo '{}' connect connect mcp_unavailable 'nothing listens there' &&
		through_hub echo '{}' connect connect mcp_unavailable 'nothing listens there' && finish
}

t_http_401() { # U23
	http 401 && given "$entry" && on_command_line 8 echo '{}' connect http_status mcp_needs_auth '"headers"' &&
		says err 'HTTP 401' && through_hub echo '{}' connect http_status mcp_needs_auth '"headers"' && finish_http
}

t_http_500() { # U23
	http 500 && given "$entry" && on_command_line 4 echo '{}' connect http_status mcp_unavailable '"url" is right' &&
		says err 'HTTP 500' && through_hub echo '{}' connect http_status mcp_unavailable '"url" is right' && finish_http
}

finish_http() {
	run 0 down
	kill_marked
	nothing_left 3
}

# --- it does not answer ----------------------------------------------------------------------------

t_timeout() { # U23
	given "$(demo ',"toolTimeout":600')" && on_command_line 6 sleep '{"ms":20000}' receive timeout mcp_timeout '"toolTimeout"' &&
		through_hub sleep '{"ms":20000}' receive timeout mcp_timeout '"toolTimeout"' && finish
}

t_killed_during_the_call() { # U23
	given "$(demo)" && on_command_line 5 crash '{"signal":9}' receive eof mcp_outcome_unknown 'find out whether it happened' &&
		says err 'SIGKILL' && through_hub crash '{"signal":9}' receive eof mcp_outcome_unknown 'find out whether it happened' && finish
}

# D19
# The first life answers; none comes after it.
t_no_next_life() { # U23 D10
	given "$(demo ",\"env\":{\"MCPOOL_DEMO_STATE\":\"$work/state\",\"MCPOOL_DEMO_FAIL_STARTS\":\"2-99\"}")" &&
		talk failure_steps.mjs#crash_until_it_stays_down &&
		fails connect eof mcp_restart_failed 'mcpool reconnect x' && json 'd.error.data.retryable && d.error.data.attempt > 0 && d.error.data.outcome === "not_sent"' && finish
}

t_line_that_is_full() { # U23
	given "$(demo)" '"queues":{"default":{"slots":1,"line":1}}' &&
		talk failure_steps.mjs#fill_the_queue &&
		fails send closed mcp_queue_full '"queues"' && json 'd.error.data.retryable' && finish
}

t_http_500_to_the_call() { # U23
	http call-500 && given "$entry" && on_command_line 5 echo '{}' receive http_status mcp_outcome_unknown 'find out whether it happened' &&
		through_hub echo '{}' receive http_status mcp_outcome_unknown 'find out whether it happened' && finish_http
}

t_http_connection_cut() { # U23
	http call-drop && given "$entry" && on_command_line 5 echo '{}' receive eof/reset mcp_outcome_unknown 'find out whether it happened' && finish_http
}

t_http_403_to_the_call() { # U23
	http call-403 && given "$entry" && on_command_line 8 echo '{}' receive http_status mcp_needs_auth 'mcpool reconnect x' && finish_http
}

# --- the answer ------------------------------------------------------------------------------------

t_oversize_answer() { # U23
	given "$(hostile big)" && on_command_line 5 echo '{}' decode malformed_response mcp_too_large 'ask for less' &&
		through_hub echo '{}' decode malformed_response mcp_too_large 'ask for less' && finish
}

t_garbled_answer() { # U23
	given "$(hostile deep)" && on_command_line 5 echo '{}' decode malformed_response protocol 'mcpool test x' &&
		through_hub echo '{}' decode malformed_response protocol 'mcpool test x' && finish
}

t_html_instead_of_an_answer() { # U23
	http call-html && given "$entry" && on_command_line 5 echo '{}' decode malformed_response protocol 'mcpool test x' &&
		silent_on err hunter2 && silent_on out hunter2 && finish_http
}

# What the server itself says passes through a hub untouched; people get it with a frame, and without the secret.
t_error_of_the_server() { # U23
	given "$(hostile refuse-call)" && run 5 call x/echo --json &&
		json 'd.error.code === -32050 && d.error.data.path === "a.txt" && d.error.message === "the file is locked"' &&
		json 'd.failure.stage === "protocol" && d.failure.class === "json_rpc" && d.failure.server === "x" && d.failure.tool === "echo"' &&
		json 'd.failure.nextStep.endsWith("mcpool tools --schema x/echo")' && says err 'MCP error: the file is locked' '  stage:     protocol' \
		'  class:     json_rpc' '  code:      -32050' '  data:      {"path":"a.txt","password":"•••"}' && silent_on err hunter2 &&
		run 0 tools --schema x/echo &&
		talk 'await init(); const r = await call("mcp__x__echo"); return r;' &&
		json 'd.error.code === -32050 && d.error.message === "the file is locked" && d.error.data.path === "a.txt" && d.error.data.password === "hunter2hunter2" && !d.error.data.stage' && finish
}

# --- without a name --------------------------------------------------------------------------------

t_a_command_behind_dashes() { # U23
	run 5 call crash --json -- "$demo_server" && json 'd.error.data.stage === "receive" && d.error.data.class === "eof"' &&
		says err "MCP error: server 'demo-server': tools/call: exited with code 1" '  tool:      crash' '  stage:     receive' &&
		run 4 call x --json -- /nonexistent/server && json 'd.error.code === 1005 && d.error.data.stage === "connect" && !d.error.data.retryable' &&
		run 4 call x --json -- http://127.0.0.1:9/mcp && json 'd.error.code === 1005 && d.error.data.transport === "http"' &&
		run 5 read demo://nothing --json -- "$demo_server" && json 'd.failure.class === "json_rpc" && !d.failure.tool' &&
		silent_on err '--schema' && run 9 call nothing --json -- "$demo_server" && json 'd.error.data.code === "not_found"' &&
		says err "mcpool: demo-server: it has no tool 'nothing'" && nothing_left
}

run_cases "$@"
