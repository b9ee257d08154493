# test_switch.sh - `mcpool remove`, `enable` and `disable`: in our own files, and for servers of other tools,
# whose files no verb ever changes.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=switch
. tests/servers/lib.sh
. tests/own.sh

claude=$HOME/.claude.json
cursor=$project/.cursor/mcp.json

# Two files of other tools: claude has web (on) and off (off), cursor has web as well.
others() {
	mkdir -p "$project/.cursor" &&
		echo '{"theme":"dark","mcpServers":{"web":{"type":"http","url":"https://a.example.com"},"off":{"command":"off","disabled":true}}}' >"$claude" &&
		echo '{"mcpServers": {"web": {"url": "https://b.example.com"}}}' >"$cursor" && cp "$claude" "$work/claude" && cp "$cursor" "$work/cursor"
}
untouched() { same "$work/claude" "$claude" && same "$work/cursor" "$cursor" && [ "$(ls -A "$project/.cursor")" = mcp.json ]; }

state() { # NAME STATE
	here 0 list --json && json "d.servers.find(s => s.name === '$1').state === '$2'"
}

# remove
t_remove() {
	here 0 add a -- one && here 0 add b -- two && here 0 remove a && says out "Removed \"a\" from $user" &&
		is "$user" '!d.mcpServers.a && d.mcpServers.b' && here 0 rm b --json &&
		json "d.removed.name === 'b' && d.removed.file === '$user'" && here 0 list && says err 'No servers are configured'
}
t_remove_from_the_project() {
	here 0 add a --project -- one && here 0 rm a && says out "Removed \"a\" from $own" && is "$own" '!d.mcpServers.a'
}
t_remove_asks_which() {
	here 0 add a --project -- one && here 0 add a -- two && cp "$user" "$work/1" && cp "$own" "$work/2" && here 2 rm a &&
		says err 'Server "a" is in two files: use --project' "$own" "$user" && same "$work/1" "$user" && same "$work/2" "$own" &&
		here 2 rm a --user --project && says err 'say --project or --user, not both' &&
		here 0 rm a --project && says out "The one in $user:3 counts now (ready)." && here 0 get a && says out "$user:3" &&
		here 0 rm a --user && here 9 rm a
}
t_remove_the_other_one() {
	here 0 add a --project -- one && here 0 add a -- two && here 0 rm a --user && says out "The one in $own:3 counts now" && here 0 get a
}
t_remove_what_is_not_there() {
	here 9 rm nothing && says err 'Server "nothing" not found.' && here 0 add a -- one && here 9 rm a --project &&
		says err "Server \"a\" not found in $own" && here 9 rm A && says err 'Did you mean "a"?' && here 9 rm nothing --json &&
		json 'd.error.data.code === "not_found"' && here 2 rm && says err 'mcpool rm NAME' && here 2 rm a b
}
t_remove_of_another_tools_server() { # U32
	others && here 3 rm web && says err "Server \"web\" is in $claude:1, a file of Claude Code, which mcpool never changes." \
		'`mcpool disable web` switches it off' && untouched && [ ! -e "$user" ] &&
		here 3 rm web --json && json '/never changes/.test(d.error.message)' && here 9 rm web --user && untouched
}
t_what_was_shadowed_counts_again() { # B73
	others && here 0 add web -- mine && here 0 get web && says out "$user" && here 0 list --all --json &&
		json 'd.servers.filter(s => s.name === "web").length === 3' && here 0 rm web && says out "The one in $claude:1 counts now (needs-approval)." &&
		state web needs-approval && untouched
}
t_remove_keeps_the_rest() {
	mkdir -p "$XDG_CONFIG_HOME/mcpool" && cat >"$user" <<-'END'
		{
		  // the first
		  "mcpServers": {
		    "a": {"command": "a"}, // behind a
		    // about b
		    "b": {"command": "b"},
		    /* about c */ "c": {"command": "c"},
		  }, "unknown": {"x": [1.0]}
		}
	END
	here 0 rm b && is "$user" '!d.mcpServers.b && d.mcpServers.a && d.mcpServers.c && d.unknown' && grep -q 'the first' "$user" &&
		grep -q 'behind a' "$user" && grep -q 'about c' "$user" && grep -q '1\.0' "$user"
}
t_a_broken_entry_can_be_removed() {
	mkdir -p "$XDG_CONFIG_HOME/mcpool" && echo '{"mcpServers":{"a b!":"npx","c":{}}}' >"$user" && here 0 rm 'a b!' && here 0 rm c &&
		is "$user" 'Object.keys(d.mcpServers).length === 0'
}

# enable and disable in our own files
# B71
t_switch_our_own() {
	here 0 add a -- "$demo_server" && sed -i 's|"type"|// mine\n      "type"|' "$user" && cp "$user" "$work/before" &&
		here 0 disable a && says out "Disabled \"a\" in $user" && is "$user" 'd.mcpServers.a.enabled === false' && grep -q '// mine' "$user" &&
		state a disabled && here 3 test a && says err 'Server "a" is disabled. Run `mcpool enable a` first.' &&
		here 3 test a --json && json 'd.error.code === 1009 && d.error.data.code === "mcp_disabled"' &&
		here 3 call a/echo message=hi && says err 'Server "a" is disabled. Run `mcpool enable a` first.' &&
		here 0 up && here 3 reconnect a && says err 'Server "a" is disabled. Run `mcpool enable a` first.' && here 0 down &&
		here 0 enable a && says out "Enabled \"a\" in $user" && same "$work/before" "$user" && state a ready && here 0 test a && nothing_left
}
t_the_approval_is_kept_but_not_given() { # U4
	here 0 add a -- cmd && mkdir -p "$project/.mcpool" && echo '{"mcpServers":{"b":{"command":"b"}}}' >"$own" && here 0 disable b &&
		state b disabled && here 0 enable b && state b needs-approval && state a ready
}
t_switch_twice_changes_nothing() {
	here 0 add a -- cmd && here 0 enable a && cp "$user" "$work/1" && here 0 enable a && same "$work/1" "$user" && here 0 disable a &&
		cp "$user" "$work/2" && here 0 disable a && same "$work/2" "$user"
}
t_switch_asks_which() {
	here 0 add a --project -- one && here 0 add a -- two && here 2 disable a && says err 'is in two files' && here 0 disable a --user &&
		is "$user" 'd.mcpServers.a.enabled === false' && is "$own" '!("enabled" in d.mcpServers.a)' && state a ready &&
		here 0 disable a --project && state a disabled && here 9 enable nothing && here 9 disable nothing --json && json 'd.error'
}
t_disabled_of_other_tools_means_the_same() {
	mkdir -p "$XDG_CONFIG_HOME/mcpool" && echo '{"mcpServers":{"a":{"command":"a","disabled":true}}}' >"$user" && state a disabled &&
		here 0 enable a && state a needs-approval && here 0 disable a && state a disabled
}
# B28
t_disabled_runs_and_resolves_nothing() {
	mkdir -p "$(dirname "$user")" && printf '{"mcpServers": {"a": {"command": "%s", "enabled": false, "env": {"K": "!touch %s/ran; echo v", "M": "${NOT_SET}"},
		"headers": {"H": "!touch %s/ran"}}}}\n' "$demo_server" "$work" "$work" >"$user" && here 0 trust --user-file --yes && state a disabled &&
		here 0 tools && silent_on err NOT_SET && here 0 tools --json && silent_on err NOT_SET && json 'd.tools.length === 0 && !d.errors.length' &&
		here 3 test a && silent_on err NOT_SET && [ ! -e "$work/ran" ] || { echo "it ran"; return 1; }
	sed -i 's/, "M": "${NOT_SET}"//' "$user" && here 0 enable a && here 0 trust --user-file --yes && here 0 test a && [ -e "$work/ran" ]
}
t_disabled_keeps_its_name() { # U3 B76 O11
	others && here 0 add web --url https://mine.example.com && here 0 disable web && here 0 list --json &&
		json 'd.servers.find(s => s.name === "web").state === "disabled" && d.servers.filter(s => s.name === "web").length === 1' &&
		json "d.servers.find(s => s.name === 'web').source.file === '$user'" && untouched
}

# enable and disable of other tools' servers
t_switch_another_tools_server_off() { # U3 U32
	others && here 0 disable web && says out "Disabled \"web\" in $user" && is "$user" 'd.mcpool.deny.join() === "web" && !d.mcpServers' &&
		mode 600 "$user" && state web disabled && here 3 test web && says err 'is disabled' && untouched &&
		here 0 enable web --json && json "d.enabled.name === 'web' && d.enabled.file === '$user'" && is "$user" '!d.mcpool' && # use-P7
		state web needs-approval && untouched
}
t_switch_another_tools_server_on() {
	others && state off disabled && here 0 enable off && is "$user" 'd.mcpool.allow.join() === "off"' && state off needs-approval && untouched &&
		here 0 disable off && is "$user" 'd.mcpool.deny.join() === "off" && !(d.mcpool.allow || []).length' && state off disabled && untouched
}
t_deny_beats_allow_beats_enabled() { # U3 B76 X18
	mkdir -p "$XDG_CONFIG_HOME/mcpool" && here 0 add a -- cmd && here 0 disable a && state a disabled &&
		lists '"allow": ["a"]' && here 0 list --json && json 'd.servers[0].state !== "disabled"' &&
		lists '"allow": ["a"], "deny": ["a"]' && state a disabled && here 0 enable a && here 0 list --json && json 'd.servers[0].state !== "disabled"' &&
		lists '"allow": ["a"]' && here 0 disable a && state a disabled && here 0 enable a && lists '"deny": ["a"]' && state a disabled
}
lists() { # a file with one server, its `enabled` as it is, and these lists
	enabled=$(grep -q '"enabled": false' "$user" && echo false || echo true)
	echo "{\"mcpServers\": {\"a\": {\"command\": \"cmd\", \"enabled\": $enabled}}, \"mcpool\": {$1}}" >"$user"
}
t_lists_in_a_commented_file() {
	others && mkdir -p "$XDG_CONFIG_HOME/mcpool" && printf '{\n  // lists\n  "mcpool": {\n    "deny": [\n      "x", // x, because\n    ],\n  },\n}\n' >"$user" &&
		cp "$user" "$work/before" && here 0 disable web && grep -q 'x, because' "$user" && is "$user" 'd.mcpool.deny.join() === "x,web"' &&
		here 0 enable web && is "$user" 'd.mcpool.deny.join() === "x"' && grep -q '// x, because' "$user" && grep -q '// lists' "$user" && untouched
}
t_enabled_beats_disabled() {
	here 0 add a -- cmd && here 0 disable a && sed -i 's/"enabled": false/"enabled": false, "disabled": true/' "$user" && here 0 enable a &&
		is "$user" 'd.mcpServers.a.enabled === true' && here 0 list --json && json 'd.servers[0].state !== "disabled"'
}

# one tool
has_tools() { # NAME...: the demo server has these tools, and no others
	here 0 tools --json && json "d.tools.map(t => t.name).join(' ') === '$*'"
}
demo_pid() { here 0 status --json && $node -e 'console.log(JSON.parse(fs.readFileSync(process.argv[1])).servers[0].pid)' "$work/out"; }
t_switch_a_tool() {
	here 0 add demo -- "$mcpool" demo-server && cp "$user" "$work/before" && here 0 up && here 0 tools demo && pid=$(demo_pid) &&
		here 0 disable demo/echo && says out "Disabled \"demo/echo\" in $user" && silent_on err note && is "$user" 'd.mcpool.deny.join() === "demo/echo"' &&
		has_tools mcp__demo__add mcp__demo__time && here 9 call demo/echo message=hi && says err '`mcpool enable demo/echo`' &&
		here 0 enable demo/echo && same "$work/before" "$user" && here 0 call demo/echo message=hi && says out hi &&
		[ "$(demo_pid)" = "$pid" ] && here 0 down
}
t_switch_tools_by_a_pattern() {
	here 0 add demo -- "$mcpool" demo-server && here 0 tools demo && here 0 disable 'demo/*e*' && silent_on err note && has_tools mcp__demo__add &&
		here 3 enable demo/echo && says err '"demo/echo" is still off' 'toolsDenied' && here 0 enable 'demo/*e*' --json &&
		json "d.enabled.name === 'demo/*e*'" && has_tools mcp__demo__add mcp__demo__echo mcp__demo__time
}
t_switch_a_tool_of_another_tools_server() {
	others && here 0 disable web/search && is "$user" 'd.mcpool.deny.join() === "web/search"' && untouched && state web needs-approval &&
		here 0 enable web/search && is "$user" '!d.mcpool' && untouched
}
t_switch_a_tool_that_is_not_there() {
	here 0 add demo -- "$mcpool" demo-server && here 0 tools demo && here 0 disable demo/ech && says err "has no tool 'ech'" "did you mean 'echo'?" &&
		here 9 disable nothing/echo && here 9 disable demo/ && here 2 disable demo/echo --now && says err 'leave out --now' &&
		here 2 disable demo/echo --project
}

run_cases "$@"
