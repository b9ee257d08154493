# test_ledger.sh - 200 sessions share one server that answers out of order and is killed in the middle of it, again
# and again: every call ends exactly once, as its caller was told, and no answer reaches another one's.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=ledger
. tests/pool/lib.sh
again='"restart": {"schedule": [0], "stableMs": 0},'
calls=100000 kills=50
[ -z "$sanitized" ] || calls=10000 kills=20

t_fifty_kills() {
	demo "$again" '"MCPOOL_DEMO_JITTER": "3",' &&
		driven 0 --sessions 200 --flight 4 --calls $calls --kills $kills --seed "$seed" && told fifty_kills &&
		has calls -eq $calls kills -eq $kills restarts -eq $kills servers -eq 1 errors -eq 0 twice -eq 0 answered -gt 0 unknown -gt 0 &&
		has not_sent -eq 0 refused -eq 0 timeout -eq 0 cancelled -eq 0 && judged && one_at_a_time
}
# Calls that the pipe has not taken when the server dies go to its next life, and only there.
t_not_yet_written() {
	demo "$again" '"MCPOOL_DEMO_BLOCK": "1",' &&
		driven 0 --sessions 20 --flight 4 --calls 4000 --kills 20 --pad 16000 --seed "$seed" && told not_yet_written &&
		has kills -eq 20 restarts -eq 20 not_sent -eq 0 errors -eq 0 unknown -gt 0 unknown -lt 400 && judged && one_at_a_time
}
# No waiting: a call while the server is down fails at once, and nothing happened.
t_callers_that_do_not_wait() {
	demo '"restart": {"schedule": [20], "stableMs": 0, "callers": "fail"},' '"MCPOOL_DEMO_JITTER": "3",' &&
		driven 0 --sessions 20 --flight 2 --calls 10000 --kills 10 --seed "$seed" && told callers_that_do_not_wait &&
		has kills -eq 10 restarts -eq 10 not_sent -gt 0 unknown -gt 0 && judged && one_at_a_time
}
# A short line turns callers away, and the server never hears of them.
t_a_full_line() {
	demo "$again" '"MCPOOL_DEMO_JITTER": "3",' '"slots": 8, "line": 20' &&
		driven 0 --sessions 50 --flight 2 --calls 10000 --kills 10 --seed "$seed" && told a_full_line &&
		has kills -eq 10 restarts -eq 10 refused -gt 0 answered -gt 0 && judged && one_at_a_time
}
# Pairs change their places, and each finds its own caller.
t_out_of_order() {
	demo "$again" '"MCPOOL_DEMO_OUT_OF_ORDER": "1",' &&
		driven 0 --sessions 200 --flight 2 --calls 10000 --kills 5 --seed "$seed" && told out_of_order &&
		has kills -eq 5 restarts -eq 5 answered -gt 9000 && judged && one_at_a_time
}

run_cases "$@"
