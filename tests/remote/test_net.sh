# test_net.sh - our HTTP client and real servers: HTTP/2 over TLS with several exchanges on one connection,
# certificates, and proxies from the environment. `sh tests/remote/test_net.sh CASE` runs one.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=net
. tests/remote/lib.sh
fetch=$bin/tests/fetch

certificate() { # NAME: its own authority, good for this machine and for every name a proxy is asked for
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" \
		-addext 'subjectAltName=IP:127.0.0.1,DNS:server.test,DNS:forbidden.test' \
		-keyout "$work/$1.key" -out "$work/$1.pem" 2>/dev/null || { echo "no certificate"; return 1; }
}

secure() { # [CLIENTS]: a server over TLS, its place in $there
	certificate server && certificate client &&
		serve secure "$node" $servers/secure.mjs 0 "$work/server.key" "$work/server.pem" "$@" && listens secure || return 1
	port=$(sed -n 's/^listening on //p' "$work/secure.log")
	there=https://127.0.0.1:$port
}

plain() { # a server without TLS
	serve plain "$node" tests/remote/plain_http.mjs && listens plain || return 1
	port=$(sed -n 's/^listening on //p' "$work/plain.log")
}

proxy() { # [USER:PASSWORD]: its address in $by
	serve proxy "$node" $servers/proxy.mjs 0 "$@" && listens proxy || return 1
	by=127.0.0.1:$(sed -n 's/^listening on //p' "$work/proxy.log")
}

fetches() { # WANTED ARGUMENTS...: and ends so
	wanted=$1
	shift
	timeout 60 "$fetch" "$@" >"$work/out" 2>"$work/err" </dev/null
	got=$?
	[ $got = "$wanted" ] || { echo "fetch $*: ended $got: $(tail -c 300 "$work/out")"; return 1; }
	! grep -q sesame "$work/out" "$work/err" || { echo "a secret is shown: $(grep -h sesame "$work/out" "$work/err")"; return 1; }
}
gets() { # LINE [TIMES]: so many of it and no other
	[ "$(grep -cxF -- "$1" "$work/out")" = "${2:-1}" ] && [ "$(wc -l <"$work/out")" = "${2:-1}" ] ||
		{ echo "not ${2:-1} times '$1': $(head -c 400 "$work/out")"; return 1; }
}
says_so() { grep -qF -- "$1" "$work/out" || { echo "no '$1' in: $(head -c 400 "$work/out")"; return 1; }; }
noted() { # SERVER LINE [TIMES]
	[ "$(grep -cxF -- "$2" "$work/$1.notes")" = "${3:-1}" ] ||
		{ echo "$1 did not note '$2' ${3:-1} times: $(head -c 400 "$work/$1.notes")"; return 1; }
}
unheard() { [ ! -s "$work/proxy.notes" ] || { echo "the proxy heard: $(head -3 "$work/proxy.notes")"; return 1; }; }
secret_from_proxy() { ! grep -qi 'header \(authorization\|content-type\)' "$work/proxy.notes" || { echo "the proxy got our headers"; return 1; }; }

# HTTP/2
t_http2() { secure && fetches 0 --ca "$work/server.pem" "$there/version" && gets '200 sent 2.0'; }
t_http2_all_on_one_connection() {
	secure && fetches 0 --ca "$work/server.pem" --together --times 32 "$there/together?n=32" &&
		gets '200 sent 32 on 1' 32 && noted secure connection 1
}
# The last of the four is answered at the moment that it is sent: curl must notice its end, each time.
t_http2_one_joins_the_other() {
	secure || return 1
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
		fetches 0 --ca "$work/server.pem" --times 4 --rest 30 --together "$there/together?n=4" && gets '200 sent 4 on 1' 4 || return 1
	done
}
t_http2_one_after_the_other() {
	secure && fetches 0 --ca "$work/server.pem" --times 20 "$there/version" && gets '200 sent 2.0' 20 && noted secure connection 1
}
t_http2_answered_early() { # before all of the request is there
	secure && fetches 0 --ca "$work/server.pem" --times 200 "$there/version" && gets '200 sent 2.0' 200 &&
		fetches 0 --ca "$work/server.pem" --times 30 --body 1000000 "$there/version" && gets '200 sent 2.0' 30
}
t_http2_closed_while_idle() {
	secure && fetches 0 --ca "$work/server.pem" --times 10 --until-closed "$there/goodbye" && gets '200 sent goodbye' 10 && noted secure connection 10
}
t_http2_after_a_sleep() { # also while others are under way on the connection from before
	secure && fetches 0 --ca "$work/server.pem" --times 4 --sleep "$there/version" && gets '200 sent 2.0' 4 && noted secure connection 4 &&
		fetches 0 --ca "$work/server.pem" --times 4 --sleep --rest 200 --together "$there/together?n=4" && gets '200 sent 4 on 4' 4
}

# Certificates
t_unknown_authority() { secure && fetches 1 "$there/who" && says_so "failed: no secure connection to $there: " && says_so certificate; }
t_extra_authority() { secure && fetches 0 --ca "$work/server.pem" "$there/who" && gets '200 sent nobody'; }
t_wrong_authority() { secure && fetches 1 --ca "$work/client.pem" "$there/who" && says_so "no secure connection to $there"; }
t_client_certificate() {
	certificate client && cp "$work/client.pem" "$work/client.key" "$HOME" && secure "$HOME/client.pem" &&
		fetches 0 --ca "$work/server.pem" --cert "$HOME/client.pem" --key "$HOME/client.key" "$there/who" && gets '200 sent client' &&
		fetches 1 --ca "$work/server.pem" "$there/who" && says_so failed
}
t_client_certificate_ws() {
	certificate client && cp "$work/client.pem" "$work/client.key" "$HOME" && secure "$HOME/client.pem" &&
		fetches 0 --ws --ca "$work/server.pem" --cert "$HOME/client.pem" --key "$HOME/client.key" "$there/" && gets open &&
		noted secure 'upgrade mcp' && fetches 1 --ws --ca "$work/server.pem" "$there/" && says_so failed
}

# Proxies
t_proxy_plain() {
	plain && proxy && http_proxy=http://$by fetches 0 "http://server.test:$port/x" &&
		gets "200 sent plain /x server.test:$port" && noted proxy "POST http://server.test:$port/x"
}
t_proxy_tunnel() {
	secure && proxy && https_proxy=$by fetches 0 --ca "$work/server.pem" --times 3 "https://server.test:$port/version" &&
		gets '200 sent 2.0' 3 && noted proxy "CONNECT server.test:$port" && secret_from_proxy
}
t_proxy_websocket() {
	secure && proxy && HTTPS_PROXY=http://$by fetches 0 --ws --ca "$work/server.pem" "https://server.test:$port/" &&
		gets open && noted proxy "CONNECT server.test:$port" && secret_from_proxy
}
t_proxy_websocket_plain() {
	plain && proxy && ALL_PROXY=http://$by fetches 1 --ws "http://server.test:$port/" &&
		says_so 'answered HTTP 404' && noted proxy "CONNECT server.test:$port" && secret_from_proxy
}
t_proxy_login() {
	secure && proxy ali:sesame && https_proxy=http://ali:sesame@$by fetches 0 --ca "$work/server.pem" "https://server.test:$port/version" &&
		gets '200 sent 2.0' && https_proxy=http://ali:wrong@$by fetches 1 --ca "$work/server.pem" "https://server.test:$port/version" &&
		says_so "failed: the proxy does not connect us to https://server.test:$port: HTTP 407"
}
t_proxy_refuses() {
	secure && proxy && https_proxy=http://$by fetches 1 --ca "$work/server.pem" "https://forbidden.test:$port/" &&
		says_so "failed: the proxy does not connect us to https://forbidden.test:$port: HTTP 403"
}
t_proxy_is_not_there() { https_proxy=http://127.0.0.1:1 fetches 1 https://server.test/ && says_so 'its proxy was not reached for https://server.test: Connection refused'; }
t_proxy_not_for_this_machine() {
	plain && proxy && http_proxy=http://$by fetches 0 "http://127.0.0.1:$port/x" && gets "200 sent plain /x 127.0.0.1:$port" &&
		http_proxy=http://$by fetches 0 "http://localhost:$port/x" && unheard
}
t_no_proxy() { # only the proxy knows that name
	proxy && https_proxy=http://$by NO_PROXY=other.test,.server.test fetches 1 https://server.test/ &&
		says_so 'failed: no address' && unheard
}

# V33: through a proxy what is dialled is not seen, so the target is judged as far as it shows itself.
t_zone_name_by_proxy() {
	plain && proxy && http_proxy=http://$by fetches 0 --from public "http://server.test:$port/x" && gets "200 sent plain /x server.test:$port"
}
t_zone_address_by_proxy() {
	proxy && for host in 10.0.0.1 169.254.169.254 0x0a000001 '[fd00::1]' 127.0.0.1 localhost 2130706433; do
		http_proxy=http://$by fetches 1 --from public "http://$host:9/" && says_so 'given by a server in the internet, is not used' ||
			says_so 'where a server in the internet may not send us' || return 1
	done && unheard
}

run_cases "$@"
