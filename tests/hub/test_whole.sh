# test_whole.sh - one hub and all that it does for a session, in one run each: which transport is taken, names,
# filters, how many servers start at once, what becomes of errors, and what is left in the end.
# `sh tests/hub/test_whole.sh start_concurrency` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=whole
. tests/hub/lib.sh
unset http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY
sdk1=$PWD/$servers/sdk1.mjs
hostile=$PWD/$servers/hostile.mjs

# far WAY: a server that is reached so; $port
far() {
	TEST_NOTES="$work/$1.notes" MCPOOL_TEST_MARK="$work" "$node" "$sdk1" "$1" >"$work/$1.log" 2>&1 </dev/null &
	wait_for_line "$work/$1.log" 'listening on' 15 && port=$(sed -n 's/^listening on //p' "$work/$1.log")
}

# given ENTRIES [SETTINGS]: in the user's file, approved
given() {
	mkdir -p "$(dirname "$user")" && printf '{"mcpServers":{%s},"mcpool":{%s}}\n' "$1" "${2:-}" >"$user" && run 0 trust --user-file --yes
}
demo() { # NAME MEMBERS
	printf '"%s":{"command":"%s",%s}' "$1" "$demo_server" "$2"
}

all_up() { [ "$("$mcpool" status --json 2>/dev/null | grep -o '"state":"connected"' | wc -l)" -eq "$1" ]; }
come_up() { run 0 up && eventually 20 all_up "$1" || { echo "not all $1 are up: $("$mcpool" status | tail -n +2)"; return 1; }; }
leave_all() { run 0 down && kill_marked && nothing_left 3; }

# D14
# By command, by address, by name, and where the name is wrong.
t_transport_choice() { # E71 B15 X14 B3 B4
	far http && http=$port && far sse && sse=$port && far ws && ws=$port &&
		given "\"a\":{\"command\":\"$node\",\"args\":[\"$sdk1\"]},\"b\":{\"url\":\"http://127.0.0.1:$http/mcp\"},
			\"c\":{\"type\":\"sse\",\"url\":\"http://127.0.0.1:$sse/sse\"},\"d\":{\"url\":\"ws://127.0.0.1:$ws/mcp\"},
			\"e\":{\"type\":\"http\",\"url\":\"http://127.0.0.1:$sse/sse?e\"},\"f\":{\"type\":\"sse\",\"url\":\"http://127.0.0.1:$http/mcp?f\"}" &&
		come_up 6 && run 0 status --json &&
		json '"a:stdio b:http c:sse d:websocket e:http f:sse" === d.servers.map((s) => `${s.name}:${s.transport}`).sort().join(" ")' &&
		talk whole_steps.mjs#call_each_transport && grep -q 'INF e: configured as "http", but it speaks "sse"' "$XDG_STATE_HOME/mcpool/hub.log" &&
		grep -q 'INF f: configured as "sse", but it speaks "http"' "$XDG_STATE_HOME/mcpool/hub.log" &&
		! grep '[a-d]: configured as' "$XDG_STATE_HOME/mcpool/hub.log" && leave_all
}

# Public names and what is kept out; a call of what is not listed does not reach the server.
# E21
t_names_and_filters() { # E71 U20 E24 A44
	given "$(demo 'my files' "\"toolsAllowed\":[\"ECHO\",\"ti*\",\"fail\"],\"toolsDenied\":[\"FAI*\"],\"env\":{\"MCPOOL_DEMO_LEDGER\":\"$work/calls\"}"),$(demo other \
		'"disabledTools":["*"]')" && come_up 2 &&
		talk whole_steps.mjs#call_by_every_name &&
		[ "$(grep -c echo "$work/calls")" -eq 5 ] && ! grep -q 'fail\|add' "$work/calls" || { echo "called: $(cat "$work/calls")"; return 1; }
	leave_all
}

# With "initConcurrency": 2 never more than two are on their way, and without it all are at once.
most_at_once() {
	$node tests/hub/most_at_once.mjs <"$work/out"
}
slow_ones() {
	for n in 1 2 3 4 5; do
		printf '%s%s' "${comma:-}" "$(demo "s$n" "\"env\":{\"MCPOOL_DEMO_SLOW_START\":\"300\",\"N\":\"$n\"}")"
		comma=,
	done
}
starts_at_once() { # SETTINGS WANTED
	given "$(slow_ones)" "$1" && start serve --json && eventually 15 all_up 5 && n=$(most_at_once) &&
		[ "$n" -eq "$2" ] || { echo "at most $n at once and not $2"; return 1; }
	kill -TERM $mcpool_pid && ended 0 5 && nothing_left 3
}
# U9 E18
t_start_concurrency() { # E71
	starts_at_once '"initConcurrency":2' 2 && starts_at_once '"initConcurrency":1' 1 && starts_at_once '' 5
}

# What a tool says, what a server says, and what the hub says: each arrives as what it is, and each with its own id.
t_errors_are_passed_on() { # E71 A47 B53
	given "$(demo a '"toolTimeout":1500'),\"b\":{\"command\":\"$node\",\"args\":[\"$hostile\",\"refuse-call\"]},\"c\":{\"command\":\"/nonexistent/c\"}" &&
		come_up 2 &&
		talk whole_steps.mjs#fail_in_every_way &&
		leave_all
}

# E11
# Sessions that leave, servers that are taken out and a hub that goes: each time exactly theirs is gone.
t_cleanup() { # E71 E53
	given "$(demo a '"mode":"session"'),$(demo b '"env":{"WHO":"b"}')" && come_up 1 &&
		talk whole_steps.mjs#call_once &&
		eventually 5 only_one_server && given "$(demo a '"mode":"session"')" && eventually 5 no_server && run 0 status --json &&
		json 'd.servers.length === 1' && leave_all && ! [ -e "$sock" ]
}
server_count() { marked | while read -r pid; do tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null; echo; done | grep -c 'demo-server'; }
only_one_server() { [ "$(server_count)" -eq 1 ]; }
no_server() { [ "$(server_count)" -eq 0 ]; }

# --- one core --------------------------------------------------------------------------------------

# What the command line finds out by itself, an agent finds at the hub: the same tools, the same failures.
t_the_endpoint_gives_what_loading_and_pool_give() {
	given "$(demo a '"env":{"WHO":"a"}'),$(demo b '"env":{"WHO":"b"},"toolsAllowed":["echo"]'),\"gone\":{\"command\":\"/nonexistent/c\"}" &&
		run 0 tools --json && json 'd.errors.length === 1 && d.errors[0].server === "gone"' &&
		$node -p 'JSON.parse(fs.readFileSync(0)).tools.map((t) => t.name).join()' <"$work/out" >"$work/names" && come_up 2 &&
		talk whole_steps.mjs#list && cmp "$work/out" "$work/names" && run 0 status --json &&
		json 'd.servers.find((s) => s.name === "gone").state === "failed" && /does not exist/.test(d.servers.find((s) => s.name === "gone").error)' && leave_all
}

# Found in a project's file, connected, killed and connected again, switched off and on, and gone with the hub.
# C25
t_from_discovery_to_cleanup() { # C1 E53 A1
	mkdir -p "$work/project/.git" && printf '{"mcpServers":{%s}}' "$(demo p '"env":{"WHO":"p"}')" >"$work/project/.mcp.json" &&
		given "$(demo a '"env":{"WHO":"a"}')" && (
		cd "$work/project" && run 0 trust --all --yes && talk whole_steps.mjs#see_it_all
	) && says out 'all of it' && finish && ! [ -e "$sock" ]
}

# From another tool's file, with its spelling of variables, through precedence and switches, to a process and its tools.
t_an_entry_goes_all_the_way() { # B1 D24
	mkdir -p "$work/project/.git" "$HOME/.cursor" && export DEMO_AT="$demo_server" WHO_IS_IT=expanded &&
		echo '{"mcpServers":{"p":{"command":"${env:DEMO_AT}","env":{"WHO":"${env:WHO_IS_IT}"}},"off":{"command":"${env:DEMO_AT}","disabled":true}}}' >"$HOME/.cursor/mcp.json" &&
		echo '{"mcpServers":{"p":{"command":"/nonexistent/second"}}}' >"$work/project/.mcp.json" && (
		cd "$work/project" && run 0 trust --all --yes && run 0 list --all --json && json 'd.servers.map((s) => s.name + " " + s.source.tool + " " + s.state).join() === "p cursor ready,off cursor disabled,p root shadowed"' &&
			talk whole_steps.mjs#list && says out mcp__p__echo && silent_on out mcp__off && run 0 status --json && json 'd.servers.filter((s) => s.pid).map((s) => s.name).join() === "p"' &&
			pid=$($node -p 'JSON.parse(fs.readFileSync(0, "utf8")).servers.find((s) => s.pid).pid' <"$work/out") && grep -qzx WHO=expanded "/proc/$pid/environ" &&
			grep -qzxF "$demo_server" "/proc/$pid/cmdline"
	) && leave_all
}

# In the background, and in the foreground with a table on a terminal: the agent cannot tell.
t_with_and_without_a_display() { # C22 C2
	given "$(demo a '"env":{"WHO":"a"}'),\"gone\":{\"command\":\"/nonexistent/c\"},\"off\":{\"command\":\"x\",\"enabled\":false}" && come_up 1 && seen_by_an_agent >"$work/without" && run 0 down || return 1
	MCPOOL_TEST_MARK="$work" TERM=xterm script -qec "$mcpool serve" /dev/null >"$work/screen" 2>&1 </dev/null &
	eventually 10 all_up 1 && seen_by_an_agent >"$work/with" && eventually 5 grep -q 'connected' "$work/screen" && run 0 down && cmp "$work/with" "$work/without" && leave_all
}
two_states='d.servers.map((s) => s.name + " " + s.state).join() === "a connected,gone failed,off disabled"'
seen_by_an_agent() {
	talk whole_steps.mjs#look_around && cat "$work/out" && run 0 status --json && json "$two_states" || return 1
}

# --- results ---------------------------------------------------------------------------------------

# U22
# Too much for a screen: both ends, how much is missing, and all of it through the handle.
t_oversize_result() { # U22
	given "$(demo a '"env":{"WHO":"a"}')" '"result":{"maxBytes":1000}' && run 0 call a/big bytes=5000 && cp "$work/out" "$work/shown" &&
		[ "$(wc -c <"$work/shown")" -lt 1200 ] && grep -q 'TRUNCATED 4000 bytes' "$work/shown" || { echo "shown: $(head -c 300 "$work/shown")"; return 1; }
	handle=$(grep -o 'mcpool://results/[0-9a-f]*' "$work/shown") && come_up 1 &&
		HANDLE=$handle talk whole_steps.mjs#read_the_whole_result &&
		head -c 400 "$work/out" >"$work/head" && head -c 400 "$work/shown" | cmp - "$work/head" &&
		tail -c 400 "$work/out" >"$work/tail" && tail -c 400 "$work/shown" | cmp - "$work/tail" &&
		talk whole_steps.mjs#get_a_big_result && leave_all
}

# U22 B50
t_oversize_result_of_a_session() {
	given "$(demo a '"env":{"WHO":"a"},"toolResults":{"echo":0}')" '"profile":"netdata","result":{"maxBytes":1000}' && come_up 1 &&
		talk whole_steps.mjs#get_a_shortened_result && leave_all
}

# B50 B51 E26 X22: Everything that the server said, and whose it was; the record of seed 003; the netdata profile puts nothing
# between two texts.
t_all_of_a_result() {
	given "\"x\":{\"command\":\"$node\",\"args\":[\"$hostile\",\"extras\"]}" && run 0 call x/echo --json &&
		json 'd.server === "x" && d.tool === "echo" && d.provider === "mcpool" && JSON.stringify(d.content) === `[{"type":"text","text":"one"},{"type":"text","text":"two"}]` && d.structuredContent.n === 1 && d._meta["a.b/c"][0] === 1' &&
		json 'd.ok === true && d.result.startsWith("one\n\ntwo") && d.kind === "mcp" && d.namespace === "x" && d.latencyMs >= 0 && d.latencyMs < 60000' &&
		json 'JSON.stringify(Object.keys(d.extras)) === "[\"more\"]" && d.extras.more === true && !("more" in d)' &&
		run 0 call mcp__x__echo --json && json 'd.server === "x" && d.tool === "echo"' &&
		run 0 call x/echo && [ "$(sed -n 3p "$work/out")" = two ] || { echo "not so: $(cat "$work/out")"; return 1; }
	given "\"x\":{\"command\":\"$node\",\"args\":[\"$hostile\",\"extras\"]}" '"profile":"netdata"' && run 0 call x/echo && says out onetwo &&
		run 0 call x/echo --json && json 'd.content[0].text === "one" && d.content[1].text === "two" && d.result.startsWith("onetwo")' || return 1
	given "\"x\":{\"command\":\"$node\",\"args\":[\"$hostile\",\"extras\"]}" '"result":{"join":" + "}' && run 0 call x/echo && says out 'one + two' && nothing_left
}

# E26 D17 B52: the same members of a result with isError, an error of the server, a lost call and a server that does not start;
# a member of the server's named like one of ours is among its extras.
t_a_record_of_each_call() {
	given "$(demo a '"env":{"WHO":"a"}'),\"no\":{\"command\":\"$node\",\"args\":[\"$hostile\",\"refuse-call\"]},\"liar\":{\"command\":\"$node\",\"args\":[\"$hostile\",\"liar-result\"]}
		,\"down\":{\"command\":\"/bin/sh\",\"args\":[\"-c\",\"exit 3\"]}" || return 1
	for how in alone hub; do
		run 0 call a/sleep ms=150 --json && record a true && json 'd.latencyMs >= 145 && Object.keys(d.extras).join() === "resultType"' &&
			run 6 call a/sleep ms=9000 --timeout 200 --json && record a false && json 'd.latencyMs > 20 && d.latencyMs < 1000' &&
			run 1 call a/fail --json && record a false && json '/^Error: /.test(d.result) && d.isError === true' &&
			run 5 call no/echo --json && record no false && json 'd.error.code === -32050 && d.failure' &&
			run 5 call a/crash --json && record a false && json 'd.error.data.code === "mcp_outcome_unknown" && !("result" in d)' &&
			run 4 call down/echo --json && record down false && json 'd.latencyMs === 0' &&
			run 0 call liar/echo --json && record liar true && json 'd.result === "x" && d.extras.ok === "yes" && d.extras.namespace === "other"' || return 1
		[ $how = hub ] || come_up 3 || return 1
	done
	leave_all
}
record() { # SERVER OK
	json "d.ok === $2 && d.kind === 'mcp' && d.namespace === '$1' && typeof d.latencyMs === 'number' && d.latencyMs >= 0 && d.latencyMs < 60000" &&
		[ "$(grep -o '"ok":' "$work/out" | wc -l)" -le 2 ]
}

run_cases "$@"
