# test_hub.sh - one hub per user: elections, what is planted, up and down, who stops whom.
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

# What a killed one left behind is in nobody's way; its servers are gone, too.
t_a_killed_hub_leaves_nothing_that_matters() {
	with a && up && eventually 5 connected && kill -KILL "$(hub_pid)" && [ -S "$sock" ] &&
		nothing_left 3 && [ -S "$sock" ] && run 0 up && running && finish
}

# V20
t_planted_things_are_refused() {
	mkdir "$work/elsewhere" && ln -s "$work/elsewhere" "$XDG_RUNTIME_DIR/mcpool" &&
		run 4 serve && says err "symbolic link" && run 4 up &&
		rm "$XDG_RUNTIME_DIR/mcpool" && mkdir -m 777 "$XDG_RUNTIME_DIR/mcpool" &&
		chmod 777 "$XDG_RUNTIME_DIR/mcpool" && run 4 serve && says err "others may write" &&
		chmod 700 "$XDG_RUNTIME_DIR/mcpool" && ln -s "$work/victim" "$lock" &&
		run 4 serve && ! [ -e "$work/victim" ] && rm "$lock" &&
		echo hello >"$sock" && run 4 serve && says err "is no socket" && [ "$(cat "$sock")" = hello ] &&
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

# Whoever is in is told; a bridge stays.
t_down_waits_for_what_is_under_way() {
	with a && up || return 1
	talk 'init()' 'tools()' \
		'const r = call("mcp__a__sleep", {ms: 1000}); await sleep(200);
		 const { execFile } = await import("node:child_process");
		 const down = new Promise((ok) => execFile(process.env.MCPOOL, ["down"], (e, out) => ok(e ? String(e) : out)));
		 const answer = await r; is(answer.result, JSON.stringify(answer)); return await down;' \
		'const r = await call("mcp__a__echo", {message: "again"}); is(r.result, JSON.stringify(r)); return "back";' &&
		says out "has stopped" back && finish
}

t_reload_and_trust_while_it_runs() { # U33 B55 B59
	with a && up && configure "$user" "$(server a),$(server b)" && run 0 reload &&
		run 0 status --json && json "d.servers.some((s) => s.name === 'b')" && finish
}

# Another user's process is not let in, whatever it says.
t_another_user_is_not_let_in() {
	[ "$(id -u)" = 0 ] || return 0
	with a && up && chmod 711 "$work" && chmod 777 "$XDG_RUNTIME_DIR" "$XDG_RUNTIME_DIR/mcpool" "$sock" || return 1
	cp "$(readlink -f "$node")" "$work/node" && chmod 755 "$work/node"
	setpriv --reuid 12345 --clear-groups "$work/node" -e '
		const s = require("net").connect(process.argv[1]); let n = 0;
		s.on("connect", () => s.write(JSON.stringify({jsonrpc:"2.0",id:1,method:"mcpool/hello",
			params:{protocol:1,role:"control"}}) + "\n"));
		s.on("data", (d) => { n += d.length; });
		s.on("error", () => {});
		s.on("close", () => { console.log("heard " + n); });' "$sock" >"$work/out" 2>&1
	grep -q "heard 0" "$work/out" || { cat "$work/out"; return 1; }
	finish
}

# A service manager listens and hands its socket over: it is used, and stays. HUP is a reload then.
t_a_service_manager_starts_it() {
	with a && mkdir -m 700 "$XDG_RUNTIME_DIR/mcpool" && MCPOOL_TEST_MARK="$work" $node -e '
		const { spawn, execFileSync } = require("child_process");
		const server = require("net").createServer().listen(process.argv[1], async () => {
			const hub = spawn("sh", ["-c", "LISTEN_PID=$$ exec " + process.env.MCPOOL + " serve"], {
				stdio: ["ignore", "ignore", "inherit", server._handle.fd], env: {...process.env, LISTEN_FDS: "1"}});
			server.close = () => {}; // the name stays, as with a service manager
			const status = () => JSON.parse(execFileSync(process.env.MCPOOL, ["status", "--json"]));
			console.log(status().hub.pid === hub.pid ? "it is the hub" : "another one");
			hub.kill("SIGHUP");
			await new Promise((r) => setTimeout(r, 300));
			console.log(status().hub.pid === hub.pid ? "still there" : "gone");
			hub.kill("SIGTERM");
			const code = await new Promise((r) => hub.on("exit", r));
			console.log("exit " + code + (require("fs").existsSync(process.argv[1]) ? ", its name stays" : ""));
			process.exit();
		});' "$sock" >"$work/out" 2>"$work/err"
	says out "it is the hub" "still there" "exit 0, its name stays" && nothing_left 3
}

run_cases "$@"
