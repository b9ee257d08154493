# agent_codex.sh - Codex, with a model that calls one tool (model_stub.mjs): `codex mcp list` starts nothing.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=codex
. tests/clients/agents.sh
agent codex "$agents/.bin/codex"

# model TOOL: $port is where it listens, its notes are in $work/model
model() {
	MODEL_TOOL=$1 MCPOOL_TEST_MARK="$work" "$node" tests/clients/model_stub.mjs >"$work/model" 2>"$work/model.err" </dev/null &
	model=$!
	wait_for_line "$work/model" '^port ' 10 && port=$(sed -n 's/^port //p' "$work/model")
}

# exec_codex: one turn, without questions
exec_codex() {
	STUB_KEY=x in_project 90 codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox -c model=stub \
		-c model_provider=stub -c 'model_providers.stub.name="stub"' -c "model_providers.stub.base_url=\"http://127.0.0.1:$port/v1\"" \
		-c 'model_providers.stub.env_key="STUB_KEY"' -c 'model_providers.stub.wire_api="responses"' 'call echo'
}

# The model was told of the tools, called one, and heard its answer; the hub knew who that was.
called() {
	says err 'old__echo (completed)' && says model '"old__echo"' '"demo__add"' 'Echo: from codex' &&
		grep -qi '"sessions":.*codex' "$work/model" || { echo "the hub knew of no codex: $(tail -n 1 "$work/model" | tail -c 500)"; return 1; }
}

t_stdio() {
	two_servers && model old__echo && in_project 60 "$mcpool" connect codex --write --yes && exec_codex && called &&
		in_project 60 "$mcpool" connect codex --undo --yes && in_project 60 codex mcp list && silent_on out mcpool &&
		kill "$model" && stopped
}

t_http() {
	two_servers && model old__echo && MCPOOL_TOKEN=$token && export MCPOOL_TOKEN &&
		in_project 60 "$mcpool" connect codex --http "$url" --write --yes && exec_codex && called &&
		in_project 60 "$mcpool" connect codex --http "$url" --write && says out 'already connected' &&
		! grep -qF "$token" "$HOME/.codex/config.toml" && kill "$model" && stopped
}

# Without the agent's command, in its file.
t_by_file() {
	two_servers && model old__echo && mkdir "$HOME/.codex" && echo 'model = "x" # mine' >"$HOME/.codex/config.toml" &&
		(PATH=/usr/bin:/bin && in_project 60 "$mcpool" connect codex --write --yes) && exec_codex && called &&
		grep -q '# mine' "$HOME/.codex/config.toml" && kill "$model" && stopped
}

run_cases "$@"
