# test_hub.sh - one hub per user: elections, planted files, up and down, which process stops which.
# `sh tests/hub/test_hub.sh two_at_once` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=hub
. tests/hub/lib.sh

t_up_and_down() {
	with a && run 0 up && says out "the hub runs, as process $(hub_pid)" &&
		run 0 up && says out "runs already" &&
		eventually 5 connected && run 0 status --json &&
		json "d.hub.pid === $(hub_pid) && d.servers[0].pid > 0 && d.servers[0].state === 'connected'" &&
		run 0 && says out "the hub runs" &&
		run 0 down && says out "has stopped" && ! [ -e "$sock" ] &&
		run 0 down && says out "no hub runs" && nothing_left 2
}
connected() { "$mcpool" status --json | grep -q '"state":"connected"'; }

# Two at once: one wins, the other says so.
t_two_at_once() {
	with a || return 1
	for i in 1 2 3 4 5 6; do
		MCPOOL_TEST_MARK="$work" "$mcpool" serve --json >"$work/out$i" 2>"$work/err$i" </dev/null &
		eval "pid$i=$!"
	done
	eventually 10 one_left || { echo "$(runners) run"; return 1; }
	losers=0
	for i in 1 2 3 4 5 6; do
		eval "pid=\$pid$i"
		if [ "$pid" = "$(hub_pid)" ]; then
			continue
		fi
		wait "$pid"
		[ $? = 4 ] && grep -q "runs already, as process $(hub_pid)" "$work/err$i" && losers=$((losers + 1))
	done
	[ $losers = 5 ] || { echo "$losers losers"; return 1; }
	finish
}
runners() {
	n=0
	for i in 1 2 3 4 5 6; do
		eval "pid=\$pid$i"
		kill -0 "$pid" 2>/dev/null && ! grep -qs '^State:[[:space:]]*Z' "/proc/$pid/status" && n=$((n + 1))
	done
	echo $n
}
one_left() { [ "$(runners)" = 1 ] && running; }

# The leftovers of a killed hub do not disturb the next one; its servers are gone, too.
t_a_killed_hub_leaves_nothing_that_matters() {
	with a && up && eventually 5 connected && kill -KILL "$(hub_pid)" && [ -S "$sock" ] &&
		nothing_left 3 && [ -S "$sock" ] && run 0 up && running && finish
}

# Of a process that is killed the socket goes last: a client that connects gets no answer, and there is no hub.
t_up_right_after_a_kill() {
	with a || return 1
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		run 0 up && kill -KILL "$(hub_pid)" || return 1
	done
	run 0 up && finish
}

# V20
t_planted_things_are_refused() {
	mkdir "$work/elsewhere" && ln -s "$work/elsewhere" "$XDG_RUNTIME_DIR/mcpool" &&
		run 4 serve && says err "symbolic link" && run 4 up &&
		rm "$XDG_RUNTIME_DIR/mcpool" && mkdir -m 777 "$XDG_RUNTIME_DIR/mcpool" &&
		chmod 777 "$XDG_RUNTIME_DIR/mcpool" && run 4 serve && says err "others may write" &&
		chmod 700 "$XDG_RUNTIME_DIR/mcpool" && ln -s "$work/victim" "$lock" &&
		run 4 serve && ! [ -e "$work/victim" ] && rm "$lock" &&
		echo hello >"$sock" && run 4 serve && says err "is not a socket" && [ "$(cat "$sock")" = hello ] &&
		[ -z "$(ls "$work/elsewhere")" ] || { echo "something was used"; return 1; }
}

t_without_a_runtime_folder_the_state_folder_is_used() {
	unset XDG_RUNTIME_DIR
	with a && run 0 up && [ -S "$XDG_STATE_HOME/mcpool/run/hub.sock" ] &&
		[ "$(stat -c %a "$XDG_STATE_HOME/mcpool/run")" = 700 ] && run 0 down && nothing_left 3
}

t_a_long_path_is_replaced_by_a_short_one() {
	XDG_RUNTIME_DIR=$work/$(printf 'x%.0s' $(seq 120))
	export XDG_RUNTIME_DIR
	mkdir -m 700 "$XDG_RUNTIME_DIR"
	with a && run 0 up && run 0 status --json && json "d.hub.listening.socket.length < 108" || return 1
	place=$(dirname "$($node -p 'JSON.parse(fs.readFileSync(0)).hub.listening.socket' <"$work/out")")
	[ "$(stat -c '%a %u' "$place")" = "700 $(id -u)" ] && run 0 down && nothing_left 3 && rm -r "$place"
}

# In a container zombies may remain: a hub that has ended counts as gone.
t_down_does_not_wait_for_a_burial() {
	with a || return 1
	MCPOOL_TEST_MARK="$work" sh -c '"$0" serve >"$1" 2>&1 </dev/null & exec sleep 30' "$mcpool" "$work/serve.log" &
	parent=$!
	eventually 10 running && run 0 down && within 3000 && says out "has stopped" && kill "$parent" && nothing_left 2
}

# Connected clients are told; a bridge stays.
t_down_waits_for_what_is_under_way() {
	with a && up || return 1
	talk hub_steps.mjs#stay_while_the_hub_leaves && says out "has stopped" back && finish
}

# C19: the connection that is there ends, and there is another one; the other server stays as it is.
t_reconnect_makes_a_new_connection() {
	with a b && up && eventually 5 has_connected 2 && run 0 status --json && pids >"$work/before" && run 0 reconnect a && eventually 5 has_connected 2 &&
		run 0 status --json && pids >"$work/after" && [ "$(grep '^b ' "$work/before")" = "$(grep '^b ' "$work/after")" ] &&
		[ "$(grep '^a ' "$work/before")" != "$(grep '^a ' "$work/after")" ] && eventually 10 is_dead "$(sed -n 's/^a //p' "$work/before")" && run 9 reconnect nobody && finish
}

# C18: a server that came with a plugin goes with it.
# C18
t_a_plugin_that_is_removed_takes_its_server_along() {
	plugins=$HOME/.claude/plugins
	mkdir -p "$plugins/fmt" && echo "{\"version\":2,\"plugins\":{\"fmt@m\":[{\"scope\":\"user\",\"installPath\":\"$plugins/fmt\"}]}}" >"$plugins/installed_plugins.json" &&
		printf '{"mcpServers":{%s}}' "$(server p)" >"$plugins/fmt/.mcp.json" && with a && run 0 trust --all --yes && up && eventually 5 has_connected 2 &&
		run 0 status --json && pids >"$work/before" && grep -q '^fmt:p [0-9]' "$work/before" && echo '{"version":2,"plugins":{}}' >"$plugins/installed_plugins.json" &&
		eventually 10 has_connected 1 && eventually 10 is_dead "$(sed -n 's/^fmt:p //p' "$work/before")" && run 0 status --json && silent_on out fmt:p && finish
}
is_dead() { ! kill -0 "$1" 2>/dev/null; }

# Only what changed is started again: a stays the process it was, b becomes another one, c is new.
# A48
t_reload_and_trust_while_it_runs() { # B57 A50
	with a b && up && eventually 5 has_connected 2 && run 0 status --json && pids >"$work/before" &&
		configure "$user" "$(server a),$(server b other),$(server c)" && run 0 reload && eventually 5 has_connected 3 &&
		run 0 status --json && pids >"$work/after" &&
		[ "$(grep '^a ' "$work/before")" = "$(grep '^a ' "$work/after")" ] && [ "$(grep '^b ' "$work/before")" != "$(grep '^b ' "$work/after")" ] ||
		{ echo "before: $(cat "$work/before"), after: $(cat "$work/after")"; return 1; }
	mkdir -p "$work/here/.git" && printf '{"mcpServers":{%s}}' "$(server p)" >"$work/here/.mcp.json" && (
		cd "$work/here" && talk hub_steps.mjs#approve_meanwhile
	) && finish
}
has_connected() { [ "$("$mcpool" status --json | grep -o '"state":"connected"' | wc -l)" -eq "$1" ]; }
pids() { $node -p 'JSON.parse(fs.readFileSync(0)).servers.map((s) => `${s.name} ${s.pid}`).join("\n")' <"$work/out"; }

# Keys of a changed server and settings are named, their values never, whether the hub is asked or has noticed.
t_reload_names_keys() {
	with a b && up && eventually 5 has_connected 2 &&
		printf '{"mcpServers":{%s,"b":{"command":"%s","env":{"WHO":"b","TOKEN":"hidden-1"},"toolTimeout":"4m"}},"mcpool":{"log":{"level":"verbose"}}}' \
			"$(server a)" "$demo_server" >"$user" && eventually 10 has_reloaded && run 0 events --json && ! grep -q hidden- "$work/out" &&
		grep '"what":"reloaded"' "$work/out" | grep -m 1 '"changes"' >"$work/event" && cp "$work/event" "$work/out" &&
		json "d.text.endsWith('$changed') && d.changes.text === '$changed' && d.changes.servers[0].keys.join() === 'env.TOKEN,toolTimeout'" &&
		run 0 reload && says out 'nothing changed' "ago the hub noticed: $changed" && ! grep -q hidden- "$work/out" && [ "$(grep -c noticed "$work/out")" = 1 ] &&
		run 0 reload --json && json "d.reloaded === 'nothing changed' && d.changes.length === 0 && d.noticed[0].settings[0] === 'log.level'" && finish
}
changed='changed b: env.TOKEN, toolTimeout; settings: log.level'
has_reloaded() { "$mcpool" events | grep -qF "$changed"; }

# Every verb is in the manual, and explains itself.
t_the_verbs_of_the_manual_exist() {
	sed -n '/^\.SH CONFIGURATION/,/^\.SH OPTIONS/p' doc/mcpool.1 | grep -A1 '^\.TP' | grep '^\.B' | tr -c 'a-z-' '\n' | sort -u >"$work/manual"
	"$mcpool" --help </dev/null | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' | sort -u >"$work/verbs"
	run 0 rm --help && says out "usage: mcpool rm" && run 0 set --help && says out "usage: mcpool set" || return 1 # an alias, without a line of its own (use-P11)
	for verb in add add-json edit remove enable disable test reload reconnect list get import trust untrust resources prompts; do
		grep -qx "$verb" "$work/verbs" || { echo "'$verb' is not in --help"; return 1; }
	done
	for verb in $(cat "$work/verbs"); do
		grep -qx "$verb" "$work/manual" || { echo "the manual does not know '$verb'"; return 1; }
		run 0 "$verb" --help && says out "usage: mcpool $verb" || { echo "of $verb"; return 1; }
	done
}

# What a person changes is there at once for agents that are connected: a new server, one that is off, one that is gone.
t_changes_take_effect_at_once() {
	with a && talk hub_steps.mjs#change_by_verbs && says out 'all four' && finish
}

# Another user's process is not let in, whatever it says.
t_another_user_is_not_let_in() {
	[ "$(id -u)" = 0 ] || return 0
	with a && up && chmod 711 "$work" && chmod 777 "$XDG_RUNTIME_DIR" "$XDG_RUNTIME_DIR/mcpool" "$sock" || return 1
	cp "$(readlink -f "$node")" "$work/node" && cp tests/hub/stranger.mjs "$work" && chmod 755 "$work/node" "$work/stranger.mjs"
	setpriv --reuid 12345 --clear-groups "$work/node" "$work/stranger.mjs" "$sock" >"$work/out" 2>&1
	grep -q "heard 0" "$work/out" || { cat "$work/out"; return 1; }
	finish
}

# A service manager listens and hands its socket over: it is used, and stays. HUP is a reload then.
t_a_service_manager_starts_it() {
	with a && mkdir -m 700 "$XDG_RUNTIME_DIR/mcpool" && MCPOOL_TEST_MARK="$work" $node tests/hub/service_manager.mjs "$sock" >"$work/out" 2>"$work/err"
	says out "it is the hub" "still there" "exit 0, its name stays" && nothing_left 3
}

# use-B1: the socket is removed: agents and verbs find the hub again, and it is the same one.
# use-A10: HTTP in the background, and no setting that looks as if it were on.
t_up_with_http() {
	with a && run 0 config show && says out 'http.listen          null' && run 0 config show --json && json 'd["http.listen"].value === null' &&
		run 0 up --http 127.0.0.1:0 && says out 'It listens at http://127.0.0.1:' '--keep makes that lasting' &&
		run 0 up --http && says out 'and listens at http://127.0.0.1:' && run 0 status --json && json 'd.hub.listening.http.startsWith("http://127.0.0.1:")' &&
		finish && up && run 4 up --http && says err 'does not listen for HTTP: `mcpool down`, then `mcpool up --http 127.0.0.1:7717`' && finish &&
		run 4 up --http 192.0.2.1:1 && says err 'the hub did not start; its log is ' 'listening on 192.0.2.1:1 failed' && nothing_left 3
}

# use-P15: said once in the log, and by status. use-P12: a reload without changes is not worth a line.
t_a_removed_state_folder_is_told() {
	with a && up && touch "$user" && run 0 reload && says out 'nothing changed' && ! grep -q 'nothing changed' "$XDG_STATE_HOME/mcpool/hub.log" &&
		ln "$XDG_STATE_HOME/mcpool/hub.log" "$work/hub.log" && rm -rf "$XDG_STATE_HOME/mcpool" &&
		run 0 status && says err 'the state folder was removed' && wait_for_line "$work/hub.log" 'the state folder was removed: approvals' 5 &&
		run 0 status --json && json '/state folder/.test(d.hub.problem)' && [ "$(grep -c 'state folder was removed' "$work/hub.log")" = 1 ] && finish
}

t_a_removed_socket_is_made_again() {
	with a && up && pid=$(hub_pid) && rm "$sock" && eventually 5 running && [ "$(hub_pid)" = "$pid" ] &&
		run 0 call mcp__a__add a=2 b=40 && rm "$sock" && run 0 down && says out "$pid" && finish_nothing
}
finish_nothing() { nothing_left 3; }

# use-B2: the whole runtime folder is removed: no second hub, and what an old one leaves is not unlinked.
t_a_removed_folder_is_made_again() {
	with a && up && pid=$(hub_pid) && rm -rf "$XDG_RUNTIME_DIR/mcpool" && eventually 5 running &&
		[ "$(hub_pid)" = "$pid" ] && run 0 up && says out "runs already, as process $pid" && finish
}

# use-B2: another hub has the place: the first one leaves, and the new one's socket stays.
t_a_hub_that_was_replaced_by_hand_leaves() {
	with a && up && first=$(hub_pid) && kill -STOP "$first" && rm -rf "$XDG_RUNTIME_DIR/mcpool" && up &&
		second=$(hub_pid) && [ "$first" != "$second" ] && kill -CONT "$first" && eventually 10 is_down "$first" &&
		[ -S "$sock" ] && running && [ "$(hub_pid)" = "$second" ] && finish
}

# use-B1: a hub that does not answer is found by its lock: every verb says what to do, and `down` stops it.
t_a_hub_without_a_socket_is_found_by_its_lock() {
	with a && up && pid=$(hub_pid) && kill -STOP "$pid" && rm "$sock" || return 1
	run 0 status && says err "process $pid and does not answer" "mcpool down" || return 1
	run 6 down && says err "kill -9 $pid" || return 1
	kill -CONT "$pid"
	eventually 10 is_down "$pid" && nothing_left 3
}

# V01: a revocation that did not reach the hub is reported, and counts for the next control call all the same.
t_a_revocation_that_was_not_told_counts() {
	with a && up && eventually 5 has_connected 1 && pid=$(hub_pid) && mv "$sock" "$sock.away" || return 1
	eventually 5 untrusts_beside_a_stopped_hub && says err "could not be told" && says out "no longer trusted" && kill -CONT "$pid" && mv "$sock.away" "$sock" || return 1
	run 0 status && says out needs-approval && run 7 call mcp__a__add a=1 b=2 && finish
}

# The hub may be stopped while it writes to the store; no other process can write then.
untrusts_beside_a_stopped_hub() {
	kill -STOP "$pid" && run 0 untrust --user-file && return
	kill -CONT "$pid"
	return 1
}

# use-A1: an agent without XDG_RUNTIME_DIR comes to the hub that runs, wherever that is.
t_one_hub_also_without_a_runtime_folder() {
	with a && up && pid=$(hub_pid) && ( unset XDG_RUNTIME_DIR; run 0 status --json && says out "\"pid\":$pid" &&
		run 0 up && says out "runs already, as process $pid" && run 0 down && says out "$pid" ) && nothing_left 3 &&
		( unset XDG_RUNTIME_DIR; run 0 up ) && run 0 up && says out "runs already" && [ ! -e "$sock" ] && run 0 down && nothing_left 3
}

# use-B3: a project that was moved away and back, or cloned again, is seen without a reload.
t_a_project_that_comes_back() {
	with a && mkdir -p "$work/p/.git" && configure "$work/p/.mcp.json" "$(server b)" && up &&
		( cd "$work/p" && run 0 trust --yes && sees a b ) || return 1
	mv "$work/p" "$work/q" && eventually 5 logged 'gone b' && mv "$work/q" "$work/p" &&
		( cd "$work/p" && eventually 5 sees a b ) || { echo "after a move"; return 1; }
	cp -r "$work/p" "$work/q" && rm -rf "$work/p" && eventually 5 logged_twice 'gone b' && cp -r "$work/q" "$work/p" &&
		( cd "$work/p" && eventually 5 sees a b ) || { echo "after a copy"; return 1; }
	finish
}
logged() { grep -q "$1" "$XDG_STATE_HOME/mcpool/hub.log"; }
logged_twice() { [ "$(grep -c "$1" "$XDG_STATE_HOME/mcpool/hub.log")" -ge 2 ]; }
# sees NAME...: the hub has these servers for this folder, and all of them are of use
sees() {
	"$mcpool" status --json >"$work/seen" 2>&1 || return 1
	for one in "$@"; do
		grep -q "\"name\":\"$one\",\"state\":\"\(connected\|pending\|ready\)\"" "$work/seen" || { head -c 600 "$work/seen"; return 1; }
	done
}

# use-B3: the user's servers do not go with the project, neither for a session that is open.
# C18
t_users_servers_stay_without_the_project() {
	with a && mkdir -p "$work/p/.git" && configure "$work/p/.mcp.json" "$(server b)" && up &&
		( cd "$work/p" && run 0 trust --yes && run 0 call mcp__a__add a=2 b=40 ) && ( cd "$work/p" && rm -rf "$work/p" &&
		eventually 5 logged 'gone b' && logged_no_gone_a ) && finish
}
logged_no_gone_a() { ! grep 'gone' "$XDG_STATE_HOME/mcpool/hub.log" | grep -q 'gone.* a\b'; }

# use-B4: the hub was started with six variables; a session that has the certificate's makes the server start.
t_a_server_has_the_environment_of_the_session_that_wants_it() {
	printf '#!/bin/sh\n[ -n "$NEEDED_CERTS" ] && exec "%s"\necho "no certificate" >&2\nexit 1\n' "$demo_server" >"$work/needy" &&
		chmod +x "$work/needy" && configure "$user" "\"needy\":{\"command\":\"$work/needy\"}" && run 0 trust --user-file --yes || return 1
	env -i HOME="$HOME" PATH="$PATH" XDG_CONFIG_HOME="$XDG_CONFIG_HOME" XDG_STATE_HOME="$XDG_STATE_HOME" \
		XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" MCPOOL_TEST_MARK="$work" "$mcpool" up >"$work/out" 2>&1 && eventually 5 running &&
		eventually 5 shows failed || { "$mcpool" status needy; return 1; }
	run 4 call mcp__needy__add a=2 b=40 && says err 'env from:  the command line, ' 'no certificate' || return 1
	export NEEDED_CERTS=/ca.pem
	run 0 call mcp__needy__add a=2 b=40 && says out 42 && run 0 status needy && says out 'connected' 'the command line, ' &&
		run 0 status needy --json && says out '"environment":"the command line' && run 9 status nosuch && says err "no server 'nosuch'" && finish
}
shows() { "$mcpool" status needy --json 2>/dev/null | grep -q "\"state\":\"$1\""; }

# chaos-C2: a hub that starts while a file is broken goes on with what it said before; agents and `status` name the
# place, and a removed server does not come back that way.
t_a_broken_file_behind_a_new_hub() {
	with a b && sed -i 's|^{|{"mcpool":{"naming":"server__tool"},|' "$user" && run 0 trust --user-file --yes && up && run 0 status &&
		cp "$user" "$work/good" && first=$(hub_pid) || return 1
	printf '{"mcpServers":{"a":{"comm' >"$user" && kill -9 "$first" && eventually 5 is_down "$first" || return 1
	talk hub_steps.mjs#use_what_was_read_last && says out "both are there" 42 "mcp.json:1" "Mend the file" || return 1
	run 3 status && says err "mcp.json:1" "last read" && says out "a       ● connected" && run 3 status --json && json 'd.problem.includes("mcp.json:1")' || return 1
	cp "$work/good" "$user" && eventually 5 quiet_status && configure "$user" "$(server b)" && run 0 trust --user-file --yes && eventually 5 logged 'gone a' || return 1
	second=$(hub_pid)
	printf '{' >"$user" && eventually 5 loud_status && kill -9 "$second" && eventually 5 is_down "$second" &&
		talk hub_steps.mjs#list && says out b__add && silent_on out a__add && finish
}
quiet_status() { run 0 status >/dev/null; }
loud_status() { run 3 status >/dev/null; }

run_cases "$@"
