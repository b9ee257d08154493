# test_family.sh - `mcpool stdio --parent ID|auto`: subagents borrow the connections of their parent.
# `sh tests/hub/test_family.sh NAME` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=family
. tests/hub/lib.sh
ledger=$work/ledger

# One process for each session; every call leaves a line: PID ID TOOL ARGUMENTS.
private() { # NAME
	printf '"%s":{"command":"/bin/sh","args":["-c","env >%s/env-%s; exec %s"],"env":{"MCPOOL_DEMO_LEDGER":"%s-%s"},"mode":"session"}' \
		"$1" "$work" "$1" "$demo_server" "$ledger" "$1"
}
given() { configure "$user" "$(private a)" "$(private b)" && run 0 trust --user-file --yes && up; }
pids() { cut -d' ' -f1 "$ledger-$1" | sort -u | wc -l; }

# Two servers, a parent and three children (by id, by auto, by auto in a grandchild): two processes.
# A73
t_a_family_shares_its_private_servers() {
	given && talk family_steps.mjs#parent && says out family && [ "$(pids a)" = 1 ] && [ "$(pids b)" = 1 ] &&
		grep -q "^MCPOOL_SESSION=$(cat "$work/id")\$" "$work/env-a" && talk family_steps.mjs#call_both && [ "$(pids a)" = 2 ] && finish
}

# The parent leaves first, and its servers stay as long as one child does.
# A73
t_a_child_outlives_its_parent() {
	given || return 1
	MCPOOL_TEST_MARK="$work" $agent family_steps.mjs#stay_until_told >"$work/out1" 2>&1 &
	parent=$!
	eventually 10 test -s "$work/id" && MCPOOL_TEST_MARK="$work" timeout 60 $agent --parent "$(cat "$work/id")" -- family_steps.mjs#outlive >"$work/out2" 2>&1 &
	eventually 15 test -e "$work/joined" && : >"$work/leave" && wait "$parent" && eventually 5 sessions 1 && : >"$work/left" &&
		wait && says out2 outlived && [ "$(pids a)" = 1 ] && eventually 5 servers 0 && finish
}
sessions() { "$mcpool" status --json | grep -q "\"sessionCount\":$1,"; }
servers() { "$mcpool" status --json | grep -q "\"serverCount\":$1[,}]"; }

# An id that names no session, as after a crash of the hub, is told in the log and does no harm.
# A73
t_a_stale_id_has_servers_of_its_own() {
	given && talk --parent 5 -- family_steps.mjs#call_both && says out called && grep -q -- '--parent 5: there is no such session' "$XDG_STATE_HOME/mcpool/hub.log" &&
		talk --parent auto -- family_steps.mjs#call_both && says out called && talk family_steps.mjs#parent_of_a_crash && says out survived &&
		run 2 stdio --parent x && says err 'status --json' && finish
}

# Shared servers do not know the session.
# A73
t_only_private_servers_know_the_session() {
	configure "$user" "$(private a | sed 's/,"mode":"session"//')" && run 0 trust --user-file --yes && up && MCPOOL_SESSION=77 talk bridge_steps.mjs#list &&
		says out mcp__a__echo && [ -s "$work/env-a" ] && ! grep MCPOOL_SESSION "$work/env-a" && finish
}

run_cases "$@"
