# test_verbs.sh - each verb as a user types it: output, exit codes, --json, --schema and --help, with the
# demo server behind it; and on a terminal, where lines come and go and nothing of a server is obeyed.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=verbs
. tests/servers/lib.sh

demo() { # WANTED VERB ARGUMENTS...
	wanted=$1
	shift
	run "$wanted" "$@" -- "$demo_server"
}

demo_on_terminal() { # WANTED VERB ARGUMENTS...
	wanted=$1
	shift
	on_terminal "$wanted" "$@" -- "$demo_server"
}

# odd WANTED VERB ARGUMENTS...: the same with a server of three answers, given as $tools, $call and $prompt
odd() {
	wanted=$1
	shift
	write_odd && run "$wanted" "$@" -- sh "$work/odd.sh"
}

tools='"result":{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}'
call='"result":{"content":[]}'
prompt='"result":{"messages":[]}'
write_odd() {
	cat >"$work/odd.sh" <<END
while read -r line; do
	id=\$(printf '%s' "\$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
	case \$line in
	*'"initialize"'*) answer='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"odd","version":"1"}}' ;;
	*'"tools/list"'*) answer='$tools' ;;
	*'"tools/call"'*) answer='$call' ;;
	*'"prompts/list"'*) answer='"result":{"prompts":[{"name":"x"}]}' ;;
	*'"prompts/get"'*) answer='$prompt' ;;
	*) answer='"error":{"code":-32601,"message":"no"}' ;;
	esac
	[ -z "\$id" ] || printf '{"jsonrpc":"2.0","id":%s,%s}\n' "\$id" "\$answer"
done
END
}

# --- tools -----------------------------------------------------------------------------------------

t_tools() { demo 0 tools && says out 'echo    Echo    Returns the message as it came.' && [ ! -s "$work/err" ]; }
t_tools_as_json() {
	demo 0 tools --json && json 'd.tools.length === 10 && d.errors.length === 0' &&
		json 'd.tools.every(t => t.name === t.tool && t.server === "demo-server" && t.state === "live")' &&
		json 'd.tools[1].title === "Add" && d.tools[1].description && d.tools[1].inputSchema.required.length === 2'
}
t_tools_in_both_eras() {
	demo 0 tools --era legacy --json && json 'd.tools.length === 10' &&
		demo 0 tools --era modern --json && json 'd.tools.length === 10'
}
t_schema() { demo 0 tools --schema add && json 'd.type === "object" && d.properties.a.type === "number"'; }
t_schema_of_no_tool() {
	demo 9 tools --schema ad && says err "no tool 'ad'" "Did you mean 'add'?" && [ ! -s "$work/out" ] &&
		demo 9 tools --schema=ad --json && json 'd.tools.length === 0 && /no tool/.test(d.errors[0].error)'
}
t_a_long_title_does_not_widen_the_others() {
	long=$(printf '%05000d' 0)
	tools='"result":{"tools":[{"name":"a","title":"'$long'","inputSchema":{}},{"name":"b","title":"B","description":"short","inputSchema":{}}]}'
	odd 0 tools && says out "$long" && grep '^b' "$work/out" | grep -qE '^.{10,60}$'
}

# --- call ------------------------------------------------------------------------------------------

t_call() { demo 0 call echo message=hi && says out hi && [ "$(cat "$work/out")" = hi ]; }
t_call_as_json() { demo 0 call echo message=hi --json && json 'd.content[0].text === "hi" && !d.isError'; }
t_arguments_have_the_types_of_the_schema() { demo 0 call add a=2 b:=3 && [ "$(cat "$work/out")" = 5 ]; }
t_an_argument_of_the_wrong_type() {
	demo 2 call add a=x b=2 --json && says err "'a' takes a number, not 'x'" &&
		json 'd.error.data.code === "invalid" && d.error.data.outcome === "not_sent" && !d.error.data.retryable'
}
t_arguments_as_one_object() { demo 0 call add --args '{"a":2,"b":9}' b=3 && [ "$(cat "$work/out")" = 5 ]; }
t_arguments_from_stdin() {
	input=$work/in
	echo '{"a":2,"b":3}' >"$input"
	demo 0 call add --args - && [ "$(cat "$work/out")" = 5 ]
}
t_nothing_on_stdin_is_no_object() { demo 2 call add --args - && says err 'no JSON on stdin'; }
t_args_that_are_no_object() { demo 2 call add --args '[1]' && says err '--args is' 'not an object'; }
t_a_tool_that_fails() {
	demo 1 call fail && says out 'it failed, as it should' && demo 1 call fail --json && json 'd.isError === true'
}
t_a_tool_that_is_not_there() {
	demo 9 call ecko && says err "no tool 'ecko'. Did you mean 'echo'?" && [ ! -s "$work/out" ] &&
		demo 9 call zzz --json && says err "no tool 'zzz'" 'lists the 10 it has' &&
		json 'd.error.data.code === "not_found" && d.error.data.server === "demo-server"'
}
t_a_tool_that_takes_too_long() { # the limit also covers the start, which takes long on a busy machine
	demo 6 call sleep ms=20000 --timeout 2s --json && says err 'tools/call: no answer within 2 s' &&
		json 'd.error.code === 1004 && d.error.data.code === "mcp_timeout" && d.error.data.outcome === "timeout"'
}
t_a_server_that_dies() {
	demo 5 call crash --json &&
		json 'd.error.code === 1003 && d.error.data.outcome === "unknown" && d.error.data.retryable === false'
}
t_an_error_of_the_server_is_passed_on() {
	call='"error":{"code":-32099,"message":"no way","data":{"why":12345678901234567890}}'
	odd 5 call x --json && says err 'MCP error: no way' '  code:      -32099' '  data:      {"why":12345678901234567890}' && says out '12345678901234567890' &&
		json 'd.error.code === -32099 && d.error.message === "no way"'
}

# --- resources and prompts -------------------------------------------------------------------------

t_resources() { demo 0 resources && says out 'demo://readme' 'demo://greeting/{name}'; }
t_resources_as_json() {
	demo 0 resources --json && json 'd.resources.length === 3 && d.errors.length === 0' &&
		json 'd.resourceTemplates[0].uriTemplate === "demo://greeting/{name}"'
}
t_read() { demo 0 read demo://readme && says out demo && demo 0 read demo://greeting/Ada && says out Ada; }
t_read_as_json() { demo 0 read demo://logo --json && json 'd.contents[0].uri === "demo://logo" && d.contents[0].blob'; }
t_a_binary_resource_comes_out_whole() {
	demo 0 read demo://logo --json && cp "$work/out" "$work/json" && demo 0 read demo://logo &&
		$node -e 'const d = JSON.parse(fs.readFileSync(process.argv[1]));
			process.exit(Buffer.from(d.contents[0].blob, "base64").equals(fs.readFileSync(process.argv[2])) ? 0 : 1)' \
			"$work/json" "$work/out"
}
t_a_binary_resource_is_not_for_terminals() {
	demo_on_terminal 0 read demo://logo && says out '[binary image/' 'redirect to a file'
}
t_a_resource_that_is_not_there() {
	demo 5 read demo://nothing --json && says err 'MCP error: there is no such resource' '  class:     json_rpc' &&
		json 'd.error.message === "there is no such resource"'
}
t_prompts() { demo 0 prompts && says out 'greet   Greet   Asks for a greeting.'; }
t_prompts_as_json() { demo 0 prompts --json && json 'd.prompts[0].arguments[0].name === "name" && d.errors.length === 0'; }
t_prompt() { demo 0 prompt greet name=007 style=pirate && says out 'user:' '007' pirate; }
t_prompt_as_json() { demo 0 prompt greet name=Ada --json && json 'd.messages[0].role === "user"'; }
t_a_prompt_without_its_argument() { demo 5 prompt greet && says err "argument 'name' is missing"; }
t_a_prompt_that_is_not_there() {
	demo 9 prompt great && says err "no prompt 'great'. Did you mean 'greet'?" &&
		demo 9 prompt great --json && json 'd.error.data.code === "not_found"'
}
t_a_prompt_without_messages() {
	prompt='"result":{}'
	odd 5 prompt x && says err 'prompts/get: the answer cannot be shown'
}

# --- all of them -----------------------------------------------------------------------------------

verbs='tools call resources read prompts prompt'
t_help_of_each_verb() {
	for verb in $verbs; do
		run 0 "$verb" --help && says out "usage: mcpool $verb" --json --timeout --era 'After --' || return 1
		run 0 "$verb" -h && says out "usage: mcpool $verb" || return 1
	done
}
t_a_server_that_does_not_start_is_one_object() {
	for verb in $verbs; do
		case $verb in
		call | read | prompt) word=x ;;
		*) word= ;;
		esac
		run 4 "$verb" $word --json -- ./nothing/here && says err "here" "start: './nothing/here' does not exist" || return 1
		case $verb in
		call | read | prompt)
			json 'd.error.code === 1005 && d.error.data.code === "mcp_unavailable" && d.error.data.server === "here"' &&
				json 'd.error.data.outcome === "not_sent" && !d.error.data.retryable && /^MCP error: server .here.: start: /.test(d.error.message)'
			;;
		resources) json 'd.resources.length === 0 && d.resourceTemplates.length === 0 && d.errors[0].server === "here"' ;;
		*) json "d.$verb.length === 0 && d.errors[0].server === 'here' && /^start: /.test(d.errors[0].error)" ;;
		esac || return 1
	done
}
t_a_handshake_that_takes_too_long() {
	run 6 call x --json --timeout 200ms -- sleep 5 && says err "MCP error: server 'sleep': handshake: no answer within 0.2 s" '--timeout' &&
		json 'd.error.code === 1004 && d.error.data.outcome === "not_sent"' && nothing_left
}
t_usage() {
	for verb in $verbs; do
		case $verb in
		call | read | prompt) run 2 "$verb" || return 1 ;;
		*) run 0 "$verb" && says err 'No servers are configured' || return 1 ;;
		esac
		run 2 "$verb" --nonsense -- x && says err "no option '--nonsense'" || return 1
	done
	run 2 tools -- && says err 'tools needs a server' &&
		run 2 tools x -- y && says err "one argument too many: 'x'" &&
		run 2 call -- x && says err 'mcpool call TOOL [KEY=VALUE...] [-- COMMAND...]' &&
		run 2 call echo hi -- x && says err "invalid argument 'hi': expected key=value" &&
		run 2 call echo a=1 a=2 -- x && says err "'a' is given twice" &&
		run 2 tools --timeout 0 -- x && run 2 tools --timeout -- x && says err 'a duration is' &&
		run 2 tools --era new -- x && says err 'an era is' && run 2 tools --schema
}

# A server that was typed is not remembered, and needs no home folder; what it writes to stderr is logged where there is one.
t_nothing_is_stored() {
	for verb in tools 'call echo message=hi' 'read demo://readme' 'prompt greet name=Ada' resources prompts; do
		demo 0 $verb && [ -z "$(find "$HOME" "$XDG_RUNTIME_DIR" -type f ! -path '*/logs/*')" ] || { find "$HOME" -type f; return 1; }
	done
}
t_no_home_is_needed() {
	export HOME=/proc/nowhere XDG_CONFIG_HOME=/proc/nowhere XDG_STATE_HOME=/proc/nowhere XDG_RUNTIME_DIR=/proc/nowhere
	demo 0 tools && [ ! -s "$work/err" ] && demo 0 call echo message=hi && says out hi && [ ! -s "$work/err" ] || return 1
	unset HOME XDG_CONFIG_HOME XDG_STATE_HOME XDG_RUNTIME_DIR
	demo 0 tools && [ ! -s "$work/err" ] && demo 0 read demo://readme && says out demo && [ ! -s "$work/err" ]
}

# --- on a terminal ---------------------------------------------------------------------------------

escape=$(printf '\033')
return=$(printf '\r')
t_progress_makes_room_for_the_result() {
	demo_on_terminal 0 call sleep ms=400 && says out "2/4  " "Ctrl-C cancels" "$return$escape[Kslept 400 ms"
}
t_progress_fits_a_narrow_terminal() {
	export COLUMNS=9
	demo_on_terminal 0 call sleep ms=400 && says out " 50% ste$return" && silent_on out 'step'
}
t_a_table_fits_a_narrow_terminal() { # use-A8: a name is never cut, and stands alone where it takes all the room
	for COLUMNS in 1 8 12 30 79; do
		export COLUMNS
		demo_on_terminal 0 tools && tr -d '\r' <"$work/out" >"$work/lines" || return 1
		$node -e 'const lines = fs.readFileSync(process.argv[1], "utf8").trimEnd().split("\n");
			process.exit(lines.length === 10 && lines.every(l => l.length <= process.argv[2] - 1 || /^[a-z]+ *$/.test(l)) ? 0 : 1)' \
			"$work/lines" "$COLUMNS" || { echo "at $COLUMNS columns: $(cat "$work/lines")"; return 1; }
	done
}
# use-A8: the title goes before the description does; use-P9: no ellipsis where the locale is C.
t_titles_go_first() {
	long=get_$(printf '%050d' 1)
	tools="\"result\":{\"tools\":[{\"name\":\"$long\",\"title\":\"The title\",\"description\":\"$(printf 'word %.0s' $(seq 40))\",\"inputSchema\":{\"type\":\"object\"}}]}"
	write_odd
	COLUMNS=160 on_terminal 0 tools -- sh "$work/odd.sh" && says out "$long" 'The title' '…' &&
		COLUMNS=80 on_terminal 0 tools -- sh "$work/odd.sh" && says out "$long  word word" '…' && silent_on out 'The title' &&
		COLUMNS=80 LC_ALL=C on_terminal 0 tools -- sh "$work/odd.sh" && says out 'word ...' && silent_on out '…'
}
# use-A19: checked before the call; use-A7: a question that cannot be answered is explained.
t_arguments_are_checked() {
	demo 2 call add a=1 c=2 && says err "needs 'b'" "'c' is not one of its arguments (a, b)" && demo 2 call add a=1 --json &&
		json 'd.error.data.code === "invalid"' && demo 0 call echo message=x more=1 && demo 1 call add a=1 --no-check || return 1
	tools='"result":{"tools":[{"name":"x","inputSchema":{"type":"object","properties":{"path":{}},"additionalProperties":false}}]}'
	call='"result":{"content":[]}'
	odd 2 call x paht=1 && says err "'paht' is not one of its arguments (path)" && odd 0 call x path=1 && odd 0 call x
}
# use-P5: Ctrl-C is acknowledged at once; use-P6: what is for agents says so to people.
t_people_are_told() {
	cat >"$work/people.sh" <<-END
		"$mcpool" call sleep ms=20000 -- "$demo_server" & pid=\$!
		sleep 1.5; kill -INT \$pid; wait \$pid
	END
	MCPOOL_TEST_MARK="$work" TERM=xterm timeout -k 2 30 script -qec "bash -m '$work/people.sh'" /dev/null >"$work/out" 2>&1 </dev/null
	says out 'cancelling ...' && MCPOOL_TEST_MARK="$work" timeout -k 2 30 script -qec "$mcpool stdio </dev/null" /dev/null >"$work/out" 2>&1 </dev/null &&
		silent_on out 'this is for agents' &&
		MCPOOL_TEST_MARK="$work" timeout -k 2 30 script -qec "timeout 2 '$mcpool' stdio" /dev/null >"$work/out" 2>&1 </dev/null
	says out 'this is for agents' 'mcpool connect'
}
t_questions_are_explained() {
	demo 5 call ask --era modern && says err 'cannot answer here' 'from an agent' && silent_on err 'see what it takes'
}
# answered ANSWER WORDS [STEPS...]: by a person at a terminal, in both eras
answered() {
	last=$1 words=$2
	shift 2
	for era in modern legacy; do
		MCPOOL_TEST_MARK="$work" timeout -k 2 30 "$(dirname "$mcpool")/tests/pty" "$@" "Send this?=$last" -- "$mcpool" call ask --era $era -- "$demo_server" >"$work/out"
		exits 0 $? && says out 'asks: What is your name?' "$words" || return 1
	done
}
t_questions_are_answered_on_a_terminal() { # use-A7
	answered y 'Ada' '> =Ada' && answered n 'the user declined' '> =Ada' && answered c 'the user cancelled' '> =Ada'
}
t_ctrl_c_ends_a_question() {
	for era in modern legacy; do
		MCPOOL_TEST_MARK="$work" timeout -k 2 30 "$(dirname "$mcpool")/tests/pty" '> =^C' -- "$mcpool" call ask --era $era -- "$demo_server" >"$work/out"
		exits 130 $? && silent_on out 'Send this?' || return 1
	done
}
t_errors_of_servers_are_shown_and_not_obeyed() { # V40: U+009B begins an escape sequence, U+202E turns text round
	call=$(printf '"error":{"code":1,"message":"\302\23331m \342\200\256 red \\u001b[31m"}')
	write_odd
	for json in '' --json; do
		on_terminal 5 call x $json -- sh "$work/odd.sh" && says out '\x9b31m' '\u{202e}' &&
			! grep -q "$(printf '\302\233')" "$work/out" && silent_on out "$escape[31m" || return 1
	done
}

run_cases "$@"
