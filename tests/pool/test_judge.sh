# test_judge.sh - judge.mjs sees every way in which a call can go wrong, and none where all went well.
# NODE=path takes another node.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=judge
. tests/lib.sh
node=${NODE:-node_modules/.bin/node}

# judged WANTED LEDGER RESULTS [ASKED]: lines separated by commas; the exit code, the words in $work/out
judged() {
	wanted=$1
	printf '%s' "$2" | tr , '\n' >"$work/ledger"
	printf '%s' "$3" | tr , '\n' >"$work/results"
	if [ $# -gt 3 ]; then
		printf '%s' "$4" | tr , '\n' >"$work/asked"
		set -- "$work/asked"
	else
		set --
	fi
	"$node" tests/pool/judge.mjs "$work/ledger" "$work/results" "$@" >"$work/out" 2>&1
	code=$?
	[ $code -eq "$wanted" ] || { echo "exit code $code and not $wanted: $(head -3 "$work/out")"; return 1; }
}
says() { grep -qxF -- "$1" "$work/out" || { echo "no '$1' in: $(cat "$work/out")"; return 1; }; }
finds() { says "violation: $1" && [ "$(grep -c ^violation "$work/out")" -eq 1 ]; } # that, and nothing else

t_good() {
	judged 0 'a,c,e' 'a answered a,b not_sent,c unknown,d unknown,e timeout,f timeout,g cancelled,h refused' &&
		says 'calls 8 executed 3 answered 1 not_sent 1 unknown 2 refused 1 timeout 2 cancelled 1'
}
t_nothing() { judged 0 '' '' && says 'calls 0 executed 0 answered 0 not_sent 0 unknown 0 refused 0 timeout 0 cancelled 0'; }
t_no_ledger() {
	printf 'a not_sent\n' >"$work/results"
	"$node" tests/pool/judge.mjs "$work/none" "$work/results" || return 1
	printf 'a answered a\n' >"$work/results"
	! "$node" tests/pool/judge.mjs "$work/none" "$work/results"
}
t_someone_elses_answer() { judged 1 'a,b' 'a answered b,b answered b' && finds 'a: answered with that of b'; }
t_an_empty_answer() { judged 1 'a' 'a answered' && finds 'a: answered with nothing'; }
t_answered_and_not_executed() { judged 1 '' 'a answered a' && finds 'a: answered, and executed 0 times'; }
t_answered_and_executed_twice() { judged 1 'a,a' 'a answered a' && finds 'a: answered, and executed 2 times'; }
t_unknown_and_executed_twice() { judged 1 'a,b,a' 'a unknown,b unknown' && finds 'a: unknown, and executed 2 times'; }
t_not_sent_and_executed() { judged 1 'a' 'a not_sent' && finds 'a: not_sent, and executed 1 times'; }
t_refused_and_executed() { judged 1 'a' 'a refused' && finds 'a: refused, and executed 1 times'; }
t_timeout_and_executed_twice() { judged 1 'a,a' 'a timeout' && finds 'a: timeout, and executed 2 times'; }
t_cancelled_and_executed_twice() { judged 1 'a,a' 'a cancelled' && finds 'a: cancelled, and executed 2 times'; }
t_told_twice() { judged 1 'a' 'a answered a,a unknown' && finds 'a: unknown, and it was answered already'; }
t_an_answer_to_a_failure() { judged 1 '' 'a timeout a' && finds 'a: timeout, with an answer'; }
t_executed_and_never_told() { judged 1 'a,b' 'a answered a' && finds 'b: executed, and nobody was told'; }
t_asked_and_told() { judged 0 'a' 'a answered a,b refused' 'b,a'; }
t_asked_and_never_told() { judged 1 'a' 'a answered a' 'a,b' && finds 'b: asked, and never told what became of it'; }
t_told_and_never_asked() { judged 1 'a' 'a answered a,b refused' 'a' && finds 'b: refused, and nobody asked'; }
t_asked_twice() { judged 1 'a' 'a answered a' 'a,a' && finds '1 tags were given to two calls'; }
t_other_words_are_no_result() { judged 1 '' 'a lost' && finds 'no result: a lost' && judged 1 '' 'a' && judged 1 '' 'a constructor'; }
t_the_first_ten() {
	judged 1 '' "$(seq -s, 12 | sed 's/[0-9]*/& answered &/g')" && says 'and 2 more' && [ "$(grep -c ^violation "$work/out")" -eq 10 ]
}
t_a_line_without_a_tag() { judged 1 '12 3 change {}' '' && finds "no tag in the ledger's line: 12 3 change {}"; }
t_usage() {
	"$node" tests/pool/judge.mjs; [ $? -eq 2 ] || return 1
	"$node" tests/pool/judge.mjs "$work/none" "$work/none"; [ $? -eq 2 ]
}
# The ledger as the demo server writes it, of calls of several processes, and of one that was cut.
t_demo_ledger() {
	{
		echo '100 1 echo {"message":"a"}'
		echo '101 "x \" 1" sleep {"ms":1,"tag":"b"}'
		printf '102 7 echo {"tag":"c","message":"%s\n' "$(printf '%0500d' 0)"
	} >"$work/ledger"
	printf 'a answered a\nb unknown\nc timeout\n' >"$work/results"
	"$node" tests/pool/judge.mjs "$work/ledger" "$work/results" >"$work/out" && says \
		'calls 3 executed 3 answered 1 not_sent 0 unknown 1 refused 0 timeout 1 cancelled 0'
}

for test in $(sed -n 's/^\(t_[a-z0-9_]*\)() .*/\1/p' "$0"); do
	check "${test#t_}" "$test"
done
exit $bad
