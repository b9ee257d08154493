# test_param_headers.sh - arguments in headers (x-mcp-header), against a server that changes its mind about their names.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=param_headers
. tests/remote/lib.sh

begin() {
	serve headers "$node" $servers/headers.mjs && listens headers || return 1
	url=http://127.0.0.1:$(sed -n 's/^listening on //p' "$work/headers.log")/mcp
	cat >"$work/servers.json" <<END
{"mcpServers": {"far": {"type": "http", "url": "$url"}}}
END
}

calls() { # PLACE
	timeout -k 2 20 "$mcpool" call far/where "place=$1" --strict-config --config "$work/servers.json" \
		>"$work/out" 2>"$work/err" </dev/null || { cat "$work/err"; return 1; }
	[ "$(cat "$work/out")" = "at $1" ] || { cat "$work/out"; return 1; }
}
noted() { [ "$(grep -c "$1" "$work/headers.notes")" -eq "$2" ] || { cat "$work/headers.notes"; return 1; }; }

# The first call has the header of the list; it is refused, tools are listed again, and the next one is right.
t_changed_mind() {
	begin && calls 'Zürich ' && noted '^tools/call Mcp-Param-Old$' 1 && noted '^tools/call Mcp-Param-New$' 1
}

t_wrong_annotation_is_left_out() {
	begin || return 1
	timeout -k 2 20 "$mcpool" tools --strict-config --config "$work/servers.json" >"$work/out" 2>"$work/err" </dev/null
	grep -q where "$work/out" && ! grep -q wrong "$work/out" || { cat "$work/out"; return 1; }
	grep -q "'wrong': an x-mcp-header is not a header name" "$work/err" || { cat "$work/err"; return 1; }
}

t_one_shot() {
	begin && timeout -k 2 20 "$mcpool" call where place=x -- "$url" >"$work/out" 2>"$work/err" </dev/null
	[ "$(cat "$work/out")" = "at x" ] || { cat "$work/out" "$work/err"; return 1; }
}

run_cases "$@"
