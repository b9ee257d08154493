# agent_login.sh - a whole login in a real browser: Chromium shows the consent page of a local authorization server, a click
# allows it, the browser comes back to the hub, the server connects, and an agent's call works.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=login-browser
. tests/hub/lib.sh
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
	echo "skip $group: there is no chromium; 'tools/setup clients' brings it"
	exit 0
}
export CHROMIUM CONSENT_LOG="$work/consent.log" CONSENT_SHOTS="${CONSENT_SHOTS-}"

t_consent_is_clicked() {
	notes=$work/issuer.notes
	: >"$notes"
	MCPOOL_TEST_MARK="$work" "$node" "$PWD/tests/servers/authorization_server.mjs" --consent=page --access-seconds=6 --notes="$notes" \
		>"$work/issuer.log" 2>&1 </dev/null &
	issuer_pid=$!
	wait_for_line "$work/issuer.log" ready 15 || return 1
	printf '#!/bin/sh\nexec "%s" "%s/tests/clients/consent.mjs" "$1"\n' "$node" "$PWD" >"$work/browser" && chmod +x "$work/browser"
	configure "$user" "\"acme\":{\"url\":\"$(sed -n 's/^mcp //p' "$work/issuer.log")\"}" && run 0 trust --user-file --yes && up &&
		BROWSER="$work/browser" run 0 login acme && says out 'acme: logged in' && eventually 10 grep -q '^ended: Thank you' "$CONSENT_LOG" &&
		grep -q '^asked: Allow client-1.*It may: mcp:read' "$CONSENT_LOG" && run 0 call echo text=hi && says out hi && sleep 7 && run 0 call echo text=again && says out again &&
		grep -q 'POST /token refresh_token 200' "$notes" && kill "$issuer_pid" && finish || { cat "$CONSENT_LOG"; return 1; }
}

run_cases "$@"
