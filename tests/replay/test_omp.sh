# test_omp.sh - replays seeds 000 and 004 with real processes in the profile omp: the life cycle, partial failure, reload,
# teardown, configuration, names, and the errors of section 6. It prints each sentence with what was seen.
# `sh tests/replay/test_omp.sh reload` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=replay-omp profile=omp documents='000 004' cases=omp_cases.mjs prefix=mcp_ separator=_
. tests/replay/lib.sh

t_startup() { play; }
# A7 A51 A50
t_reload() { play; }
t_drop() { play; }
t_statuses() { play; }
t_handshake() { play; }
t_calls() { play; }
t_teardown() { play; }
t_discovery() { play; }
t_hard_failure() { play; }
t_validation() { play; }
t_values() { play; }
t_warnings() { play; }
t_names() { play; }
t_operator() { play; }
t_failures() { play; }
t_wizard() { play; }

replay_cases "$@"
