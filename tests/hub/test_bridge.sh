# test_bridge.sh - `mcpool stdio`: what an agent has of it, also when the hub dies.
# `sh tests/hub/test_bridge.sh survives` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=bridge
. tests/hub/lib.sh
slack=1
[ "$sanitized" ] && slack=5

t_starts_the_hub() { # A1 C1 C2 C22 U30
	with a && talk 'const t = now(); await init(); return `took ${Math.round(now() - t)}`' \
		'const t = await tools(); is(t.includes("mcp__a__echo"), t); return "listed";' \
		'const r = await call("mcp__a__echo", {message: "hi"}); return r.result.content[0].text;' \
		'is(await leave() === 0, "exit code 0")' &&
		says out listed hi && running && finish
}

# A43: in-flight ids are answered within 200 ms, the session goes on.
t_survives() {
	with a && SLACK=$slack talk 'init()' 'tools()' \
		'for (let i = 0; i < 5; i++) {
			const before = heard.length;
			const open = [call("mcp__a__sleep", {ms: 30000}), call("mcp__a__sleep", {ms: 30000})];
			await sleep(100);
			const t = now(); kill(hub());
			const r = await Promise.all(open);
			is(now() - t < 200 * process.env.SLACK, `answered after ${now() - t} ms`);
			is(r.every((a) => a.error.code === 1003 && a.error.data.outcome === "unknown"), JSON.stringify(r));
			const again = await call("mcp__a__echo", {message: "x" + i});
			is(again.result?.content[0].text === "x" + i, JSON.stringify(again));
			is(now() - t < 2000 * process.env.SLACK, `back after ${now() - t} ms`);
			is(heard.slice(before).some((m) => m.method === "notifications/tools/list_changed"), "told of lists");
		 }' 'return "survived";' && says out survived && finish
}

# Whoever comes while there is no hub waits for it. Somebody holds the lock, so that none can start.
t_messages_wait_for_the_hub() {
	with a && talk 'init()' 'tools()' \
		'const { spawn } = await import("node:child_process"); const dead = hub();
		 spawn("sh", ["-c", "kill -KILL $1; until flock -n $2 sleep 2; do :; done", "sh", dead, process.env.XDG_RUNTIME_DIR + "/mcpool/hub.lock"]);
		 await sleep(1000);' \
		'const t = now(); const r = await Promise.all([1, 2, 3].map((n) => call("mcp__a__add", {a: n, b: 1})));
		 is(now() - t > 300, `too soon, after ${now() - t} ms`);
		 return r.map((a) => a.result?.content[0].text ?? JSON.stringify(a)).join()' && says out 2,3,4 && finish
}

t_many_bridges_share_one_hub() {
	with a b || return 1
	for i in 1 2 3 4 5 6 7 8 9 10; do
		MCPOOL_TEST_MARK="$work" $agent 'init()' 'tools()' 'await call("mcp__a__echo", {message: "x"});' \
			'await call("mcp__b__echo", {message: "x"}); return "ok";' 'await sleep(1500);' >"$work/out$i" 2>&1 &
	done
	eventually 20 all_ok && run 0 status --json && json 'd.hub.sessionCount === 10 && d.hub.serverCount === 2' || return 1
	wait
	finish
}
all_ok() { [ "$(cat "$work"/out[0-9]* 2>/dev/null | grep -c '^ok$')" = 10 ]; }

# The folder of the agent decides which files count.
t_each_project_has_its_own() {
	mkdir -p "$work/one/.git" "$work/one/deep" "$work/two/.git"
	with a && configure "$work/one/.mcpool/mcp.json" "$(server p one)" &&
		configure "$work/two/.mcpool/mcp.json" "$(server p two)" || return 1
	for p in one two; do
		(cd "$work/$p" && run 0 trust --all --yes) || return 1
	done
	(cd "$work/one/deep" && talk 'init()' 'return (await tools()).join()') && says out mcp__a__echo mcp__p__echo &&
		(cd "$work" && talk 'init()' 'return (await tools()).join()') && silent_on out mcp__p__ &&
		(cd "$work" && talk --project two -- 'init()' 'return (await tools()).join()') && says out mcp__p__echo &&
		run 0 status --json && json 'd.hub.serverCount === 3' && finish
}

t_narrowings() {
	with a b c && talk --servers a,b -- 'init()' 'return (await tools()).join()' &&
		says out mcp__a__echo mcp__b__echo && silent_on out mcp__c__ &&
		talk --tools 'ec*' -- 'init()' 'return (await tools()).join()' &&
		says out mcp__a__echo,mcp__b__echo,mcp__c__echo && silent_on out mcp__a__add &&
		run 2 stdio --profile nonsense && run 2 stdio --project "$work/none" && finish
}

t_garbage_is_answered_by_the_hub() {
	with a && talk 'init()' 'send("this is no message"); await sleep(300);
		is(answers.length === 1 && answers[0].error.code === -32700, JSON.stringify(answers)); answers.length = 0;' \
		'const r = await call("mcp__a__echo", {message: "fine"}); return r.result.content[0].text;' &&
		says out fine && finish
}

t_leaves_at_once() {
	with a && talk 'init()' 'const t = now(); const code = await leave();
		is(code === 0 && now() - t < 1000, `${code} after ${now() - t}`);' &&
		talk 'init()' 'bridge.kill("SIGTERM"); is(await ended === 0, await ended);' &&
		talk 'init()' 'bridge.stdout.destroy(); call("mcp__a__echo", {message: "x"}); is(await ended === 0, "deaf");' &&
		talk 'init()' 'call("mcp__a__sleep", {ms: 30000}); await sleep(100); is(await leave() === 0, "0");' &&
		eventually 3 no_sessions && finish
}
no_sessions() { "$mcpool" status --json | grep -q '"sessionCount":0'; }

# Where no hub can start, everybody is told so, and why.
t_no_hub_can_start() {
	mkdir -m 777 "$XDG_RUNTIME_DIR/mcpool" && chmod 777 "$XDG_RUNTIME_DIR/mcpool" || return 1
	patience=40 talk 'const t = now(); const r = await ask("initialize", {}); is(r.error.data.outcome === "not_sent",
		JSON.stringify(r)); is(now() - t < 15000, now() - t); return r.error.message;' &&
		says out "hub.log" && nothing_left 8
}

# C20: switched in the running hub, for whoever looks through this folder's view; no file changes.
t_a_server_is_switched_off_for_now() { # C20
	with a b && mkdir -p "$work/here/.git" && cp "$user" "$work/before" && (
		cd "$work/here" && talk 'init()' 'const before = await tools(); is(before.includes("mcp__b__echo"), before);
		 const told = next("notifications/tools/list_changed");
		 const { execFileSync } = await import("node:child_process");
		 execFileSync(process.env.MCPOOL, ["disable", "--now", "b"]); await told;
		 const after = await tools(); is(!after.includes("mcp__b__echo") && after.includes("mcp__a__echo"), after);
		 const again = next("notifications/tools/list_changed");
		 execFileSync(process.env.MCPOOL, ["enable", "--now", "b"]); await again;
		 is((await tools()).includes("mcp__b__echo"), "back"); return "switched";'
	) && says out switched && cmp "$user" "$work/before" && run 9 disable --now none && finish &&
		run 4 disable --now a
}

# slowly NAME MS: a server that opens after so many milliseconds
slowly() {
	printf '{"who":"%s","tools":["t"],"slow":%s}\n' "$1" "$2" >"$work/$1.json"
	printf '"%s":{"command":"%s","args":["%s","%s"]}' "$1" "$node" "$PWD/tests/servers/taker.mjs" "$work/$1.json"
}

# use-A3: with nothing live and nothing remembered the first list of tools waits for all servers, and else for none.
t_the_first_list_is_not_empty() {
	configure "$user" "$(slowly a 600)" "$(slowly b 1200)" && run 0 trust --user-file --yes && talk 'init()' 'const t = (await tools()).join(); is(t === "mcp__a__t,mcp__b__t", t); return "all";' &&
		says out all && finish && configure "$user" "$(slowly a 0)" "$(slowly c 20000)" && run 0 trust --user-file --yes &&
		talk 'init()' 'const t = (await tools()).join(); is(t === "mcp__a__t", t); return "some";' && says out some && finish
}

# use-A4: an agent that puts a prefix before names itself has names without one of ours.
t_names_as_the_agent_wants_them() {
	with a && up && talk --naming server__tool -- 'init()' 'let t; for (let i = 0; i < 100 && !(t = await tools()).length; i++) await sleep(50);
		is(t.includes("a__echo") && t.every((n) => n.startsWith("a__")), t.join()); is((await call("a__echo", {message: "hi"})).result, "called"); return "short";' && says out short &&
		talk 'init()' 'const t = await tools(); is(t.includes("mcp__a__echo"), t.join()); return "long";' && says out long &&
		run 2 stdio --naming other && says err server__tool && run 0 connect claude && says out '"--naming"' && run 0 connect zed && silent_on out naming &&
		run 0 connect cursor --http 127.0.0.1:7999 && says out 'mcp?naming=server__tool' && finish
}

# use-A6: what mode shared withholds is said, and a session that is open hears of the tools that another mode brings.
asking() { # [MODE]
	printf '{"who":"q","tools":["t"],"asking":["more"]}\n' >"$work/q.json"
	configure "$user" "$(printf '"q":{"command":"%s","args":["%s","%s"]%s}' "$node" "$PWD/tests/servers/taker.mjs" "$work/q.json" "${1:+,\"mode\":\"$1\"}")" &&
		run 0 trust --user-file --yes
}
t_what_is_withheld_is_said() {
	asking && run 0 test q && says out 'roots, sampling, elicitation' '"mode": "session"' && run 0 tools q && says err 'roots, sampling, elicitation' &&
		run 0 test q --json && json 'd.servers[0].withheld.length === 3' && up && run 0 tools q && says err 'roots, sampling, elicitation' && run 0 tools && silent_on err sampling &&
		run 0 status --json && json 'd.servers[0].withheld.length === 3' && asking session && run 0 test q && silent_on out sampling &&
		run 0 tools q && silent_on err sampling && finish
}
t_another_mode_is_told() {
	asking && up && asking session && cp "$user" "$work/session.json" && asking && MODE="$work/session.json" USERFILE="$user" talk 'init({elicitation: {}, sampling: {}, roots: {}})' '
		const { copyFileSync, renameSync } = await import("node:fs"); let t = (await tools()).join(); is(t === "mcp__q__t", t);
		const told = next("notifications/tools/list_changed", 15000); copyFileSync(process.env.MODE, process.env.USERFILE + ".new"); renameSync(process.env.USERFILE + ".new", process.env.USERFILE);
		await told; for (let i = 0; i < 100 && !/more/.test(t = (await tools()).join()); i++) await sleep(50); is(t === "mcp__q__more,mcp__q__t", t); return "more";' && says out more && finish
}

run_cases "$@"
