# test_storm.sh - twenty shells add and remove servers at the same time, each with the real program, and kill some of
# them on the way. A reader always finds a complete file; in the end it has what was reported, with every comment.
# tests/unit/config/test_storm.c does the same to the writer alone, 20 times 50 rounds; here it is 20 times 20, for the time it takes.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=storm
. tests/servers/lib.sh
. tests/own.sh
workers=20
rounds=20
[ -z "$sanitized" ] || rounds=8 # it is slower

put_comments() {
	mkdir -p "$XDG_CONFIG_HOME/mcpool" && cat >"$user" <<-'END'
		// first line
		{
		  /* before all */
		  "unknown": {"big": 12345678901234567890}, // kept
		  "mcpServers": {
		    // the oldest
		    "first": {"command": "f"}, // behind it
		    "second": {
		      "command": "s", // inside
		    },
		  },
		}
		// last line
	END
}

# mcpool ARGUMENTS...: done (0), or killed on the way; anything else is told. Every fifth one is killed, sooner or later: 137, or
# 124 where it had just ended by itself. The others have more time than the program waits for its locks.
change() {
	turn=$((turn + 1)) patience=30 ends='0'
	[ $(((turn + worker) % 5)) != 0 ] || patience=0.0$(((turn * 7 + worker * 3) % 30 + 10)) ends='0|124|137'
	MCPOOL_TEST_MARK="$work" timeout --foreground -s KILL $patience "$mcpool" "$@" >>"$log.out" 2>&1
	code=$?
	exits "$ends" $code >/dev/null || echo "$* ended with $code after at most $patience s" >>"$log.bad"
	return $code
}

work_hard() { # WORKER
	worker=$1 turn=0 log=$work/log.$1
	cd "$project" || return 1
	for round in $(seq $rounds); do
		name=w$worker-$round
		echo "maybe $name" >>"$log"
		change add "$name" -- cmd "$name" && echo "there $name" >>"$log"
		[ $((round % 3)) = 0 ] && continue
		grep -q "there $name" "$log" || continue
		echo "maybe $name" >>"$log"
		change rm "$name" && echo "gone $name" >>"$log"
	done
}

t_twenty_at_once() { # U32 B56
	put_comments
	MCPOOL_TEST_MARK="$work" "$node" tests/cli/storm_watch.mjs "$user" "$work/stop" >"$work/watched" 2>&1 &
	watcher=$!
	for worker in $(seq $workers); do
		work_hard "$worker" &
		pids="${pids:-} $!"
	done
	wait $pids
	: >"$work/stop"
	wait $watcher || { echo "a reader found: $(head -c 500 "$work/watched")"; return 1; }
	! cat "$work"/log.*.bad 2>/dev/null | head -3 | grep . || { cat "$work"/log.*.out | grep mcpool: | sort | uniq -c | head -3; return 1; }
	[ "$(cat "$work/watched")" -ge 20 ] || { echo "only $(cat "$work/watched") versions were seen"; return 1; }
	here 0 add last -- cmd last && here 0 rm last && here 0 list --json && "$node" tests/cli/storm_compare.mjs "$user" "$work" <"$work/out" || return 1
	[ "$(ls -A "$XDG_CONFIG_HOME/mcpool")" = mcp.json ] || { echo "left: $(ls -A "$XDG_CONFIG_HOME/mcpool")"; return 1; }
	here '0|3' config check "$user" --json && json '!d.problems.some(p => /not valid JSON/.test(p.message))' && nothing_left
}

run_cases "$@"
