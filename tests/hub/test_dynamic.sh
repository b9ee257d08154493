# test_dynamic.sh - `mcpool stdio --config FILE --strict-config`: files that one session names, in the running hub.
# They are approved like any file's, because an agent or a repository writes that command.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=dynamic
. tests/hub/lib.sh
here=$work/here
extra=$work/extra.json

given() { # the user has a, the file has x, and nothing of the file is approved
	mkdir -p "$here/.git" && with a && configure "$extra" "$(server x)" && up && cd "$here" || return 1
}

# C21
t_a_file_adds_servers_to_one_session() {
	given && talk --config ../extra.json -- dynamic_steps.mjs#wait_for_approval && says out approved mcp__a__echo mcp__x__echo &&
		talk --config "$extra" -- bridge_steps.mjs#list && says out mcp__a__echo mcp__x__echo &&
		talk bridge_steps.mjs#list && says out mcp__a__echo && silent_on out mcp__x__ &&
		run 0 status --json && json 'd.servers.length === 1 && d.hub.serverCount === 2' && finish
}

# C21
t_strict_uses_those_files_alone() {
	given && run 0 trust --config "$extra" --strict-config --yes && says out extra.json &&
		talk --config "$extra" --strict-config -- bridge_steps.mjs#list && says out mcp__x__echo && silent_on out mcp__a__ &&
		talk --config "$extra" -- bridge_steps.mjs#list && says out mcp__a__echo mcp__x__echo &&
		run 2 stdio --strict-config && says err --config && run 2 stdio --config "$work/none.json" && says err none.json && finish
}

# Two sessions with different files are two workspaces of one hub, at the same time.
# C21
t_each_session_has_its_own_files() {
	given && configure "$work/other.json" "$(server y)" && run 0 trust --config "$extra" --config "$work/other.json" --yes || return 1
	MCPOOL_TEST_MARK="$work" $agent --config "$extra" -- dynamic_steps.mjs#list_and_stay >"$work/out1" 2>&1 &
	eventually 10 grep -q mcp__ "$work/out1" && talk --config "$work/other.json" -- bridge_steps.mjs#list && says out mcp__y__echo && silent_on out mcp__x__ &&
		: >"$work/enough" && wait $! && says out1 mcp__x__echo && silent_on out1 mcp__y__ && finish
}

# What was approved is the entry as it was.
# C21
t_an_edited_file_asks_again() {
	given && run 0 trust --config "$extra" --yes && talk --config "$extra" -- bridge_steps.mjs#list && says out mcp__x__echo &&
		configure "$extra" "$(server x changed)" && run 0 reload && talk --config "$extra" -- bridge_steps.mjs#list && silent_on out mcp__x__ &&
		run 7 trust --config "$extra" && says out changed && finish
}

# The file's own settings count when they were approved; a file that is named for a command is trusted as before.
# C21
t_its_settings_need_a_yes() {
	given && printf '{"mcpServers":{%s},"mcpool":{"naming":"server__tool"}}' "$(server x)" >"$extra" && run 0 trust --config "$extra" x --yes &&
		talk --config "$extra" -- bridge_steps.mjs#list && says out mcp__x__echo && run 0 trust --config "$extra" '[settings]' --yes &&
		talk --config "$extra" -- bridge_steps.mjs#list && says out x__echo && silent_on out mcp__ &&
		configure "$extra" "$(server z)" && run 0 call z/echo message=hi --config "$extra" && finish
}

run_cases "$@"
