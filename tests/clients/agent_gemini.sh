# agent_gemini.sh - Gemini CLI: connected by `mcpool connect`, it says itself that it is.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=gemini
. tests/clients/agents.sh
agent gemini "$agents/.bin/gemini"
GEMINI_CLI_TRUST_WORKSPACE=true # else it starts nothing in a folder it does not know
export GEMINI_CLI_TRUST_WORKSPACE

t_stdio() {
	two_servers && in_project 60 "$mcpool" connect gemini --write --yes && connected stdio &&
		in_project 60 "$mcpool" connect gemini --write && says out 'already connected' &&
		in_project 60 "$mcpool" connect gemini --undo --yes && in_project 60 gemini mcp list && silent_on out mcpool && stopped
}

t_http() {
	two_servers && MCPOOL_TOKEN=$token && export MCPOOL_TOKEN &&
		in_project 60 "$mcpool" connect gemini --http "$url" --write --yes && connected http &&
		in_project 60 "$mcpool" connect gemini --http "$url" --write && says out 'already connected' &&
		! grep -qF "$token" "$HOME/.gemini/settings.json" && stopped
}

connected() { # HOW; it lists on stdout or on stderr, as its version has it
	in_project 60 gemini mcp list && cat "$work/err" >>"$work/out" && says out mcpool: "($1) - Connected"
}

run_cases "$@"
