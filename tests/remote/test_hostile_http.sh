# test_hostile_http.sh - mcpool with servers of Streamable HTTP that misbehave, one way each: what people are
# told, what becomes of calls, that memory has a ceiling, and that credentials stay where they belong. What their
# neighbours notice is test_neighbours.sh.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=hostile_http
. tests/remote/lib.sh
. tests/remote/kinds.sh
config=$work/servers.json

exec 3>&1 # for readers of the log

# bad MODE [MEMBERS]: the server of that mode, and the configuration with it; MODE ws:NAME is one of WebSockets
bad() {
	kind=http
	case $1 in
	ws:*) kind=ws ;;
	esac
	serve bad "$node" $servers/hostile_$kind.mjs "${1#ws:}" "${port:-0}" && listens bad || return 1
	port=$(sed -n 's/^listening on //p' "$work/bad.log")
	place=http://127.0.0.1:$port
	cat >"$config" <<END
{"mcpServers": {
	"bad": {"type": "$kind", "url": "$kind://127.0.0.1:$port/mcp", "headers": {"Authorization": "Bearer sesame"}, ${2:-"\"timeout\": 2000"}}}}
END
}

# The largest that the process became; a process that is gone says nothing.
watch_size() { # PID
	while size=$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$1/status" 2>/dev/null) && [ -n "$size" ]; do
		echo "$size" >"$work/size"
		sleep 0.02
	done
}
small() { # MIB
	[ -n "$sanitized" ] && return
	[ "$(cat "$work/size")" -lt $(($1 * 1024)) ] || { echo "it took $(cat "$work/size") KiB"; return 1; }
}

# asks WANTED VERB...: mcpool with this configuration; no secret is shown, whatever happens. With watched=yes its size is noted.
asks() {
	wanted=$1
	shift
	began=$(now)
	start "$@" --strict-config --config "$config"
	[ -z "${watched:-}" ] || watch_size "$mcpool_pid" &
	watcher=$!
	ended "$wanted" 40
	asked=$?
	took=$(($(now) - began))
	wait $watcher
	silent_on out sesame hunter2 && silent_on err sesame hunter2 && return $asked
}
tested() { asks "$1" test bad; }
called() { asks "$1" call bad/echo message=hi --timeout "${2:-10s}"; }
noted_once() { [ "$(grep -cxF -- "$1" "$work/bad.notes")" = 1 ] || { echo "'$1' is noted $(grep -cxF -- "$1" "$work/bad.notes") times"; return 1; }; }
noted_by_bad() { eventually 2 grep -qxF -- "$1" "$work/bad.notes" || { echo "the server never noted '$1'"; return 1; }; }
never_noted() { ! grep -q -- "$1" "$work/bad.notes" || { echo "noted: $(grep -- "$1" "$work/bad.notes" | head -n 1)"; return 1; }; }

# Half open: the peer's packets, and ours to it, are dropped without a word. In a network of its own, whose other
# end loses its address; there are no calls meanwhile.
t_half_open() {
	[ -z "$sanitized" ] || return 0 # it takes half a minute, and is about the kernel
	unshare -rn true 2>/dev/null && unshare -rn ip link add name h0 type veth peer name h1 2>/dev/null || {
		echo "   $group/half_open: not tried, this machine lets nobody make networks" >&3
		return 0
	}
	INSIDE=1 unshare -rn sh "$0" half_open_inside >"$work/inside" 2>&1 </dev/null
	grep '^   ' "$work/inside" >&3
	grep -q '^ok ' "$work/inside" || { cat "$work/inside"; return 1; }
}
[ -z "${INSIDE:-}" ] || t_half_open_inside() { cut_off; }
# A55 D12 D30 D33
t_idle_servers_that_go() { idle_ones_go; } # D47
# D22
# A stdio server whose stdin is closed while it lives, and a connection that is reset: each comes back by itself.
t_broken_pipe_and_reset() {
	kinds='pipe reset' again='"restart":{"schedule":[0,300]}'
	serve reset "$node" $servers/hostile_ws.mjs reset 0 && listens reset || return 1
	printf '{"mcpServers":{"pipe":{"command":"%s","args":["%s","closes-stdin"],"healthInterval":200,%s},"reset":{"type":"ws","url":"ws://127.0.0.1:%s/",%s}}}' \
		"$PWD/$node" "$PWD/$servers/hostile.mjs" "$again" "$(sed -n 's/^listening on //p' "$work/reset.log")" "$again" >"$config"
	start serve --json --strict-config --config "$config" && all_by 20 up 2 &&
		grep -q '"server":"pipe",.*"what":"clearing","text":"probe-failed: .*: writing failed: Broken pipe"' "$work/out" &&
		grep -q '"server":"reset",.*"what":"clearing","text":"transport-exit: .* broke the connection"' "$work/out" ||
		{ grep '"clearing"' "$work/out" | cut -c1-250; return 1; }
	finish
}

# From the first word on.
t_plain() { bad plain && tested 0 && says out 'bad: works, 1 tool' && called 0 && says out 'Echo: hi' && noted_by_bad DELETE; }
t_what_is_configured_is_sent() { # E14
	bad headers && tested 0 && called 0 && says out 'Echo: hi' && noted_by_bad DELETE && never_noted without
}
t_503() { bad 503 && tested 4 && says err "$place answered HTTP 503 (unavailable)"; }
t_500() { bad 500 && tested 4 && says err "$place answered HTTP 500 (internal error)"; }
t_502() { bad 502 && tested 4 && says err "$place answered HTTP 502 (bad gateway)" && noted_once server/discover && never_noted initialize; }
# B67 C5
t_a_login_is_missing() {
	bad 401 && tested 8 && says err "$place answered HTTP 401 (not logged in)" "Log in: mcpool login bad" "put a token into its headers" && never_noted initialize &&
		kill_server bad && bad 403 && tested 8 && says err "$place answered HTTP 403 (forbidden)" "Log in: mcpool login bad" "put a token into its headers" && never_noted initialize
}
t_404() { bad 404 && tested 4 && says err "$place answered HTTP 404 (not found)"; }
no_mcp() { bad "$1" && tested 5 && says err "$place answered with something that is not MCP"; }
t_text() { no_mcp text; }
t_html() { no_mcp html; }
t_no_json() { no_mcp no-json; }
t_wrong_json() { no_mcp wrong-json; }
t_an_empty_answer() { no_mcp empty; }
t_binary() { watched=yes no_mcp binary && small 100; }
t_no_http() { bad no-http && tested 5 && says err "no HTTP comes from $place"; }
t_json_by_another_name() { bad wrong-type && tested 0; } # what it says counts, not what it calls it
too_slow() { bad "$1" '"timeout": 1000' && tested 6 && says err 'no answer within 1 s' && within 3500; }
t_a_head_byte_by_byte() { too_slow loris-head; }
t_a_body_byte_by_byte() { too_slow loris-body; }
t_an_event_byte_by_byte() { too_slow loris-event; }
t_silence() { too_slow silent; }
t_a_header_without_end() { bad endless-header && watched=yes tested '4|5' && says err "headers of $place" && small 100 && within 2000; }
t_headers_without_end() { bad endless-headers && watched=yes tested '4|5' && says err "headers of $place" && small 100 && within 2000; }
t_cut_off() { bad drop && tested 4 && says err "$place closed the connection without an answer"; }
t_nobody_there() {
	bad plain && kill_server bad && eventually 2 gone_from "$port" && tested 4 && says err "could not connect to $place"
}
gone_from() { ! grep -q ":$(printf %04X "$1") 00000000:0000 0A" /proc/net/tcp; }

# Neither the message nor what it carries goes to another server.
t_a_redirect_elsewhere() {
	bad redirect-elsewhere && tested '4|5' && says err "$place sends us to http://127.0.0.1:" && never_noted elsewhere && noted_once server/discover
}
t_a_redirect_on_the_same_server() { bad redirect-same && tested 0 && called 0 && says out 'Echo: hi'; }
t_a_redirect_in_circles() { bad redirect-loop && tested '4|5' && says err 'more than 5 redirects' && within 2000; }

# It is well until it is called. What may have happened is never sent again.
unknown() { bad "$1" && called 5 && says err 'may have happened' "$2" && noted_once tools/call; }
t_a_call_cut_in_the_middle() { unknown call-cut 'in the middle of its answer'; }
t_a_call_cut_before_the_answer() { unknown call-drop 'without an answer'; }
t_a_call_and_500() { unknown call-500 'HTTP 500'; }
t_a_call_without_an_answer_in_its_stream() { unknown call-unanswered 'ended the stream without an answer'; }
t_a_call_and_a_header_without_end() { watched=yes unknown call-endless-header header && small 100; }
# mutant-S1: executed once, though the way back to its answer is refused
t_a_call_whose_session_is_gone_when_it_is_resumed() { unknown call-resume-404 'HTTP 404' && noted_once executed; }
t_a_call_whose_resumption_meets_503() { unknown call-resume-503 'HTTP 503' && noted_once executed; }
refused() { bad "$1" && called "$2" && says err "$3" && noted_once tools/call; }
t_a_call_and_429() { refused call-429 4 'HTTP 429 (too many requests)'; }
t_a_call_and_403() { refused call-403 8 'HTTP 403'; }
t_a_call_and_401() { refused call-401 8 'HTTP 401'; }
t_a_call_and_no_json() { refused call-no-json 5 'cannot be read'; }
t_a_call_and_html() { refused call-html 5 'not MCP'; }
t_a_call_and_a_gigabyte_of_json() { watched=yes refused call-huge-json 5 'the answer is too large' && small 200; }
t_a_call_and_an_event_of_a_gigabyte() { watched=yes refused call-huge-event 5 'the answer is too large' && small 200; }
t_a_call_and_503() { bad call-503 && called 4 && says err 'HTTP 503 (unavailable)'; }
late() { bad "$1" && called 6 1s && says err 'did not answer within 1 s' && within 4500; }
t_a_call_byte_by_byte() { late call-loris; }
t_a_call_and_silence() { late call-silent; }
t_a_call_that_is_only_accepted() { late call-accepted && noted_by_bad notifications/cancelled; }
right() { bad "$1" && called 0 && says out 'Echo: hi' && silent_on out wrong && noted_once tools/call; }
t_a_call_answered_twice() { right call-twice; }
t_a_call_and_answers_for_others() { right call-others; }
t_a_call_whose_stream_never_ends() { right call-endless && noted_by_bad cut && within 2000; }
t_a_call_among_100000_notices() { watched=yes right call-flood && small 100; }

t_large_answers_one_after_the_other() { # reading pauses in between, and no connection is taken for an idle one
	bad call-megabyte || return 1
	MCPOOL_TEST_MARK="$work" timeout -k 2 60 "$bin/tests/drive" "$config" "$work" --server bad --flight 2 --calls 200 \
		>"$work/out" 2>"$work/err" </dev/null || return 1
	says out 'calls 200 answered 200'
}

# Sessions and the standing stream.
t_a_session_id_that_cannot_be() { right session-odd; }
t_a_session_id_that_changes() { right session-changes; }
t_a_standing_stream_that_ends() { right get-ends; }
t_a_standing_stream_and_500() { right get-500; }
t_a_standing_stream_that_is_a_page() { right get-html; }
t_a_standing_stream_that_floods() { watched=yes right get-floods && small 100; }

# WebSockets.
t_ws_plain() { bad ws:plain && tested 0 && called 0 && says out 'Echo: hi' && noted_by_bad 'closed 1000'; }
t_ws_401() { bad ws:401 && tested 8 && says err "$place answered HTTP 401 (not logged in)"; }
t_ws_503() { bad ws:503 && tested 4 && says err "$place answered HTTP 503 (unavailable)"; }
t_ws_redirected() { bad ws:redirect && tested 5 && says err "$place answered HTTP 307"; }
t_ws_a_page() { bad ws:page && tested 5 && says err 'no WebSocket is there'; }
t_ws_without_our_protocol() { bad ws:no-protocol && called 0 && says out 'Echo: hi'; }
t_ws_silence() { too_slow ws:silent; }
t_ws_binary() { bad ws:binary && tested 5 && says err "$place sent a binary message" && noted_by_bad 'closed 1003'; }
t_ws_garbage() { bad ws:garbage && called 0 && says out 'Echo: hi'; } # it is skipped
t_ws_a_call_and_goodbye() { unknown ws:call-close 'code 1011 (it failed): out of memory'; }
t_ws_a_call_cut() { unknown ws:call-cut 'closed the connection'; }
t_ws_a_call_and_a_gigabyte() { bad ws:call-huge && watched=yes called 5 && says err 'too large' && small 200 && noted_by_bad 'closed 1009'; }
t_ws_that_floods() { bad ws:floods && watched=yes called 0 && says out 'Echo: hi' && small 100; }

# serving MODE SCHEDULE: a hub in the foreground, its events in $work/out
serving() {
	bad "$1" '"timeout": 2000, "restart": {"schedule": ['"$2"']}' && : >"$work/out" &&
		start serve --json --strict-config --config "$config" && wait_for_line "$work/out" '^{"gate"' 20
}
so() { $node tests/remote/hostile_http_so.mjs "$1" <"$work/out"; } # EXPRESSION
holds_by() { eventually "$1" so "$2" || { echo "not so within $1 s: $2: $(tail -n 3 "$work/out" | head -c 600)"; return 1; }; }
finish() { kill -TERM "$mcpool_pid" && ended 0 10 && silent_on out sesame && silent_on err sesame; }

t_503_for_a_while() { # Retry-After is longer than the schedule
	serving 503-for-a-while '0, 0, 0' && holds_by 10 'count("up") === 1' &&
		holds_by 10 'at("up") - at("backoff") >= 1900 && /HTTP 503/.test(words("backoff"))' && finish
}
t_429_for_a_while() {
	serving 429-for-a-while '0, 0, 0' && holds_by 10 'count("up") === 1' &&
		holds_by 10 'at("up") - at("backoff") >= 1900 && /HTTP 429/.test(words("backoff"))' && finish
}
t_a_login_is_waited_for() {
	serving 401 '0, 0, 0' && holds_by 10 'gate.needsAuth.join() === "bad" && /HTTP 401/.test(words("barred"))' && sleep 0.5 &&
		noted_once server/discover && finish
}
t_a_server_is_restarted() {
	serving plain '0, 200, 200, 200' && holds_by 5 'count("up") === 1' && kill_server bad &&
		holds_by 10 'count("backoff") >= 1 && /could not connect/.test(ev.findLast((e) => e.what === "backoff").text)' || return 1
	serve bad "$node" $servers/hostile_http.mjs plain "$port" && holds_by 10 'count("up") === 2' && finish
}
forgets() { # MODE: a session that is gone is one lost call's worth of trouble, and it is not lost
	bad "$1" '"restart": {"schedule": [0, 200]}' && : >"$work/out" &&
		start serve --json --strict-config --config "$config" --call mcp__bad__echo --args '{"message":"hi"}' &&
		eventually 10 grep -q 'Echo: hi' "$work/out" && holds_by 5 'count("up") === 2 && /no longer knows this session/.test(words("clearing"))' &&
		[ "$(grep -c '^initialize$' "$work/bad.notes")" = 2 ] && finish
}
t_a_call_is_not_repeated_in_the_next_session() { # mutant-S1: the server is up again and could be called
	bad call-resume-404 '"restart": {"schedule": [0, 200]}' && : >"$work/out" &&
		start serve --json --strict-config --config "$config" --call mcp__bad__echo --args '{"message":"hi"}' &&
		holds_by 10 'count("up") === 2' && eventually 5 grep -q 'may have happened' "$work/out" "$work/err" && noted_once executed && finish
}
t_a_session_is_forgotten() { forgets session-404; }
t_a_session_is_forgotten_in_words() { forgets session-400; }
t_a_standing_stream_that_ends_again_and_again() {
	serving get-ends '0, 200' && sleep 3 && holds_by 10 'count("up") === 1 && count("clearing") === 0' &&
		[ "$(grep -c GET "$work/bad.notes")" -lt 10 ] && finish
}

run_cases "$@"
