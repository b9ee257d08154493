# test_claude.sh - replays seed 001 with real processes in the profile claude: five states, backoff, batches, changes, toggles,
# a removed plugin. It prints each sentence with what was seen.
# `sh tests/replay/test_claude.sh toggle` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=replay-claude profile=claude documents=001 cases=claude_cases.mjs prefix=mcp__ separator=__
. tests/replay/lib.sh

t_backoff() { play; }
t_states() { play; }
t_batches() { play; }
t_phases() { play; }
t_changes() { play; }
t_stale() { play; }
t_toggle() { play; }

replay_cases "$@"
