# test_demo.sh - the tests' demo-server as a client sees it: both eras, its errors, each tool, the knobs.
# One server runs at a time; it reads a FIFO (descriptor 3) and its answers are awaited in a file.
# MCPOOL=path tests another binary.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=demo
. tests/lib.sh
mcpool=${MCPOOL:-build/mcpool}
demo_server=$(dirname "$mcpool")/tests/demo-server
pid=
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null; rm -rf "$work"' EXIT
mkfifo "$work/in"

start() { # [KNOB=VALUE...]
	exec 3>&- # not for the server to inherit
	: >"$work/out"
	set -- $(printf 'MCPOOL_DEMO_%s ' "$@" | sed 's/MCPOOL_DEMO_ //')
	env "$@" "$demo_server" <"$work/in" >"$work/out" 2>"$work/err" &
	pid=$!
	exec 3>"$work/in"
}
say() { (printf '%s\n' "$@" >&3); } # [LINE...]; if the server has ended, the case fails and not the script
at_once() { { eval "$1"; } 3>"$work/lines" && cat "$work/lines" >&3; } # COMMANDS: all they say in one write
hang_up() { exec 3>&-; }
ended() { # EXIT CODE: it has ended, with this code, within 5 s
	for _ in $(seq 250); do
		if ! kill -0 "$pid" 2>/dev/null || grep -q '^State:[[:space:]]*Z' "/proc/$pid/status"; then
			wait "$pid"
			code=$?
			pid=
			[ $code -eq "$1" ] || echo "exit code $code"
			[ $code -eq "$1" ]
			return
		fi
		sleep 0.02
	done
	echo 'it lives on'
	return 1
}
stop() { hang_up && ended 0; }
lives() { kill -0 "$pid" 2>/dev/null; }
# TEXT [N]: at least N complete lines of the server contain it, now or within 5 s
await() {
	for _ in $(seq 250); do
		[ "$(grep -cF -- "$1" "$work/out")" -ge "${2:-1}" ] && [ -z "$(tail -c 1 "$work/out")" ] && return
		sleep 0.02
	done
	echo "no $1 in: $(cut -c1-600 "$work/out" | tail -5)"
	return 1
}
# ID TEXT...: the answer with that id comes, once, and has each text in it
gets() {
	id=$1
	shift
	await "\"id\":$id," || return 1
	grep -F "\"id\":$id," "$work/out" >"$work/answer"
	[ "$(grep -c . "$work/answer")" -eq 1 ] || { echo "several answers to $id"; return 1; }
	for text; do
		grep -qF -- "$text" "$work/answer" || { echo "no $text in: $(cut -c1-900 "$work/answer")"; return 1; }
	done
}
lacks() { # ID TEXT: that answer is there and has no such text
	gets "$1" && ! grep -qF -- "$2" "$work/answer"
}
silent_on() { ! grep -qF "\"id\":$1," "$work/out"; }
# LINE N: what was said first, by number
nth() { sed -n "$1p" "$work/out" | grep -qF -- "$2"; }

# Lines of the legacy era: ID METHOD [PARAMS]
ask() { say "{\"jsonrpc\":\"2.0\",\"id\":$1,\"method\":\"$2\",\"params\":${3:-{\}}}"; }
call() { ask "$1" tools/call "{\"name\":\"$2\",\"arguments\":${3:-{\}}}"; }
tell() { say "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/$1\",\"params\":$2}"; }
hello() { ask '"hello"' initialize "{\"protocolVersion\":\"${1:-2025-11-25}\",\"capabilities\":${2:-{\}},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}"; }
legacy() { # [KNOB=VALUE...]: a server that has been greeted
	start "$@"
	hello
	gets '"hello"' '"result"'
}
# Lines of the modern era: ID METHOD [MEMBERS OF PARAMS]; $caps and $meta go into _meta.
caps='{}' meta=
mask() {
	say "{\"jsonrpc\":\"2.0\",\"id\":$1,\"method\":\"$2\",\"params\":{${3:+$3,}\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":$caps$meta}}}"
}
mcall() { mask "$1" tools/call "\"name\":\"$2\",\"arguments\":${3:-{\}}${4:+,$4}"; }

# --- the program ---
t_help_lists_the_knobs() {
	"$demo_server" --help >"$work/out" && await MCPOOL_DEMO_HANG= && await MCPOOL_DEMO_FORK=
}
t_arguments_are_refused() { "$demo_server" now 2>"$work/out"; [ $? -eq 2 ] && await "'now'"; }
t_unknown_knobs_are_refused() {
	MCPOOL_DEMO_HNAG=1 "$demo_server" 2>"$work/out" </dev/null; [ $? -eq 2 ] && await MCPOOL_DEMO_HNAG
}
t_wrong_values_are_refused() {
	MCPOOL_DEMO_PAGE=many "$demo_server" 2>"$work/out" </dev/null; [ $? -eq 2 ] && await many
}
t_ends_with_its_input() { start && stop; }
t_ends_on_sigterm() { legacy && kill -TERM "$pid" && ended 0; hang_up; }

# --- legacy ---
t_negotiates_each_version() {
	start
	n=0
	for version in 2025-11-25 2025-06-18 2025-03-26 2024-11-05 2024-10-07; do
		n=$((n + 1))
		ask $n initialize "{\"protocolVersion\":\"$version\",\"capabilities\":{}}"
		gets $n "\"protocolVersion\":\"$version\"" '"name":"mcpool-demo"' '"listChanged":true' || return 1
	done
	ask 9 initialize '{"protocolVersion":"2031-01-01"}' && gets 9 '"protocolVersion":"2025-11-25"' && stop
}
t_initialize_needs_a_version() { start && ask 1 initialize && gets 1 -32602 && stop; }
t_initialize_comes_first() { start && ask 1 tools/list && gets 1 -32600 initialize && stop; }
t_ping_needs_no_initialize() { start && ask 1 ping && gets 1 '"result":{}' && stop; }
t_unknown_method() { legacy && ask 1 tools/lisst && gets 1 -32601 tools/lisst && stop; }
t_lists_tools() {
	legacy && ask 1 tools/list && gets 1 '"inputSchema":{"type":"object","properties":{"message"' \
		'"required":["a","b"]' '"outputSchema"' '"readOnlyHint":true' '"destructiveHint":true' || return 1
	for tool in echo add time sleep fail crash big ask log change; do
		gets 1 "\"name\":\"$tool\"" || return 1
	done
	lacks 1 '"name":"extra"' && lacks 1 resultType && lacks 1 nextCursor && lacks 1 ttlMs && stop
}
t_echo() { legacy && call 1 echo '{"message":"Grüße \"\\ 😀 \u0001"}' && gets 1 '"text":"Grüße \"\\ 😀 \u0001"' && stop; }
t_add() { legacy && call 1 add '{"a":1,"b":2.5}' && gets 1 '"text":"3.5"' '"structuredContent":{"sum":3.5}' && stop; }
t_add_too_much() { legacy && call 1 add '{"a":1e308,"b":1e308}' && gets 1 '"isError":true' 'too large' && stop; }
t_time() { legacy && call 1 time && gets 1 "\"text\":\"$(date -u +%Y-)" 'Z"' && stop; }
t_fail() { legacy && call 1 fail '{"message":"no luck"}' && gets 1 '"text":"no luck"' '"isError":true' && stop; }
t_missing_argument_is_a_tool_error() { legacy && call 1 echo && gets 1 "'message' is missing" '"isError":true' && stop; }
t_wrong_argument_is_a_tool_error() {
	legacy && call 1 add '{"a":"1","b":2}' && gets 1 "'a' must be a number" '"isError":true' &&
		call 2 sleep '{"ms":1.5}' && gets 2 'integer from 0' && call 3 log '{"level":"loud","message":""}' &&
		gets 3 "'level'" && stop
}
t_whole_numbers_may_have_a_point() { legacy && call 1 big '{"bytes":3.0}' && gets 1 '"text":"abc"' && stop; }
t_unknown_tool() { legacy && call 1 exho && gets 1 -32602 exho && call 2 extra && gets 2 -32602 && stop; }
t_arguments_are_an_object() { legacy && call 1 echo '[]' && gets 1 -32602 object && stop; }
t_sleep_reports_progress() {
	legacy && ask 1 tools/call '{"name":"sleep","arguments":{"ms":40,"steps":2},"_meta":{"progressToken":"p"}}' &&
		gets 1 'slept 40 ms' && nth 2 '"progressToken":"p","progress":1,"total":2' && nth 3 '"progress":2' && stop
}
t_no_progress_without_a_token() { legacy && call 1 sleep '{"ms":5}' && gets 1 slept && ! grep -q notifications/progress "$work/out" && stop; }
t_sleeps_do_not_block() {
	legacy && at_once "call 1 sleep '{\"ms\":300}'; call 2 sleep '{\"ms\":10}'; call 3 time" && gets 1 slept &&
		nth 2 '"id":3,' && nth 3 '"id":2,' && nth 4 '"id":1,' && stop
}
t_cancelled_gets_no_answer() {
	legacy && at_once "call 1 sleep '{\"ms\":60}'; tell cancelled '{\"requestId\":1}'; call 2 sleep '{\"ms\":120}'" &&
		gets 2 slept && silent_on 1 && stop
}
t_cancelling_the_unknown_is_ignored() { legacy && tell cancelled '{"requestId":7}' && tell cancelled '{}' && ask 1 ping && gets 1 '{}' && stop; }
t_an_id_is_used_once() { # V22
	legacy && at_once "call 1 sleep '{\"ms\":50}'; call 1 time" && await -32600 && await slept && stop
}
t_crash_with_a_code() { legacy && call 1 crash '{"code":7}' && ended 7 && silent_on 1; hang_up; }
t_crash_by_a_signal() { legacy && call 1 crash '{"signal":9}' && ended 137 && silent_on 1; hang_up; }
t_big() {
	legacy && call 1 big '{"bytes":100000}' && gets 1 '"text":"abc' && [ "$(wc -c <"$work/answer")" -gt 100000 ] &&
		[ "$(wc -c <"$work/answer")" -lt 100200 ] && stop
}
t_huge() { # more than any queue holds
	legacy && call 1 big '{"bytes":50000000}' && gets 1 '"text":"abc' && [ "$(wc -c <"$work/answer")" -gt 50000000 ] &&
		tail -c 9 "$work/answer" | grep -q '"}\]}}$' && ask 2 ping && gets 2 '{}' && stop
}
t_log_by_level() {
	legacy && call 1 log '{"level":"debug","message":"psst"}' && gets 1 'not sent' && ask 2 logging/setLevel '{"level":"debug"}' &&
		gets 2 '"result":{}' && call 3 log '{"level":"debug","message":"psst"}' && gets 3 '"sent"' &&
		await '"method":"notifications/message","params":{"level":"debug","logger":"demo","data":"psst"}' &&
		ask 4 logging/setLevel '{"level":"loud"}' && gets 4 -32602 && stop
}
t_change_is_told() {
	legacy && call 1 change && gets 1 'extra' && await '"notifications/tools/list_changed"' && ask 2 tools/list &&
		gets 2 '"name":"extra"' && call 3 extra && gets 3 'extra is here' && call 4 change && gets 4 gone &&
		ask 5 tools/list && lacks 5 '"name":"extra"' && await list_changed 2 && stop
}
t_asks_the_user() {
	start && hello 2025-06-18 '{"elicitation":{}}' && call '"q"' ask '{"question":"Who?"}' &&
		await '"id":1,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{' &&
		say '{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"answer":"Ada"}}}' && gets '"q"' '"text":"Ada"' &&
		call '"r"' ask && await '"id":2,"method"' && say '{"jsonrpc":"2.0","id":2,"result":{"action":"decline"}}' && gets '"r"' declined &&
		call '"s"' ask && await '"id":3,"method"' && say '{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"no"}}' &&
		gets '"s"' '"isError":true' && stop
}
t_a_cancelled_question_is_withdrawn() {
	start && hello 2025-06-18 '{"elicitation":{}}' && call '"q"' ask && await elicitation/create && tell cancelled '{"requestId":"q"}' &&
		await '"notifications/cancelled","params":{"requestId":1}' &&
		say '{"jsonrpc":"2.0","id":1,"result":{"action":"cancel"}}' && ask 9 ping && gets 9 '{}' && silent_on '"q"' && stop
}
t_cannot_ask_without_the_capability() { legacy && call 1 ask && gets 1 elicitation '"isError":true' && stop; }
t_lists_resources() {
	legacy && ask 1 resources/list && gets 1 '"uri":"demo://readme"' '"uri":"demo://logo"' '"uri":"demo://counter"' &&
		ask 2 resources/templates/list && gets 2 '"uriTemplate":"demo://greeting/{name}"' && stop
}
t_reads_resources() {
	legacy && ask 1 resources/read '{"uri":"demo://readme"}' && gets 1 '"contents":[{"uri":"demo://readme","mimeType":"text/plain","text":"This' &&
		ask 2 resources/read '{"uri":"demo://logo"}' && gets 2 '"mimeType":"image/png","blob":"iVBORw0KGgo' &&
		ask 3 resources/read '{"uri":"demo://greeting/Gr%C3%A4fin%20X"}' && gets 3 'Hello, Gräfin X!' &&
		ask 4 resources/read '{"uri":"demo://counter"}' && gets 4 '"text":"0"' &&
		ask 5 resources/read '{"uri":"demo://counter"}' && gets 5 '"text":"1"' && stop
}
t_missing_resource() {
	legacy && ask 1 resources/read '{"uri":"demo://nothing"}' && gets 1 -32002 '"data":{"uri":"demo://nothing"}' &&
		ask 2 resources/read && gets 2 -32602 && ask 3 resources/read '{"uri":"demo://greeting/"}' && gets 3 -32002 && stop
}
t_subscribes() {
	legacy && ask 1 resources/subscribe '{"uri":"demo://counter"}' && gets 1 '{}' && call 2 change && gets 2 extra &&
		await '"notifications/resources/updated","params":{"uri":"demo://counter"}' &&
		ask 3 resources/read '{"uri":"demo://counter"}' && await resources/updated 2 &&
		ask 4 resources/unsubscribe '{"uri":"demo://counter"}' && gets 4 '{}' && call 5 change && gets 5 gone &&
		[ "$(grep -c resources/updated "$work/out")" -eq 2 ] && ask 6 resources/subscribe '{"uri":"demo://x"}' && gets 6 -32002 && stop
}
t_prompts() {
	legacy && ask 1 prompts/list && gets 1 '"name":"greet"' '{"name":"name","description":"who is greeted","required":true}' '"name":"review"' &&
		ask 2 prompts/get '{"name":"greet","arguments":{"name":"Ada","style":"pirate"}}' && gets 2 'a pirate greeting for Ada' '"role":"user"' &&
		ask 3 prompts/get '{"name":"greet"}' && gets 3 -32602 "'name' is missing" &&
		ask 4 prompts/get '{"name":"review"}' && gets 4 '"messages"' && ask 5 prompts/get '{"name":"x"}' && gets 5 -32602 && stop
}
t_completes() {
	complete() { ask "$1" completion/complete "{\"ref\":{\"type\":\"ref/$2\",\"$3\":\"$4\"},\"argument\":{\"name\":\"$5\",\"value\":\"$6\"}}"; }
	legacy && complete 1 prompt name greet name a && gets 1 '"values":["Ada","Alan"],"total":2,"hasMore":false' &&
		complete 2 prompt name greet style f && gets 2 '["formal","friendly"]' &&
		complete 3 resource uri 'demo://greeting/{name}' name Z && gets 3 '"values":[],"total":0' &&
		complete 4 prompt name greet age 1 && gets 4 -32602 && stop
}

# --- modern ---
t_discovers() {
	start && mask 1 server/discover && gets 1 '"resultType":"complete"' '"supportedVersions":["2026-07-28"]' '"capabilities":{"tools"' \
		'"instructions"' '"ttlMs":' '"cacheScope":"public"' '"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcpool-demo"' && stop
}
t_modern_needs_no_handshake() {
	start && mask 1 tools/list && gets 1 '"tools":[' '"resultType":"complete"' '"ttlMs":' serverInfo &&
		mcall 2 add '{"a":2,"b":3}' && gets 2 '"sum":5' '"resultType":"complete"' serverInfo && lacks 2 ttlMs && stop
}
t_modern_lists_have_hints() {
	start
	for list in resources/list resources/templates/list prompts/list; do
		mask "\"$list\"" $list && gets "\"$list\"" '"ttlMs":5000,"cacheScope":"public"' '"resultType":"complete"' || return 1
	done
	mask 4 resources/read '"uri":"demo://counter"' && gets 4 '"ttlMs":0' && mask 5 prompts/get '"name":"review"' && lacks 5 ttlMs && stop
}
t_both_eras_on_one_wire() { legacy && mask 1 tools/list && gets 1 resultType && ask 2 tools/list && lacks 2 resultType && stop; }
t_missing_metadata() {
	start && ask 1 tools/list '{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}' && gets 1 -32602 clientCapabilities &&
		ask 2 tools/list '{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}' && gets 2 -32602 protocolVersion &&
		ask 3 server/discover && gets 3 -32602 && stop
}
t_unknown_version() {
	start && ask 1 tools/list '{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01","io.modelcontextprotocol/clientCapabilities":{}}}' &&
		gets 1 -32022 '"data":{"supported":["2026-07-28"],"requested":"2027-01-01"}' && stop
}
t_removed_methods() {
	legacy
	for method in initialize ping logging/setLevel resources/subscribe resources/unsubscribe; do
		mask "\"$method\"" $method '"uri":"demo://counter","level":"info"' && gets "\"$method\"" -32601 || return 1
	done
	stop
}
t_modern_missing_resource() { start && mask 1 resources/read '"uri":"demo://no"' && gets 1 -32602 '"data":{"uri":"demo://no"}' && stop; }
t_modern_log_needs_a_level() {
	start && mcall 1 log '{"level":"error","message":"m"}' && gets 1 'not sent' &&
		meta=',"io.modelcontextprotocol/logLevel":"warning"' && mcall 2 log '{"level":"error","message":"m"}' && gets 2 '"sent"' &&
		await notifications/message && mcall 3 log '{"level":"info","message":"m"}' && gets 3 'not sent' &&
		meta=',"io.modelcontextprotocol/logLevel":"loud"' && mcall 4 time && gets 4 -32602 && stop
}
t_modern_progress() {
	start && meta=',"progressToken":17' && mcall 1 sleep '{"ms":4,"steps":1}' && gets 1 slept && nth 1 '"progressToken":17,"progress":1' && stop
}
t_modern_needs_the_capability() { start && mcall 1 ask && gets 1 -32021 '"data":{"requiredCapabilities":{"elicitation":' && stop; }
t_modern_asks_in_rounds() {
	start && caps='{"elicitation":{"form":{}}}' && mcall 1 ask '{"question":"Who?"}' &&
		gets 1 '"resultType":"input_required"' '"inputRequests":{"answer":{"method":"elicitation/create","params":{"mode":"form","message":"Who?"' || return 1
	state=$(sed -n 's/.*"requestState":\("[^"]*"\).*/\1/p' "$work/answer")
	said='"inputResponses":{"answer":{"action":"accept","content":{"answer":"Ada"}}}'
	mcall 2 ask '{"question":"Who?"}' "$said,\"requestState\":$state" && gets 2 '"text":"Ada"' '"resultType":"complete"' &&
		mcall 3 ask '{"question":"Whom?"}' "$said,\"requestState\":$state" && gets 3 -32602 requestState &&
		mcall 4 ask '{"question":"Who?"}' "$said" && gets 4 -32602 &&
		mcall 5 ask '{"question":"Who?"}' "$said,\"requestState\":\"99999999999999.0000000000000000\"" && gets 5 -32602 &&
		mcall 6 ask '{"question":"Who?"}' "\"requestState\":$state" && gets 6 input_required &&
		mcall 7 ask '{"question":"Who?"}' "\"inputResponses\":{\"answer\":{\"action\":\"cancel\"}},\"requestState\":$state" && gets 7 cancelled && stop
}
t_listens() {
	start && mask '"l"' subscriptions/listen '"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["demo://counter","demo://x"]}' &&
		await '"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"},"notifications":{"toolsListChanged":true,"resourceSubscriptions":["demo://counter"]}}' &&
		mask 2 subscriptions/listen '"notifications":{}' && await '"io.modelcontextprotocol/subscriptionId":2},"notifications":{}' &&
		mcall 3 change && gets 3 extra && await '"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}' &&
		await '"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"},"uri":"demo://counter"}' &&
		[ "$(grep -c list_changed "$work/out")" -eq 1 ] && tell cancelled '{"requestId":"l"}' && mcall 4 change && gets 4 gone &&
		[ "$(grep -c list_changed "$work/out")" -eq 1 ] && silent_on '"l"' && stop
}
t_listens_end_in_order() {
	start && mask 1 subscriptions/listen '"notifications":{"toolsListChanged":true}' && await acknowledged && kill -TERM "$pid" &&
		gets 1 '"resultType":"complete"' '"io.modelcontextprotocol/subscriptionId":1' && ended 0
	hang_up
}
t_listen_needs_a_filter() { start && mask 1 subscriptions/listen && gets 1 -32602 && stop; }

# --- invalid messages ---
t_not_json() { legacy && say 'what?' '{"jsonrpc":"2.0"' && await '"id":null,"error":{"code":-32700' 2 && stop; }
t_not_a_message() {
	legacy && say '{}' '{"jsonrpc":"1.0","id":1,"method":"ping"}' '[]' '7' && await '"code":-32600' 4 && gets 1 -32600 && ask 2 ping && gets 2 '{}' && stop
}
t_stray_answers_are_ignored() { legacy && say '{"jsonrpc":"2.0","id":5,"result":{}}' '{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":""}}' && ask 1 ping && gets 1 '{}' && silent_on 5 && stop; }
t_requests_have_a_ceiling() {
	legacy && for i in $(seq 1025); do printf '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"sleep","arguments":{"ms":60000}}}\n' "$i"; done >&3 &&
		gets 1025 -32603 && tell cancelled '{"requestId":1}' && call 2000 time && gets 2000 result && stop
}

# --- knobs ---
t_knob_hang() { # D32
	start HANG=150 && at_once "hello; ask 2 ping" && gets '"hello"' result && nth 1 '"id":2' && stop
}
t_knob_hang_forever() { start HANG=forever && hello && mask 1 server/discover && ask 2 ping && gets 2 '{}' && silent_on '"hello"' && silent_on 1 && stop; }
t_knob_hang_calls() { legacy HANG_CALLS=1 && call 1 time && ask 2 ping && gets 2 '{}' && silent_on 1 && stop; }
t_knob_block() { # D32
	legacy BLOCK=150 && call 1 time && gets 1 result && ask 2 ping && gets 2 '{}' && stop &&
		legacy BLOCK=forever && call 1 time && ask 2 ping && sleep 0.1 && silent_on 2 && kill -KILL "$pid" && ended 137
	hang_up
}
t_knob_block_from_call() {
	legacy BLOCK=forever FROM_CALL=2 && call 1 time && gets 1 result && ask 2 ping && gets 2 '{}' && call 3 time &&
		ask 4 ping && sleep 0.1 && silent_on 3 && silent_on 4 && kill -KILL "$pid" && ended 137
	hang_up
}
t_knob_hang_calls_from_call() {
	legacy HANG_CALLS=1 FROM_CALL=2 && call 1 time && gets 1 result && call 2 time && call 3 time && ask 4 ping && gets 4 '{}' &&
		silent_on 2 && silent_on 3 && stop
}
t_knob_mute() { # what it executes is in the ledger; it still reads, and leaves when told to
	legacy MUTE=1 FROM_CALL=2 "LEDGER=$work/muted" && call 1 time && gets 1 result && call 2 time && ask 3 ping && ask 4 tools/list &&
		mask 5 server/discover && call 6 time && stop && silent_on 2 && silent_on 3 && silent_on 4 && silent_on 5 && silent_on 6 &&
		[ "$(grep -c . "$work/muted")" -eq 3 ]
}
t_knob_jitter() { # all are answered, and not in the order they came
	legacy JITTER=60 && at_once "for i in 1 2 3 4 5 6 7 8 9; do call \$i echo \"{\\\"message\\\":\\\"m\$i\\\"}\"; done" || return 1
	for i in 1 2 3 4 5 6 7 8 9; do
		gets $i "\"text\":\"m$i\"" || return 1
	done
	! sed -n 's/.*"id":\([0-9]\),.*/\1/p' "$work/out" | sort -c 2>/dev/null && stop
}
t_knob_change_after() {
	legacy CHANGE_AFTER=150 && ask 1 tools/list && lacks 1 '"name":"extra"' && await '"notifications/tools/list_changed"' && ask 2 tools/list &&
		gets 2 '"name":"extra"' && call 3 extra && gets 3 'extra is here' && stop
}
t_knob_exit_idle() {
	legacy EXIT_IDLE=1500 && call 1 sleep '{"ms":1700}' && gets 1 slept && lives && ended 0 && hang_up && start EXIT_IDLE=100 && ended 0
	hang_up
}
t_knob_ignore_term() { # D32
	legacy IGNORE_TERM=1 && kill -TERM "$pid" && sleep 0.05 && ask 1 ping && gets 1 '{}' && stop
}
t_knob_ignore_eof() { # D32
	legacy IGNORE_EOF=1 && hang_up && sleep 0.1 && lives && kill -TERM "$pid" && ended 0
}
t_knob_exit_delay() { # D32
	legacy EXIT_DELAY=2500 && hang_up && sleep 0.1 && lives && kill -TERM "$pid" && sleep 0.02 && lives && ended 0
}
t_knob_fail_starts() { # D32
	start FAIL_STARTS=2 "STATE=$work/starts" && ended 1 && grep -q 'start 1 fails' "$work/err" &&
		start FAIL_STARTS=2 "STATE=$work/starts" && ended 1 && legacy FAIL_STARTS=2 "STATE=$work/starts" && stop &&
		[ "$(wc -c <"$work/starts")" -eq 3 ]
}
t_knob_fail_restarts() { # D32
	legacy FAIL_STARTS=2-3 "STATE=$work/restarts" && stop && start FAIL_STARTS=2-3 "STATE=$work/restarts" && ended 1 &&
		start FAIL_STARTS=2-3 "STATE=$work/restarts" && ended 1 && legacy FAIL_STARTS=2-3 "STATE=$work/restarts" && stop
}
t_knob_exit_after() { legacy EXIT_AFTER=2 && at_once "call 1 time; call 2 time; call 3 time" && ended 0 && gets 2 result && silent_on 3; hang_up; }
t_knob_flood_stdout() { legacy FLOOD_STDOUT=300000 && [ "$(wc -c <"$work/out")" -gt 300000 ] && tail -1 "$work/out" | grep -q '^{"jsonrpc"' && stop; }
t_knob_flood_stderr() { legacy FLOOD_STDERR=300000 && [ "$(wc -c <"$work/err")" -eq 300000 ] && stop; }
t_knob_out_of_order() {
	legacy OUT_OF_ORDER=1 && at_once "call 1 time; call 2 time" && gets 1 result && nth 2 '"id":2' && nth 3 '"id":1' && call 3 time && gets 3 result && stop
}
t_knob_probe_die() {
	start PROBE=die && mask 1 server/discover && ended 1 && silent_on 1 && hang_up && legacy PROBE=die && stop
}
t_knob_probe_silent() { start PROBE=silent && mask 1 server/discover && hello && gets '"hello"' result && silent_on 1 && stop; }
t_knob_era_legacy() { start ERA=legacy && mask 1 server/discover && gets 1 -32601 && hello && mask 2 tools/list && lacks 2 resultType && stop; }
t_knob_era_modern() {
	start ERA=modern && hello && gets '"hello"' -32022 '"supported":["2026-07-28"],"requested":"2025-11-25"' && ask 2 tools/list && gets 2 -32602 &&
		mask 3 tools/list && gets 3 resultType && stop
}
t_knob_tools() { legacy TOOLS=3 && ask 1 tools/list && gets 1 '"name":"tool_3"' && lacks 1 tool_4 && call 2 tool_3 && gets 2 tool_3 && call 3 tool_4 && gets 3 -32602 && call 4 tool_03 && gets 4 -32602 && stop; }
t_knob_page() {
	legacy PAGE=4 && ask 1 tools/list && gets 1 '"name":"sleep"' '"nextCursor":""' && lacks 1 '"name":"fail"' && ask 2 tools/list '{"cursor":""}' &&
		gets 2 '"name":"fail"' '"nextCursor":"8"' && ask 3 tools/list '{"cursor":"8"}' && gets 3 '"name":"change"' && lacks 3 nextCursor &&
		ask 4 tools/list '{"cursor":"x"}' && gets 4 -32602 && ask 5 tools/list '{"cursor":"99"}' && gets 5 '"tools":[]' && stop
}
t_no_cursor_without_pages() { legacy && ask 1 tools/list '{"cursor":""}' && gets 1 -32602 && stop; }
t_knob_list_delay() { legacy LIST_DELAY=100 && at_once "ask 1 prompts/list; ask 2 ping" && gets 1 result && nth 2 '"id":2' && stop; }
t_knob_slow_start() { start SLOW_START=2000 && ask 1 ping && sleep 0.05 && silent_on 1 && gets 1 '{}' && stop; }
t_knob_ledger() {
	legacy "LEDGER=$work/ledger" && call 7 echo '{"message":"once"}' && gets 7 once && call 8 echo && gets 8 isError && call 9 crash && ended 1
	hang_up
	grep -qE '^[0-9]+ 7 echo \{"message":"once"\}$' "$work/ledger" && grep -q ' 9 crash ' "$work/ledger" && [ "$(grep -c . "$work/ledger")" -eq 2 ]
}
t_knob_ends() {
	legacy "LEDGER=$work/ends" "ENDS=$work/ends" && call 7 echo '{"message":"once"}' && gets 7 once && call 8 sleep '{"ms":60000}' &&
		tell cancelled '{"requestId":8}' && call 9 time && gets 9 result && stop &&
		[ "$(sed 's/^[0-9]* //; s/ [{].*//; s/ $//' "$work/ends" | tr '\n' ,)" = '7 echo,7 end answered,8 sleep,8 end cancelled,9 time,9 end answered,' ]
}
orphans() { # those of this test, by the variable they carry
	for process in /proc/[0-9]*; do
		grep -qs '^demo-orphan$' "$process/comm" && tr '\0' '\n' <"$process/environ" 2>/dev/null | grep -qxF "MCPOOL_DEMO_STATE=$work/fork" && echo "${process#/proc/}"
	done
}
t_knob_fork() {
	legacy FORK=2 "STATE=$work/fork" && stop || return 1
	left=$(orphans)
	kill -TERM $left && sleep 0.05 && [ "$(orphans | wc -l)" -eq 2 ]
	result=$?
	kill -KILL $left
	return $result
}

for test in $(sed -n 's/^\(t_[a-z0-9_]*\)() .*/\1/p' "$0"); do
	caps='{}' meta=
	check "${test#t_}" "$test"
	exec 3>&- # what a failed case left behind
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
	pid=
done
exit $bad
