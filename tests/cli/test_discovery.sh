# test_discovery.sh - what is found where: the fixtures of tests/config against tests/config/golden.json,
# and the rules around them: --config, --strict-config, switches, profiles, broken files, remote sources,
# project roots, and `config watch`. Nothing is started or dialled here.
# When a fixture changes: UPDATE=1 sh tests/cli/test_discovery.sh golden, then read the difference.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=discovery
. tests/servers/lib.sh
top=$(pwd)
case $mcpool in
/*) ;;
*) mcpool=$top/$mcpool ;;
esac
node=$top/$node
unset XDG_CONFIG_HOME CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_HOME
project=$work/project

# put FILE TEXT...: a file below the case's folder, with its folders
put() {
	mkdir -p "$work/$(dirname "$1")"
	printf '%s\n' "$2" >"$work/$1"
}

# The fixtures, as tests/config/README.md says.
copy() {
	rm -rf "$HOME" "$project"
	cp -R tests/config/home "$HOME" && cp -R tests/config/project "$project" || return 1
	grep -rlE '@(HOME|PROJECT)@' "$HOME" "$project" | while read -r file; do
		sed -i "s|@HOME@|$HOME|g; s|@PROJECT@|$project|g" "$file"
	done
	mkdir "$project/.git"
}

# An empty home, an empty project, and we are in it.
bare() {
	mkdir -p "$project/.git" "$HOME" && cd "$project"
}

one() { printf '{"mcpServers": {"%s": {"command": "%s"}}}' "$1" "${2:-server-of-$1}"; }
user_file=home/.config/mcpool/mcp.json

# names: those that `list --json` shows, in order
names() { $node -e 'console.log(JSON.parse(fs.readFileSync(0, "utf8")).servers.map(s => s.name).join(" "))' <"$work/out"; }
lists() { # NAMES ARGUMENTS...
	want=$1
	shift
	run 0 list --json "$@" || return 1
	[ "$(names)" = "$want" ] || { echo "listed '$(names)' and not '$want'"; return 1; }
}

# --- the golden file -----------------------------------------------------------------------------------

# B18
golden() { # what is found, with the places put back
	$node -e '
		const put = s => s.replaceAll(process.argv[1], "@PROJECT@").replaceAll(process.argv[2], "@HOME@")
		console.log(put(JSON.stringify(JSON.parse(fs.readFileSync(0, "utf8")), null, "\t")))' \
		"$project" "$HOME" <"$work/out"
}

# A3 A15 A17 A19 B1 B17 B18 B19 B21 B22 B23 B26 B33 U1 U2 C8
t_golden() {
	copy && cd "$project" && run 0 list --all --json && golden >"$work/golden" || return 1
	[ -z "${UPDATE:-}" ] || cp "$work/golden" "$top/tests/config/golden.json"
	diff "$top/tests/config/golden.json" "$work/golden"
}
# The same from a folder inside of it.
t_golden_from_below() {
	copy && cd "$project/tools" && run 0 list --all --json && golden >"$work/golden" &&
		diff "$top/tests/config/golden.json" "$work/golden"
}
t_what_must_not_appear() {
	copy && cd "$project" && run 0 list --all --json &&
		silent_on out must-not-appear only-in-another-project only-in-a-subfolder outside-of-its-plugin \
			not-read-here scoped-1.0.0
}
t_the_older_list_of_plugins() {
	copy && mv "$HOME/.claude/plugins/installed_plugins.v1.json" "$HOME/.claude/plugins/installed_plugins.json" &&
		cd "$project" && run 0 list --all --json && says out '"formatter:format"' && silent_on out '"many:first"' must-not-appear
}
# B73 B26 B21
t_names_in_several_files_are_told() {
	copy && cd "$project" && run 3 config check &&
		says err "$HOME/.cursor/mcp.json:3: \"github\" is shadowed by the one in $project/.mcpool/mcp.json:11" &&
		run 0 list --all && grep "^github .*shadowed  *$HOME/.cursor/mcp.json:3  shadowed by github, $project/.mcpool/mcp.json:11" "$work/out" &&
		run 0 list --all --json && json "d.servers.some(s => s.name === 'github' && s.state === 'shadowed' && s.source.file === '$HOME/.cursor/mcp.json' &&
			s.shadowed.reason === 'name' && s.shadowed.file === '$project/.mcpool/mcp.json' && s.shadowed.line === 11)"
}

# C8: local files, plugins and the command line.
t_the_first_phase_needs_no_network() {
	[ -z "$sanitized" ] && command -v strace >"$work/null" || return 0
	copy && cd "$project" && put one.json "$(one typed)" && run '0|7' trust --all --yes &&
		strace --seccomp-bpf -f -e trace=socket,connect -o "$work/trace" "$mcpool" list --all --json --config "$work/one.json" >"$work/out" || return 1
	json 'd.servers.find(s => s.name === "typed").source.level === "command-line"' &&
		json 'd.servers.some(s => s.source.tool === "claude-plugin") && d.servers.some(s => s.source.level === "project")' &&
		json 'd.servers.some(s => s.source.level === "user")' && says trace 'exited with 0' && silent_on trace AF_INET AF_NETLINK
}

# --- --config and --strict-config ----------------------------------------------------------------------

# C21
t_config_comes_before_all_others() {
	bare && put project/.mcpool/mcp.json "$(one a project)" && put one.json "$(one a first)" &&
		put two.json '{"mcpServers": {"a": {"command": "second"}, "b": {"command": "bee"}}}' &&
		lists 'a b' --config "$work/one.json" --config ../two.json &&
		json 'd.servers[0].command === "first" && d.servers.every(s => s.state === "ready")' &&
		json 'd.servers[0].source.level === "command-line"' &&
		lists 'a a b a' --all --config "$work/one.json" --config ../two.json
}
# C21
t_strict_config_reads_those_alone() {
	copy && cd "$project" && put one.json "$(one only)" && lists only --strict-config --config "$work/one.json" &&
		run 2 list --strict-config && says err 'name one'
}
t_strict_config_opens_nothing_else() {
	[ -z "$sanitized" ] && command -v strace >"$work/null" || return 0
	copy && cd "$project" && put one.json "$(one only)" &&
		strace --seccomp-bpf -f -e trace=open,openat -o "$work/trace" "$mcpool" list --strict-config --config "$work/one.json" >"$work/out" || return 1
	says trace one.json && ! grep -E 'cursor|claude|codex|gemini|opencode|\.mcp\.json|mcpool/mcp\.json' "$work/trace"
}
t_a_named_file_must_be_there() {
	bare && run '0|3' list --config "$work/gone.json" && says err 'there is no such file'
}

# --- switches --------------------------------------------------------------------------------------------

t_a_source_is_switched_off() {
	bare && put home/.cursor/mcp.json "$(one c)" && put project/.mcp.json "$(one r)" && lists 'c r' &&
		put $user_file '{"mcpool": {"sources": {"cursor": false}}}' && lists r
}
# A16
t_project_files_are_switched_off() {
	bare && put home/.cursor/mcp.json "$(one a mine)" && put project/.mcpool/mcp.json "$(one a theirs)" && lists a &&
		json 'd.servers[0].command === "theirs"' && put $user_file '{"mcpool": {"projectConfig": false}}' &&
		lists a --all && json 'd.servers[0].command === "mine"'
}
# A9 A14
t_everything_is_switched_off() {
	copy && cd "$project" && put $user_file '{"mcpool": {"enabled": false}}' && lists '' --all
}

# --- settings and where they come from ---------------------------------------------------------------------

shows() { # KEY VALUE FROM, of `config show --json`
	json "JSON.stringify(d['$1'].value) === '$2' && d['$1'].from.endsWith('$3')"
}
# A11 B32 B39
t_profile_omp() {
	bare && put $user_file '{"mcpool": {"profile": "omp", "toolTimeout": 7}}' && run 0 config show --json &&
		shows naming '"mcp_letters"' 'profile omp' && shows restart.mode '"none"' 'profile omp' &&
		shows startup.uncached '"block"' 'profile omp' && shows missingVariable '"literal"' 'profile omp' &&
		shows valueIndirection '"variable"' 'profile omp' && shows hostNative '["exa"]' 'profile omp' &&
		shows mode '"session"' 'profile omp' && shows toolTimeout 7 mcp.json:1 && shows profile '"omp"' mcp.json:1 &&
		shows startup.windowMs 250 default && json 'Object.values(d).every(v => "value" in v && v.from)'
}
t_profile_claude() {
	bare && put $user_file '{"mcpool": {"profile": "claude"}}' && run 0 config show --json &&
		shows startup.windowMs 0 'profile claude' && shows restart.mode '"remote"' 'profile claude' &&
		shows restart.schedule '[1000,2000,4000,8000,16000]' 'profile claude' && shows instructions 2048 'profile claude' &&
		shows missingVariable '"warn"' 'profile claude' && shows naming '"mcp__server__tool"' default
}
t_profile_netdata() {
	bare && put $user_file '{"mcpool": {"profile": "netdata"}}' && run 0 config show --json &&
		shows naming '"server__tool"' 'profile netdata' && shows environment '"minimal"' 'profile netdata' &&
		shows startup.uncached '"wait-all"' 'profile netdata' && shows result.join '""' 'profile netdata' &&
		shows restart.mode '"relentless"' default && shows restart.callers '"fail"' 'profile netdata'
}
# Of another tool's server, with values that stand in a text that is gone by then.
t_values_of_one_server() {
	copy && cd "$project" && run 0 config show --json open-local && shows timeout 20000 opencode.jsonc:4 &&
		shows cwd '"./tools"' opencode.jsonc:4 && run 0 config show --json playwright &&
		shows timeout 1500 config.toml:2 && shows toolTimeout 600000 config.toml:2 && shows mode '"shared"' default &&
		run 9 config show nobody
}

# --- mistakes ------------------------------------------------------------------------------------------------

# B72 B33
t_a_broken_file_is_a_warning_with_a_caret() {
	bare && put home/.cursor/mcp.json "$(one good)" && put project/.cursor/mcp.json '{
  "mcpServers": {
    "bad": {"command": nope}
  }
}' && lists good && run 3 config check &&
		says err "$project/.cursor/mcp.json:3:24: this is not valid JSON" '        "bad": {"command": nope}' \
			'                           ^'
}
t_broken_toml() {
	bare && put home/.cursor/mcp.json "$(one good)" && put home/.codex/config.toml 'model = "x"
[mcp_servers.a
command = "c"' && lists good && run 3 config check && says err "$HOME/.codex/config.toml:2:" 'not valid TOML'
}
t_config_check_of_a_file() {
	bare && put good.json "$(one a)" && run 0 config check ../good.json && says out '1 server, 0 problems' &&
		put bad.json '{"mcpServers": {"a": {}}}' && run 3 config check ../bad.json &&
		says err 'bad.json:1:17: Server "a": stdio server requires "command" field' &&
		put odd.json '{"mcpServers": {"a": {"command": "c", "comand": 1}}}' && run 3 config check ../odd.json &&
		says err 'odd.json:1:39: server a: "comand" is not a key that is known here' &&
		put vscode.json '{"servers": {"a": {"command": "c"}}}' && run 3 config check ../vscode.json && # use-A5
		says err '"servers" is an unknown key' 'did you mean "mcpServers"?' && says out '0 servers, 1 problem' &&
		put none.json '{' && run 3 config check ../none.json && run 3 config check ../gone.json &&
		run 3 config check ../good.json ../bad.json && run 3 config check --json ../bad.json && json 'd.servers[0].state === "failed"'
}

# --- remote sources ------------------------------------------------------------------------------------------------

# C9 C10
t_a_remote_source_needs_approval_first() {
	bare && put team.json "$(one t)" && put $user_file "{\"mcpool\": {\"remote\": [\"file://$work/team.json\"]}}" &&
		run 0 list --json && [ -z "$(names)" ] && run 3 config check && says err 'this address needs your approval: mcpool trust'
}
# C9: with a yes it is read, and its servers wait for theirs
t_a_remote_source_that_was_approved() {
	bare && put team.json "$(one t)" && put $user_file "{\"mcpool\": {\"remote\": [\"file://$work/team.json\"]}}" &&
		run '0|7' trust --yes && lists t && json 'd.servers[0].state === "needs-approval"' && run 0 trust --yes &&
		lists t && json 'd.servers[0].state === "ready"' && put $user_file '{"mcpool": {"remote": ["file:///elsewhere.json"]}}' &&
		run 0 list --json && [ -z "$(names)" ]
}
# A project's settings count when they were approved, and no longer when they changed.
t_settings_of_a_project() {
	bare && put project/.mcpool/mcp.json '{"mcpool": {"naming": "passthrough"}}' && run 0 config show --json &&
		shows naming '"mcp__server__tool"' default && run 0 trust --yes && run 0 config show --json &&
		shows naming '"passthrough"' mcp.json:1 && put project/.mcpool/mcp.json '{"mcpool": {"naming": "server__tool"}}' &&
		run 0 config show --json && shows naming '"mcp__server__tool"' default
}
# An unapproved entry takes nothing away from an approved one.
t_an_unapproved_project_takes_no_name() {
	bare && put home/.cursor/mcp.json "$(one a mine)" && run 0 trust --yes && put project/.cursor/mcp.json "$(one a theirs)" &&
		lists a && json 'd.servers[0].command === "mine" && d.servers[0].state === "ready"' && lists 'a a' --all &&
		json 'd.servers[0].shadowed.reason === "approved"'
}
t_a_remote_source_of_a_named_file() {
	bare && put team.json '{"mcpServers": {"t": {"url": "https://team.example.com/mcp", "headers": {"A": "b"}}, "u": {"command": "u"}}}' &&
		put named.json "{\"mcpool\": {\"remote\": [\"file://$work/team.json\"]}}" && lists 't u' --config ../named.json &&
		json 'd.servers[0].source.level === "remote" && d.servers[0].state === "needs-approval"' &&
		put project/.mcp.json '{"mcpServers": {"mine": {"url": "https://team.example.com/mcp"}}}' &&
		lists 'mine u' --config ../named.json && lists 'mine t u' --all --config ../named.json &&
		json 'd.servers[1].shadowed.by === "mine" && d.servers[1].shadowed.reason === "connection"' &&
		rm "$work/team.json" && lists mine --config ../named.json && json 'd.problems.length > 0'
}

# --- which folder is the project ----------------------------------------------------------------------------------

roots() { # WANTED
	run 0 config path --json && json "d.root === '$1'"
}
t_the_project_is_the_nearest_marker() {
	bare && mkdir -p "$project/a/b/c" && cd "$project/a/b/c" && roots "$project" && put project/a/.cursor/mcp.json "$(one x)" &&
		roots "$project/a" && echo 'gitdir: /nowhere' >"$project/a/b/.git" && roots "$project/a/b"
}
t_without_a_marker_it_is_the_working_folder() {
	mkdir -p "$HOME/plain/deep" && cd "$HOME/plain/deep" && roots "$HOME/plain/deep"
}
t_home_is_a_project_only_with_a_marker() {
	copy && mkdir -p "$HOME/x/y" && cd "$HOME/x/y" && roots "$HOME/x/y" && cd "$HOME" && roots "$HOME" &&
		run 0 list --all --json && json 'd.servers.every(s => s.source.level === "user")' &&
		put home/.mcp.json "$(one p)" && cd "$HOME/x/y" && roots "$HOME" && run 0 list --all --json &&
		json 'd.servers.filter(s => s.source.level === "project").map(s => s.name).join() === "p"'
}
t_nothing_above_home_is_a_project() {
	mkdir -p "$work/.git" "$HOME/a" && cd "$HOME/a" && roots "$HOME/a"
}

# --- config watch ---------------------------------------------------------------------------------------------------

reloads() { grep -c '"reload"' "$work/out"; }
reloaded() { [ "$(reloads)" -ge "$1" ]; }
# step N CHANGES LINE...: the Nth reload comes, it has so many changes, these were told, and no other comes behind it
step() {
	n=$1
	changes=$2
	shift 2
	eventually 10 reloaded "$n" || { echo "reload $n never came: $(cat "$work/out")"; return 1; }
	sleep 0.5
	[ "$(reloads)" -eq "$n" ] || { echo "more reloads than $n: $(cat "$work/out")"; return 1; }
	[ "$(grep '"reload"' "$work/out" | tail -1)" = "{\"reload\":true,\"changes\":$changes}" ] ||
		{ echo "not $changes changes: $(cat "$work/out")"; return 1; }
	[ $# -eq 0 ] || says out "$@"
}
watching() { grep -q '"watching"' "$work/out"; }
begin_watch() {
	start config watch --json && eventually 10 watching
}
put_beside() { # FILE TEXT: written under another name, then renamed over it, as editors do
	put "$1.new" "$2" && mv "$work/$1.new" "$work/$1"
}
t_watch() {
	bare && put project/.mcp.json "$(one a)" && begin_watch || return 1
	put project/.mcp.json '{"mcpServers": {"a": {"command": "other"}}}' &&
		step 1 1 '{"change":"changed","name":"a","state":"needs-approval"}' &&
		put_beside project/.mcp.json '{"mcpServers": {"a": {"command": "other"}, "b": {"command": "c"}}}' &&
		step 2 1 '{"change":"added","name":"b","state":"needs-approval"}' &&
		put_beside project/.mcp.json '{ "mcpServers":   {"b": {"command": "c"}, /* moved */ "a": {"command": "other"}}}' &&
		step 3 0 &&
		put project/.cursor/mcp.json "$(one made)" && step 4 1 '"added","name":"made"' &&
		rm "$project/.cursor/mcp.json" && step 5 1 '{"change":"gone","name":"made","state":""}' &&
		kill -INT "$mcpool_pid"
}
t_watch_through_links() {
	bare && put one.json "$(one a)" && put two.json "$(one b)" && ln -s "$work/one.json" "$project/.mcp.json" &&
		begin_watch || return 1
	ln -s "$work/two.json" "$project/.next" && mv -T "$project/.next" "$project/.mcp.json" &&
		step 1 2 '"added","name":"b"' '"gone","name":"a"' &&
		put two.json "$(one b again)" && step 2 1 '"changed","name":"b"' && kill -INT "$mcpool_pid"
}

# They are a way to stay compatible, says the manual, and no verb that changes servers writes them (`connect`: test_connect.sh).
t_root_files_are_never_written() { # B25
	grep -q 'root *mcp.json .mcp.json .*for compatibility' doc/mcpool-config.5 || { echo 'the manual does not say so'; return 1; }
	bare && put project/mcp.json "$(one a)" && put project/.mcp.json "$(one b)" &&
		cp mcp.json "$work/a" && cp .mcp.json "$work/b" &&
		run 0 add c --project -- true && run 0 import a --project --yes && run 0 disable b && run 0 enable b && run 3 remove b && run 3 edit b timeout:=5 &&
		run 3 set b timeout:=5 && run 0 add-json d --project '{"command":"true"}' && run 0 add b --project -- true &&
		cmp mcp.json "$work/a" && cmp .mcp.json "$work/b"
}

run_cases "$@"
