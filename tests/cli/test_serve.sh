# test_serve.sh - `mcpool serve`: the gate, deferred tools, stopping, healing, reloading, and the table on a terminal.
# Waits are polls with room for a slow machine; `sh tests/cli/test_serve.sh a_terminal` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=serve
. tests/servers/lib.sh
case $mcpool in
/*) ;;
*) mcpool=$PWD/$mcpool ;;
esac
node=$PWD/$node
config=$work/servers.json
mkdir -p "$work/here"

# server NAME [KNOBS [MEMBERS]]: the entry of a demo server; KNOBS as members of env
server() {
	printf '"%s":{"command":"%s","env":{"WHO":"%s"%s}%s}' \
		"$1" "$demo_server" "$1" "${2:+,$2}" "${3:+,$3}"
}

# configure SETTINGS ENTRY...: the file, put in place at once
configure() {
	{
		printf '{"mcpool":{%s},"mcpServers":{' "$1"
		shift
		comma=
		for entry in "$@"; do
			printf '%s%s' "$comma" "$entry"
			comma=,
		done
		printf '}}\n'
	} >"$config.new" && mv "$config.new" "$config"
}

knob() { printf '"MCPOOL_DEMO_%s":"%s"' "$1" "$2"; }

# serve ARGUMENTS...: with these servers and --json, until the gate is open
serve() {
	: >"$work/out" # of the run before
	start serve --json --strict-config --config "$config" "$@" && wait_for_line "$work/out" '^{"gate"' 20
}

so_mjs=$PWD/tests/cli/serve_so.mjs
so() { $node "$so_mjs" "$1" <"$work/out"; } # EXPRESSION

holds() { so "$1" || { echo "not so: $1: $(grep -v '"what"' "$work/out" | head -c 600)"; return 1; }; }
holds_by() { eventually "$1" so "$2" || { echo "not so within $1 s: $2: $(tail -n 3 "$work/out" | head -c 600)"; return 1; }; }

pid_of() { # NAME: of its process; nothing while there is none
	for pid in $(marked); do
		grep -qszxF "WHO=$1" "/proc/$pid/environ" && grep -qszF "$demo_server" "/proc/$pid/cmdline" && echo "$pid"
	done
}

runs() { [ -n "$(pid_of "$1")" ]; }
is_gone() { [ -z "$(pid_of "$1")" ]; }

finish() { # [CODE]: what serve started is told to go, and nothing is left of it
	kill -TERM "$mcpool_pid" && ended "${1:-0}" 10 && nothing_left 2
}

seven() { for i in 1 2 3 4 5 6 7; do server "s$i"; echo; done; }

# A5 A34 A35 A36 A12 A42 U12 X33
# Seven are fine, one hangs, one is not there, one dies; none waits for another.
t_the_gate_has_what_there_is() {
	oldIFS=$IFS
	IFS='
'
	set -- $(seven)
	IFS=$oldIFS
	window='"startup":{"windowMs":4000}'
	configure "$window" "$@" && serve && holds 'gate.live.length === 7 && gate.tools === 70' || return 1
	alone=$(sed -n 's/.*"tookMs":\([0-9]*\).*/\1/p' "$work/out")
	finish || return 1
	configure "$window" "$@" "$(server hangs "$(knob HANG forever)")" \
		'"ghost":{"command":"/nonexistent/ghost"}' '"broken":{"command":5}' \
		'"crash":{"command":"sh","args":["-c","echo no database >&2; exit 3"],"restart":{"mode":"none"}}' &&
		serve &&
		holds 'gate.live.length === 7 && gate.tools === 70 && gate.late.join() === "hangs"' &&
		holds 'gate.failed.length === 3 && /must be a string/.test(gate.failed.find((f) => f.server === "broken").error)' &&
		holds '/does not exist/.test(gate.failed.find((f) => f.server === "ghost").error)' &&
		holds 'count("ghost", "failed") === 1 && count("ghost", "backoff") === 0' && # final at once
		holds '/exited with code 3 \(no database\)/.test(gate.failed.find((f) => f.server === "crash").error)' || return 1
	together=$(sed -n 's/.*"tookMs":\([0-9]*\).*/\1/p' "$work/out")
	[ "$together" -lt $((3 * alone + 4000 + 1000)) ] || { echo "$together ms with three more, $alone ms without"; return 1; }
	says err 'mcp:init: ghost failed' 'mcp:init: crash failed: handshake: exited with code 3' 'mcp:init: hangs is late' || return 1
	for each in ghost crash broken; do # of loading, of connecting: once, with its name
		[ "$(grep -c " $each failed" "$work/err")" = 1 ] || { echo "$each is not told once: $(grep $each "$work/err")"; return 1; }
	done
	finish
}

# A37 A46
# What was seen before is offered at once, and a call of it waits for its server.
t_deferred_tools() {
	configure '' "$(server slow "$(knob SLOW_START 1500)")" &&
		serve && holds 'gate.late.join() === "slow"' &&
		holds_by 20 'count("slow", "up") === 1' && finish || return 1
	serve --call mcp__slow__echo --args '{"message":"patience"}' &&
		holds 'gate.deferred.join() === "slow" && gate.tools === 10' &&
		holds_by 20 'call && call.result.content[0].text === "patience"' &&
		holds 'at(lines.find((l) => l.gate)) < at(ev.find((e) => e.what === "up"))' &&
		holds 'at(ev.find((e) => e.what === "up")) < at(call)' &&
		finish
}

# A lazy one of which nothing is known is looked at, and leaves until it is called.
t_a_lazy_server_is_visited() {
	configure '"startup":{"windowMs":15000}' "$(server a '' '"start":"lazy"')" && serve && holds 'gate.deferred.join() === "a" && gate.tools === 10' &&
		holds '/is known, and no session needs it yet/.test(ev.find((e) => e.what === "idle").text)' &&
		eventually 5 is_gone a && finish
}

# E55: a value that takes its time, a late handshake and late lists, each in its place
t_each_stage_has_its_time() {
	configure '"startup":{"windowMs":10000}' "$(server a "$(knob HANG 500),$(knob LIST_DELAY 900),\"A\":\"!sleep 0.2; echo x\"")" && serve &&
		stages='ev.find((e) => e.what === "up").text.match(/[\d.]+/g).map(Number)' &&
		holds "(([prepare, spawn, handshake, lists]) => prepare >= 195 && spawn > 0 && handshake >= 495 && lists >= 895)($stages)" &&
		holds "$stages.reduce((a, b) => a + b) <= ev.find((e) => e.what === 'up').time - ev.find((e) => e.what === 'preparing').time + 2" && # none twice
		says err ' up: prepare ' && finish
}

# A call of an unknown tool waits while a server starts; a tool that never appears is reported.
t_a_late_tool() {
	configure '' "$(server slow "$(knob SLOW_START 1000)")" &&
		serve --call echo --args '{"message":"late"}' && holds 'gate.late.length === 1' &&
		holds_by 20 'call && call.result.content[0].text === "late"' && finish || return 1
	serve --call nothing && holds_by 20 'call && /there is no tool/.test(call.error.message)' && finish
}

# toolsAllowed and toolsDenied hold here, too.
# A tool that its entry denies is never called.
t_a_tool_that_is_not_allowed() {
	for list in '"toolsDenied":["ec*"]' '"toolsAllowed":["add"]'; do
		configure '' "$(server a '' "$list")" && serve --call mcp__a__echo --args '{"message":"x"}' &&
			holds_by 20 'call && !call.result && /.echo. of server "a" is not allowed/.test(call.error.message)' &&
			finish || return 1
	done
	configure '' "$(server a '' '"toolsAllowed":["add"]')" && serve --call add --args '{"a":1,"b":2}' &&
		holds_by 20 'call && call.result.content[0].text === "3"' && finish
}

stubborn() {
	set --
	for i in 0 1 2 3 4 5 6 7 8 9; do
		set -- "$@" "$(server "s$i" "$(knob IGNORE_TERM 1),$(knob IGNORE_EOF 1),$(knob FORK 1)")"
	done
	configure '"startup":{"windowMs":15000}' "$@" && serve && holds 'gate.live.length === 10'
}

# All in parallel, or ten would take 25 s.
leaves_on() { # SIGNAL CODE
	stubborn || return 1
	kill "-$1" "$mcpool_pid"
	began=$(now)
	ended "$2" 6 && nothing_left 1 || return 1
	took=$(($(now) - began))
	within 5000 && holds 'lines.every((l) => l.number || l.gate || l.listening)' && # a requested stop is not an error
		holds 'ev.filter((e) => e.what === "exited" && /^pid [0-9]+ was killed by SIGKILL$/.test(e.text)).length === 10'
}
# E79 U29 E53 A63 A61 X19 E64
t_sigterm_stops_ten() { # E79; in 3 s, and on a busy machine in one of three tries, or as much later as it is busy
	for try in 1 2 3; do
		leaves_on TERM 0 || return 1
		[ "$took" -ge 3000 ] || return 0
	done
	within 3000
}
t_sighup_stops_ten() { leaves_on HUP 0; }
t_sigint_stops_ten() { leaves_on INT 130; }
t_a_second_sigint_does_not_wait() {
	stubborn || return 1
	kill -INT "$mcpool_pid" && wait_for_line "$work/err" 'stopping' 5 && kill -INT "$mcpool_pid" && ended 130 1 && nothing_left 3
}
t_sigkill_leaves_none() { # in 2 s on an idle machine, as README says; this one may be busy
	stubborn || return 1
	kill -KILL "$mcpool_pid"
	nothing_left 10
}

# A33 D22 D33 E64: no answer to the handshake within its time; its process is stopped, the others go on.
t_a_handshake_that_fails_leaves_no_process() {
	configure '"restart":{"mode":"none"}' "$(server a)" "$(server mute "$(knob HANG forever)" '"timeout":1500')" && serve && runs mute || return 1
	holds_by 20 'count("mute", "failed") === 1' && holds '/handshake: no answer within 1.5 s/.test(ev.find((e) => e.what === "failed").text)' && eventually 10 is_gone mute && runs a && finish
}
# Killed, it is restarted, and no other server is affected.
# D33
t_a_killed_server_comes_back() { # D22 E64
	configure '"startup":{"windowMs":10000}' "$(server a)" "$(server b)" "$(server c)" && serve || return 1
	a=$(pid_of a) b=$(pid_of b) c=$(pid_of c)
	kill -KILL "$b" && holds_by 20 'count("b", "up") === 2' &&
		holds 'of("b").slice(of("b").indexOf("up") + 1).join() ===
			"exited,clearing,backoff,preparing,starting,listing,offers-the-same,up"' &&
		holds '/^transport-exit: .*SIGKILL/.test(ev.find((e) => e.what === "clearing").text)' &&
		holds 'count("a", "up") + count("c", "up") === 2 && count("a", "clearing") + count("c", "clearing") === 0' ||
		return 1
	next=$(pid_of b)
	[ "$a" = "$(pid_of a)" ] && [ "$c" = "$(pid_of c)" ] && [ "$b" != "$next" ] || { echo "other processes: $a $b $c"; return 1; }
	[ "$(grep -c ' ERR b#' "$work/err")" = 1 ] && [ "$(grep -c ' WRN b#' "$work/err")" = 1 ] ||
		{ echo "not one failure and one attempt: $(grep ' b#' "$work/err")"; return 1; }
	finish && holds "ev.filter((e) => e.what === 'exited').map((e) => e.text).sort().join() ===
		['pid $b was killed by SIGKILL', ...[$a, $c, $next].map((p) => \`pid \${p} exited with code 0\`)].sort().join()"
}

# Each failure is told with the last line that the server wrote, not only at the gate.
t_last_words_in_the_log() {
	configure '' '"dies":{"command":"sh","args":["-c","echo no database >&2; exit 3"],"restart":{"schedule":[0,400]}}' &&
		serve && wait_for_line "$work/err" 'ERR dies#1: failed: start-failed after [0-9]* ms: handshake: exited with code 3 (no database)$' 20 &&
		holds 'ev.filter((e) => e.what === "clearing").every((e) => e.text.endsWith("code 3 (no database)"))' && finish
}

# One that exits by itself between two calls, and is wanted nevertheless.
# A55
t_an_exit_while_idle() {
	configure '' "$(server a "$(knob EXIT_IDLE 300)")" && serve &&
		holds_by 20 'count("a", "up") >= 2' &&
		holds '/^transport-exit: /.test(ev.find((e) => e.what === "clearing").text)' && finish
}

# A48
# Of a file that changes only what is different in it is restarted.
# B59 B60
t_reload_is_a_difference() {
	configure '"startup":{"windowMs":10000}' "$(server a)" "$(server b)" "$(server c)" && serve || return 1
	a=$(pid_of a) b=$(pid_of b)
	configure '"startup":{"windowMs":10000}' "$(server a)" "$(server b "$(knob TOOLS 3)")" "$(server d)" &&
		holds_by 20 'count("d", "up") === 1 && count("b", "up") === 2' &&
		holds 'ev.find((e) => e.what === "reloaded").text === "added d; changed b: env.MCPOOL_DEMO_TOOLS; gone c"' &&
		eventually 10 is_gone c || return 1
	[ "$a" = "$(pid_of a)" ] && [ "$b" != "$(pid_of b)" ] && runs d || { echo "the wrong ones were restarted"; return 1; }
	says err 'configuration read again: added d; changed b: env.MCPOOL_DEMO_TOOLS; gone c' &&
		holds 'count("a", "up") === 1 && count("a", "stopping") === 0' && finish
}

# In the middle of an edit nothing stops; then the edit counts. A file that is gone is an edit, too.
t_a_broken_file_changes_nothing() {
	configure '' "$(server a)" && serve || return 1
	a=$(pid_of a)
	echo '{"mcpServers": {' >"$config"
	holds_by 20 'ev.some((e) => e.what === "reload-failed")' && says err "$config:" 'the configuration stays as it was' &&
		holds 'count("a", "stopping") === 0' && [ "$a" = "$(pid_of a)" ] || return 1
	[ "$(grep -c 'not valid JSON' "$work/err")" = 1 ] || { echo "told more than once: $(cat "$work/err")"; return 1; }
	configure '' "$(server a)" "$(server b)" && holds_by 20 'count("b", "up") === 1' &&
		holds 'ev.findLast((e) => e.what === "reloaded").text === "added b"' && [ "$a" = "$(pid_of a)" ] &&
		rm "$config" && eventually 20 is_gone a && eventually 20 is_gone b &&
		says err "$config: there is no such file" && finish
}

# D19
# It takes no call any more, and no probe: it is restarted. A slow call alone does not restart it.
t_a_hang_ends_in_a_restart() {
	configure '' "$(server a "$(knob BLOCK forever),$(knob FROM_CALL 1)" '"toolTimeout":400')" &&
		serve --call echo --args '{"message":"x"}' &&
		holds_by 20 'call && call.error.data.code === "mcp_timeout"' &&
		holds_by 20 'count("a", "up") === 2' &&
		holds '/^probe-failed: /.test(ev.find((e) => e.what === "clearing").text)' && finish
}
# D19
t_a_slow_call_restarts_nothing() {
	configure '' "$(server a "$(knob HANG_CALLS 1)" '"toolTimeout":400')" &&
		serve --call echo --args '{"message":"x"}' &&
		holds_by 20 'call && call.error.data.code === "mcp_timeout"' &&
		holds_by 20 'ev.some((e) => e.text === "the probe was answered")' &&
		holds 'count("a", "clearing") === 0 && count("a", "starting") === 1' && finish
}

# What waits for a person is told with what to do; what is switched off is named.
t_approval_and_disabled() {
	mkdir -p "$XDG_CONFIG_HOME/mcpool"
	configure '' "$(server a)" "$(server off '' '"enabled":false')"
	mv "$config" "$XDG_CONFIG_HOME/mcpool/mcp.json"
	cd "$work/here" && start serve --json && wait_for_line "$work/out" '^{"gate"' 20 &&
		holds 'gate.needsApproval.join() === "a" && gate.disabled.join() === "off"' &&
		says err 'a needs your approval: mcpool trust a' ': 1 needs approval, 1 disabled' && is_gone a && finish
}

in_user_file() { configure '"startup":{"windowMs":15000}' "$@" && mv "$config" "$XDG_CONFIG_HOME/mcpool/mcp.json"; }
quietly() { MCPOOL_TEST_MARK="$work" timeout 30 "$mcpool" "$@" >"$work/said" 2>&1 </dev/null || { cat "$work/said"; return 1; }; }

# What an edit brings and cannot be started is told with what to do, and a yes or no counts at once.
t_approval_while_it_runs() {
	mkdir -p "$XDG_CONFIG_HOME/mcpool" && cd "$work/here" && in_user_file "$(server a)" && quietly trust --yes a &&
		start serve --json && wait_for_line "$work/out" '^{"gate"' 20 && holds 'gate.live.join() === "a"' || return 1
	in_user_file "$(server a)" "$(server b)" '"z":{"command":7}' &&
		wait_for_line "$work/err" 'WRN mcp:reload: b needs your approval: mcpool trust b' 20 &&
		says err 'ERR mcp:reload: z failed: ' && is_gone b || return 1
	a=$(pid_of a)
	quietly trust --yes b && holds_by 20 'count("b", "up") === 1' && runs b &&
		quietly untrust b && eventually 20 is_gone b && holds 'count("a", "up") === 1' &&
		[ "$(grep -c 'mcp:reload: z' "$work/err")" = 1 ] && [ "$a" = "$(pid_of a)" ] &&
		[ "$(grep -c 'mcp:reload: b' "$work/err")" = 2 ] || { echo "not so: $(tail -n 5 "$work/err")"; return 1; }
	finish
}

# With nothing that may be looked for it serves all the same.
t_switched_off() {
	configure '"enabled":false' "$(server a)" && serve && holds 'gate.live.length === 0 && gate.tools === 0' &&
		says err 'the setting "enabled" is false' && finish
}

# No server configured: there is something to look at all the same, and one line for scripts. It counts the servers that
# are up after 250 ms, which is not enough on a busy machine.
t_the_demo_server() {
	mkdir -p "$XDG_CONFIG_HOME/mcpool" && echo '{"mcpool": {"startup": {"windowMs": 60000}}}' >"$XDG_CONFIG_HOME/mcpool/mcp.json" &&
		cd "$work/here" && start serve && wait_for_line "$work/out" '^mcpool: ready, 1 server$' 20 &&
		says err 'the built-in demo server is used' ' INF demo#1: up: prepare ' &&
		wait_for_line "$work/out" 'mcpool connect' 5 && says out "$XDG_RUNTIME_DIR/mcpool/hub.sock" && finish
}

t_a_reader_that_leaves_ends_it() {
	configure '' "$(server a "$(knob EXIT_IDLE 200)")" || return 1
	MCPOOL_TEST_MARK="$work" timeout 30 "$mcpool" serve --json --strict-config --config "$config" 2>"$work/err" </dev/null |
		head -n 1 >"$work/out"
	says out '"number":1' && nothing_left 3
}

t_a_full_disk_ends_it_with_a_word() {
	configure '' "$(server a)" || return 1
	MCPOOL_TEST_MARK="$work" timeout 30 "$mcpool" serve --json --strict-config --config "$config" 2>"$work/err" </dev/null >/dev/full
	exits 4 $? && says err 'the output could not be written: No space left on device' && nothing_left 3
}

t_usage() {
	run 2 serve --args '{}' && says err '--args belongs to --call' && run 2 serve --call x --args '[' && run 2 serve x
}

# The table, as a person sees it.
on_screen() { tmux -L "$socket" capture-pane -p >"$work/screen" 2>/dev/null; grep -qE -- "$1" "$work/screen"; }
sees() { eventually "$1" on_screen "$2" || { echo "not on the screen: $2: $(tr '\n' '|' <"$work/screen")"; return 1; }; }
# use-P16: what was drawn before is nowhere, not even where one scrolls back to
frames_are() {
	n=$(tmux -L "$socket" capture-pane -p -S - | grep -c '^SERVER  *STATE')
	[ "$n" -eq "$1" ] || { echo "$n tables on the terminal and above it"; return 1; }
}
is_narrow() { on_screen '^SERVER ' && ! on_screen '^(SERVER|ghost|evil) .{78}' && ! on_screen MEMORY; }
# U31 B59
t_a_terminal() {
	command -v tmux >/dev/null || { echo "tmux is missing: run tools/setup test"; return 1; }
	socket=mcpool-$$
	configure '' "$(server files)" "$(server slow "$(knob SLOW_START 4000)")" \
		"$(server evil "$(knob FAIL_STARTS 1-99),$(knob STATE "$work/starts")" '"restart":{"schedule":[0,60000]}')" \
		'"ghost":{"command":"/nonexistent/\u001b[31mghost"}' "$(server off '' '"enabled":false')"
	TERM=screen MCPOOL_TEST_MARK="$work" tmux -L "$socket" -f /dev/null new-session -d -x 120 -y 30 \
		"'$mcpool' serve --strict-config --config '$config' --call mcp__files__echo --args '{\"message\":\"hello\"}' 2>'$work/err'; echo over \$?; sleep 30" \
		</dev/null >/dev/null 2>&1
	sees 20 '^SERVER +STATE +TOOLS +UPTIME +RESTARTS +MEMORY +CALLS/S +P50 +P99 +QUEUE$' &&
		sees 20 '^files +. connected +10 +[0-9]+s +0 +- +0\.0[12] +[0-9.]+(us|ms) +[0-9.]+(us|ms) +0$' &&
		sees 5 '^slow +. pending +- +starting$' &&
		sees 5 '^ghost +. failed .*x1b.*; next try in [0-9]+ s' && # an escape sequence is shown, not obeyed
		sees 5 '^evil +. failed +- +handshake: exited with code 1' &&
		sees 5 '^off +. disabled' &&
		sees 5 '^\{"call":"mcp__files__echo","result"' &&
		sees 5 '^  socket +/' && sees 5 '^  agents +run `mcpool connect' && # use-A9: each on a line of its own
		sees 20 '^slow +. connected +10 ' && sees 5 '^mcpool, 5 servers, 2 connected, 2 failed, 1 disabled$' || return 1
	tmux -L "$socket" resize-window -x 78 -y 30 2>/dev/null
	eventually 10 is_narrow && sees 5 '^ghost +. failed' && frames_are 1 || return 1
	tmux -L "$socket" resize-window -x 78 -y 7 2>/dev/null # the terminal itself moves lines above it
	sees 10 '^\.\.\. and [0-9] more$' && sees 5 '^ghost +. failed' && ! on_screen '.{79}' || return 1
	tmux -L "$socket" send-keys C-c
	sees 10 '^over 130$'
	r=$?
	tmux -L "$socket" kill-server
	# On a busy machine the gate opens before it has failed: then its own line says so.
	nothing_left 3 && says err 'INF files#1: up' && grep -qE 'ERR (mcp:init: ghost failed|ghost#)' "$work/err" && return $r
}

# D36 D49 D50 D51
# The manual has what operators need to know of restarts, with the real values.
t_the_manual_explains_restarts() {
	sed 's/\\f.//g; s/^\.[A-Z]* //' doc/mcpool-config.5 >"$work/page"
	tr -s ' \n' '  ' <"$work/page" >"$work/words"
	says words '0, 1, 2, 5, 10, 30, 60 s' transport-exit probe-failed start-failed mcp_restart_in_progress \
		mcp_restart_failed mcp_outcome_unknown mcp_unavailable 'shared, the default' 'ping is the default' \
		'idle:600000' 'Watch the events idle' 'are in QUEUE meanwhile' 'not counted as RESTARTS' &&
		says words 'The server ended, or its connection broke, after it had been up' 'wait for its next start' 'The first restart follows without delay.' &&
		says words 'all with the same entry (shared, the default), all of the same project, all but one call at a time (serial), or none: each session has its own.' \
			'shared: true and false mean shared and session.' 'How a slow server is told from a dead one; ping is the default.' &&
		says words 'ping sends ping to a legacy server and server/discover to a modern one, and if that fails tools/list ; listTools sends tools/list only.' \
			'a server is stopped ten minutes after its last call has ended' 'and preparing after it: if they follow each other closely' &&
		run 0 config show && says out '[0,1000,2000,5000,10000,30000,60000]'
}

run_cases "$@"
