# test_import.sh - `mcpool import` from every tool whose files are in tests/config: what it says in our shape, what it
# refuses by name, and that the other tools' files stay as they are.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=import
. tests/servers/lib.sh
. tests/own.sh

# The home folder and the project of tests/config, without our own files; see its README.
fixtures() {
	cp -r tests/config/home/. "$HOME" && cp -r tests/config/project/. "$project" && rm -rf "$HOME/config" "$project/.mcpool" &&
		mv "$HOME/.config" "$HOME/config" && rm -rf "$HOME/config/mcpool" &&
		find "$HOME" "$project" -type f -exec sed -i "s|@HOME@|$HOME|g; s|@PROJECT@|$project|g" {} + && sums >"$work/sums"
}
sums() { # of every file that is not ours
	find "$HOME" "$project" \( -path "$HOME/state" -o -path "$HOME/config/mcpool" -o -path "$project/.mcpool" \) -prune -o \
		-type f -exec sha256sum {} + | sort
}
untouched() { sums | diff "$work/sums" - >&2 || { echo 'a file of another tool was changed'; return 1; }; }

import() { # WANTED ARGUMENTS...: with --yes
	wanted_code=$1
	shift
	fixtures && here "$wanted_code" import --yes "$@" && untouched && mode 600 "$user"
}
entry() { # NAME JSON: the whole entry in our file
	is "$user" "JSON.stringify(d.mcpServers['$1']) === JSON.stringify($2)"
}

# Each tool, each peculiarity of it.
# B75
t_claude() {
	import 0 --from claude && says out 'imported "github" from '"$HOME/.claude.json:13" &&
		entry github '{type: "http", url: "https://api.githubcopilot.com/mcp/", headers: {Authorization: "Bearer ${GITHUB_TOKEN}"}}' &&
		entry live-events '{type: "websocket", url: "wss://events.example.com/mcp", headers: {Authorization: "Bearer ${EVENTS_TOKEN:-example-token}"}}' &&
		entry claude-project "{type: 'stdio', command: 'npx', args: ['-y', '@acme/project-mcp', '--dir', '$project'], cwd: '$project'}" &&
		entry postgres "{type: 'stdio', command: 'npx', args: ['-y', '@modelcontextprotocol/server-postgres',
			'\${DATABASE_URL:-postgresql://localhost/site}'], env: {PGAPPNAME: 'claude'}, cwd: '$project'}" &&
		is "$user" '!("timeout" in d.mcpServers["internal-api"]) && d.mcpServers["internal-api"].toolTimeout === 120000' &&
		is "$user" 'd.mcpServers["internal-api"].url.startsWith("${INTERNAL_API:-") && d.mcpServers["internal-api"].oauth.callbackPort === 8765' &&
		is "$user" '!d.mcpServers["only-in-another-project"]'
}
t_claude_plugin() {
	import 0 --from claude-plugin && says err 'note: in the names of its tools' &&
		is "$user" "d.mcpServers['formatter:format'].command === '$HOME/.claude/plugins/cache/acme-tools/formatter/1.2.0/bin/format-server'" &&
		is "$user" 'd.mcpServers["formatter:format"].env.STYLE === "${FORMAT_STYLE:-acme}"' &&
		is "$user" "d.mcpServers['many:first'].cwd === '$HOME/.claude/plugins/cache/acme-tools/many/2.0.0'"
}
t_codex() {
	import 3 --from codex &&
		entry playwright "{type: 'stdio', command: 'npx', args: ['@playwright/mcp@latest', '--headless'], cwd: '$project', timeout: 1500, toolTimeout: 600000}" &&
		entry figma '{type: "http", url: "https://mcp.figma.com/mcp", headers: {"X-Figma-Region": "us-east-1", "X-Team": "${FIGMA_TEAM}",
			Authorization: "Bearer ${FIGMA_OAUTH_TOKEN}"}, required: true}' &&
		is "$user" 'd.mcpServers.github.env.DOCKER_HOST === "${DOCKER_HOST:-}" && d.mcpServers.github.toolsAllowed.join() === "get_issue,list_issues"' &&
		is "$user" 'd.mcpServers.github.toolsDenied.join() === "delete_repository" && d.mcpServers.github.args[5].startsWith("ghcr.io")' &&
		is "$user" "d.mcpServers['local-search'].command === '$project/.codex/tools/search-server' && d.mcpServers['local-search'].cwd === '$project/.codex/tools'" &&
		says err '"context7" was not imported' '${HOME}, which means something else in our own file' '"my server!" was not imported' \
			'"both" was not imported' && says err ghcr.io/github/github-mcp-server && silent_on err example-token
}
t_gemini() {
	import 0 --from gemini && entry sse-server '{type: "sse", url: "https://legacy.example.com/sse"}' &&
		is "$user" 'd.mcpServers.github.headers.Authorization === "Bearer ${GITHUB_TOKEN}" && d.mcpServers.github.timeout === 5000' &&
		is "$user" 'd.mcpServers["two-urls"].url === "https://new.example.com/mcp" && d.mcpServers["gemini-only"].env.API_KEY === "${GEMINI_ONLY_KEY}"' &&
		is "$user" 'd.mcpServers["workspace-files"].args[2] === "${HOME}/notes" && d.mcpServers["workspace-files"].env.PRICE === "5$ or $1"' &&
		is "$user" "d.mcpServers['workspace-files'].cwd === '$HOME/tools'"
}
t_opencode() {
	import 3 --from opencode && entry open-remote '{type: "http", url: "https://open.example.com/mcp", headers: {Authorization: "Bearer ${OPEN_TOKEN:-}"},
			oauth: {clientId: "${OPEN_CLIENT_ID:-}", scope: "tools:read tools:execute"}}' &&
		is "$user" '!("enabled" in d.mcpServers.jira) && d.mcpServers.context7.enabled === false' &&
		says err '"open-local" was not imported' '{file:./tools/cert.txt}, for which our own file has no words' '"everything" was not imported'
}
t_cursor() {
	import 0 --from cursor && is "$user" 'd.mcpServers.github.headers.Authorization === "Bearer ${GITHUB_TOKEN}" && d.mcpServers.streaming.type === "http"' &&
		entry home-tools "{type: 'stdio', command: '$HOME/bin/home-tools', args: ['--project', '$HOME', '--name', 'home'],
			env: {API_KEY: '\${HOME_TOOLS_KEY}'}, envFile: '$HOME/.home-tools.env'}" &&
		entry cursor-tools "{type: 'stdio', command: '$project/tools/cursor-tools', args: ['--port', '\${CURSOR_TOOLS_PORT}'],
			envFile: '$project/.env.tools', cwd: '$project'}" &&
		is "$user" 'd.mcpServers.asleep.enabled === false && d.mcpServers["oauth-client"].auth.CLIENT_ID === "${MCP_CLIENT_ID}"'
}
t_windsurf() {
	import 3 --from windsurf && entry figma '{type: "http", url: "https://mcp.figma.com/mcp", headers: {Authorization: "Bearer ${FIGMA_OAUTH_TOKEN}"}}' &&
		is "$user" 'd.mcpServers.memory.enabled === false && d.mcpServers.memory.toolsDenied.join() === "delete_entities"' &&
		says err '"vault" was not imported' '${file:'
}
t_vscode() {
	import 3 --from vscode && entry events '{type: "sse", url: "https://events.example.com/sse"}' &&
		is "$user" "d.mcpServers.time.env.LANG === '\${LANG}' && d.mcpServers.time.cwd === '$HOME' && d.mcpServers.time.env.RETRIES === '3'" &&
		says err '"service" was not imported' '${input:region}, which only the tool it was written for can answer' \
			'"perplexity" was not imported' '${input:perplexity-key}' '"folders" was not imported' '${config:editor.tabSize}'
}
t_omp() {
	import 0 --from omp && entry github '{type: "http", url: "https://api.githubcopilot.com/mcp/"}' &&
		entry strings-say-no '{type: "stdio", command: "strings-server", args: [], enabled: false}' &&
		is "$user" 'd.mcpServers["stored-login"].auth.credentialId === "mcp_oauth_example"'
}
t_root() {
	import 3 --from root && entry array-command "{type: 'stdio', command: 'npx', args: ['-y', 'array-command-mcp'], cwd: '$project'}" &&
		entry fetch "{type: 'stdio', command: 'uvx', args: ['mcp-server-fetch'], env: {USER_AGENT: 'example', COUNT: '3'}, cwd: '$project'}" &&
		says err '"pigeon" was not imported' '"../up" was not imported' '"" was not imported'
}
# What other tools take as it is would be a command in our file.
t_a_value_that_we_would_run() {
	fixtures && echo '{"mcpServers":{"x":{"command":"c","env":{"A":"!rm -rf /"}},"y":{"url":"https://y.example.com","headers":{"A":"!id"}}}}' \
		>"$HOME/.cursor/mcp.json" && here 3 import --yes x && says err 'has a value for A that begins with !' && here 3 import --yes y && [ ! -e "$user" ] &&
		echo '{"mcpServers":{"x":{"command":"c","env":{"A":"!gh auth token"}}}}' >"$HOME/.omp/mcp.json" && here 0 import --yes x --from omp &&
		says err '!gh auth token' && is "$user" 'd.mcpServers.x.env.A === "!gh auth token"'
}

# Which ones.
t_all() {
	import 3 && says out 'imported "sentry"' && is "$user" 'Object.keys(d.mcpServers).length > 40' &&
		is "$user" 'd.mcpServers.github.command === undefined' && here 3 import && says out '0 of' && silent_on out skipped
}
t_all_that_is_there_is_kept() {
	fixtures && here 0 import --from claude --yes && cp "$user" "$work/before" && here 0 import --from claude --yes && says out 'kept "github"' '0 of' &&
		same "$work/before" "$user"
}
# B62
t_by_name() {
	import 0 figma sentry && says out '2 of 2 copied to '"$user" && is "$user" 'Object.keys(d.mcpServers).sort().join() === "figma,sentry"' &&
		is "$user" 'd.mcpServers.figma.required' && here 3 import --yes figma && says err "Server \"figma\" already exists in $user"
}
t_by_name_and_tool() {
	import 0 github --from cursor && is "$user" 'd.mcpServers.github.headers && Object.keys(d.mcpServers).length === 1'
}
t_what_is_not_there() {
	fixtures && here 9 import --yes figma absent && says err 'Server "absent" not found' && [ ! -e "$user" ] &&
		here 9 import --yes sentry --from vscode && says err 'vscode has no server "sentry"' &&
		here 0 add mine -- cmd && here 9 import mine && says err 'Server "mine" is only in mcpool' &&
		here 9 import absent --json && json 'd.error.data.code === "not_found"'
}
t_unknown_tool() {
	here 2 import --from nobody && says err "there is no tool 'nobody'; there are omp, claude, " && here 2 import --project --user
}
t_nothing_to_import() { here 0 import && says out 'There is nothing to import.' && here 0 import --json && json 'd.servers.length === 0'; }

# Asking.
t_without_a_terminal_nothing_is_copied() {
	fixtures && here 7 import figma linear && says err 'figma, from '"$HOME/.codex/config.toml:32 (Codex)" '"url": "https://mcp.figma.com/mcp"' 'linear, from' \
		'there is no terminal to ask on: --yes' && says out 'skipped "figma"' '0 of 2 copied' && [ ! -e "$user" ] && untouched
}
answer() { # WORDS ARGUMENTS...: on a terminal, these lines typed
	words=$1
	shift
	(cd "$project" && printf "$words" | MCPOOL_TEST_MARK="$work" timeout -k 2 30 script -qec "$mcpool import $*" /dev/null >"$work/out" 2>&1)
}
t_questions() {
	fixtures && answer 'n\ny\n' linear sentry && says out 'Copy it? y (yes), n (no), a (all), q (quit)' 'skipped "' '1 of 2 copied' &&
		is "$user" 'Object.keys(d.mcpServers).length === 1' && untouched
}
t_all_and_quit() {
	fixtures && answer 'a\n' linear sentry figma && says out '3 of 3 copied' && answer 'q\n' playwright jira && says out '0 of 1 copied' && untouched
}
t_secrets_are_not_shown() {
	fixtures && here 0 import context7 --from codex --yes; here 0 import exa live-events --yes && silent_on err example-token && silent_on out example-token &&
		says err 'https://mcp.exa.ai/mcp?•••'
}

# Afterwards.
t_imported_is_approved_and_wins() { # U4 B73
	fixtures && here 0 list --json && json 'd.servers.find(s => s.name === "sentry").state === "needs-approval"' && here 0 import sentry --yes &&
		here 0 list --json && json "(s => s.state === 'ready' && s.source.file === '$user')(d.servers.find(s => s.name === 'sentry'))" &&
		here 0 list --all --json && json 'd.servers.filter(s => s.name === "sentry" && s.shadowed.by === "sentry").length >= 2'
}
t_imported_runs() {
	mkdir -p "$HOME/.cursor" "$project/sub" && echo "{\"mcpServers\":{\"demo\":{\"command\":\"$demo_server\"}}}" >"$HOME/.cursor/mcp.json" &&
		here 7 test demo && here 0 import demo --yes && here 0 test demo && says out works && nothing_left
}
t_into_the_project() {
	fixtures && mkdir "$project/.mcpool" && here 0 import cursor-tools array-command linear --yes --project && [ ! -e "$user" ] && mode 600 "$own" &&
		is "$own" '!("cwd" in d.mcpServers["array-command"]) && d.mcpServers.linear.type === "sse"' && untouched
}
t_json() {
	fixtures && here 3 import --from vscode --yes --json && json 'd.servers.find(s => s.name === "events").result === "imported"' &&
		json '(s => s.result === "failed" && /input:region/.test(s.error) && s.source.tool === "vscode" && s.source.line === 19)(d.servers.find(s => s.name === "service"))' &&
		here 3 import --from vscode --yes --json && json 'd.servers.find(s => s.name === "events").result === "kept"' &&
		here 7 import linear --json && json 'd.servers[0].result === "skipped" && d.servers[0].error === null'
}
t_a_broken_file_of_ours() {
	fixtures && mkdir -p "$HOME/config/mcpool" && echo '{' >"$user" && here 3 import linear --yes && says err 'not valid JSON' && [ "$(cat "$user")" = '{' ] &&
		here 3 import linear --yes --json && json 'd.servers[0].result === "failed" && /not valid JSON/.test(d.servers[0].error)' && untouched
}

run_cases "$@"
