# agent_mcporter.sh - mcporter: lists what the hub has, and calls it.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=mcporter
. tests/clients/agents.sh
agent mcporter "$agents/.bin/mcporter"
config=$work/mcporter.json

# It passes only HOME and PATH, so the entry has the folder of the socket, as `connect` writes it.
used() {
	in_project 60 mcporter --config "$config" list && says out 'mcpool (' '1 healthy' &&
		in_project 60 mcporter --config "$config" call mcpool.mcp__old__add a=2 b=3 && [ "$(cat "$work/out")" = 5 ] &&
		in_project 60 mcporter --config "$config" call mcpool.mcp__demo__echo message=hello && says out hello && stopped
}

t_stdio() {
	two_servers && printf '{"mcpServers":{"mcpool":{"command":"%s","args":["stdio"],"env":{"XDG_RUNTIME_DIR":"%s"}}}}' \
		"$mcpool" "$XDG_RUNTIME_DIR" >"$config" && used
}

t_http() {
	two_servers && printf '{"mcpServers":{"mcpool":{"url":"%s","headers":{"Authorization":"Bearer %s"}}}}' "$url" "$token" >"$config" && used
}

run_cases "$@"
