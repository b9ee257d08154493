# test_netdata.sh - replays seeds 002 and 003 with real processes in the profile netdata: shared restarts, a 404 at the first
# start, hangs and probes, private restarts, filters, queues. It prints each sentence with what was seen.
# `sh tests/replay/test_netdata.sh shared` runs one case, `--long` also what takes minutes.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=replay-netdata profile=netdata documents='002 003' cases=netdata_cases.mjs prefix= separator=__
. tests/replay/lib.sh

t_shared() { play; }
t_relentless() { play; }
t_private_server() { play; }
t_timeouts() { play; }
t_idle_exit() { play; }
t_warmup() { play; }
t_acquire() { play; }
t_long_acquire() { play; }
t_start_concurrency() { play; }
t_keys() { play; }
t_transports() { play; }
t_tools() { play; }
t_instructions() { play; }
t_execution() { play; }
t_logs() { play; }
t_cleanup() { play; }

replay_cases "$@"
