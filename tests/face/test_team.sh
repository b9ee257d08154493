# test_team.sh - a hub for a team: tokens with names, and logins at an authorization server.
# `sh tests/face/test_team.sh names` runs one case; see team.mjs.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=team
. tests/hub/lib.sh
servers=$PWD/tests/servers

# serving MORE: a hub with two demo servers, at $url; MORE are members of "http"
serving() {
	printf '{"mcpServers":{%s,%s},"mcpool":{"http":{"listen":"127.0.0.1:0"%s}}}' "$(server a)" "$(server b)" "${1:-}" >"$work/c.json"
	start serve --strict-config --config "$work/c.json"
	wait_for_line "$work/out" 'http://[^ ]*/mcp' 15 || { cat "$work/err"; return 1; }
	url=$(grep -o 'http://[^ ]*/mcp' "$work/out" | head -n 1)
}

# beside FILE SCRIPT ARGUMENTS...: a server of ours, whose output is FILE; it goes with the case
beside() {
	output=$1
	shift
	MCPOOL_TEST_MARK="$work" "$node" "$@" >"$output" 2>"$output.err" </dev/null &
}
# word FILE NAME: what stands behind NAME there
word() { sed -n "s/^$2 //p" "$1"; }

# with_issuer OPTIONS...: an issuer of tokens, at $issuer
with_issuer() {
	beside "$work/issuer" tests/face/issuer.mjs "$@"
	wait_for_line "$work/issuer" ready 10 && issuer=$(word "$work/issuer" issuer)
}
scopes='"scopes":["mcp:read","mcp:call"],"requiredScopes":["mcp:read"]'

stopped() { kill -TERM "$mcpool_pid" && ended 0 5 && nothing_left 3; }
token() { "$mcpool" token "$@" 2>"$work/token.err" || { echo "token $*: $(cat "$work/token.err")"; return 1; }; }
visit() { MCPOOL_TEST_MARK="$work" timeout -k 2 60 "$node" tests/face/team.mjs "$@" </dev/null; }

# V18 V19: made, used, limited, listed, expired, taken back
t_names() {
	serving && all=$(token add all) && only=$(token add only-a --servers a --tools 'ech*') && brief=$(token add brief --expires 2s) &&
		case $all in mcpool_*) ;; *) echo "no prefix: $all"; return 1 ;; esac &&
		! grep -qr "$all" "$XDG_STATE_HOME" && ALL=$all ONLY=$only BRIEF=$brief visit names "$url" "$mcpool" &&
		silent_on err "$all" && stopped
}

t_words() {
	token add ci --servers a,b --tools 'read_*' --tools x --expires 30d >/dev/null && token list --json >"$work/out" &&
		json 'd.tokens.length === 1 && d.tokens[0].name === "ci" && d.tokens[0].servers.join() === "a,b" && d.tokens[0].tools.join() === "read_*,x"' &&
		json 'd.tokens[0].usedMs === null && Math.abs(d.tokens[0].expiresMs - d.tokens[0].createdMs - 30 * 86400e3) < 1000 && !("token" in d.tokens[0])' &&
		run 3 token add ci && says err "there is a token 'ci' already" && run 9 token rm none && says err 'token list' &&
		run 2 token add 'a b' && run 2 token add x --expires soon && run 2 token add x --servers a,,b && run 2 token list --rotate &&
		run 2 token rm ci --servers a && run 2 token --servers a && run 2 token add && run 2 token nonsense &&
		run 0 token add more --json && json 'd.token.startsWith("mcpool_") && d.expiresMs === null && d.servers.length === 0' &&
		run 0 token list && says out 'ci ' 'servers a,b' 'tools read_*,x' 'used never' &&
		run 0 token rm ci --json && json 'd.name === "ci"' && run 0 token rm more && run 0 token list && says out 'no tokens with names' &&
		run 0 token && [ "$(wc -c <"$work/out")" = 65 ] && run 0 token --rotate
}

# V31 V32: tokens of an issuer, good ones and others
t_issuer() {
	with_issuer && serving ",\"oauth\":{\"issuer\":\"$issuer\",$scopes}" && ISSUER=$issuer visit issuer "$url" "$mcpool" && over
}
over() { kill -TERM "$mcpool_pid" && ended 0 5; } # servers beside it are still there

t_audience() {
	with_issuer --metadata=off && serving ",\"oauth\":{\"issuer\":\"$issuer\",\"jwksUri\":\"$issuer/jwks\",\"audience\":\"urn:team\"}" &&
		ISSUER=$issuer visit audience "$url" "$mcpool" && over
}

# An issuer that does not answer: its tokens are not judged, the others are.
t_without_keys() {
	all=$(token add all) && serving ',"oauth":{"issuer":"http://127.0.0.1:9"}' && ALL=$all visit without_keys "$url" "$mcpool" &&
		says err 'the keys of http://127.0.0.1:9 cannot be fetched' && over
}

t_wrong_settings_are_named() {
	for oauth in '{}' '{"issuer":"http://issuer.example"}' '{"issuer":"https://a","requiredScopes":["a b"]}' '7' '{"issuer":"https://a","jwksUri":"ftp://a"}' '{"issuer":"https://a","scope":[]}'; do
		printf '{"mcpServers":{%s},"mcpool":{"http":{"listen":"127.0.0.1:0","oauth":%s}}}' "$(server a)" "$oauth" >"$work/c.json"
		run 4 serve --strict-config --config "$work/c.json" && says err http.oauth || return 1
	done
	printf '{"mcpServers":{%s},"mcpool":{"http":{"listen":"127.0.0.1:0","oauth":{"issuer":"https://a"}}}}' "$(server a)" >"$work/c.json"
	run 4 serve --no-token --strict-config --config "$work/c.json" && says err 'leave out --no-token'
}

t_a_project_names_no_issuer() {
	mkdir -p "$work/p/.git" "$work/p/.mcpool" && printf '{"mcpool":{"http":{"oauth":{"issuer":"https://evil.example"}}}}' >"$work/p/.mcpool/mcp.json" &&
		cd "$work/p" && run 0 trust --all --yes && run 0 list --json && says out '\"oauth\" is ignored here; it is read from your own file only'
}

# The client of the official SDK finds the issuer, registers, logs in and calls.
t_login() {
	beside "$work/issuer" "$servers/authorization_server.mjs" --path=/team --notes="$work/notes" --access-seconds=60
	wait_for_line "$work/issuer" ready 10 && issuer=$(word "$work/issuer" issuer) &&
		serving ",\"oauth\":{\"issuer\":\"$issuer\",$scopes}" && ISSUER=$issuer visit login "$url" "$mcpool" &&
		for line in 'POST /team/register 201' 'GET /team/authorize page 200' 'POST /team/authorize allow 302' 'POST /team/token authorization_code 200'; do
			noted "$line" || return 1
		done && over
}

# V32: what a client shows us is for us alone
t_passthrough() {
	export TEST_NOTES=$work/upstream.notes
	with_issuer && beside "$work/upstream" tests/face/upstream.mjs && wait_for_line "$work/upstream" listening 10 || return 1
	printf '{"mcpServers":{"up":{"url":"http://127.0.0.1:%s/mcp"},%s},"mcpool":{"log":{"level":"trace"},"http":{"listen":"127.0.0.1:0","oauth":{"issuer":"%s"}}}}' \
		"$(word "$work/upstream" 'listening on')" "$(server a)" "$issuer" >"$work/c.json"
	canary=$(token add canary) && start serve --strict-config --config "$work/c.json" || return 1
	wait_for_line "$work/out" 'http://[^ ]*/mcp' 15 || return 1
	url=$(grep -o 'http://[^ ]*/mcp' "$work/out" | head -n 1)
	ISSUER=$issuer NAME=$canary visit passthrough "$url" "$mcpool" >"$work/tokens" && [ "$(wc -l <"$work/tokens")" = 3 ] || { cat "$work/tokens"; return 1; }
	grep -q tools/call "$TEST_NOTES" || { echo 'the server was not called'; return 1; }
	while read -r secret; do
		if grep -qF "$secret" "$TEST_NOTES" "$work/err" "$work/out" || grep -qr "$secret" "$XDG_STATE_HOME" --include='*.log' --include='mcpool.db*'; then
			echo "a token of a client left the hub: $(grep -lF "$secret" "$TEST_NOTES" "$work/err" "$work/out")"
			return 1
		fi
	done <"$work/tokens"
	over
}

run_cases "$@"
