# test_login.sh - OAuth as users meet it: log in, stay logged in, log out. The authorization server and the MCP
# server behind it are tests/servers/authorization_server.mjs; the browser is tests/hub/browser.sh, which agrees to everything.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=login
. tests/hub/lib.sh
. tests/terminal.sh
browser=$PWD/tests/hub/browser.sh
notes=$work/issuer.notes

# issuer [OPTIONS...]: an authorization server and an MCP server behind its tokens; $issuer, $mcp
issuer() {
	: >"$notes"
	MCPOOL_TEST_MARK="$work" "$node" "$PWD/tests/servers/authorization_server.mjs" --consent=auto --notes="$notes" "$@" \
		>"$work/issuer.log" 2>&1 </dev/null &
	issuer_pid=$!
	wait_for_line "$work/issuer.log" ready 15 || return 1
	issuer=$(sed -n 's/^issuer //p' "$work/issuer.log")
	mcp=$(sed -n 's/^mcp //p' "$work/issuer.log")
}
# over: the issuer and the hub go, and nothing is left
over() { kill "$issuer_pid" && finish; }
tell_issuer() { curl -sf -X POST "$issuer/test/$1" >/dev/null || { echo "the issuer does not take $1"; return 1; }; }

# acme [MORE]: a server of that name, approved
acme() { configure "$user" "\"acme\":{\"url\":\"$mcp\"${1:+,$1}}" && run 0 trust --user-file --yes; }
log_in() { BROWSER=$browser run 0 login acme && says out 'acme: logged in'; }

# counts N WORDS: so many requests of that kind came to the issuer
counts() {
	eventually 2 has_counted "$1" "$2" # it may note a request after its answer
	n=$(grep -c -- "$2" "$notes")
	[ "$n" -eq "$1" ] || { echo "$n times '$2' and not $1"; return 1; }
}
has_counted() { [ "$(grep -c -- "$2" "$notes")" -ge "$1" ]; }
# member KEY: of the server's status
member() { "$mcpool" status --json | "$node" -e 'const s = JSON.parse(require("fs").readFileSync(0)).servers.find((s) => s.name === "acme"); process.stdout.write(String(s[process.argv[1]]))' "$1"; }
state() { member state; }
is_state() { [ "$(state)" = "$1" ]; }
becomes() { eventually 5 is_state "$1" || { echo "state $(state) and not $1"; return 1; }; }

# A10 B35 B59 B77 U36 B37
t_from_the_first_401_to_a_call() {
	issuer && acme '"auth":{"type":"oauth"}' && up && becomes needs-auth && counts 0 'POST /mcp' && run 0 status && says out 'mcpool login acme' &&
		BROWSER=$browser run 0 login acme && says out 'acme asks you to log in' "server    $mcp" "issuer    $issuer" 'rights    mcp:read' \
		"redirect_uri=http%3A%2F%2F127.0.0.1%3A" 'code_challenge_method=S256' 'acme: logged in' &&
		becomes connected && run 0 call echo text=hi && counts 1 'POST /register 201' && counts 1 'POST /token authorization_code 200' &&
		over
}
# B59 B60
t_an_agent_hears_of_the_tools() {
	issuer && acme && up && talk login_steps.mjs#hears_of_the_tools && over
}

# B59 U36
t_a_pasted_address() {
	issuer && acme && up && becomes needs-auth && talk login_steps.mjs#pastes && becomes connected && over
}
# B59 U36
t_on_a_terminal() {
	command -v tmux >/dev/null || { echo 'tmux is missing: run tools/setup test'; return 1; }
	issuer && acme && up && becomes needs-auth && open_terminal "$work" &&
		types "'$mcpool' login acme --no-browser; echo exit=\$?" 'Or paste the address that the browser ended at:' || return 1
	visit=$(sed -n "s|^  \($issuer/[^ ]*code_challenge=[^ ]*\) *\$|\1|p" "$work/out")
	back=$(curl -s -o /dev/null -w '%{redirect_url}' "$visit")
	case $back in
	http://127.0.0.1:*code=*) ;;
	*) echo "'$visit' leads to '$back'"; return 1 ;;
	esac
	types http://127.0.0.1:1/callback 'not the answer to this login' && types "$back" 'acme: logged in' && shows exit=0 &&
		becomes connected && tm kill-server && over
}
t_an_old_address_is_refused() {
	issuer && acme && up && becomes needs-auth && talk login_steps.mjs#pastes_another && becomes connected && over
}

t_a_token_that_expired_is_renewed_unseen() {
	issuer && acme && log_in && up && becomes connected && tell_issuer expire && sleep 1 && run 0 call echo text=hi &&
		counts 1 'POST /token refresh_token 200' && is_state connected && run 0 status && ! grep -q restart "$work/out" && over
}
# B70
t_a_revoked_one_says_what_to_do() {
	issuer --access-seconds=2 && acme && log_in && up && becomes connected && tell_issuer forget && tell_issuer expire && sleep 2 &&
		run 8 call echo text=hi && says err 'OAuth authentication failed: invalid_client' 'mcp_needs_auth' 'log in: mcpool login acme' &&
		becomes needs-auth && run 0 status && says out 'log in: mcpool login acme' && log_in && becomes connected && run 0 call echo text=hi && over
}
# The old refresh token is used up by then; a second use would revoke the new one.
t_a_renewal_is_finished_before_the_hub_ends() {
	issuer --access-seconds=2 --token-delay=1000 && acme && log_in && up && becomes connected && sleep 3 && : >"$notes" || return 1
	MCPOOL_TEST_MARK="$work" "$mcpool" call echo text=hi >"$work/called" 2>&1 &
	sleep 0.5 && run 0 down --now && wait $!
	counts 1 'POST /token refresh_token 200' && up && becomes connected && run 0 call echo text=hi && counts 0 'family revoked' && over
}
t_the_issuer_is_away_for_a_while() {
	issuer --access-seconds=2 && acme && log_in && up && becomes connected && sleep 3 && tell_issuer 'fail?path=/token&status=503&times=2' &&
		run '0|4|5' call echo text=hi; eventually 10 called && ! is_state needs-auth && over
}
called() { "$mcpool" call echo text=hi >/dev/null 2>&1; }

# U36
# Ten times, 20 processes with a hub of their own call at the moment of expiry: one of them renews the token, which is
# used once, and no call fails.
t_twenty_processes_renew_once() {
	issuer && acme && log_in && : >"$work/codes" || return 1
	for round in 1 2 3 4 5 6 7 8 9 10; do
		tell_issuer expire && : >"$notes" || return 1
		for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			{
				MCPOOL_TEST_MARK="$work" "$mcpool" call echo text=hi --strict-config --config "$user" >>"$work/said" 2>&1 </dev/null
				echo $? >>"$work/codes"
			} &
			calls="${calls-} $!"
		done
		wait $calls
		calls=
		counts 1 'POST /token refresh_token 200' && counts 1 'POST /token' || { echo "in round $round"; return 1; }
	done
	[ "$(grep -c '^0$' "$work/codes")" -eq 200 ] || { echo "$(grep -cv '^0$' "$work/codes") of 200 failed: $(grep -v '^hi$' "$work/said" | head -n 3)"; return 1; }
	kill "$issuer_pid" && nothing_left 3
}
t_one_hub_renews_once() {
	issuer && acme && log_in && up && becomes connected && tell_issuer expire && talk login_steps.mjs#two_hundred_calls &&
		counts 1 'POST /token refresh_token 200' && counts 1 'POST /token refresh_token' && over
}

# B55 B60
t_logged_out() {
	issuer && acme && log_in && up && becomes connected && run 0 logout acme && says out 'acme: logged out' && becomes needs-auth &&
		counts 1 'POST /revoke 200' && BROWSER=$browser run 0 reauth acme && becomes connected && run 0 unauth acme --json && json 'd.server === "acme" && d.loggedIn === false' && becomes needs-auth &&
		run '4|8' call echo text=hi && says err 'mcpool login acme' && over
}
t_all_that_wait() {
	issuer && configure "$user" "\"acme\":{\"url\":\"$mcp\"}" "\"other\":{\"url\":\"$mcp?2\"}" && run 0 trust --user-file --yes && up &&
		BROWSER=$browser run 0 login && says out 'acme: logged in' 'other: logged in' && BROWSER=$browser run 0 login && says out 'No server waits for a login' && over
}

# B55
t_the_verbs_exist() {
	for verb in add remove rm enable disable test reload login reauth logout unauth; do
		run 0 $verb --help && says out "mcpool $verb" || return 1
	done
}

# A call meets a server that waits: agents that can show an address get it
t_an_agent_gets_the_address() {
	issuer && acme && log_in && up && becomes connected && run 0 tools && run 0 logout acme && becomes needs-auth &&
		talk login_steps.mjs#gets_the_address && becomes connected && over
}
t_an_agent_that_cannot_show_it_gets_an_error() {
	issuer && acme && log_in && up && becomes connected && run 0 logout acme && becomes needs-auth && talk login_steps.mjs#gets_an_error && over
}
# After a login that failed, calls begin no other for a while; people may.
t_calls_do_not_repeat_a_login_that_failed() {
	issuer && acme && log_in && up && becomes connected && run 0 tools && run 0 logout acme && becomes needs-auth &&
		tell_issuer 'fail?path=/.well-known/oauth-authorization-server&status=503&times=1' && : >"$notes" &&
		talk login_steps.mjs#calls_while_logins_fail && counts 1 'GET /.well-known/oauth-authorization-server' && log_in && becomes connected && over
}
t_more_rights_are_a_login_away() {
	issuer --call-scope=mcp:call && acme && log_in && up && becomes connected && run '1|5|8' call echo text=hi &&
		BROWSER=$browser run 0 login acme && says out 'rights    mcp:read mcp:call' && run 0 call echo text=hi && over
}

# B36
t_a_process_gets_its_token() {
	issuer && configure "$user" "\"acme\":{\"command\":\"$demo_server\",\"auth\":{\"type\":\"oauth\",\"credentialId\":\"team\"},\"oauth\":{\"issuer\":\"$issuer\",\"scope\":\"mcp:read\"}}" &&
		run 0 trust --user-file --yes && up && becomes needs-auth && BROWSER=$browser run 0 login acme && becomes connected &&
		has_token ey || return 1
	# One that the entry sets counts more.
	configure "$user" "\"acme\":{\"command\":\"$demo_server\",\"env\":{\"OAUTH_ACCESS_TOKEN\":\"own-word\"},\"auth\":{\"type\":\"oauth\",\"credentialId\":\"team\"},\"oauth\":{\"issuer\":\"$issuer\",\"scope\":\"mcp:read\"}}" &&
		run 0 trust --user-file --yes && eventually 10 has_token own-word && over
}
has_token() { # BEGINNING: its process has one, and one alone
	tr '\0' '\n' </proc/"$(member pid)"/environ >"$work/environ" 2>/dev/null && grep -q "^OAUTH_ACCESS_TOKEN=$1" "$work/environ" &&
		[ "$(grep -c '^OAUTH_ACCESS_TOKEN=' "$work/environ")" = 1 ]
}
# B35
t_a_token_of_the_entry_counts_more() {
	issuer && acme && log_in && configure "$user" "\"acme\":{\"url\":\"$mcp\",\"auth\":{\"type\":\"oauth\"},\"headers\":{\"Authorization\":\"Bearer own-word\"}}" &&
		run 0 trust --user-file --yes && : >"$notes" && run 8 test acme && counts 0 'POST /token' && counts 0 'POST /mcp 200'
}
# B37 B77
t_omp_goes_on_without_one() {
	issuer && configure "$user" "\"acme\":{\"url\":\"$mcp\",\"auth\":{\"type\":\"oauth\"}}" && sed -i 's/}}$/},"mcpool":{"profile":"omp"}}/' "$user" &&
		run 0 trust --user-file --yes && run 8 test acme && says err 'there is no stored credential; it is tried without one' && counts 1 'POST /mcp 401'
}
# B68
t_endpoints_that_cannot_be_found() {
	"$node" -e 'require("http").createServer((q, r) => { r.statusCode = q.url === "/mcp" ? 401 : q.url.startsWith("/.well-known/oauth-protected-resource") ? 200 : 404; r.setHeader("content-type", "application/json"); r.end(r.statusCode === 200 ? JSON.stringify({resource: `http://${q.headers.host}/mcp`, authorization_servers: [`http://${q.headers.host}`]}) : "{}"); }).listen(0, "127.0.0.1", function () { console.log(`port ${this.address().port}`); })' >"$work/none.log" 2>&1 &
	pid=$!
	wait_for_line "$work/none.log" port 10 && mcp=http://127.0.0.1:$(sed -n 's/^port //p' "$work/none.log")/mcp && acme && run 8 login acme &&
		says err 'Authentication required by' 'OAuth endpoints could not be discovered'
	code=$?
	kill $pid
	return $code
}
# B70
t_a_login_that_is_denied() {
	issuer --consent=deny && acme && tell_issuer 'fail?path=/register&status=500' && run 8 login acme --no-browser &&
		says err "acme: OAuth authentication failed: $issuer does not register us: " '; log in again: mcpool login acme' && BROWSER=$browser run 8 login acme && says err 'acme: OAuth authentication failed: access_denied' '; log in again: mcpool login acme'
}
t_two_accounts_of_one_service() {
	issuer && configure "$user" "\"acme\":{\"url\":\"$mcp\"}" "\"work\":{\"url\":\"$mcp\",\"oauth\":{\"scope\":\"mcp:read mcp:call\"}}" && sed -i 's/}}$/},"mcpool":{"shadowEqual":false}}/' "$user" &&
		run 0 trust --user-file --yes && BROWSER=$browser run 0 login acme && BROWSER=$browser run 0 login work && counts 2 'POST /token authorization_code 200' &&
		run 0 test acme && run 0 test work
}

# V37: wherever a server or an issuer sends us, no token arrives elsewhere; the sink notes every request with its headers
t_redirects_take_no_token() {
	"$node" -e 'require("http").createServer((q, r) => { console.log(`${q.method} ${q.url} ${JSON.stringify(q.headers)}`); q.on("data", (b) => console.log(String(b))); q.on("end", () => r.end("{}")); }).listen(0, "127.0.0.1", function () { console.log(`port ${this.address().port}`); })' >"$work/sink.log" 2>&1 &
	sink=$!
	wait_for_line "$work/sink.log" port 10 && port=$(sed -n 's/^port //p' "$work/sink.log") && issuer && acme && log_in || return 1
	for status in 301 302 303 307 308; do
		for to in "http://127.0.0.1:$port/mcp" "http://localhost:$port/mcp" "//127.0.0.1:$port/mcp" "https://127.0.0.1:$port/mcp" "javascript:alert(1)" "http://user@127.0.0.1:$port/"; do
			for place in "$issuer" "${mcp%/mcp}"; do
				curl -sf -G -X POST "$issuer/test/fail" --data-urlencode "path=$([ "$place" = "$issuer" ] && echo /token || echo /mcp)" -d "status=$status&times=1" --data-urlencode "location=$to" >/dev/null
				[ "$place" != "$issuer" ] || tell_issuer expire || return 1
				run '0|4|5' call echo text=hi --strict-config --config "$user" || return 1
			done
		done
	done
	kill $sink
	[ "$(grep -c ' 30[12378]$' "$notes")" -ge 50 ] || { echo "only $(grep -c ' 30[12378]$' "$notes") redirects"; return 1; }
	for token in $(curl -sf "$issuer/test/tokens"); do
		! grep -qF -- "$token" "$work/sink.log" || { echo "a token arrived elsewhere: $(grep -m 1 -F -- "$token" "$work/sink.log" | head -c 300)"; return 1; }
	done
	[ "$(grep -c '' "$work/sink.log")" -eq 1 ] || { echo "the sink was asked: $(sed -n 2p "$work/sink.log" | head -c 300)"; return 1; }
	run 0 call echo text=hi --strict-config --config "$user" && kill "$issuer_pid" && nothing_left 3
}

# V32 V53: a token is in the sealed store and on the wire, and nowhere else
t_the_token_is_nowhere_else() {
	issuer && acme && log_in && up && becomes connected && run 0 call echo text=hi && tell_issuer expire && run 0 call echo text=hi &&
		run 0 status --json && cp "$work/out" "$work/status.json" && talk login_steps.mjs#two_hundred_calls && "$mcpool" get acme >"$work/get.out" 2>&1
	tokens=$(curl -sf "$issuer/test/tokens") || { echo 'no tokens of the issuer'; return 1; }
	for token in $tokens; do
		found=$(grep -rlaF -- "$token" "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR" "$XDG_CONFIG_HOME" "$work/out" "$work/err" "$work/status.json" "$work/get.out" 2>/dev/null
			for pid in $(marked); do tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -F -- "$token"; done)
		[ -z "$found" ] || { echo "found in $found"; return 1; }
	done
	[ "$(echo "$tokens" | wc -w)" -ge 4 ] || { echo "only $(echo "$tokens" | wc -w) tokens"; return 1; }
	over
}
run_cases "$@"
