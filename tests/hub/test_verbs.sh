# test_verbs.sh - one-shot verbs with a hub running: they go through it, start nothing twice, and say what they say
# without one. `sh tests/hub/test_verbs.sh calls_start_nothing` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=hub-verbs
. tests/hub/lib.sh

# noting NAME [VARIABLES]: a demo server that notes each of its starts in $work/NAME
noting() {
	printf '"%s":{"command":"%s","env":{"MCPOOL_DEMO_STATE":"%s"%s}}' "$1" "$demo_server" "$work/$1" "${2:+,$2}"
}
starts() { # NAME COUNT
	n=$(cat "$work/$1" 2>/dev/null | wc -c)
	[ "$n" -eq "$2" ] || { echo "$n starts of $1 and not $2"; return 1; }
}
trusted() { configure "$user" "$@" && run 0 trust --user-file --yes; } # ENTRY...

# What may differ: whether a tool is live, and when a server that failed is tried again.
plain() { sed 's/"state":"live"/"state":"deferred"/g; s/,"nextAt":[0-9]*//; s/,"attempt":[0-9]*//; s/"retryable":[a-z]*//; s/"latencyMs":[0-9.e-]*//
	s|mcpool://results/[0-9a-f]*|RESULT|; s/env from:.*/env from:/; s/"environment":"[^"]*"/"environment":""/' "$1"; }

# both WANTED ARGUMENTS...: alone, where no hub can be reached, and by the hub: the same, word for word
both() {
	rm -f "$XDG_STATE_HOME/mcpool/hub.place" # or it would lead to the running hub
	XDG_RUNTIME_DIR="$work/nowhere" run "$@" || { echo "alone: $*: $(head -c 300 "$work/err")"; return 1; }
	plain "$work/out" >"$work/out.alone"
	plain "$work/err" >"$work/err.alone"
	run "$@" || { echo "by the hub: $*: $(head -c 300 "$work/err")"; return 1; }
	plain "$work/out" >"$work/out.hub"
	plain "$work/err" >"$work/err.hub"
	cmp -s "$work/out.alone" "$work/out.hub" || { echo "$*: stdout differs: $(diff "$work/out.alone" "$work/out.hub" | head -c 1600 | tr "\n" "~")"; return 1; }
	cmp -s "$work/err.alone" "$work/err.hub" || { echo "$*: stderr differs: $(diff "$work/err.alone" "$work/err.hub" | head -c 1600 | tr "\n" "~")"; return 1; }
}
settled() { "$mcpool" status --json | grep -q '"state":"connected"' && ! "$mcpool" status --json | grep -q '"state":"pending"'; }

# The one promise of mcpool, for its own command line too.
t_calls_start_nothing() {
	trusted "$(noting a)" "$(noting b)" && up && eventually 5 settled && starts a 1 && starts b 1 || return 1
	for i in 1 2 3; do
		run 0 call a/echo "message=$i" && says out "$i" || return 1
	done
	run 0 tools && run 0 tools --json && json 'd.tools.every((t) => t.state === "live")' && run 0 tools a &&
		run 0 tools --schema a/echo && says out message && run 0 resources && run 0 prompts && run 0 prompt a/greet name=you &&
		run 0 read mcpool://a/demo%3A%2F%2Freadme && starts a 1 && starts b 1 && finish
}

# What says how servers are to be found or spoken to is not the hub's.
t_a_config_of_its_own_is_a_hub_of_its_own() {
	trusted "$(noting a)" && up && eventually 5 settled && configure "$work/other.json" "$(noting other)" &&
		run 0 call --config "$work/other.json" other/echo message=hi && says out hi && starts other 1 && starts a 1 &&
		run 0 call --config "$work/other.json" --strict-config other/echo message=hi && starts other 2 &&
		run 0 call --era legacy a/echo message=hi && starts a 2 && run 0 call echo message=hi -- "$demo_server" && finish
}

t_the_same_by_both_ways() {
	trusted "$(noting a)" "$(noting b)" && run 0 tools && up && eventually 5 settled &&
		both 0 tools && both 0 tools --json && both 0 tools a && both 0 tools b a --json && both 0 tools --fresh --json &&
		both 0 tools --schema a/add && both 9 tools --schema a/nothing && both 9 tools nobody && both 2 tools a a &&
		both 0 prompts && both 0 prompts --json && both 0 prompts b && both 0 resources && both 0 resources --json &&
		both 0 resources a --json && both 0 call a/echo message=hi && both 0 call --json mcp__b__add a=1 b=2 &&
		both 0 call a__echo --args '{"message":"\u00e4 \" \\"}' && both 0 call --json a/big bytes=300000 && both 0 call a/big bytes=300000 &&
		both 0 prompt a/greet name=you && both 0 prompt --json a/greet name=you style=pirate &&
		both 0 read mcpool://a/demo%3A%2F%2Freadme && both 0 read --json mcpool://b/demo%3A%2F%2Freadme && finish
}

# --- questions of servers, on a terminal -------------------------------------------------------------

asking() { # NAME MODE ERA
	printf '"%s":{"command":"%s","env":{"WHO":"%s"},"mode":"%s","era":"%s"}' "$1" "$demo_server" "$1" "$2" "$3"
}
pty() { MCPOOL_TEST_MARK="$work" timeout -k 2 40 "$(dirname "$mcpool")/tests/pty" "$@" >"$work/out"; }
# typed WANTED SERVER STEP...: a person calls its tool `ask`
typed() {
	wanted=$1 server=$2
	shift 2
	pty "$@" -- "$mcpool" call "$server/ask"
	exits "$wanted" $? || { echo "$server $*: $(tail -c 400 "$work/out")"; return 1; }
}
forms() {
	for server in "$@"; do
		typed 0 "$server" '> =Ada' 'Send this?=y' && says out "$server asks: What is your name?" Ada &&
			typed 0 "$server" '> =Ada' 'Send this?=n' && says out 'the user declined' &&
			typed 0 "$server" '> =Ada' 'Send this?=c' && says out 'the user cancelled' &&
			typed 130 "$server" '> =^C' && silent_on out 'Send this?' && run 0 call "$server/echo" message=hi || return 1
	done
}
asked() { trusted "$(asking own session legacy)" "$(asking serial serial legacy)" "$(asking modern shared modern)" "$(asking shared shared legacy)"; }

t_questions_are_answered_by_the_own_hub() { # use-A7
	asked && forms own serial modern && ! running
}
t_questions_are_answered_through_the_hub() { # use-A7
	asked && up && eventually 5 settled && forms own serial modern && running && finish
}
# A server that all share is not offered it, and the user reads what would help.
t_a_shared_server_cannot_ask() {
	asked && typed 1 shared && says out 'did not declare the capability' '"mode": "session"' && up && eventually 5 settled &&
		typed 1 shared && says out 'did not declare the capability' '"mode": "session"' && finish
}
# Without a terminal nothing is asked.
t_questions_need_a_terminal() {
	asked && both 5 call modern/ask && says err 'on a terminal' && both 1 call own/ask && up && eventually 5 settled && both 5 call modern/ask && finish
}
t_a_hub_that_dies_ends_a_question() {
	asked && up && eventually 5 settled || return 1
	hub=$(hub_pid)
	pty -- "$mcpool" call own/ask &
	terminal=$!
	eventually 10 grep -q '> ' "$work/out" && kill -9 "$hub" || return 1
	wait "$terminal"
	exits 5 $? && says out 'the hub went away during the call' && nothing_left 3
}

t_large_answers_pass() {
	[ -z "$sanitized" ] || return 0
	trusted "$(noting a)" && up && eventually 5 settled && both 0 call --json a/big bytes=30000000 && both 5 call a/big bytes=33554432 && finish
}

t_failures_are_the_same_by_both_ways() {
	trusted "$(noting a)" "$(noting b)" "$(noting hidden)" \
		'"down":{"command":"/bin/sh","args":["-c","echo no database >&2; exit 3"]}' \
		'"off":{"command":"x","enabled":false}' &&
		run 0 tools && up && eventually 5 settled || return 1
	both 9 call nothing && both 9 call a/nothing && both 9 call a/ehco && both 9 call echo message=hi &&
		both 2 call a/add a=1 b=x && both 1 call a/fail && both 1 call --json a/fail && both 6 call a/sleep ms=20000 --timeout 2s &&
		both 6 call --json a/sleep ms=20000 --timeout 2s && both 4 call down/x && both 4 call --json down/x &&
		both 3 call off/x && both 0 tools && both 0 tools --json && both 4 tools down && both 4 tools down --json &&
		both 9 prompt nothing && both 9 prompt greet && both 5 prompt a/greet && both 5 prompt --json a/greet &&
		both 9 read demo://readme && says err 'more than one server: mcpool://a/' && both 9 read nothing://at-all &&
		both 9 read mcpool://nobody/x && both 5 read mcpool://a/demo%3A%2F%2Fnothing && both 5 call a/crash &&
		both 5 call --json b/crash && both 0 call a/echo message=again && finish
}

# A server that was given up is tried again when a verb asks for it.
t_a_command_that_is_not_there_yet() {
	trusted "$(noting a)" "\"gone\":{\"command\":\"$work/later\"}" && up && eventually 5 settled && both 4 call gone/echo message=hi &&
		both 4 call --json gone/echo message=hi && both 4 tools gone &&
		printf '#!/bin/sh\nexec "%s"\n' "$demo_server" >"$work/later" && chmod 755 "$work/later" &&
		both 0 call gone/echo message=hi && finish
}

# Not approved, and not logged in.
t_what_waits_for_a_person() {
	mkdir -p "$work/project/.git" && configure "$work/project/.mcpool/mcp.json" "$(noting mine)" || return 1
	MCPOOL_TEST_MARK="$work" $node -e '
		require("http").createServer((q, s) => { s.writeHead(401); s.end(); }).listen(0, "127.0.0.1", function () {
			require("fs").writeFileSync(process.argv[1], String(this.address().port)); })' "$work/port" </dev/null >/dev/null 2>&1 &
	server=$!
	eventually 5 [ -s "$work/port" ] && trusted "$(noting a)" "\"locked\":{\"url\":\"http://127.0.0.1:$(cat "$work/port")/mcp\"}" &&
		cd "$work/project" && run 0 tools && up && eventually 5 settled && both 7 call mine/echo message=hi && both 7 tools mine &&
		both 8 call locked/x && both 8 tools locked && both 0 tools && both 0 tools --json && starts mine 0 || return 1
	kill "$server"
	finish
}

# Resources of a single server have their own names, and templates fit.
t_one_server_keeps_its_uris() {
	trusted "$(noting a)" && up && eventually 5 settled && both 0 resources && says out demo://readme && both 0 read demo://readme &&
		both 0 read demo://greeting/you && says out you && both 0 resources --json &&
		json 'd.resources.every((r) => r.server === "a" && r.uri === r.resource) && d.resourceTemplates.length === 1' &&
		both 5 read demo://nothing && silent_on err '--schema' && silent_on err 'tool:' && run 0 read demo://logo && both 0 call echo message=hi && finish
}

# A server that was just added is there at once: verbs do not wait for the hub to notice.
# B59
t_a_server_that_was_just_added_is_there() {
	trusted "$(noting a)" && up && eventually 5 settled || return 1
	for i in 1 2 3; do
		run 0 add "new$i" --env "WHO=$i" -- "$demo_server" && run 0 call "new$i/echo" message=hi && says out hi &&
			run 0 remove "new$i" && run 9 call "new$i/echo" message=hi || return 1
	done
	finish
}

# A tool of a server that changes its list without a word: only --fresh sees it.
t_fresh_asks_again() {
	trusted "$(noting a)" && up && eventually 5 settled && run 0 call a/change && run 0 tools --fresh && says out mcp__a__extra &&
		starts a 1 && finish
}

# A server that comes up slowly is waited for, and only if it could have the tool.
t_others_are_not_waited_for() {
	trusted "$(noting a)" "$(noting slow '"MCPOOL_DEMO_HANG":"4000"')" && up || return 1
	run 0 call a/echo message=hi && run 0 status slow --json && json 'd.state === "pending"' &&
		run 0 call slow/echo message=late && says out late && starts slow 1 && run 0 tools && says out mcp__slow__echo && finish
}

t_cancelling_reaches_the_server() {
	trusted "$(noting a "\"MCPOOL_DEMO_ENDS\":\"$work/ends\",\"MCPOOL_DEMO_LEDGER\":\"$work/ends\"")" && up && eventually 5 settled || return 1
	start call a/sleep ms=20000
	wait_for_line "$work/ends" sleep 5 && kill -INT "$mcpool_pid" && ended 130 3 && wait_for_line "$work/ends" 'end cancelled' 3 &&
		run 0 call a/echo message=on && starts a 1 && finish
}

# The hub dies during a call: its outcome is unknown, and the verb says so.
t_the_hub_dies_in_a_call() {
	trusted "$(noting a "\"MCPOOL_DEMO_LEDGER\":\"$work/ledger\"")" && up && eventually 5 settled || return 1
	start call --json a/sleep ms=20000
	wait_for_line "$work/ledger" sleep 5 && kill -KILL "$(hub_pid)" && ended 5 3 &&
		says err 'the hub went away during the call, which may have happened' &&
		json 'd.error.data.code === "mcp_outcome_unknown" && d.error.data.outcome === "unknown" && d.error.data.server === "a"' &&
		nothing_left 3 && run 0 call a/echo message=again && says out again && nothing_left 3
}

# A hub that leaves lets a call finish, and takes no more: the next one goes without it.
t_a_hub_that_leaves() {
	trusted "$(noting a "\"MCPOOL_DEMO_LEDGER\":\"$work/ledger\"")" && up && eventually 5 settled || return 1
	start call a/sleep ms=1500
	cp "$work/out" "$work/out.0"
	wait_for_line "$work/ledger" sleep 5 || return 1
	MCPOOL_TEST_MARK="$work" "$mcpool" down >"$work/down" 2>&1 </dev/null &
	down=$!
	sleep 0.3
	MCPOOL_TEST_MARK="$work" "$mcpool" call a/echo message=meanwhile >"$work/out2" 2>"$work/err2" </dev/null ||
		{ echo "meanwhile: $(cat "$work/err2")"; return 1; }
	grep -q meanwhile "$work/out2" && ended 0 5 && wait "$down" && nothing_left 3
}

# Whose servers are its own: they go with the command.
t_private_servers_leave_with_the_command() {
	entry=$(noting own) && trusted "$(noting a)" "${entry%\}},\"mode\":\"session\"}" && up && eventually 5 settled &&
		run 0 call own/echo message=hi && starts own 1 && run 0 call own/echo message=hi && starts own 2 &&
		eventually 3 only_one_server && finish
}
only_one_server() {
	n=0
	for pid in $(marked); do
		tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q 'demo-server' && n=$((n + 1))
	done
	[ $n = 1 ]
}

# A60
t_switched_off_in_the_hub_alone() {
	trusted "$(noting a)" "$(noting b)" && up && eventually 5 settled && run 0 disable --now b && run 0 tools && silent_on out mcp__b__ &&
		run 3 call b/echo message=hi && says err 'disabled in the running hub' && run 0 enable --now b && run 0 call b/echo message=hi && finish
}

# A hub that says why a call failed, and nothing of the server: the reason is told all the same.
t_a_failure_without_a_word_of_the_server() {
	trusted "$(noting a)" && up && eventually 5 settled && mkdir -p -m 700 "$work/other/mcpool" && rm -f "$XDG_STATE_HOME/mcpool/hub.place" || return 1
	MCPOOL_TEST_MARK="$work" $node tests/hub/without_status.mjs "$sock" "$work/other/mcpool/hub.sock" </dev/null >/dev/null 2>&1 &
	between=$!
	eventually 5 [ -S "$work/other/mcpool/hub.sock" ] && XDG_RUNTIME_DIR="$work/other" run 5 call a/crash && says err 'went away during the call'
	r=$?
	kill "$between"
	[ $r = 0 ] && finish
}

# What files say may run, does: `list` says how it goes.
t_list_says_what_runs() {
	trusted "$(noting a)" '"down":{"command":"/bin/sh","args":["-c","exit 3"],"restart":{"mode":"none"}}' '"off":{"command":"x","enabled":false}' &&
		run 0 list && says out ready && run 0 list --json && json 'd.servers[0].state === "ready" && d.servers[0].pid === null' &&
		up && eventually 5 settled && run 0 list && says out connected failed disabled 'exited with code 3' &&
		run 0 list --json && json 'd.servers[0].state === "connected" && d.servers[0].pid > 0 && d.servers[0].tools === 10' &&
		json 'd.servers[1].state === "failed" && /code 3/.test(d.servers[1].error) && d.servers[2].state === "disabled"' &&
		json 'd.servers[0].restarts === 0 && d.servers[0].uptimeMs >= 0' && configure "$work/x.json" "$(noting a)" &&
		run 0 list --config "$work/x.json" && silent_on out connected &&
		run 0 get a && says out 'state        connected' 'mode         shared' 'cwd  ' 'timeout      30000 ms' && # use-A17
		run 0 get down && says out 'state        failed, ' && run 0 get a --json && json 'd.state === "connected" && d.pid > 0' &&
		run 0 status down && says out 'withheld     roots, sampling, elicitation ("mode": "session"' && finish
}

# C7: in its entry, by a list of the settings, for now; said by each verb, with the place.
t_where_it_was_switched_off() {
	mkdir -p "$(dirname "$user")" && printf '{"mcpServers":{%s,\n"off":{"command":"x","enabled":false},\n%s},\n"mcpool":{"deny":["denied"]}}\n' "$(noting a)" "$(noting denied)" >"$user" &&
		run 0 trust --all --yes && up && eventually 5 settled && run 0 disable --now a || return 1
	for pair in "off|switched off in $user:2" "denied|by the list \"deny\" in $user:4" 'a|switched off for now, in the hub and in no file: mcpool enable --now a'; do
		for verb in 'status' 'get'; do
			run 0 $verb "${pair%%|*}" && says out "${pair#*|}" && grep -q '^state  *disabled' "$work/out" && run 0 $verb "${pair%%|*}" --json &&
				WHERE="${pair#*|}" json 'd.state === "disabled" && d.error === process.env.WHERE' || return 1
		done
		for verb in 'status' 'list'; do
			run 0 $verb && says out "${pair#*|}" || return 1
		done
	done
	finish
}

# C3 C4 C6: `status NAME` and `get` show what a connected server said of itself, and of a failed one when, which attempt
# of how many, and the next; lists have none of the texts.
t_all_about_one_server() {
	trusted "$(noting a)" '"down":{"url":"http://127.0.0.1:1/mcp","restart":{"mode":"remote"}}' \
		"$(noting again '"MCPOOL_DEMO_FAIL_STARTS":"2","MCPOOL_DEMO_HANG":"forever"')" &&
		up && eventually 5 again_waits && eventually 10 down_failed || return 1
	for verb in status get; do
		run 0 $verb a && says out 'server       mcpool-demo ' '(mcpool demo server)' 'protocol     20' 'capabilities {"tools":{"listChanged":true}' \
			'instructions This server is for trying things out.' && silent_on out 'failed at' &&
			grep -qE '^server +mcpool-demo [0-9][^ ]* \(mcpool demo server\)$' "$work/out" && run 0 $verb a --json &&
			json 'd.serverInfo.name === "mcpool-demo" && d.serverInfo.title === "mcpool demo server" && d.serverInfo.version && d.capabilities.resources.subscribe === true' &&
			json '/^20/.test(d.protocol) && /^This server/.test(d.instructions) && d.failedAt === null && d.attempt === null' &&
			eventually 10 down_is_told && run 0 $verb again && grep -q '^state  *pending' "$work/out" && grep -q '^attempt  *1$' "$work/out" &&
			run 0 $verb again --json && json 'd.state === "pending" && d.attempt === 1 && d.maxAttempts === null' || return 1
	done
	for verb in status list; do
		run 0 $verb --json && json 'd.servers.length === 3 && d.servers.every((s) => !s.capabilities && !s.serverInfo && !s.protocol && !s.instructions)' &&
			silent_on out instructions serverInfo listChanged || return 1
	done
	run 9 status nobody && finish
}
again_waits() { "$mcpool" status a --json | grep -q '"state":"connected"' && "$mcpool" status again --json | grep -q '"state":"pending".*"attempt":1,'; }
down_failed() { "$mcpool" status down --json | grep -q '"attempt":3,'; }
# There is no next try while one is being made.
down_is_told() {
	run 0 $verb down && grep -qE '^(error  *|state  *failed, ).*127\.0\.0\.1' "$work/out" && says out 'failed at    20' 'attempt      ' ' of 5' 'next try     20' '127.0.0.1' && silent_on out instructions capabilities && run 0 $verb down --json &&
		json 'd.state === "failed" && /127\.0\.0\.1/.test(d.error)' && json 'd.attempt >= 3 && d.attempt <= 5 && d.maxAttempts === 5 && Math.abs(Date.now() - d.failedAt) < 60000 && d.nextAt >= d.failedAt + 3990 && !("instructions" in d)'
}

# D40 U31 X20: what is known of each server, while one call runs, another waits and one has failed; secrets are dots.
t_all_figures_of_a_server() {
	export HUNTER=hunter2hunter2
	mkdir -p "$(dirname "$user")" && printf '{"mcpServers":{"a":{"command":"%s","queue":"one"},"down":{"command":"/bin/sh","args":["-c",
		"echo no database; echo token=$HUNTER is wrong >&2; exit 3"],"restart":{"schedule":[0,60000]}}},"mcpool":{"queues":{"one":{"slots":1}}}}\n' \
		"$demo_server" >"$user" && run 0 trust --user-file --yes && up && talk verbs_steps.mjs#read_the_figures || return 1
	run 0 status a && says out ' calls, 1 failure' && run 0 get a --json && json 'd.failures === 1' &&
		run 0 status down && says out 'token=' 'exited with code 3' 'attempt' 'next try' && silent_on out hunter2 && silent_on err hunter2 &&
		! grep -rq hunter2 "$XDG_STATE_HOME/mcpool/hub.log" "$XDG_STATE_HOME/mcpool/logs" && grep -q 'token=' "$XDG_STATE_HOME/mcpool/logs/down.log" && finish
}

# X6 A28 U7: each of the states has one of three words as `status`, in status, list and get.
t_three_words_for_each_state() {
	mkdir -p "$work/project/.git" && configure "$work/project/.mcpool/mcp.json" '"waits":{"command":"x"}' || return 1
	trusted "$(noting up)" "$(noting slow '"MCPOOL_DEMO_HANG":"forever"')" '"down":{"command":"/bin/sh","args":["-c","exit 3"],"restart":{"mode":"none"}}' \
		'"off":{"command":"y","enabled":false}' "$(noting lazy '"WHO":"lazy"' | sed 's/}}$/},"start":"lazy"}/')" || return 1
	words='Object.fromEntries(d.servers.map((s) => [s.name, s.state + " " + s.status]))'
	cd "$work/project" && up && eventually 5 reads_up && run 0 status --json && cd "$OLDPWD" &&
		json "Object.entries({ up: 'connected connected', slow: 'pending connecting', down: 'failed disconnected',
			off: 'disabled disconnected', lazy: 'ready disconnected', waits: 'needs-approval disconnected' })
			.every(([k, v]) => $words[k] === v)" && json '/code 3/.test(d.servers.find((s) => s.name === "down").error)' &&
		run 0 list --json && json 'd.servers.every((s) => s.status === (s.state === "connected" ? "connected" : s.state === "pending" ? "connecting" : "disconnected"))' &&
		run 0 get up --json && json 'd.status === "connected"' && run 0 get slow --json && json 'd.status === "connecting"' &&
		run 0 get off --json && json 'd.status === "disconnected"' && finish
}
reads_up() { "$mcpool" status --json | grep -q '"name":"up","state":"connected","status":"connected"' && "$mcpool" status --json | grep -q '"state":"failed"'; }

# `test` is about a start: it makes one, and what runs in the hub is left alone.
t_test_is_a_start_of_its_own() {
	trusted "$(noting a)" && up && eventually 5 settled && run 0 test a && says out 'a: works, 10 tools' 'handshake' && starts a 2 &&
		run 0 call a/echo message=hi && starts a 2 && finish
}

run_cases "$@"
