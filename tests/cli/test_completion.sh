# test_completion.sh - `mcpool completion`: candidates from the verbs' own tables, the configuration and cached lists,
# and the scripts in the shells that read them.
# `sh tests/cli/test_completion.sh NAME` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=completion
. tests/servers/lib.sh
. tests/own.sh
mkdir -p "$work/bin" && ln -s "$mcpool" "$work/bin/mcpool"

two_servers() { here 0 add demo -- "$mcpool" demo-server && here 0 add other -- true && here 0 tools demo; }

# offers CANDIDATES WORDS...: exactly these, one a line, for a line with these words
offers() {
	printf '%s' "$1" | tr ' ' '\n' >"$work/wanted"
	[ -z "$1" ] || echo >>"$work/wanted"
	shift
	here 0 complete -- "$@" && cut -f 1 "$work/out" >"$work/got" && diff "$work/wanted" "$work/got" && [ ! -s "$work/err" ]
}

t_verbs_and_options() {
	offers 'status stdio' st && offers 'set' set && offers '--all' status --a && offers '--help' version --h && offers '' nonsense '' &&
		offers 'logs login logout' help lo && here 0 complete -- call -- && grep -q '^--no-check	call it even' "$work/out"
}

t_words_of_arguments() {
	offers 'show path check watch' config '' && offers 'bash' completion b && offers 'auto legacy modern' call --era '' &&
		offers 'mcp_timeout mcp_too_large' explain mcp_t && offers 'claude claude-desktop' connect claude && offers '' connect claude '' &&
		offers ':files' config check '' && offers ':files' add x -- '' && offers 'omp' stdio --profile o
}

t_servers_tools_and_keys() {
	two_servers && offers 'demo other' get '' && offers 'demo' login d &&
		offers 'other' trust demo o && offers 'demo other list' trust '' && offers 'demo other' config show '' && offers '' add '' &&
		offers 'mcp__demo__add mcp__demo__echo mcp__demo__time demo/add demo/echo demo/time add echo time' call '' && offers 'a= b=' call demo/add '' && offers 'b=' call demo/add a=1 '' &&
		offers 'demo://readme' read '' && offers 'mcp__demo__greet demo/greet greet' prompt '' && offers 'name=' prompt mcp__demo__greet '' &&
		offers 'mcp__demo__add' tools --schema mcp__demo__a
}

# SERVER/TOOL is continued, and so is the tool's own name where one server alone has it; keys follow either.
t_spellings_of_a_tool() {
	two_servers && offers 'demo/add' call demo/a && offers 'add' call ad && offers 'a= b=' call add '' && offers 'b=' call add a=1 b &&
		offers 'demo/time' tools --schema demo/t && offers 'name=' prompt greet '' &&
		here 0 add twin -- env TWIN=1 "$mcpool" demo-server && here 0 tools twin && offers '' call ad && offers '' call add '' &&
		offers 'demo/add' call demo/a && offers 'twin/add twin/echo twin/time' call tw && offers 'a= b=' call twin/add ''
}

# What is asked for while a line is typed starts no server, and no hub.
t_nothing_is_started() {
	here 0 add noted -- sh -c "echo started >>'$work/started'" && offers '' call '' && offers 'noted' status n &&
		! [ -e "$work/started" ] && ! [ -e "$XDG_RUNTIME_DIR/mcpool/hub.sock" ]
}

t_values_of_a_schema() {
	"$node" -e 'console.log(JSON.stringify({mcpServers: {s: {command: process.argv[1], args: ["-e", `
		require("readline").createInterface({input: process.stdin}).on("line", (l) => {
			const m = JSON.parse(l), r = {initialize: {protocolVersion: "2025-11-25", capabilities: {tools: {}}, serverInfo: {name: "s", version: "1"}},
				"tools/list": {tools: [{name: "t", inputSchema: {type: "object", properties: {size: {enum: ["small", "large"]}, loud: {type: "boolean"},
					unit: {anyOf: [{enum: ["cm", "two words", "x".repeat(600)]}, {const: 7}, {type: "null"}]}}}}]}}[m.method];
			if (m.id !== undefined) console.log(JSON.stringify({jsonrpc: "2.0", id: m.id, ...(r ? {result: r} : {error: {code: -32601, message: "no"}})}));
		})`]}}}))' "$node" >"$work/s.json" || return 1
	mkdir -p "$XDG_CONFIG_HOME/mcpool" && cp "$work/s.json" "$XDG_CONFIG_HOME/mcpool/mcp.json" && here 0 trust s --yes && here 0 tools s &&
		offers 'size= loud= unit=' call s/t '' && offers 'unit=cm unit=7' call t unit= && offers 'size=small size=large' call s/t size= && offers 'loud=true loud=false' call s/t loud=
}

# Names of a cloned project must not be run by the shell that inserts them.
t_hostile_names_are_no_words() {
	mkdir -p "$project" && printf '{"mcpServers":{"good":{"command":"x"},"$(touch pwned)":{"command":"x"},"a;b":{"command":"x"},"a b":{"command":"x"},"`id`":{"command":"x"},"x\\u001b[31m":{"command":"x"}}}' \
		>"$project/.mcp.json" && offers 'good' get ''
}

t_broken_files_say_nothing() {
	mkdir -p "$XDG_CONFIG_HOME/mcpool" && printf '{' >"$XDG_CONFIG_HOME/mcpool/mcp.json" && offers '' get '' && offers '' call ''
}

# in_shell SHELL SCRIPT: what it prints, with mcpool in PATH
in_shell() { (cd "$project" && PATH="$work/bin:$PATH" "$1" "$2") >"$work/out" 2>&1; }

t_bash() {
	cat >"$work/script" <<-'END'
		source <(mcpool completion bash)
		try() { COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=(); _mcpool; printf '[%s]' "${COMPREPLY[@]}"; echo; }
		try 'mcpool st'
		try 'mcpool call mcp__demo__add a=1 '
		try 'mcpool read demo:'
		try 'mcpool call demo/add a'
		try 'mcpool call demo/a'
		try 'mcpool call ec'
	END
	two_servers && in_shell bash "$work/script" && printf '[status][stdio]\n[b=]\n[//readme]\n[a=]\n[demo/add]\n[echo]\n' | diff - "$work/out"
}

t_zsh() {
	cat >"$work/script" <<-'END'
		compdef() { : }
		_describe() { print -rl -- ${(P)2} }
		_files() { print files }
		source <(mcpool completion zsh)
		words=(mcpool st) CURRENT=2 _mcpool
		words=(mcpool call demo/add '') CURRENT=4 _mcpool
		words=(mcpool read demo:) CURRENT=3 _mcpool
		words=(mcpool config check '') CURRENT=4 _mcpool
		words=(mcpool call demo/a) CURRENT=3 _mcpool
		words=(mcpool call ec) CURRENT=3 _mcpool
	END
	two_servers && in_shell zsh "$work/script" && cut -d : -f 1 "$work/out" >"$work/got" &&
		printf '%s\n' status stdio a= b= 'demo\' files demo/add echo | diff - "$work/got"
}

t_fish() {
	cat >"$work/script" <<-'END'
		mcpool completion fish | source
		complete -C 'mcpool st'
		complete -C 'mcpool call demo/add '
		complete -C 'mcpool read demo:'
		complete -C 'mcpool call demo/a'
		complete -C 'mcpool call ec'
	END
	two_servers && in_shell fish "$work/script" && cut -f 1 "$work/out" >"$work/got" &&
		printf '%s\n' status stdio a= b= demo://readme demo/add echo | diff - "$work/got"
}

t_usage() { here 2 completion && here 2 completion tcsh && says err 'expected bash, zsh or fish' && here 2 complete; }

run_cases "$@"
