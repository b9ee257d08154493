# test_broken.sh - servers that are broken in ten ways, on real processes and sockets of this machine: `doctor`,
# `status NAME` and `explain CODE` each name the cause and what to type. What else `doctor` finds, and fixes.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=broken
. tests/hub/lib.sh
tree=$PWD
broken="$tree/tests/servers/broken.mjs"

# behind NAME COMMAND...: it runs in the background and prints its port, which is then in $port
behind() {
	as=$1
	shift
	MCPOOL_TEST_MARK="$work" "$@" >"$work/$as" 2>&1 </dev/null &
	eventually 10 grep -qs '[0-9]$' "$work/$as" || { echo "$as does not listen"; return 1; }
	port=$(sed -n 's/^\(listening on \)*\([0-9][0-9]*\)$/\2/p' "$work/$as")
}

entry() { printf '"%s":{"command":"%s","args":["%s"%s],"timeout":%d}' "$1" "$node" "$broken" ",\"$2\"${3:+,\"$3\"}" "${4:-20000}"; }

ten() { # in the user's file, approved
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=x -addext subjectAltName=IP:127.0.0.1 \
		-keyout "$work/key" -out "$work/cert" 2>/dev/null || { echo 'no certificate'; return 1; }
	behind denied "$node" "$broken" denied && denied=$port && behind secure "$node" tests/servers/secure.mjs 0 "$work/key" "$work/cert" || return 1
	label=$(printf 'a%.0s' $(seq 64)) # longer than a name may be: no resolver is asked
	configure "$user" '"command":{"command":"no-such-program"}' '"variable":{"command":"true","env":{"URL":"${DATABASE_URL}"}}' \
		"$(entry port port "$denied")" "$(entry node node)" "$(entry hang hang '' 300)" "$(entry crash crash)" \
		"\"denied\":{\"url\":\"http://127.0.0.1:$denied/mcp\"}" "\"tls\":{\"url\":\"https://127.0.0.1:$port/mcp\"}" \
		'"proxy":{"url":"http://through.invalid/mcp"}' "\"dns\":{\"url\":\"http://$label.invalid/mcp\"}" "$(entry wants variable)"
	# The proxy is a port of this machine that is closed; the name behind it is never resolved here.
	export http_proxy=http://127.0.0.1:1 no_proxy="$label.invalid"
	run 0 trust --user-file --yes
}
tried() { # by a hub
	ten && up && eventually 10 all_failed || { echo "not all failed: $("$mcpool" status)"; return 1; }
}
all_failed() {
	"$mcpool" status --json >"$work/out" && $node -e '
		const d = JSON.parse(fs.readFileSync(process.argv[1])).servers, crash = d.find((s) => s.name === "crash");
		process.exit(d.every((s) => s.error && s.state !== "connected") && crash.attempt > 2 && crash.nextAt > Date.now() + 1500 ? 0 : 1)' "$work/out"
}

# SERVER|what each must name|the code that a call has|what its page names
table="command|'no-such-program' is not installed|command=|mcp_unavailable|not installed
variable|DATABASE_URL is not set|--env DATABASE_URL=VALUE|invalid|is not set
wants|DATABASE_URL, which it needs, is not set|--env DATABASE_URL=VALUE|mcp_unavailable|variable that it needs is not set
port|is in use by another process|ss -ltnp|mcp_unavailable|a port that it listens at is in use
node|needs a newer Node.js than v|nvm install --lts|mcp_unavailable|a newer Node.js
hang|does not answer: it hangs|--timeout 2m|mcp_timeout|hangs
crash|ends by itself, again and again|mcpool logs crash|mcp_unavailable|ends again and again
denied|wants a login, or the token is wrong|mcpool login denied|mcp_needs_auth|wants a login
tls|(TLS) is signed by itself|tls:='{\"ca\"|mcp_unavailable|certificate (TLS)
proxy|the proxy that http_proxy or https_proxy names|_proxy|mcp_unavailable|the proxy that http_proxy
dns|is not known here (DNS)|--url URL|mcp_unavailable|(DNS)"

crash_waits() { run 3 doctor crash && grep -q "^next try " "$work/out"; }

# E75 E76
t_ten_broken_servers() {
	tried && run 3 doctor && cp "$work/out" "$work/doctor" || return 1
	grep -q '^[0-9]* more\|^. 1[0-9] checks are fine' "$work/doctor" || { echo "$(tail -n 2 "$work/doctor")"; return 1; }
	echo "$table" | while IFS='|' read -r who cause fix word page; do
		grep -A 1 -F " $who: " "$work/doctor" >"$work/out"
		says out "$cause" "$fix" && run 0 status "$who" && says out "$cause" "$fix" &&
			run 0 explain "$word" && says out "$page" || { echo "$who"; exit 1; }
	done || return 1
	grep -q "^. port: port $denied is in use by another process: process [0-9]*, broken.mjs" "$work/doctor" || { grep port "$work/doctor"; return 1; }
	run 3 doctor hang && says out 'limits       0.3 s to start, ' 'probe        ping when in doubt: 0 sent' 'start-failed after' &&
		eventually 5 crash_waits && says out 'restarted after 0, 1, 2, 5, 10, 30, 60 s' 'exited with code 7' 'transport-exit' &&
		run 3 doctor crash --json && json 'd.findings.length === 1 && d.findings[0].check === "servers" && d.findings[0].severity === "error" &&
			d.findings[0].server === "crash" && d.findings[0].fix.startsWith("mcpool logs crash") && d.status.health.changes.length > 3' &&
		run 9 doctor nosuch && run 0 down && kill_marked
}
# The code of a call is that of the table, and its next step the fix, where words are known; in a hub of the call's own.
t_codes_of_calls() {
	ten || return 1
	echo "$table" | grep -v '^crash' | while IFS='|' read -r who _ fix word _; do
		run '3|4|6|8' call --config "$user" "$who/x" && says err "$word" || { echo "$who"; exit 1; }
		case $who in
		variable | hang | denied) ;;
		*) says err "$fix" || { echo "$who"; exit 1; } ;;
		esac
	done && kill_marked
}
# What is not approved is neither looked up nor dialled, and nothing is started.
t_only_what_is_approved_is_dialled() {
	behind denied "$node" "$broken" denied || return 1
	configure "$user" "\"a\":{\"url\":\"http://127.0.0.1:$port/a\"}" "\"b\":{\"command\":\"touch\",\"args\":[\"$work/started\"]}" &&
		run 0 doctor && silent_on denied /a && run 0 trust --all --yes && run 0 doctor && says denied 'HEAD /a' && silent_on denied authorization &&
		[ ! -e "$work/started" ]
}
# Without a hub the files, the variables of this shell and the network are looked at.
t_without_a_hub() {
	configure "$user" '"a":{"command":"no-such-program"}' '"b":{"command":"true","env":{"X":"${SOME_THING}"}}' '"c":{"url":"http://127.0.0.1:1/mcp"}' &&
		run 0 trust --user-file --yes && run 3 doctor && says out "'no-such-program' is not installed" 'SOME_THING is not set' 'nothing listens there' &&
		SOME_THING=x && export SOME_THING && run 3 doctor && silent_on out SOME_THING && run 3 doctor --json &&
		json 'd.findings.filter((f) => f.check !== "duplicates").map((f) => f.check).join() === "commands,remote" && d.more === 0' # other tests run beside this one
}
t_fixes_what_is_ours() {
	with a && up && kill -KILL "$(hub_pid)" && eventually 5 is_down "$(hub_pid)" && eventually 5 none_marked && chmod 644 "$XDG_STATE_HOME/mcpool/local.key" &&
		chmod 666 "$user" && run 3 doctor && says out 'others may read it (mode 644)' 'others may write to it (mode 666)' 'the socket of a hub that was killed' &&
		[ -S "$sock" ] && run 0 doctor --fix && [ ! -e "$sock" ] && [ "$(stat -c %a "$XDG_STATE_HOME/mcpool/local.key" "$user" | tr '\n' ' ')" = '600 644 ' ] &&
		run 0 doctor --all && says out 'no hub that was killed has left its socket' && up && finish
}
# One was started by a program without XDG_RUNTIME_DIR, while nothing said where the first one is.
t_a_second_hub() {
	with a && up && first=$(hub_pid) && rm "$XDG_STATE_HOME/mcpool/hub.place" && (unset XDG_RUNTIME_DIR && run 0 up) &&
		second=$(cat "$XDG_STATE_HOME/mcpool/run/hub.lock") && [ "$first" != "$second" ] && run 3 doctor &&
		says out "a second one runs, as process $second in $XDG_STATE_HOME/mcpool/run" "kill $second" && kill "$second" && finish
}
t_a_hub_that_does_not_answer() {
	with a && up && kill -STOP "$(hub_pid)" && rm "$sock" && run 3 doctor && says out 'nothing answers at its socket' 'mcpool down; mcpool up' &&
		kill -CONT "$(hub_pid)" && eventually 5 running && run 0 doctor && finish
}
# Another tool runs the same server; a left over copy has no owner.
t_copies_outside_are_found() {
	printf 'setInterval(() => {}, 1000)\n' >"$work/copied-server.mjs" && mkdir "$work/bin" &&
		printf '#!/bin/bash\n"%s" "%s" & wait\n' "$node" "$work/copied-server.mjs" >"$work/bin/claude" && chmod +x "$work/bin/claude" &&
		configure "$user" "\"a\":{\"command\":\"$node\",\"args\":[\"$work/copied-server.mjs\"]}" && run 0 trust --user-file --yes && run 0 doctor &&
		{ MCPOOL_TEST_MARK="$work" bash -c 'exec -a claude bash "$1"' x "$work/bin/claude" >/dev/null 2>&1 </dev/null & } &&
		eventually 5 finds_copy && says out 'process' 'MiB' && kill_marked
}
finds_copy() { run 3 doctor >/dev/null && grep -q 'it also runs outside of mcpool, started by Claude Code' "$work/out"; }
t_an_entry_of_an_agent_that_cannot_work() {
	mkdir -p "$HOME/.cursor" && printf '{"mcpServers": {"mcpool": {"command": "/nowhere/mcpool", "args": ["stdio"]}}}' >"$HOME/.cursor/mcp.json" &&
		run 3 doctor && says out '/nowhere/mcpool is missing' 'mcpool connect cursor --write'
}
# The hub was started where another PATH is set.
t_the_path_of_the_hub() {
	mkdir "$work/bin" && printf '#!/bin/sh\nexec %s\n' "$demo_server" >"$work/bin/only-here" && chmod +x "$work/bin/only-here" &&
		configure "$user" '"a":{"command":"only-here"}' && run 0 trust --user-file --yes && up && PATH="$work/bin:$PATH" && run 3 doctor &&
		says out "'only-here' is $work/bin/only-here in this shell, and not in the PATH of the hub" 'mcpool down; mcpool up' && finish
}

run_cases "$@"
