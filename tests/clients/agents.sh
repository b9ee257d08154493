# agents.sh - for tests with agents that people use: source it behind `group=...`. Each case has a home of its own,
# and nothing but loopback is spoken to by what is tested here; an agent that is not there is skipped.
. tests/clients/lib.sh
agents=$tree/tests/clients/agents/node_modules
bin=$work/bin
how_many=2
unset XDG_CONFIG_HOME XDG_STATE_HOME
user=$HOME/.config/mcpool/mcp.json
mkdir -p "$bin" "$work/project/.git"
PATH=$bin:$(dirname "$node"):/usr/bin:/bin
TERM=dumb
# No reports, no updates; a proxy address without a listener stops what tries anyway.
DISABLE_TELEMETRY=1 DISABLE_AUTOUPDATER=1 DISABLE_ERROR_REPORTING=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
HTTPS_PROXY=http://127.0.0.1:9 HTTP_PROXY=http://127.0.0.1:9 NO_PROXY=127.0.0.1,localhost
export PATH TERM DISABLE_TELEMETRY DISABLE_AUTOUPDATER DISABLE_ERROR_REPORTING CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC
export HTTPS_PROXY HTTP_PROXY NO_PROXY

# agent NAME FILE...: the first of these that is there, as a program in PATH; else the whole script is skipped
agent() {
	name=$1
	shift
	for file; do
		if [ -x "$file" ]; then
			ln -s "$file" "$bin/$name"
			return
		fi
	done
	echo "skip $group: $name is not installed for $(uname -s -m); 'tools/setup clients' brings it"
	exit 0
}

two_servers() {
	configure "$user" "$(entry old "$tree/$servers/sdk1.mjs")" "$(server demo)" && run 0 trust --user-file --yes && served
}

# in_project SECONDS COMMAND...: its output in $work/out and $work/err
in_project() {
	seconds=$1
	shift
	(cd "$work/project" && MCPOOL_TEST_MARK="$work" timeout -k 2 "$seconds" "$@") >"$work/out" 2>"$work/err" </dev/null && return
	echo "$1: exit code $? $(tail -n 3 "$work/out" "$work/err" | head -c 800)"
	return 1
}
