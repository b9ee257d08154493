# test_tls.sh - the hub over https and wss: real clients, certificates and keys that are wrong, where others can come.
# `sh tests/face/test_tls.sh curl` runs one case; see tls_visitor.mjs.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=tls
. tests/clients/lib.sh
. tests/face/certificates.sh

# secure LISTEN MORE: a hub that listens there with our certificate; MORE are members of "http"
secure() {
	printf '{"mcpServers":{%s},"mcpool":{"http":{"listen":"%s","tls":{"cert":"%s","key":"%s"}%s}}}' "$(server a)" "$1" \
		"${cert:-$work/host.pem}" "${key:-$work/host.key}" "${2:-}" >"$work/c.json"
	start serve --strict-config --config "$work/c.json"
	wait_for_line "$work/out" 'https://[^ ]*/mcp' 15 || { cat "$work/err"; return 1; }
	url=$(grep -o 'https://[^ ]*/mcp' "$work/out" | head -n 1)
	url=${url%/mcp}
	token=$("$mcpool" token)
}

over() { kill -TERM "$mcpool_pid" && ended 0 5 && nothing_left 3; }
visit() { NODE_EXTRA_CA_CERTS=$work/ca.pem "$node" tests/face/tls_visitor.mjs "$1" "$url" "$token" "$work/ca.pem" </dev/null; }

# refused WORDS...: with these files, and these words
refused() {
	printf '{"mcpServers":{%s},"mcpool":{"http":{"listen":"127.0.0.1:0","tls":{"cert":"%s","key":"%s"}}}}' "$(server a)" \
		"$cert" "$key" >"$work/c.json"
	run 4 serve --strict-config --config "$work/c.json" && within 5000 && says err "$@"
}

post() { # ARGUMENTS...: curl, with a question that needs the token
	curl -sS --max-time 10 --cacert "$work/ca.pem" -o "$work/said" -w '%{http_code}' -H 'content-type: application/json' \
		-H 'accept: application/json, text/event-stream' \
		-d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"curl","version":"1"}}}' \
		"$@" 2>"$work/err"
}
is() { [ "$1" = "$2" ] || { echo "$1 and not $2: $(cat "$work/said" "$work/err" 2>/dev/null | head -c 300)"; return 1; }; }

t_curl() {
	certificates && secure 127.0.0.1:0 && auth="authorization: Bearer $token" || return 1
	for way in --tlsv1.3 '--tls-max 1.2' --http1.1 --http2; do
		is "$(post $way -H "$auth" "$url/mcp")" 200 && grep -q protocolVersion "$work/said" || return 1
	done
	is "$(post -H "$auth" "https://localhost:${url##*:}/mcp")" 200 && is "$(post "$url/mcp")" 401 &&
		is "$(post -H "$auth" -H 'Host: evil.example' "$url/mcp")" 403 &&
		is "$(post -H "$auth" -H 'Origin: https://evil.example' "$url/mcp")" 403 &&
		is "$(post -H "$auth" -H "Origin: http://${url#https://}" "$url/mcp")" 403 || return 1 # the other scheme is another origin
	! curl -sS --max-time 5 -o /dev/null "$url/health" 2>"$work/err" && says err certificate && over # who does not know the authority
}

t_resuming() { certificates && secure 127.0.0.1:0 && visit resuming && over; }
t_large() { certificates && secure 127.0.0.1:0 && visit large && over; }
t_slow() { certificates && secure 127.0.0.1:0 && visit slow && over; }
t_handshake() { certificates && secure 127.0.0.1:0 && visit handshake && over; }
t_plain() { certificates && secure 127.0.0.1:0 && visit plain && over; }
t_websocket() { certificates && secure 127.0.0.1:0 && visit websocket && over; }

# Both SDKs in every era; see tests/clients/sdk.mjs.
t_sdks() {
	certificates && every_kind && sed -i "s|^{|{\"mcpool\":{\"http\":{\"listen\":\"127.0.0.1:0\",\"tls\":{\"cert\":\"$work/host.pem\",\"key\":\"$work/host.key\"}}},|" \
		"$user" && run 0 trust --user-file --yes && start serve && wait_for_line "$work/out" 'https://[^ ]*/mcp' 15 && eventually 15 all_up || return 1
	url=$(grep -o 'https://127[^ ]*/mcp' "$work/out" | head -n 1)
	NODE_EXTRA_CA_CERTS=$work/ca.pem MCPOOL_URL=$url MCPOOL_TOKEN=$("$mcpool" token) MCPOOL_TEST_MARK="$work" \
		timeout -k 2 120 "$node" tests/clients/sdk.mjs >"$work/cases" 2>"$work/err" </dev/null ||
		{ grep -m 3 ^FAIL "$work/cases"; return 1; }
	[ "$(grep -c '^ok .*http' "$work/cases")" -ge 4 ] && over
}

t_wrong_files_are_named() {
	certificates && certificate_of other && openssl pkey -in "$work/host.key" -aes256 -passout pass:secret -out "$work/locked.key" &&
		echo nonsense >"$work/nonsense.pem" || return 1
	cert=$work/none.pem key=$work/host.key refused "http.tls.cert: $work/none.pem cannot be read: No such file" &&
		cert=$work/host.pem key=$work/none.key refused "http.tls.key: $work/none.key cannot be read" &&
		cert=$work/nonsense.pem key=$work/host.key refused 'is not a certificate in PEM' &&
		cert=$work/host.pem key=$work/nonsense.pem refused 'is not a private key in PEM' &&
		cert=$work/host.pem key=$work/other.key refused 'is not the key of the first certificate' &&
		cert=$work/host.pem key=$work/locked.key refused 'has a pass phrase' 'openssl pkey -in' &&
		printf '{"mcpool":{"http":{"listen":"127.0.0.1:0","tls":{"cert":"x"}}}}' >"$work/c.json" &&
		run 3 serve --strict-config --config "$work/c.json" && says err '{"cert": FILE, "key": FILE}' || return 1
	cp "$work/host.pem" "$work/host.key" "$HOME/" && cert=host.pem key='~/host.key' secure 127.0.0.1:0 && over && # in the home folder
		chmod 644 "$work/host.key" && secure 127.0.0.1:0 && says err 'can read' && over
}

# V11 V12: with a token and a name of ours only
t_where_others_can_come() {
	certificates && secure 0.0.0.0:0 ',"name":"hub.test"' && says out https://hub.test: && port=${url##*:} &&
		auth="authorization: Bearer $token" || return 1
	here="--resolve hub.test:$port:127.0.0.1 --resolve evil.test:$port:127.0.0.1"
	is "$(post $here -H "$auth" "https://hub.test:$port/mcp")" 200 && is "$(post $here "https://hub.test:$port/mcp")" 401 &&
		is "$(post $here -k -H "$auth" "https://evil.test:$port/mcp")" 403 &&
		is "$(post $here -k -H "$auth" "https://0.0.0.0:$port/mcp")" 403 &&
		is "$(post -H "$auth" "https://127.0.0.1:$port/mcp")" 200 && over && secure 0.0.0.0:0 &&
		wait_for_line "$work/err" 'set http.name' 2 && over &&
		run 4 serve --strict-config --config "$work/c.json" --no-token && says err 'this machine only'
}

run_cases "$@"
