# test_connect.sh - `mcpool connect`: what it shows, what it writes, and that nothing is lost.
# Agents are programs in a folder of the case's own that note what they were started with.
# `sh tests/cli/test_connect.sh NAME` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=connect
. tests/servers/lib.sh
. tests/own.sh
bin=$work/bin
mkdir -p "$bin"
PATH=$bin:/usr/bin:/bin
unset XDG_CONFIG_HOME XDG_STATE_HOME # as with most people
cursor=$HOME/.cursor/mcp.json
runtime=$XDG_RUNTIME_DIR

# agent NAME [EXIT]: an agent's program; its words go to $work/NAME.argv, one a line, `==` behind each run
agent() {
	cat >"$bin/$1" <<-END
		#!/bin/sh
		for word; do printf '%s\n' "\$word"; done >>"$work/$1.argv"
		echo == >>"$work/$1.argv"
		echo "$1 speaks"
		exit ${2:-0}
	END
	chmod 755 "$bin/$1"
}

argv() { # NAME WORDS...: it was run once, with these
	program=$1
	shift
	{ printf '%s\n' "$@"; echo ==; } >"$work/wanted"
	cmp "$work/wanted" "$work/$program.argv" || { echo "$program was run with: $(tr '\n' '|' <"$work/$program.argv")"; return 1; }
}

with_comments() {
	mkdir -p "$(dirname "$1")"
	printf '{\n\t// mine, since %s\n\t"mcpServers": {\n\t\t"files": {"command": "files-server"}, /* last */\n\t},\n\t"z": 1.50\n}\n' \
		2024 >"$1"
	cp "$1" "$work/before"
}

untouched() { cmp "$1" "$work/before" && ! [ -e "$1.mcpool-backup" ]; }

t_shows_what_is_here() {
	agent claude && with_comments "$cursor" && here 0 connect && says out 'claude           not connected' \
		'cursor           not connected' 'zed              not found here' &&
		here 0 connect --json && json 'd.agents.length === 18 && d.agents[0].program.endsWith("/claude") &&
			d.agents.find((a) => a.agent === "cursor").found && !d.agents.find((a) => a.agent === "zed").found' &&
		! [ -e "$work/claude.argv" ]
}

all='claude codex cursor vscode gemini omp opencode windsurf zed vscode-insiders copilot claude-desktop junie cline roo kiro lmstudio'
stdio_only='claude-desktop junie'

# B25
t_shows_a_snippet_and_touches_nothing() {
	agent claude && with_comments "$cursor" && before=$(all_files) || return 1
	for one in $all; do
		here 0 connect "$one" && says out "$mcpool" stdio || return 1
		case " $stdio_only " in *" $one "*) continue ;; esac
		here 0 connect "$one" --http 127.0.0.1:7717 && says out http://127.0.0.1:7717/mcp 'mcpool token' || return 1
	done
	here 0 connect claude && says out "claude mcp add --scope user mcpool -e XDG_RUNTIME_DIR=$runtime -- $mcpool stdio" &&
		[ "$(all_files)" = "$before" ] && untouched "$cursor" && ! [ -e "$work/claude.argv" ]
}

all_files() { find "$HOME" "$project" -path "$HOME/.local" -prune -o -print | sort; } # but our own

# B25
t_uses_the_command_of_the_agent() {
	for one in claude codex gemini code; do
		agent $one
	done
	here 0 connect claude --write --yes && argv claude mcp add --scope user mcpool -e "XDG_RUNTIME_DIR=$runtime" -- "$mcpool" stdio --naming server__tool &&
		says err 'claude speaks' 'does not have the entry' && says out 'Claude Code is connected' &&
		here 0 connect codex --write --yes && argv codex mcp add mcpool --env "XDG_RUNTIME_DIR=$runtime" -- "$mcpool" stdio --naming server__tool &&
		here 0 connect gemini --write --yes --http 127.0.0.1:1 &&
		argv gemini mcp add --scope user --transport http --header "Authorization: Bearer \${MCPOOL_TOKEN}" mcpool "http://127.0.0.1:1/mcp?naming=server__tool" &&
		here 0 connect vscode --write --yes --json && json 'd.result === "connected" && d.connected' &&
		[ "$(sed -n 1p "$work/code.argv")" = --add-mcp ] && sed -n 2p "$work/code.argv" >"$work/out" &&
		json 'd.name === "mcpool" && d.args[0] === "stdio"' && ! [ -e "$HOME/.claude.json" ] && ! [ -e "$HOME/.codex" ]
}

t_undoes_by_the_command_of_the_agent() {
	agent claude && printf '{"mcpServers":{"mcpool":{"command":"/old/mcpool","args":["stdio"]}}}' >"$HOME/.claude.json" &&
		here 0 connect claude --undo --yes && argv claude mcp remove --scope user mcpool && rm "$work/claude.argv" &&
		here 0 connect claude --write --yes && says err 'mcp remove --scope user mcpool' && # another path: written again
		[ "$(grep -c '^==$' "$work/claude.argv")" = 2 ]
}

t_a_command_that_fails_is_said() {
	agent claude 3 && here 4 connect claude --write --yes && says err 'failed with exit code 3' '.claude.json by hand' &&
		! [ -e "$HOME/.claude.json" ]
}

t_writes_with_a_backup_and_undoes_to_the_byte() {
	with_comments "$cursor" && chmod 640 "$cursor" && here 0 connect cursor --write --yes &&
		says err "$cursor:" '"mcpool": {"command"' 'mcp.json.mcpool-backup' && says out 'Cursor is connected' &&
		is "$cursor" "d.mcpServers.mcpool.command === '$mcpool' && d.mcpServers.mcpool.args[0] === 'stdio' && d.mcpServers.files" &&
		grep -q '// mine, since 2024' "$cursor" && grep -q '/\* last \*/' "$cursor" && grep -q '1\.50' "$cursor" && mode 640 "$cursor" &&
		same "$cursor.mcpool-backup" "$work/before" && mode 600 "$cursor.mcpool-backup" &&
		cp "$cursor" "$work/written" && here 0 connect cursor --write --yes && says out 'already connected' && same "$cursor" "$work/written" &&
		here 0 connect && says out 'cursor           connected' && here 0 connect cursor && says out 'already connected' &&
		here 0 connect cursor --undo --yes && untouched "$cursor" && mode 640 "$cursor" &&
		here 0 connect cursor --undo --yes && says out 'nothing to undo' && untouched "$cursor"
}

t_a_new_file_goes_with_undo() {
	for one in $all; do
		[ $one != claude ] || continue # its file has more than servers
		here 0 connect $one --write --yes && says err '(new)' && here 0 connect $one --json &&
			json "d.connected && d.entry === 'mcpool'" || { echo "$one"; return 1; }
		file=$($node -p 'JSON.parse(fs.readFileSync(0)).file' <"$work/out")
		mode 600 "$file" && here 0 connect $one --undo --yes && ! [ -e "$file" ] || { echo "$one: $file"; return 1; }
	done
}

# use-A12: to the byte after any order of writes, and --undo shows what it then does.
t_undo_after_other_writes() {
	for order in http 'stdio http' 'http stdio' 'stdio http stdio http'; do
		for agent in cursor opencode codex; do
			file=$cursor
			[ $agent != opencode ] || file=$HOME/.config/opencode/opencode.json
			[ $agent != codex ] || file=$HOME/.codex/config.toml
			for kind in none some; do
				rm -f "$file"
				[ $kind = none ] || { mkdir -p "$(dirname "$file")" && printf '# c\n' >"$file"; }
				[ $kind = none ] || [ $agent = codex ] || printf '{\n\t"a": 1, // c\n}' >"$file"
				[ $kind = none ] || cp "$file" "$work/before"
				for way in $order; do
					[ $way = http ] && set -- --http 127.0.0.1:9 || set --
					here 0 connect $agent "$@" --write --yes || return 1
				done
				here 7 connect $agent --undo && cp "$work/err" "$work/preview" && here 0 connect $agent --undo --yes || return 1
				[ $kind = none ] && { grep -q 'will be removed' "$work/preview" && ! [ -e "$file" ]; } && continue
				[ $kind = some ] && untouched "$file" && ! grep -q '^  +.*mcp' "$work/preview" || { echo "$agent $kind: $order"; return 1; }
			done
		done
	done
}

# use-A2: connected by an entry that cannot work.
t_broken_entries_are_told() {
	mkdir -p "$HOME/.cursor" && printf '{"mcpServers":{"mcpool":{"command":"/gone/mcpool","args":["stdio"]}}}' >"$cursor" &&
		here 0 connect && says out 'cursor           connected, but /gone/mcpool is missing' 'connect cursor --write' &&
		here 0 connect cursor --json && json 'd.connected && d.problem === "/gone/mcpool is missing"' &&
		here 0 connect opencode --write --yes && here 0 connect opencode --json && json 'd.connected && d.problem === null' &&
		here 0 connect windsurf --http 127.0.0.1:1 --write --yes && here 0 connect &&
		says out 'windsurf         connected, but nothing listens at 127.0.0.1:1' 'opencode         connected  '
}

t_asks_first() {
	with_comments "$cursor" && here 7 connect cursor --write && says err 'no terminal for the question' '"mcpool": {"command"' &&
		untouched "$cursor" && here 7 connect cursor --write --json && json 'd.error.message.includes("terminal")' && untouched "$cursor"
}

t_broken_files_are_refused() {
	mkdir -p "$HOME/.cursor" "$HOME/.codex" && printf '{"mcpServers": {\n' >"$cursor" && cp "$cursor" "$work/before" &&
		here 3 connect cursor --write --yes && says err "$cursor:2:1" && untouched "$cursor" &&
		here 0 connect && says out 'cursor           its file cannot be read' &&
		printf 'a = [\n' >"$HOME/.codex/config.toml" && cp "$HOME/.codex/config.toml" "$work/before" &&
		here 3 connect codex --write --yes && says err config.toml:2:1 && untouched "$HOME/.codex/config.toml" &&
		printf '{"mcpServers": 5}' >"$cursor" && cp "$cursor" "$work/before" &&
		here 3 connect cursor --write --yes && untouched "$cursor"
}

t_another_server_keeps_its_name() {
	mkdir -p "$HOME/.cursor" && printf '{"mcpServers":{"mcpool":{"command":"something"}}}' >"$cursor" && cp "$cursor" "$work/before" &&
		here 3 connect cursor --write --yes && says err 'another server called "mcpool"' &&
		here 3 connect cursor --undo --yes && untouched "$cursor"
}

t_a_project_has_its_own_file() {
	here 0 connect cursor --project --write --yes && is "$project/.cursor/mcp.json" '!d.mcpServers.mcpool.env' &&
		! [ -e "$cursor" ] && here 2 connect windsurf --project && says err 'no file for a project' &&
		rm -r "$project/.cursor" && mkdir "$work/elsewhere" && ln -s "$work/elsewhere" "$project/.cursor" &&
		here 3 connect cursor --project --write --yes && says err 'leads out of the project' && [ -z "$(ls "$work/elsewhere")" ] &&
		ln -s "$mcpool" "$bin/mcpool" && mcpool=$bin/mcpool && here 0 connect claude --project && says out '-- mcpool stdio'
}

# B25: `.mcp.json` of a project, which no other verb writes: after a preview, and but for mcpool itself it stays as it is.
t_a_root_file_gets_mcpool_and_nothing_else() {
	root=$project/.mcp.json
	with_comments "$root" && printf '{"mcpServers":{"a":{"command":"a"}}}' >"$project/mcp.json" && cp "$project/mcp.json" "$work/other" &&
		here 0 connect claude --project && untouched "$root" && here 7 connect claude --project --write && says err "$root:" '"mcpool": {' && untouched "$root" &&
		here 0 connect claude --project --write --yes &&
		is "$root" 'Object.keys(d.mcpServers).join() === "files,mcpool" && d.mcpServers.files.command === "files-server" && d.z === 1.5' &&
		[ -z "$(diff "$work/before" "$root" | grep '^<')" ] && cmp "$project/mcp.json" "$work/other" &&
		here 0 connect claude --project --undo --yes && untouched "$root"
}

# The agent's own servers that mcpool serves, too (use-A13: not those that wait for an approval); and mcpool is no
# server of itself.
t_doubles_are_told() {
	with_comments "$cursor" && here 0 connect cursor && silent_on err files && here 0 trust files --yes &&
		here 0 connect cursor --write --yes && says err 'Cursor will load files twice' 'mcpool import --from cursor' &&
		here 0 connect cursor --json && json 'd.twice.length === 1 && d.twice[0] === "files"' &&
		here 0 list --json && json 'd.servers.length === 1 && d.servers[0].name === "files"'
}

t_a_token_is_never_written() {
	here 2 connect zed --http 127.0.0.1:7717 --write --yes && says err 'cannot read the token' && ! [ -e "$HOME/.config/zed" ] &&
		here 0 connect opencode --http 127.0.0.1:7717 --write --yes &&
		grep -q 'Bearer {env:MCPOOL_TOKEN}' "$HOME/.config/opencode/opencode.json"
}

# OpenCode 2 has its servers one level deeper, and reads the older files as they are.
t_opencode_of_both_kinds() {
	place=$HOME/.config/opencode/opencode.jsonc && mkdir -p "$(dirname "$place")" || return 1
	printf '{ // two\n  "mcp": {\n    "timeout": 5,\n    "servers": {\n      "x": {"type": "local", "command": ["y"]}\n    }\n  }\n}\n' >"$place"
	cp "$place" "$work/before" && here 0 connect opencode && says out '"servers": {' && here 0 connect opencode --write --yes &&
		is "$place" "d.mcp.servers.mcpool.command[0] === '$mcpool' && d.mcp.servers.x && !d.mcp.mcpool" && grep -q '// two' "$place" &&
		here 0 connect opencode --json && json 'd.connected && d.entry === "mcpool"' && here 0 list --json && json 'd.servers.length === 1' &&
		here 0 connect opencode --undo --yes && untouched "$place" || return 1
	printf '{"mcp": {"servers": {"type": "local", "command": ["a-server-of-that-name"]}}}' >"$place"
	here 0 connect opencode --write --yes && is "$place" 'd.mcp.mcpool && d.mcp.servers.command'
}

# What leads to mcpool by a detour is mcpool, too: it is shown, made straight, and no server.
t_wrapped_entries_are_known() {
	mkdir -p "$HOME/.cursor" && printf '{"mcpServers":{"pool":{"command":"env","args":["A=1","%s","stdio"]}}}' "$mcpool" >"$cursor" &&
		here 0 connect cursor && says out 'already connected, by "pool"' && here 3 connect cursor --undo --yes && says err 'is called "pool"' &&
		printf '{"mcpServers":{"mcpool":{"command":"sh","args":["-c","exec mcpool stdio"]}}}' >"$cursor" &&
		here 0 connect cursor && says out 'with different settings' && here 0 connect cursor --write --yes &&
		is "$cursor" "d.mcpServers.mcpool.command === '$mcpool'" && here 0 list --json && json 'd.servers.length === 0'
}

# Files that people keep elsewhere, and what they write after us.
t_links_and_later_edits() {
	mkdir -p "$work/dotfiles" "$HOME/.cursor" && with_comments "$work/dotfiles/mcp.json" && ln -s "$work/dotfiles/mcp.json" "$cursor" &&
		here 0 connect cursor --write --yes && [ -L "$cursor" ] && is "$work/dotfiles/mcp.json" 'd.mcpServers.mcpool' &&
		sed -i 's/"files"/"renamed"/; s/since 2024/since 2025/' "$work/dotfiles/mcp.json" && here 0 connect cursor --undo --yes &&
		[ -L "$cursor" ] && is "$cursor" 'd.mcpServers.renamed && !d.mcpServers.mcpool && d.z === 1.5' && grep -q 'since 2025' "$cursor" &&
		rm "$cursor" && ln -s "$work/nowhere/mcp.json" "$cursor" && here 3 connect cursor --write --yes && says err 'there is no folder' &&
		rm "$cursor" && mkdir "$cursor" && here 3 connect cursor --write --yes && says err 'it is a folder'
}

# Empty ones are as good as none; a value that is not an object of servers is named with its file.
t_odd_files() {
	mkdir -p "$HOME/.cursor" || return 1
	for text in '' '  \n'; do
		printf "$text" >"$cursor"
		here 0 connect cursor --write --yes && is "$cursor" 'd.mcpServers.mcpool' &&
			here 0 connect cursor --undo --yes && [ "$(od -c <"$cursor")" = "$(printf "$text" | od -c)" ] || return 1
	done
	printf '{"mcpServers":null}' >"$cursor" && cp "$cursor" "$work/before" && here 3 connect cursor --write --yes &&
		says err "$cursor: " && untouched "$cursor"
}

# Tables can be spelled in many ways; one that is not as we write it is not touched.
t_other_tables_of_codex() {
	place=$HOME/.codex/config.toml && mkdir -p "$HOME/.codex" || return 1
	for text in 'mcp_servers.mcpool.command = "/old/mcpool"\nmcp_servers.mcpool.args = ["stdio"]\n' \
		'[mcp_servers]\nmcpool = { command = "/old/mcpool", args = ["stdio"] }\n' '[mcp_servers."mcpool"]\ncommand = "/old/mcpool"\nargs = ["stdio"]\n'; do
		printf "$text" >"$place" && cp "$place" "$work/before" && here 3 connect codex --write --yes && says err 'did not write it' &&
			untouched "$place" && here 3 connect codex --undo --yes && untouched "$place" || return 1
	done
	printf '# mine\n[mcp_servers.x]\ncommand = "y"\n' >"$place" && here 0 connect codex --write --yes &&
		printf '\n[projects."/somewhere"]\ntrust_level = "trusted"\n' >>"$place" && here 0 connect codex --undo --yes &&
		! grep -q mcpool "$place" && grep -q '^# mine' "$place" && grep -q trust_level "$place"
}

# As each documents its file.
t_spells_entries_as_each_agent_does() {
	files=$HOME/.config/Code/User/globalStorage
	for one in copilot cline roo claude-desktop junie vscode-insiders; do
		here 0 connect $one --write --yes || return 1
	done
	is "$HOME/.copilot/mcp-config.json" 'd.mcpServers.mcpool.type === "local" && d.mcpServers.mcpool.tools[0] === "*"' &&
		is "$HOME/.config/Claude/claude_desktop_config.json" '!d.mcpServers.mcpool.type && d.mcpServers.mcpool.args.length === 1' &&
		is "$HOME/.junie/mcp/mcp.json" 'd.mcpServers.mcpool.args[0] === "stdio"' &&
		is "$HOME/.config/Code - Insiders/User/mcp.json" 'd.servers.mcpool.type === "stdio"' &&
		here 0 connect kiro --http 127.0.0.1:9 --write --yes &&
		is "$HOME/.kiro/settings/mcp.json" 'd.mcpServers.mcpool.headers.Authorization === "Bearer ${MCPOOL_TOKEN}"' &&
		here 0 connect roo --http 127.0.0.1:9 --write --yes &&
		is "$files/rooveterinaryinc.roo-cline/settings/mcp_settings.json" 'd.mcpServers.mcpool.type === "streamable-http"' &&
		here 0 connect cline && is "$files/saoudrizwan.claude-dev/settings/cline_mcp_settings.json" 'd.mcpServers.mcpool.command'
}

# Its file is YAML: shown and looked at, and never changed.
t_goose_is_shown_only() {
	place=$HOME/.config/goose/config.yaml
	here 0 connect goose && says out "$place" 'extensions:' "  mcpool: {\"name\":\"mcpool\",\"enabled\":true,\"type\":\"stdio\",\"cmd\":\"$mcpool\"" 'by hand' &&
		here 3 connect goose --write --yes && says err 'is YAML' && ! [ -e "$place" ] && mkdir -p "$HOME/.config/goose" &&
		printf 'extensions:\n  files:\n    cmd: x\n' >"$place" && here 0 connect --all --write --yes && says err 'Goose is left out' &&
		here 0 connect goose && sed -n 's/^  \(  mcpool: .*\)/\1/p' "$work/out" >>"$place" && here 0 connect goose && says out 'already connected' &&
		here 0 connect && says out 'goose            connected' && here 3 connect goose --undo --yes && says err 'by hand' && grep -q 'mcpool: {' "$place"
}

t_some_have_no_http() {
	for one in $stdio_only; do
		here 2 connect $one --http 127.0.0.1:9 --write --yes && says err 'does not connect over HTTP' || return 1
	done
	here 0 connect --http 127.0.0.1:9 --json && json 'd.agents.length === 18' && [ -z "$(find "$HOME" -name '*mcp*.json')" ]
}

# Those that are found, each with its preview; one that fails stops no other.
t_all_that_are_here() {
	agent claude && with_comments "$cursor" && mkdir -p "$HOME/.kiro/settings" && echo '{}' >"$HOME/.kiro/settings/mcp.json" &&
		here 0 connect --all --write --yes && says out 'Claude Code is connected' 'Cursor is connected' 'Kiro is connected' &&
		says err "$cursor:" "$HOME/.kiro/settings/mcp.json:" && ! says out Zed >/dev/null && ! [ -e "$HOME/.config/zed" ] &&
		argv claude mcp add --scope user mcpool -e "XDG_RUNTIME_DIR=$runtime" -- "$mcpool" stdio --naming server__tool &&
		here 0 connect --all --write --yes --json && json 'd.agents.length === 3 && d.agents.find((a) => a.agent === "kiro").result === "already"' &&
		here 0 connect --all --undo --yes && untouched "$cursor" && [ "$(cat "$HOME/.kiro/settings/mcp.json")" = '{}' ] &&
		printf '{' >"$cursor" && here 3 connect --all --write --yes && says err "$cursor:1:" && says out 'Kiro is connected'
}

t_all_asks_for_each() {
	with_comments "$cursor" && here 7 connect --all --write && says err 'no terminal for the question' && untouched "$cursor"
}

t_usage() {
	here 2 connect --all && says err 'needs --write or --undo' && here 2 connect cursor --all --write && says err 'not both' || return 1
	here 2 connect nobody && says err "no agent 'nobody'" && here 2 connect claud && says err "Did you mean 'claude'" && here 2 connect --write && here 2 connect cursor --write --undo &&
		here 2 connect cursor --http 'a b' && here 2 connect cursor codex
}

run_cases "$@"
