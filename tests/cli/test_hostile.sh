# test_hostile.sh - servers that break, hang, flood or lie (tests/servers/hostile.mjs): each is a clear
# error or a working session, in bounded memory, and leaves nothing running.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=hostile
. tests/servers/lib.sh
server=$servers/hostile.mjs

tools() { # WANTED MODE [OPTIONS...]
	wanted=$1 mode=$2
	shift 2
	run "$wanted" tools --timeout 3s "$@" -- "$node" $server "$mode"
}

call() { # WANTED MODE TOOL [ARGUMENTS...]
	wanted=$1 mode=$2
	shift 2
	run "$wanted" call "$@" --timeout 5s -- "$node" $server "$mode"
}

echoes() { # MODE [MILLISECONDS]: the tool is listed and answers all the same
	tools 0 "$1" && says out echo && call 0 "$1" echo message=hi && says out 'Echo: hi' &&
		within "${2:-2500}" && nothing_left
}

# frugal WANTED KIB ARGUMENTS...: the same as run, watching how much memory mcpool takes
frugal() {
	wanted=$1 most=$2 peak=0
	shift 2
	start "$@"
	while ! not_running; do
		seen=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$mcpool_pid/status" 2>/dev/null)
		peak=${seen:-$peak}
		sleep 0.02
	done
	wait "$mcpool_pid"
	exits "$wanted" $? || return 1
	[ "$peak" -gt 0 ] || { echo 'its memory was never seen'; return 1; }
	[ "$peak" -le "$most" ] || [ -n "$sanitized" ] || { echo "took $peak KiB of memory and not $most"; return 1; }
}
message_cap=65536 # two messages of 32 MiB; in truth little more than one
few=16384 # for what does not depend on what the server sends

# The control: without these the other cases would mean nothing.
t_a_good_server_works() { echoes plain 1500; }
t_the_mark_reaches_the_server() {
	start call echo --timeout 20s -- "$node" $server hang-in-call
	noted tools/call 5 && [ "$(marked | wc -l)" -ge 3 ] && kill -TERM $mcpool_pid && nothing_left 5
}

# It does not start.
t_no_such_command() {
	run 4 tools -- "$work/no-such-server" && blames no-such-server start 'does not exist' && nothing_left
}
t_no_such_command_in_path() { run 4 tools -- no-such-server-here && blames no-such-server-here start 'not found'; }
t_not_executable() {
	echo text >"$work/no-program" && run 4 tools -- "$work/no-program" && blames no-program start 'not executable'
}
t_a_folder_as_command() { run 4 tools -- "$work" && blames "$(basename "$work")" start 'is a folder'; }
t_exits_at_once() {
	tools 4 exit && blames hostile handshake 'code 3' 'cannot open the database' 'the second of the last words' &&
		within 2000 && nothing_left
}
t_exits_at_once_in_json() {
	tools 4 exit --json && json 'd.tools.length === 0 && d.errors.length === 1' &&
		json '/hostile/.test(d.errors[0].server) && /code 3/.test(d.errors[0].error)'
}

# The handshake.
t_garbage() { tools '5|6' garbage && blames hostile handshake && within 6500 && nothing_left; }
t_garbage_without_end() { tools '5|6' garbage-endless && blames hostile handshake && within 6500 && nothing_left; }
t_hangs_in_the_handshake() {
	tools 6 hang && blames hostile handshake 'waiting for a licence server' && within 5500 && nothing_left
}
t_unknown_version() { tools 5 version && blames hostile handshake 2099-01-01 && within 2000 && nothing_left; }
t_unknown_modern_version() { tools 5 version-modern && blames hostile handshake 2099-01-01 && within 2000; }
t_dies_on_the_probe() { echoes die-on-probe && [ "$(grep -c '^start ' "$TEST_NOTES")" -eq 4 ]; }
t_dies_on_the_probe_but_is_not_probed() {
	tools 0 die-on-probe --era legacy && says out echo && [ "$(grep -c '^start ' "$TEST_NOTES")" -eq 1 ] &&
		silent_on notes server/discover
}
t_silent_to_the_probe() { echoes silent-to-probe 3500; }
t_silent_to_the_probe_is_no_second_process() {
	tools 0 silent-to-probe && [ "$(grep -c '^start ' "$TEST_NOTES")" -eq 1 ]
}
t_answers_the_probe_late() {
	call 0 late-discover echo && says out legacy && says notes 'discover answered' && within 6000 && nothing_left
}
t_modern_only_never_sends_initialize() { # the server is tried all the same, and this one does not mind
	tools 0 plain --era modern && says notes tools/list && silent_on notes initialize && nothing_left
}
t_early_notification() { echoes early-notification; }
t_closes_stdout_early() {
	tools '4|5' close-stdout-early && blames hostile handshake 'stdout is closed' && within 5000 && nothing_left
}
t_closes_stdout_and_stays() {
	tools '4|5' close-stdout && blames hostile tools/list 'stdout is closed' && within 5000 && nothing_left
}

# What it writes.
t_banner_and_log_lines() { echoes banner; } # P29
t_crlf() { echoes crlf; }
t_dribbles() { call 0 dribble echo && says out 'drip ☔ drop 💧 é'; }
t_last_answer_without_newline() { call 0 unterminated echo && says out 'the end' && nothing_left; }
t_exits_right_after_its_answer() { call 0 exit-after-answer echo && says out 'last words' && nothing_left; }
t_wrong_ids() { echoes wrong-id; }
t_answers_twice() { call 0 twice echo && says out first && silent_on out second; }
t_batches() { echoes batch; }
t_invalid_utf8_in_a_result() { call 5 utf8 echo && blames hostile tools/call UTF-8 && within 3000 && nothing_left; }
t_invalid_utf8_in_a_list() { tools 5 utf8-list && blames hostile tools/list UTF-8 && within 3000 && nothing_left; }
t_broken_notifications_end_no_call() { call 0 broken-notifications echo && says out 'the answer' && nothing_left; }
t_broken_answers_to_others_end_no_call() { call 0 broken-strangers echo && says out 'the answer'; }
t_nests_100000_deep() { call 5 deep echo && blames hostile tools/call && within 3000 && nothing_left; }

# Too much.
t_answers_100_megabytes() {
	frugal 5 $message_cap call echo --timeout 20s -- "$node" $server big &&
		blames hostile tools/call && nothing_left
}
t_a_line_without_end() {
	frugal '5|6' $message_cap call echo --timeout 3s -- "$node" $server huge-line &&
		blames hostile tools/call && nothing_left
}
t_floods_stderr_with_50_megabytes() { # P11
	run 0 call echo message=hi --timeout 30s -- "$node" $server flood-stderr-50 && says out 'Echo: hi' && nothing_left
}
t_floods_stderr_with_a_gigabyte() { # into bounded files, too
	mode=flood-stderr${sanitized:+-50}
	frugal 0 $few tools --timeout 60s -- "$node" $server $mode && says out echo && nothing_left &&
		[ "$(du -sk "$HOME" | cut -f1)" -lt 16384 ]
}
t_floods_stderr_with_one_line() {
	frugal 0 $few tools --timeout 30s -- "$node" $server flood-stderr-line && says out echo && nothing_left
}
t_100000_notifications_before_the_answer() {
	frugal 0 $few tools --timeout 20s -- "$node" $server flood-stdout && says out echo && nothing_left
}
t_100000_progress_notifications() {
	frugal 0 $few call echo --timeout 20s -- "$node" $server progress-flood && says out '100000 steps' && nothing_left
}

# Lists.
t_tools_with_broken_schemas_are_named() { # P18
	tools 0 bad-schema && says out good1 good2 && silent_on out schema-is-text properties-are-a-list &&
		says err schema-is-text schema-is-missing schema-is-array properties-are-a-list
}
t_tools_with_broken_schemas_in_json() {
	tools 0 bad-schema --json && json 'd.tools.map((t) => t.tool).join() === "good1,good2"' &&
		json '["schema-is-text", "schema-is-missing", "schema-is-array", "properties-are-a-list"].every((n) =>
			d.errors.some((e) => /hostile/.test(e.server) && e.error.includes(n)))'
}
t_an_empty_cursor_is_a_cursor() {
	tools 0 paging && says out page1 page2 page3 && says notes 'cursor undefined' 'cursor ""' 'cursor "x"' &&
		[ "$(grep -c '^cursor' "$TEST_NOTES")" -eq 3 ]
}
t_pages_without_end() {
	tools '0|5' endless-pages && says err 64 && [ "$(grep -c '^cursor' "$TEST_NOTES")" -le 65 ] && nothing_left
}
t_the_same_cursor_again_and_again() {
	tools '0|5' same-cursor && blames hostile 'does not end' && [ "$(grep -c '^cursor' "$TEST_NOTES")" -le 65 ] &&
		nothing_left
}

# It asks, it dies, it paints.
t_its_requests_are_answered() { # V22
	call 0 requests echo && says out '1:{} 2:-32601 3:-32601 4:-32601 5:-32601 6:'
}
t_its_ids_come_back_as_they_are() {
	call 0 id-types echo && says out 'same ids: true true true true true true true'
}
t_crashes_in_the_call() {
	call '4|5' crash-in-call echo && blames hostile tools/call 'code 7' 'segmentation fault, more or less' &&
		within 2500 && nothing_left
}
t_hangs_in_the_call() { # the limit of a call also covers the start, which takes long on a busy machine; also below
	run 6 call echo --timeout 6s -- "$node" $server hang-in-call && blames hostile tools/call thinking &&
		noted notifications/cancelled && within 8500 && nothing_left
}
t_does_not_read_its_input() { # the arguments fill the pipe
	head -c 4000000 /dev/zero | tr '\0' x | sed 's/^/{"message":"/; s/$/"}/' >"$work/args"
	input="$work/args" run 6 call echo --args - --timeout 6s -- "$node" $server deaf &&
		blames hostile tools/call && within 11000 && nothing_left
}
unpainted() { # nothing of what it sent to paint the terminal got there
	silent_on out "$(printf '\033[2J')" "$(printf '\033]0')" "$(printf '\302\2335m')" "$(printf '\342\200\256')" \
		"$(printf '\342\201\246')" "$(printf '\363\240\201\201')" "$(printf '\a')" "$(printf '\b')" "$(printf '\177')"
}
t_paints_in_the_list() { # V40
	on_terminal 0 tools --timeout 3s -- $node $server ansi && says out plain && unpainted
}
t_paints_in_a_result() {
	on_terminal 0 call plain --timeout 3s -- $node $server ansi && says out R end && unpainted
}
t_paints_on_stderr() {
	on_terminal '9' call no-such-tool --timeout 3s -- $node $server ansi && says out no-such-tool && unpainted
}

# Modern, and strange.
t_modern_state_comes_back() { call 0 modern state && says out 'state came back'; }
t_modern_unknown_result_type() { call 5 modern strange && blames hostile tools/call && silent_on out strange; }
t_modern_rounds_end() { call '5|6' modern endless && blames hostile tools/call && within 8000 && nothing_left; }
t_modern_undeclared_question() { call 5 modern asks && blames hostile tools/call 'asked for user input' && nothing_left; }

# mcpool itself is started in a strange way.
listed() { # WANTED CODE: with a descriptor missing it works as ever
	exits "$1" "$2" && nothing_left
}
t_without_stdin() {
	MCPOOL_TEST_MARK="$work" $mcpool tools -- "$node" $server plain <&- >"$work/out" 2>"$work/err"
	listed 0 $? && says out echo
}
t_without_stderr() {
	MCPOOL_TEST_MARK="$work" $mcpool tools -- "$node" $server plain </dev/null >"$work/out" 2>&-
	listed 0 $? && says out echo
}
t_without_any_descriptor() {
	MCPOOL_TEST_MARK="$work" $mcpool tools -- "$node" $server exit <&- >&- 2>&-
	listed 4 $?
}
t_output_that_cannot_be_written() { # is not a success
	MCPOOL_TEST_MARK="$work" $mcpool tools -- "$node" $server plain </dev/null >/dev/full 2>"$work/err"
	[ $? -ne 0 ] && says err 'mcpool: ' && nothing_left
}
t_the_server_is_born_clean() { # no descriptors, signals or session of ours
	cat >"$work/born.sh" <<-'END'
	echo "open" $(ls /proc/self/fd) >>"$TEST_NOTES"
	sed -n 's/^Sig\(Blk\|Ign\):[[:space:]]*0*\(180000000\)*/\1 none/p' /proc/self/status >>"$TEST_NOTES"
	read -r pid name state parent group session rest </proc/$$/stat
	[ "$pid $pid" = "$group $session" ] && echo 'its own session' >>"$TEST_NOTES"
	END
	# 3 is ls's own, and signals 32 and 33 are the C library's
	run 4 tools -- sh "$work/born.sh" && cat "$TEST_NOTES" && noted 'Blk none' && noted 'Ign none' &&
		noted 'its own session' && noted 'open 0 1 2 3'
}
t_the_name_of_a_one_liner() { run 4 tools -- sh -c 'echo gone; exit 3' && blames 'sh:' handshake 'code 3'; }

run_cases "$@"
