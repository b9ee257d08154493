# test_bridge.sh - `mcpool stdio`: what an agent has of it, also when the hub dies.
# `sh tests/hub/test_bridge.sh survives` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=bridge
. tests/hub/lib.sh
slack=1
[ "$sanitized" ] && slack=5

t_starts_the_hub() { # A1 C1 C2 C22
	with a && talk bridge_steps.mjs#first_use && says out listed hi && running && finish
}

# A43: in-flight ids are answered within 200 ms, the session goes on.
t_survives() {
	with a && talk bridge_steps.mjs#survive && most answered 200 && most back 2000 && finish
}
most() { # WORD MS: the figure behind it
	took=$(sed -n "s/^survived:.* $1 \([0-9]*\).*/\1/p" "$work/out") && [ "$took" ] && within $(($2 * slack))
}

# Messages wait while there is no hub. Another process holds the lock, so that none can start. The hub that is
# killed may not have stored the tools yet; then the calls wait until their server has listed them.
t_messages_wait_for_the_hub() {
	with a && talk bridge_steps.mjs#wait_for_the_hub && says out 2,3,4 && finish
}

t_many_bridges_share_one_hub() {
	with a b || return 1
	for i in 1 2 3 4 5 6 7 8 9 10; do
		LEAVE=$work/leave MCPOOL_TEST_MARK="$work" $agent bridge_steps.mjs#call_two_and_stay >"$work/out$i" 2>&1 &
	done
	eventually 20 all_ok && run 0 status --json && json 'd.hub.sessionCount === 10 && d.hub.serverCount === 2' || return 1
	: >"$work/leave"
	wait
	finish
}
all_ok() { [ "$(cat "$work"/out[0-9]* 2>/dev/null | grep -c '^ok$')" = 10 ]; }

# The folder of the agent decides which files count.
# E11
t_each_project_has_its_own() {
	mkdir -p "$work/one/.git" "$work/one/deep" "$work/two/.git"
	with a && configure "$work/one/.mcpool/mcp.json" "$(server p one)" &&
		configure "$work/two/.mcpool/mcp.json" "$(server p two)" || return 1
	for p in one two; do
		(cd "$work/$p" && run 0 trust --all --yes) || return 1
	done
	(cd "$work/one/deep" && talk bridge_steps.mjs#list) && says out mcp__a__echo mcp__p__echo &&
		(cd "$work" && talk bridge_steps.mjs#list) && silent_on out mcp__p__ &&
		(cd "$work" && talk --project two -- bridge_steps.mjs#list) && says out mcp__p__echo &&
		run 0 status --json && json 'd.hub.serverCount === 3' && finish
}

t_narrowings() {
	with a b c && talk --servers a,b -- bridge_steps.mjs#list &&
		says out mcp__a__echo mcp__b__echo && silent_on out mcp__c__ &&
		talk --tools 'ec*' -- bridge_steps.mjs#list &&
		says out mcp__a__echo,mcp__b__echo,mcp__c__echo && silent_on out mcp__a__add &&
		run 2 stdio --profile nonsense && run 2 stdio --project "$work/none" && finish
}

t_garbage_is_answered_by_the_hub() {
	with a && talk bridge_steps.mjs#send_garbage && says out fine && finish
}

t_leaves_at_once() {
	with a && talk bridge_steps.mjs#leave_soon && talk bridge_steps.mjs#be_terminated && talk bridge_steps.mjs#stop_reading &&
		talk bridge_steps.mjs#leave_a_call_open && eventually 3 no_sessions && finish
}
no_sessions() { "$mcpool" status --json | grep -q '"sessionCount":0'; }

# Where no hub can start, everybody is told so, and why.
t_no_hub_can_start() {
	mkdir -m 777 "$XDG_RUNTIME_DIR/mcpool" && chmod 777 "$XDG_RUNTIME_DIR/mcpool" || return 1
	patience=40 talk bridge_steps.mjs#find_no_hub && says out "hub.log" && nothing_left 8
}

# C20: switched in the running hub, for the agents of this folder's workspace; no file changes.
t_a_server_is_switched_off_for_now() { # C20
	with a b && mkdir -p "$work/here/.git" && cp "$user" "$work/before" && (
		cd "$work/here" && talk bridge_steps.mjs#switch_off_and_on
	) && says out switched && cmp "$user" "$work/before" && run 9 disable --now none && finish &&
		run 4 disable --now a
}

# Two agents in one folder: one has b off for itself and hears of it, the other calls b all the time.
# C20 U3 B76 C7
t_a_session_switches_for_itself() {
	with a b && mkdir -p "$work/here/.git" && cp "$user" "$work/before" && cd "$work/here" || return 1
	MCPOOL_TEST_MARK="$work" $agent bridge_steps.mjs#call_until_told >"$work/out2" 2>&1 &
	talk bridge_steps.mjs#switch_for_itself && says out switched && : >"$work/enough" && wait $! && grep -qx undisturbed "$work/out2" ||
		{ echo "the other agent: $(tail -n 5 "$work/out2")"; return 1; }
	run 0 disable b --now && run 0 status --json && json 'd.servers.find((s) => s.name === "b").state === "disabled"' && cmp "$user" "$work/before" && [ "$(ls -A)" = .git ] && cd "$work" &&
		run 0 status --json && json 'd.servers.find((s) => s.name === "b").state !== "disabled"' && cd "$work/here" && run 0 enable b --now &&
		cmp "$user" "$work/before" && run 9 disable b --session 999999 && says err 'no session 999999' && run 2 disable b --session x &&
		run 9 disable b --session auto && says err 'no agent' && finish
}

# slowly NAME MS: a server that opens after so many milliseconds
slowly() {
	printf '{"who":"%s","tools":["t"],"slow":%s}\n' "$1" "$2" >"$work/$1.json"
	printf '"%s":{"command":"%s","args":["%s","%s"]}' "$1" "$node" "$PWD/tests/servers/taker.mjs" "$work/$1.json"
}

# U8
# use-A3: with nothing live and nothing remembered the first list of tools waits for all servers, and else for none.
# A49
t_the_first_list_is_not_empty() {
	configure "$user" "$(slowly a 600)" "$(slowly b 1200)" && run 0 trust --user-file --yes && talk bridge_steps.mjs#list &&
		grep -qx mcp__a__t,mcp__b__t "$work/out" && finish && configure "$user" "$(slowly a 0)" "$(slowly c 20000)" && run 0 trust --user-file --yes &&
		talk bridge_steps.mjs#list && grep -qx mcp__a__t "$work/out" && finish
}

# use-A4: an agent that puts a prefix before names itself has names without one of ours.
t_names_as_the_agent_wants_them() {
	with a && up && talk --naming server__tool -- bridge_steps.mjs#use_short_names && says out short &&
		talk bridge_steps.mjs#list && says out mcp__a__echo &&
		run 2 stdio --naming other && says err server__tool && run 0 connect claude && says out '"--naming"' && run 0 connect zed && silent_on out naming &&
		run 0 connect cursor --http 127.0.0.1:7999 && says out 'mcp?naming=server__tool' && finish
}

# use-A6: what mode shared withholds is said, and a session that is open hears of the tools that another mode brings.
asking() { # [MODE]
	printf '{"who":"q","tools":["t"],"asking":["more"]}\n' >"$work/q.json"
	configure "$user" "$(printf '"q":{"command":"%s","args":["%s","%s"]%s}' "$node" "$PWD/tests/servers/taker.mjs" "$work/q.json" "${1:+,\"mode\":\"$1\"}")" &&
		run 0 trust --user-file --yes
}
t_what_is_withheld_is_said() {
	asking && run 0 test q && says out 'roots, sampling, elicitation' '"mode": "session"' && run 0 tools q && says err 'roots, sampling, elicitation' &&
		run 0 test q --json && json 'd.servers[0].withheld.length === 3' && up && run 0 tools q && says err 'roots, sampling, elicitation' && run 0 tools && silent_on err sampling &&
		run 0 status --json && json 'd.servers[0].withheld.length === 3' && asking session && run 0 test q && silent_on out sampling &&
		run 0 tools q && silent_on err sampling && finish
}
# With --all it is said once, and names the servers.
t_what_is_withheld_is_said_once() {
	asking && one=$(sed -n 's/.*"mcpServers":{"q":\(.*\)}}.*/\1/p' "$user") && configure "$user" "\"q\":$one,\"r\":$(echo "$one" | sed 's/"args":\[/&"--no-warnings",/')" &&
		run 0 trust --user-file --yes && run 0 test --all && [ "$(grep -c 'roots, sampling, elicitation' "$work/out")" = 1 ] &&
		says out 'q: works' 'r: works' 'Not offered to q, r, because agents share them: roots, sampling, elicitation; with "mode": "session" they may have more tools'
}
t_another_mode_is_told() {
	asking && up && asking session && cp "$user" "$work/session.json" && asking && MODE="$work/session.json" USERFILE="$user" talk bridge_steps.mjs#hear_of_another_mode && says out more && finish
}

run_cases "$@"
