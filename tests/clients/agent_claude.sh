# agent_claude.sh - Claude Code: connected by `mcpool connect`, it says itself that it is.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=claude
. tests/clients/agents.sh
agent claude "$agents"/@anthropic-ai/claude-code-linux-*/claude

t_stdio() {
	two_servers && in_project 60 "$mcpool" connect claude --write --yes && says out 'is connected' &&
		in_project 60 claude mcp list && says out 'mcpool: ' 'Connected' && silent_on out Failed &&
		in_project 60 "$mcpool" connect claude --json && json 'd.connected && d.entry === "mcpool"' &&
		in_project 60 "$mcpool" connect claude --undo --yes && in_project 60 claude mcp list && silent_on out Connected && stopped
}

t_http() {
	two_servers && MCPOOL_TOKEN=$token && export MCPOOL_TOKEN &&
		in_project 60 "$mcpool" connect claude --http "$url" --write --yes &&
		in_project 60 claude mcp list && says out "mcpool: $url?naming=server__tool (HTTP)" Connected && ! grep -qF "$token" "$HOME/.claude.json" &&
		in_project 60 "$mcpool" connect claude --http "$url" --write && says out 'already connected' &&
		in_project 60 "$mcpool" connect claude --http "$url" --undo --yes && stopped
}

# The hub is started by what Claude starts, and is the one that the terminal sees.
t_without_a_hub() {
	configure "$user" "$(server demo)" && run 0 trust --user-file --yes && in_project 60 "$mcpool" connect claude --write --yes &&
		in_project 60 claude mcp list && says out Connected && running && finish
}

run_cases "$@"
