# test_versions.sh - a newer bridge replaces an older hub by draining it, and no call is lost.
# $next is the same program with a later version (hub/next_version.c). `sh tests/hub/test_versions.sh NAME` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=versions
. tests/hub/lib.sh
next=$(dirname "$mcpool")/tests/mcpool-next
ledger=$work/ledger
: >"$ledger"

# both SERVERS...: as `with`, each noting in the ledger what it carries out
both() {
	entries=
	for one in "$@"; do
		entries="$entries${entries:+,}$(printf '"%s":{"command":"%s","env":{"WHO":"%s","MCPOOL_DEMO_LEDGER":"%s"}}' \
			"$one" "$demo_server" "$one" "$ledger")"
	done
	configure "$user" "$entries" && run 0 trust --user-file --yes
}

version() { "$mcpool" status --json 2>/dev/null | $node -p 'JSON.parse(fs.readFileSync(0)).hub.version'; }
is_version() { [ "$(version)" = "$1" ] || { echo "the hub is $(version)"; return 1; }; }
old=$("$mcpool" --version | sed -n '1s/.* //p')

# told FILE WORDS: an agent in the background wrote that
told() { wait_for_line "$work/$1" "$2" 20; }

# The old hub has two sessions, one with a call under way, one that calls all the time, one that only listens.
t_newer_replaces_older() {
	both a && patience=40 talk_beside busy versions_steps.mjs#call_all_the_time &&
		patience=40 talk_beside slow versions_steps.mjs#call_slowly &&
		patience=40 talk_beside idle versions_steps.mjs#only_listen &&
		told busy ready && told slow ready && told idle ready && sleep 0.3 && is_version "$old" || return 1
	first=$(hub_pid)
	MCPOOL=$next talk versions_steps.mjs#come_from_the_next_version &&
		says out "new was served" && is_version 99.1.0 && [ "$(hub_pid)" != "$first" ] || return 1
	told busy 'busy made' && told slow 'slow was answered' && told slow 'slow goes on' && told idle 'idle was told' &&
		eventually 10 is_down "$first" || { tail -n 2 "$work/busy" "$work/slow" "$work/idle"; return 1; }
	is_version 99.1.0 && each_once && wait && finish
}
export SLACK=1
[ ! "$sanitized" ] || SLACK=5

talk_beside() { # NAME STEPS...: as talk, in the background, its words in $work/NAME
	who=$1
	shift
	MCPOOL_TEST_MARK="$work" timeout -k 2 "${patience:-40}" $agent "$@" >"$work/$who" 2>"$work/$who.err" </dev/null &
}

# every message was carried out once, and all of them
each_once() {
	made=$(sed -n 's/^busy made \([0-9]*\) calls/\1/p' "$work/busy")
	seen=$(grep -o '"message":"busy-[0-9]*"' "$ledger" | sort | uniq -c | awk '$1 == 1 { n++ } $1 != 1 { bad++ } END { print n + 0, bad + 0 }')
	[ "$seen" = "$made 0" ] || { echo "made $made, seen once and otherwise: $seen"; return 1; }
	[ "$(grep -c '"slow"' "$ledger")" = 1 ] || { echo "slow: $(grep -c '"slow"' "$ledger")"; return 1; }
}

t_older_bridges_leave_a_newer_hub_alone() {
	both a && MCPOOL=$next && export MCPOOL && mcpool=$next run 0 up && eventually 5 running && is_version 99.1.0 || return 1
	MCPOOL=$mcpool
	first=$(hub_pid)
	talk versions_steps.mjs#say_old &&
		says out old && is_version 99.1.0 && [ "$(hub_pid)" = "$first" ] && finish
}

t_the_same_version_stays() {
	both a && up && first=$(hub_pid) && talk versions_steps.mjs#list && says out mcp__a__echo &&
		[ "$(hub_pid)" = "$first" ] && finish
}

# Newer bridges at once, and older ones that come meanwhile: one newer hub, and it stays.
t_many_newer_ones_at_once() {
	both a && up && first=$(hub_pid) || return 1
	for i in 1 2 3 4 5 6; do
		MCPOOL=$next
		[ $((i % 3)) != 0 ] || MCPOOL=$mcpool
		export MCPOOL
		NAME=race$i talk_beside "race$i" versions_steps.mjs#race
	done
	export MCPOOL="$mcpool"
	for i in 1 2 3 4 5 6; do
		told "race$i" '^done$' || { cat "$work/race$i" "$work/race$i.err"; return 1; }
	done
	[ "$(grep -o '"message":"race[0-9]*-[0-9]*"' "$ledger" | sort | uniq -c | awk '$1 == 1' | wc -l)" = 180 ] ||
		{ echo "not each once: $(grep -c race "$ledger")"; return 1; }
	is_version 99.1.0 && [ "$(grep -c 'a newer hub' "$XDG_STATE_HOME/mcpool/hub.log")" = 1 ] ||
		{ cat "$XDG_STATE_HOME/mcpool/hub.log" | tail -n 5; return 1; }
	eventually 10 is_down "$first" && finish
}

# Two newer bridges ask in the same moment: the hub leaves once. An older one that is started before the newer hub
# is there waits for it, because the place is kept.
t_two_ask_at_the_same_time() {
	both a && up && first=$(hub_pid) && talk_beside slow versions_steps.mjs#call_slowly_once &&
		told slow ready && sleep 0.2 && $node tests/hub/ask_to_leave_twice.mjs "$sock" >"$work/out" 2>&1 && says out "both were answered" || return 1
	[ "$(grep -c 'a newer hub' "$XDG_STATE_HOME/mcpool/hub.log")" = 1 ] || { echo "it left more than once"; return 1; }
	MCPOOL_TEST_MARK="$work" "$mcpool" up >"$work/older" 2>&1 &
	sleep 0.5
	running && { echo "an older hub took the place"; return 1; }
	mcpool=$next run 0 up && is_version 99.1.0 && told slow answered && wait && is_version 99.1.0 &&
		eventually 10 is_down "$first" && finish
}

# A port that the file names goes over to the new hub; who is being answered there is answered.
t_over_http_as_well() {
	both a && port=$($node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })') &&
		sed -i "s|^{|{\"mcpool\":{\"http\":{\"listen\":\"127.0.0.1:$port\"}},|" "$user" && run 0 trust --user-file --yes && up && first=$(hub_pid) &&
		eventually 5 answers || return 1
	posts 1 "$(call sleep '"ms":2000')" >"$work/posted" &
	eventually 10 is_calling || return 1
	MCPOOL=$next talk versions_steps.mjs#list && says out mcp__a__echo && is_version 99.1.0 && eventually 10 answers || return 1
	wait $! && grep -q '"result"' "$work/posted" || { echo "the call over HTTP: $(cat "$work/posted")"; return 1; }
	posts 2 "$(call echo '"message":"by the new one"')" >"$work/posted" && grep -q 'by the new one' "$work/posted" && eventually 10 is_down "$first" && finish
}
call() { # TOOL ARGUMENTS
	printf '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp__a__%s","arguments":{%s},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"}}}}' \
		"$1" "$2"
}
posts() { # WHICH BODY
	tool=$(printf %s "$2" | sed 's/.*"name":"\(mcp__a__[a-z]*\)".*/\1/')
	curl -sS --max-time 20 -H "authorization: Bearer $("$mcpool" token)" -H 'content-type: application/json' -H 'mcp-protocol-version: 2026-07-28' \
		-H 'mcp-method: tools/call' -H "mcp-name: $tool" -H 'accept: application/json, text/event-stream' -d "$2" "http://127.0.0.1:$port/mcp" 2>&1
}
is_calling() { "$mcpool" status --json 2>/dev/null | $node -e 'process.exit(JSON.parse(fs.readFileSync(0)).servers.some((s) => s.open > 0) ? 0 : 1)'; }
answers() { [ "$(curl -s --max-time 5 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/mcp")" = 401 ]; }

# What somebody started with options of its own would be another hub: it stays, and serves newer ones as well.
t_a_hub_with_options_stays() {
	both a && start serve --http 127.0.0.1:0 && eventually 10 running && first=$(hub_pid) || return 1
	MCPOOL=$next talk 'init()' 'tools()' 'const r = await call("mcp__a__echo", {message: "x"}); return r.result.content[0].text;' &&
		says out x || return 1
	is_version "$old" && [ "$(hub_pid)" = "$first" ] && wait_for_line "$work/err" 'restart it when you can' 2 || return 1
	kill -TERM "$mcpool_pid" && ended 0 8 && nothing_left 3
}

run_cases "$@"
