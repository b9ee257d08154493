# test_modes.sh - slow calls, callers who give up, and who shares what: in the modes of a server.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=modes
. tests/pool/lib.sh
ends='"MCPOOL_DEMO_ENDS": "'$ledger'",'
again='"restart": {"schedule": [0], "stableMs": 0},'
calls=5000
[ -z "$sanitized" ] || calls=1500

# cancelled_there: each call that its caller gave up and the server had begun was cancelled there as well, or crossed
# its answer; those that sleep have none.
cancelled_there() {
	awk '
		FNR == NR && $3 == "end" { how[$1 " " $2] = $4; next }
		FNR == NR && match($0, /"(tag|message)":"[0-9]+-[0-9]+"/) {
			tag = substr($0, RSTART, RLENGTH); gsub(/.*:"|"/, "", tag)
			call[tag] = $1 " " $2; tool[tag] = $3; next
		}
		($2 == "timeout" || $2 == "cancelled") && ($1 in call) {
			n++
			if (how[call[$1]] != "cancelled" && (tool[$1] == "sleep" || how[call[$1]] != "answered"))
				print $1 " was given up, and the server did not hear of it"
		}
		END { if (!n) print "nothing was given up that had begun" }' "$ledger" "$work/results" >"$work/unheard"
	[ ! -s "$work/unheard" ] || { head -n 3 "$work/unheard"; return 1; }
}

# overlaps: how often a call began while the server had one of another session; and of the same
overlaps() {
	awk '
		$3 == "end" { delete open[$1 " " $2]; next }
		match($0, /"(tag|message)":"[0-9]+/) {
			who = substr($0, RSTART, RLENGTH); sub(/.*"/, "", who)
			for (call in open)
				if (index(call, $1 " ") == 1) { if (open[call] == who) own++; else others++ }
			open[$1 " " $2] = who
		}
		END { print others + 0, own + 0 }' "$ledger"
}

never_restarted() { has starts -eq 1 restarts -eq 0 kills -eq 0 errors -eq 0 && [ "$(wc -c <"$state")" -eq 1 ]; }

# D8 D44
t_timeouts_restart_nothing() {
	demo "$again" "$ends"' "MCPOOL_DEMO_JITTER": "3",' &&
		driven 0 --sessions 50 --flight 2 --calls $calls --slow 50 --limit 40 --seed "$seed" && told timeouts_restart_nothing &&
		has answered -gt 0 timeout -gt 0 unknown -eq 0 not_sent -eq 0 refused -eq 0 && never_restarted && judged && cancelled_there
}
# D16 U18
t_aborts_restart_nothing() {
	demo "$again" "$ends"' "MCPOOL_DEMO_JITTER": "10",' '"slots": 24, "line": 2000' &&
		driven 0 --sessions 50 --flight 2 --calls $calls --aborts 500 --seed "$seed" && told aborts_restart_nothing &&
		has answered -gt 0 cancelled -gt 0 timeout -eq 0 unknown -eq 0 not_sent -eq 0 refused -eq 0 && never_restarted && judged && cancelled_there
}
# E63 E72
# All of it at once, and the server dies as well.
t_everything_at_once() {
	demo "$again" "$ends"' "MCPOOL_DEMO_JITTER": "5",' &&
		driven 0 --sessions 50 --flight 2 --calls $calls --aborts 200 --slow 20 --limit 30 --kills 10 --seed "$seed" &&
		told everything_at_once && has kills -eq 10 restarts -eq 10 cancelled -gt 0 timeout -gt 0 unknown -gt 0 && judged && one_at_a_time
}
# E63
t_each_session_its_own() {
	demo "$again \"mode\": \"session\"," "$ends"' "MCPOOL_DEMO_JITTER": "3",' &&
		driven 0 --sessions 5 --flight 3 --calls 4000 --kills 12 --seed "$seed" && told each_session_its_own &&
		has servers -eq 5 starts -eq 17 kills -eq 12 restarts -eq 12 && judged &&
		[ "$(wc -c <"$state")" -eq 17 ] && [ "$(awk '$1 == "session" && $4 != $6' "$work/out" | wc -l)" -eq 0 ] &&
		[ "$(overlaps | cut -d' ' -f1)" -eq 0 ]
}
t_serial_keeps_sessions_apart() {
	demo '"mode": "serial",' "$ends"' "MCPOOL_DEMO_JITTER": "3",' &&
		driven 0 --sessions 10 --flight 3 --calls 1000 --seed "$seed" && told serial_keeps_sessions_apart &&
		has answered -eq 1000 servers -eq 1 starts -eq 1 && judged || return 1
	set -- $(overlaps)
	[ "$1" -eq 0 ] || { echo "$1 calls began beside another session's"; return 1; }
}
t_shared_lets_them_overlap() {
	demo '' "$ends"' "MCPOOL_DEMO_JITTER": "3",' &&
		driven 0 --sessions 10 --flight 3 --calls 1000 --seed "$seed" && has servers -eq 1 starts -eq 1 answered -eq 1000 && judged || return 1
	set -- $(overlaps)
	[ "$1" -gt 0 ] && [ "$2" -gt 0 ] || { echo "no two calls were with the server at once: $*"; return 1; }
}
two_projects() {
	mkdir -p "$work/a/.git" "$work/b/.git"
	demo "\"mode\": \"$1\", \"cwd\": \"$work\"," '"MCPOOL_DEMO_JITTER": "3",'
	driven 0 --sessions 6 --flight 2 --calls 600 --seed "$seed" --folder "$work/a" --folder "$work/b" &&
		has servers -eq "$2" starts -eq "$2" answered -eq 600 && judged &&
		[ "$(cut -d' ' -f1 "$ledger" | sort -u | wc -l)" -eq "$2" ]
}
t_each_project_its_own() { two_projects project 2; }
t_projects_share() { two_projects shared 1; }

run_cases "$@"
