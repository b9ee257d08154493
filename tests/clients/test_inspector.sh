# test_inspector.sh - the inspector's command line in front of the hub, in both eras, by stdio and by HTTP.
# `sh tests/clients/test_inspector.sh stdio_modern` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=inspector
. tests/clients/lib.sh
inspector=$tree/$npm/inspector/clients/launcher/build/index.js

# inspect METHOD...: it asks the hub on the way of this case, its answer in $work/out
inspect() {
	method=$1
	shift
	if [ "$way" = stdio ]; then
		# it hands on HOME, PATH and little else
		set -- "$@" -e "XDG_CONFIG_HOME=$XDG_CONFIG_HOME" -e "XDG_STATE_HOME=$XDG_STATE_HOME" \
			-e "XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR" -e "MCPOOL_TEST_MARK=$work" --transport stdio "$mcpool" stdio
	else
		set -- --transport http --header "Authorization: Bearer $token" "$@" --server-url "$url"
	fi
	MCPOOL_TEST_MARK="$work" timeout -k 2 40 "$node" "$inspector" --cli --protocol-era "$era" --method "$method" \
		"$@" >"$work/out" 2>"$work/err" </dev/null || {
		echo "$method: exit code $? $(tail -n 3 "$work/err" "$work/out")"
		return 1
	}
}

inspected() { # WAY ERA
	way=$1 era=$2
	every_kind && served && inspect tools/list && json 'd.tools.some((t) => t.name === "mcp__every__echo")' &&
		inspect tools/call --tool-name mcp__new__echo --tool-arg message=hello &&
		json 'd.content[0].text === "Echo: hello"' &&
		inspect tools/call --tool-name mcp__old__add --tool-arg a=2 --tool-arg b=3 && json 'd.content[0].text === "5"' &&
		inspect resources/list && json 'd.resources.length > 5' &&
		inspect prompts/get --prompt-name mcp__old__review --prompt-args code=main.c && says out 'Please review main.c' &&
		stopped
}

t_stdio_legacy() { inspected stdio legacy; }
t_stdio_modern() { inspected stdio modern; }
t_http_legacy() { inspected http legacy; }
t_http_modern() { inspected http modern; }

run_cases "$@"
