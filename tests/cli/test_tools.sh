# test_tools.sh - `tools`, `call` and `status` over the configured servers: what is remembered is not started, each
# failure is told with its own reason, a call finds its server by any spelling and starts no other.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=tools
. tests/servers/lib.sh

absolute=$(cd "$(dirname "$mcpool")" && pwd)/$(basename "$mcpool")

# config SERVERS [SETTINGS]: the file that all verbs of the case use; demo is the command of a demo server
config() {
	demo="\"command\": \"$demo_server\""
	printf '%s' "{\"mcpServers\": {$1}, \"mcpool\": {${2:-}}}" | sed "s|{DEMO|{$demo|g; s|WORK|$work|g" >"$work/servers.json"
}

with() { # WANTED VERB ARGUMENTS...
	wanted=$1 verb=$2
	shift 2
	run "$wanted" "$verb" --config "$work/servers.json" --strict-config "$@"
}

starts() { # FILE COUNT: so many starts were noted there
	n=$(cat "$work/$1" 2>/dev/null | wc -c)
	[ "$n" -eq "$2" ] || { echo "$n starts of $1 and not $2"; return 1; }
}

calls() { # FILE COUNT: so many calls
	n=$(cat "$work/$1" 2>/dev/null | wc -l)
	[ "$n" -eq "$2" ] || { echo "$n calls of $1 and not $2"; return 1; }
}

two='"one": {DEMO, "env": {"MCPOOL_DEMO_STATE": "WORK/one", "MCPOOL_DEMO_LEDGER": "WORK/calls_one"}},
	"two": {DEMO, "env": {"MCPOOL_DEMO_STATE": "WORK/two", "MCPOOL_DEMO_LEDGER": "WORK/calls_two"}}'

# --- tools -----------------------------------------------------------------------------------------

t_all_tools_sorted_by_public_name() { # U19 A43
	config "$two" && with 0 tools && says out 'mcp__one__echo    Echo    Returns the message' 'mcp__two__echo' &&
		cut -d' ' -f1 "$work/out" >"$work/names" && [ "$(wc -l <"$work/names")" -eq 20 ] && LC_ALL=C sort -c "$work/names" &&
		[ ! -s "$work/err" ] && with 0 tools --json &&
		json 'd.tools.every((t) => t.label === `mcp:${t.server} via --config`)' && run 0 tools --json -- "$demo_server" &&
		json 'd.tools.length === 10 && d.tools.every((t) => t.label === `mcp:${t.tool}`)' || return 1
	mkdir -p "$HOME/.cursor" && printf '{"mcpServers": {"far": {"command": "%s"}}}' "$demo_server" >"$HOME/.cursor/mcp.json" && # by its tool
		run 0 trust far --yes && run 0 tools far --json && json 'd.tools.every((t) => t.label === "mcp:far via Cursor")' && nothing_left
	code=$?
	rm -r "$HOME/.cursor"
	return $code
}

# The second time everything is known: no process at all, and the lists say so.
t_what_is_remembered_is_not_started() { # U24
	config "$two" && with 0 tools --json && json 'd.tools.length === 20 && d.tools.every(t => t.state === "live")' &&
		starts one 1 && starts two 1 && with 0 tools --json &&
		json 'd.tools.length === 20 && d.errors.length === 0 && d.tools.every(t => t.state === "deferred")' &&
		json 'd.tools.every(t => t.name === `mcp__${t.server}__${t.tool}` && t.title && t.description && t.inputSchema)' &&
		starts one 1 && starts two 1 && with 0 tools --fresh --json && json 'd.tools.every(t => t.state === "live")' &&
		starts one 2 && starts two 2 && nothing_left
}

t_a_warm_run_makes_no_process() {
	[ -z "$sanitized" ] || return 0
	config "$two" && with 0 tools || return
	MCPOOL_TEST_MARK="$work" timeout 30 strace -f -qq -o "$work/trace" -e trace=execve,fork,vfork,clone,clone3 "$mcpool" tools \
		--config "$work/servers.json" --strict-config >"$work/out" 2>"$work/err" </dev/null || { echo "failed"; return 1; }
	[ "$(grep -c 'execve(' "$work/trace")" -eq 1 ] && ! grep -v CLONE_THREAD "$work/trace" | grep -q 'clone\|fork' ||
		{ echo "started: $(head -c 600 "$work/trace")"; return 1; }
}

# The cache belongs to what would be started: another variable, another server.
# X12 U24
t_another_launch_is_another_server() {
	config "$two" && with 0 tools && config '"one": {DEMO, "env": {"MCPOOL_DEMO_STATE": "WORK/one", "X": "1"}}' &&
		with 0 tools --json && starts one 2 && json 'd.tools.length === 10 && d.tools[0].state === "live"'
}

# U8: for servers that nothing is known about, together: real seconds, and all verbs at once
t_one_shot_verbs_wait_thirty_seconds() {
	[ -z "$sanitized" ] || return 0
	config '"hangs": {DEMO, "env": {"MCPOOL_DEMO_HANG": "forever"}, "timeout": 90000}' && waiters='' || return 1
	for verb in 'tools' 'call echo' 'prompt greet' 'read demo://x'; do
		waited "$work/took-${verb%% *}" $verb &
		waiters="$waiters $!"
	done
	for each in $waiters; do wait "$each"; done
	for verb in tools call prompt read; do
		took=$(cat "$work/took-$verb") && [ "$took" -ge 29500 ] && [ "$took" -lt 38000 ] || { echo "$verb: $took ms"; return 1; }
	done
	nothing_left 3
}
waited() { # FILE VERB ARGUMENTS...: how many milliseconds it took
	file=$1 verb=$2 since=$(date +%s%N)
	shift 2
	MCPOOL_TEST_MARK="$work" timeout 60 "$mcpool" "$verb" --config "$work/servers.json" --strict-config "$@" >/dev/null 2>&1 </dev/null
	echo $((($(date +%s%N) - since) / 1000000)) >"$file"
}

t_each_failure_has_its_own_reason() { # A12 B65 B66 B60
	servers='"hangs": {DEMO, "env": {"MCPOOL_DEMO_HANG": "forever"}, "timeout": 1500}, "gone": {"command": "/nonexistent/x"},
		"dies": {"command": "sh", "args": ["-c", "echo oops >&2; exit 3"]}'
	for i in 1 2 3 4 5 6 7; do
		servers="$servers, \"fine$i\": {DEMO, \"env\": {\"N\": \"$i\"}}"
	done
	config "$servers" && with 0 tools && [ "$(wc -l <"$work/out")" -eq 70 ] && says out mcp__fine1__add mcp__fine7__time &&
		says err 'Failed to connect to "hangs": ' 'needs a larger "timeout" (now 1500 ms)' \
			'Failed to connect to "gone": start: ' 'does not exist' 'Failed to connect to "dies": ' 'exited with code 3' '  | oops' ||
		return
	[ "$(grep -c 'Failed to connect' "$work/err")" = 3 ] || { echo "not told once each"; return 1; }
	with 0 tools --json && json 'd.tools.length === 70 && d.errors.length === 3' &&
		json 'd.errors.map(e => e.server).sort().join() === "dies,gone,hangs" && d.errors.every(e => e.error)' && nothing_left
}

t_the_wait_has_an_end() {
	config '"hangs": {DEMO, "env": {"MCPOOL_DEMO_HANG": "forever"}}, "fine": {DEMO}' && with 0 tools --timeout 2s &&
		within 6000 && says out mcp__fine__echo && says err 'Failed to connect to "hangs": ' 'larger --timeout (now 2000 ms)' && nothing_left
}

# The server's own end comes before ours, with its reason.
t_the_reason_comes_before_the_end() {
	config '"page": {"command": "sh", "args": ["-c", "while read -r x; do echo \"<html>\"; done"]}, "fine": {DEMO}' &&
		with 0 tools --timeout 1s && says err 'no answer within 1 s; it writes to stdout what is not MCP' && nothing_left
}

t_nothing_to_list_is_a_failure() {
	config '"gone": {"command": "/nonexistent/x"}' && with 4 tools && says err 'Failed to connect to "gone"' && with 4 tools --json &&
		json 'd.tools.length === 0 && d.errors[0].server === "gone"'
}

t_no_server_at_all() {
	config '' && with 0 tools && says err 'No servers are configured' && with 0 tools --json && json 'd.tools.length === 0' &&
		with 9 call x && says err "no tool 'x', nor any other" 'mcpool add' && with 0 test --all && says err 'no server to test'
}

t_a_required_server_must_be_there() {
	config '"fine": {DEMO}, "gone": {"command": "/nonexistent/x", "required": true}' && with 4 tools && says out mcp__fine__echo &&
		config '"fine": {DEMO, "required": true}, "gone": {"command": "/nonexistent/x"}' && with 0 tools
}

t_servers_may_be_named() {
	config "$two" && with 0 tools two --json && json 'd.tools.length === 10 && d.tools[0].server === "two"' && starts one 0 &&
		with 9 tools three && says err 'Server "three" not found' && with 2 tools two two && with 0 tools one two --json &&
		json 'd.tools.length === 20'
}

t_a_disabled_server_is_left_out() {
	config '"on": {DEMO}, "off": {DEMO, "enabled": false, "env": {"MCPOOL_DEMO_STATE": "WORK/off"}}' && with 0 tools --json &&
		json 'd.tools.length === 10 && d.errors.length === 0' && starts off 0 && with 3 tools off && says err 'mcpool enable off'
}

# An entry merely found in a project's file is counted and not started.
t_what_needs_approval_is_counted() { # U4
	mkdir -p "$work/project" && printf '{"mcpServers": {"a": {"command": "touch", "args": ["%s"]}, "b": {"command": "x"}}}' "$work/touched" \
		>"$work/project/.mcp.json" && mcpool=$absolute && node=$PWD/$node && cd "$work/project" && run 7 tools &&
		says err '2 wait for your approval: mcpool trust' && run 7 tools --json &&
		json 'd.tools.length === 0 && d.errors.length === 2 && /mcpool trust a/.test(d.errors[0].error)' &&
		run 7 call a__x && says err 'needs your approval' && run 7 call a__x --json && json 'd.error.data.code === "mcp_needs_approval"' ||
		return
	[ ! -e "$work/touched" ] || { echo "it ran"; return 1; }
	run 0 add fine -- "$demo_server" && run 0 tools && says out mcp__fine__echo && says err '2 wait for your approval'
}

t_collisions_are_told() { # U19
	config '"a b": {DEMO}, "a.b": {DEMO, "env": {"N": "2"}}' && with 0 tools && [ "$(cut -d' ' -f1 "$work/out" | sort -u | wc -l)" -eq 20 ] &&
		says err "more than one tool would have the same name: 'echo' of server 'a b' is called mcp__a_b__echo" \
			"'echo' of server 'a.b' is called mcp__a_b__echo_"
}

t_names_in_other_styles() {
	for style in mcp_server_tool:mcp_one_echo server__tool:one__echo passthrough:mcp__one__echo; do
		config "$two" "\"naming\": \"${style%:*}\"" && with 0 tools && says out "${style#*:} " || return
	done
	config '"one": {DEMO}' '"naming": "passthrough"' && with 0 tools && says out 'echo    Echo'
}

t_filters_hide_and_refuse() {
	config '"one": {DEMO, "toolsAllowed": ["ECHO", "ti*"], "env": {"MCPOOL_DEMO_LEDGER": "WORK/calls_one"}},
		"two": {DEMO, "toolsDenied": ["*a*"]}' && with 0 tools --json &&
		json 'd.tools.filter(t => t.server === "one").map(t => t.tool).join() === "echo,time"' &&
		json 'd.tools.every(t => t.server === "one" || !t.tool.includes("a"))' &&
		with 9 call mcp__one__add a=1 b=2 && says err 'is not allowed' && calls calls_one 0 && with 0 call mcp__one__echo message=hi
}

t_a_schema_by_any_name() {
	config "$two" && with 0 tools --schema mcp__one__add && json 'd.type === "object" && d.properties.a.type === "number"' &&
		starts one 1 && starts two 0 && with 0 tools --schema one/add && with 9 tools --schema one/ad && says err 'Did you mean mcp__one__add'
}

# --- call ------------------------------------------------------------------------------------------

t_a_call_by_every_spelling() { # U19
	config "$two" && with 0 tools || return
	for name in mcp__one__echo mcp_one_echo one__echo one.echo one/echo one:echo mcp__one_echo MCP__One__Echo; do
		with 0 call "$name" message=hi || { echo "as $name"; return 1; }
		[ "$(cat "$work/out")" = hi ] || { echo "$name says $(head -c 200 "$work/out")"; return 1; }
	done
	calls calls_one 8 && calls calls_two 0 && starts two 1 && nothing_left
}

t_a_call_starts_one_server() {
	config "$two" && with 0 call two/add a=2 b=3 && says out 5 && starts one 0 && starts two 1 && with 0 call two/add --args '{"a": 1, "b": 1}' &&
		says out 2 && starts one 0 && starts two 2
}

# A name without a server in it: servers without a cached list are asked.
t_a_bare_name() {
	config "$two"', "far": {DEMO, "env": {"MCPOOL_DEMO_TOOLS": "2", "MCPOOL_DEMO_STATE": "WORK/far"}}' && with 0 call tool_2 && starts far 1 &&
		starts one 1 && with 0 call tool_2 && starts far 2 && starts one 1
}

# A server that has a new tool since it was cached: a full name finds it.
t_an_old_memory_is_no_refusal() {
	config '"it": {"command": "sh", "args": ["-c", "exec env $(cat WORK/knobs) '"$demo_server"'"]}' &&
		echo "MCPOOL_DEMO_STATE=$work/it" >"$work/knobs" && with 0 tools && starts it 1 &&
		echo "MCPOOL_DEMO_STATE=$work/it MCPOOL_DEMO_TOOLS=3" >"$work/knobs" && with 9 call tool_3 && starts it 1 &&
		with 0 call it/tool_3 && starts it 2 && with 0 call tool_3 && starts it 3
}

# Whatever its mode and residency, one call is one start.
t_every_kind_of_server_is_started_once() {
	for kind in '"mode": "session"' '"mode": "serial"' '"mode": "project"' '"start": "lazy"' '"start": "lazy", "residency": "idle:1"'; do
		rm -f "$work/it"
		config '"it": {DEMO, '"$kind"', "env": {"MCPOOL_DEMO_STATE": "WORK/it", "N": "'"$(now)"'"}}' && with 0 call it/echo message=hi &&
			starts it 1 && with 0 tools --json && starts it 1 && json 'd.tools.length === 10' && with 0 tools --fresh --json &&
			json 'd.tools[0].state === "live"' && starts it 2 && with 0 test it && starts it 3 && nothing_left || { echo "with $kind"; return 1; }
	done
}

t_an_ambiguous_name() { # U19
	config "$two" && with 9 call echo message=hi && says err "'echo' may mean more than one tool: mcp__one__echo, mcp__two__echo" &&
		calls calls_one 0 && calls calls_two 0 && with 9 call echo --json && json 'd.error.data.code === "not_found"'
}

t_an_unknown_tool() {
	config "$two" && with 9 call mcp__one__ehco && says err 'Did you mean mcp__one__echo' && with 9 call nothing_like_it &&
		says err "there is no tool 'nothing_like_it'" && with 9 call one/ech --json && json '/Did you mean/.test(d.error.message)'
}

t_what_the_tool_says() { # B51
	config "$two" && with 1 call one/fail && with 1 call one/fail --json && json 'd.isError === true' && with 0 call one/echo message=hi --json &&
		json 'd.content[0].text === "hi" && d.server === "one" && d.tool === "echo" && d.provider' && with 2 call one/add a=x && with 2 call one/add nonsense
}

t_errors_of_the_pool_as_json() {
	config "$two"', "gone": {"command": "/nonexistent/x"}, "off": {DEMO, "enabled": false}' && with 0 tools && with 5 call one/crash --json &&
		json 'd.error.code === 1003 && d.error.message.startsWith("MCP error: ") && d.error.data.code === "mcp_outcome_unknown"' &&
		json 'd.error.data.server === "one" && d.error.data.outcome === "unknown" && d.error.data.retryable === false' &&
		with 6 call one/sleep ms=20000 --timeout 2s --json && json 'd.error.code === 1004 && d.error.data.outcome === "timeout"' &&
		says err "server 'one' did not answer within 2 s" &&
		with 4 call gone/x && says err 'Failed to connect to "gone"' && with 3 call off/x --json && json 'd.error.data.code === "mcp_disabled"' &&
		nothing_left
}

# Remembered, and then it does not start any more.
t_a_server_that_fails_when_it_is_called() { # B65
	config '"late": {DEMO, "env": {"MCPOOL_DEMO_STATE": "WORK/late", "MCPOOL_DEMO_FAIL_STARTS": "2-9"}}' && with 0 tools &&
		with 4 call late/echo message=hi --json && says err 'Failed to connect to "late": ' 'exited with code 1' &&
		json 'd.error.code === 1005 && d.error.data.outcome === "not_sent" && d.error.data.server === "late"' && nothing_left
}

# B54
t_interrupt_cancels_the_call() {
	config "$two" && with 0 tools || return
	for signal in INT TERM HUP; do
		start call --config "$work/servers.json" --strict-config one/sleep ms=20000
		wait_for_line "$work/calls_one" sleep 5 || return
		kill -$signal "$mcpool_pid" && ended 130 4 && silent_on err 'MCP error' && nothing_left || return
		rm -f "$work/calls_one"
	done
}

# What the server hears, on an SDK: a cancellation, after Ctrl-C and after a timeout.
t_the_server_is_told_that_nobody_waits() {
	root=$PWD && config '"sdk": {"command": "'"$root/$node"'", "args": ["'"$root/$servers"'/sdk1.mjs"]}' && with 0 tools || return
	start call --config "$work/servers.json" --strict-config sdk/slow ms=20000
	noted 'slow started' 5 && kill -INT "$mcpool_pid" && ended 130 4 && noted 'slow cancelled' && nothing_left || return
	: >"$TEST_NOTES"
	with 6 call sdk/slow ms=60000 --timeout 6s && noted 'slow cancelled' && nothing_left
}

t_interrupt_while_starting() {
	config '"hangs": {DEMO, "env": {"MCPOOL_DEMO_HANG": "forever", "MCPOOL_DEMO_STATE": "WORK/hangs"}}'
	for verb in tools 'test --all' 'call x'; do
		rm -f "$work/hangs"
		# shellcheck disable=SC2086 # the verb and its word
		start $verb --config "$work/servers.json" --strict-config
		eventually 5 test -s "$work/hangs" || { echo "not started by $verb"; return 1; }
		kill -INT "$mcpool_pid" && ended 130 4 && nothing_left || return
	done
}

# --- status ----------------------------------------------------------------------------------------

t_status_knows_what_is_remembered() {
	config "$two" && with 0 status --json && json 'd.servers.length === 2 && d.servers.every(s => s.tools === null)' && starts one 0 &&
		with 0 tools one && with 0 status --json && json 'd.servers[0].tools === 10 && d.servers[1].tools === null' &&
		json 'Math.abs(Date.now() - d.servers[0].seenAt) < 60000' && with 0 status && says out '10 tools, seen ' && starts one 1 && starts two 0
}

t_a_thousand_servers() {
	i=0 servers=
	while [ $i -lt 1000 ]; do
		servers="$servers${servers:+,}\"s$i\": {DEMO, \"env\": {\"N\": \"$i\"}}"
		i=$((i + 1))
	done
	config "$servers" && with 0 status --json && json 'd.servers.length === 1000' && within 5000
}

# use-A16: with seconds, what may take so long, and what the server says meanwhile.
t_on_a_terminal_a_slow_start_is_told() {
	mkdir -p "$work/bin" && printf '#!/bin/sh\nsleep 2.8; echo "fetching it" >&2; sleep 1.2; exec "%s"\n' "$demo_server" >"$work/bin/npx" &&
		chmod 755 "$work/bin/npx" && printf '{"mcpServers":{"slow":{"command":"%s","args":["it"]}}}' "$work/bin/npx" >"$work/servers.json" &&
		on_terminal 0 tools --config "$work/servers.json" --strict-config &&
		says out 'starting slow ...' ' 2 s, ' 'npx may be downloading' ' s: fetching it' mcp__slow__echo
}

run_cases "$@"
