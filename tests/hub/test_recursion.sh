# test_recursion.sh - a hub does not serve itself, however the way to it was wrapped.
# `sh tests/hub/test_recursion.sh NAME` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=recursion
. tests/hub/lib.sh
copy=$work/another-name
cp "$mcpool" "$copy"

# command NAME WORDS...: an entry
command() {
	printf '"%s":{"command":"%s","args":[' "$1" "$2"
	shift 2
	comma=
	for word in "$@"; do
		printf '%s"%s"' "$comma" "$word"
		comma=,
	done
	printf ']}'
}

# An entry that is known to lead here is ignored, in whichever file it is.
t_wrappers_are_recognised() {
	mkdir -p "$HOME/.cursor"
	configure "$user" "$(server a)" "$(command me "$mcpool" stdio)" && configure "$HOME/.cursor/mcp.json" \
		"$(command w1 sh -c 'exec mcpool stdio')" "$(command w2 env X=1 mcpool stdio)" "$(command w3 /usr/bin/env mcpool stdio)" \
		"$(command w4 npx -y something -- mcpool stdio)" "$(command w5 /somewhere/else/mcpool stdio --servers x)" &&
		run 0 list --json && json 'd.servers.length === 1 && d.servers[0].name === "a"' && run 3 config check &&
		says err 'server me: this is mcpool itself; it is ignored'
}

# Those that are not: a copy by another name, with and without what the hub put into its environment, by detours.
t_what_is_not_recognised_is_refused() {
	rest="HOME=$HOME XDG_CONFIG_HOME=$XDG_CONFIG_HOME XDG_STATE_HOME=$XDG_STATE_HOME XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR MCPOOL_TEST_MARK=$work PATH=$PATH"
	configure "$user" "$(server a)" "$(command copy "$copy" stdio)" \
		"$(command bare env -i $rest "$copy" stdio)" \
		"$(command far env -i $rest setsid -w sh -c "$copy stdio")" &&
		run 0 trust --user-file --yes && up && hub=$(hub_pid) || return 1
	talk 'init()' 'const t = await tools(); is(t.includes("mcp__a__echo"), t); is(t.every((n) => !/copy|bare|far/.test(n)), t);
		await sleep(1500); const u = await tools(); is(u.every((n) => !/copy|bare|far/.test(n)), u); return "fine";' &&
		says out fine && [ "$(hub_pid)" = "$hub" ] || return 1
	run 0 status --json && for one in copy bare far; do
		json "d.servers.find((s) => s.name === '$one').state !== 'connected'" &&
			json "/would serve itself/.test(d.servers.find((s) => s.name === '$one').error)" || { cat "$work/out"; return 1; }
	done
	json 'd.hub.sessionCount === 0' && finish
}

# The same without a hub: none is started by it.
t_one_shot_verbs_do_not_start_a_hub_by_it() {
	configure "$user" "$(server a)" "$(command copy "$copy" stdio)" && run 0 trust --user-file --yes &&
		run '0|4|5' tools --json && json 'd.tools.length > 0 && d.tools.every((t) => t.server === "a") && d.errors.length === 1' && says err 'would serve itself' &&
		! [ -e "$sock" ] && nothing_left 2
}

# Somebody else's hub, or one with folders of its own, may be a server.
t_another_hub_may_be_a_server() {
	mkdir -p "$work/other/run" "$work/other/home/mcpool" && chmod 700 "$work/other/run" &&
		configure "$work/other/home/mcpool/mcp.json" "$(server far)" || return 1
	XDG_CONFIG_HOME=$work/other/home XDG_STATE_HOME=$work/other/state run 0 trust --user-file --yes &&
		configure "$user" "$(command chain env XDG_CONFIG_HOME="$work/other/home" XDG_STATE_HOME="$work/other/state" \
			XDG_RUNTIME_DIR="$work/other/run" "$copy" stdio)" && run 0 trust --user-file --yes && up &&
		talk 'init()' 'let t; for (let i = 0; i < 100 && !(t = await tools()).includes("mcp__chain__mcp__far__echo"); i++) await sleep(50);
			const r = await call("mcp__chain__mcp__far__echo", {message: "through two"}); return r.result.content[0].text;' &&
		says out 'through two' && run 0 down && XDG_STATE_HOME=$work/other/state XDG_RUNTIME_DIR=$work/other/run run 0 down && nothing_left 3
}

# By HTTP: the hub's own address as a server, in every way that it can be written, by SSE and by WebSocket.
t_its_own_address_is_no_server() {
	configure "$user" "$(server a)" && run 0 trust --user-file --yes && start serve --http 127.0.0.1:0 && wait_for_line "$work/out" 'http://127[^ ]*/mcp' 15 || return 1
	url=$(grep -o 'http://127[^ ]*/mcp' "$work/out" | head -n 1)
	port=${url##*:} port=${port%/mcp} bearer="\"headers\":{\"Authorization\":\"Bearer $("$mcpool" token)\"}"
	configure "$user" "$(server a)" "\"loop1\":{\"url\":\"$url\",$bearer}" "\"loop2\":{\"url\":\"http://localhost:$port/mcp\",$bearer}" \
		"\"loop3\":{\"type\":\"sse\",\"url\":\"http://127.0.0.1:$port/sse\",$bearer}" \
		"\"loop4\":{\"type\":\"ws\",\"url\":\"ws://localhost:$port/ws\",$bearer}" && run 0 trust --user-file --yes && run 0 reload || return 1
	talk 'init()' 'await sleep(2000); const t = await tools(); is(t.includes("mcp__a__echo") && t.every((n) => !/loop/.test(n)), t); return "fine";' &&
		says out fine && run 0 status --json || return 1
	for one in 1 2 3 4; do
		json "d.servers.find((s) => s.name === 'loop$one').state !== 'connected'" &&
			json "/itself/.test(d.servers.find((s) => s.name === 'loop$one').error)" || { cat "$work/out"; return 1; }
	done
	kill -TERM "$mcpool_pid" && ended 0 8 && nothing_left 3
}

# A client of the bridge that the hub did not start is allowed.
t_talking_to_the_bridge_by_hand_works() {
	with a && up && run 0 tools -- "$mcpool" stdio && says out mcp__a__echo && finish
}

run_cases "$@"
