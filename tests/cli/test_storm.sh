# test_storm.sh - twenty shells add and remove servers at the same time, each with the real program, and kill some of
# them on the way. Whoever reads the file meanwhile finds it whole; in the end it holds what was reported, with every comment.
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

# Reads the file as often as it can until it is told to stop: always whole, always with its comments.
watch='
	const { parse } = require(process.argv[1] + "/node_modules/jsonc-parser"), [, , file, stop] = process.argv;
	const words = ["// first line", "/* before all */", "// kept", "// the oldest", "// behind it", "// inside", "// last line",
		"12345678901234567890"];
	let seen = 0, last = "";
	for (;;) {
		const text = fs.readFileSync(file, "utf8"), wrong = [];
		if (text !== last) {
			const d = parse(text, wrong, { allowTrailingComma: true });
			if (wrong.length || !d.mcpServers.first || !d.mcpServers.second || words.some(w => !text.includes(w))) {
				console.log("broken: " + text);
				process.exit(1);
			}
			seen++;
			last = text;
		}
		if (fs.existsSync(stop))
			break;
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
	}
	console.log(seen);'

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

# Of each name the last word counts; of "maybe" anything may have come.
compare='
	const { parse } = require(process.argv[1] + "/node_modules/jsonc-parser"), [, , file, logs] = process.argv, words = {};
	for (const name of fs.readdirSync(logs).filter(n => /^log\.[0-9]+$/.test(n)))
		for (const line of fs.readFileSync(logs + "/" + name, "utf8").trim().split("\n"))
			words[line.split(" ")[1]] = line.split(" ")[0];
	const servers = parse(fs.readFileSync(file, "utf8"), [], { allowTrailingComma: true }).mcpServers, list = JSON.parse(fs.readFileSync(0, "utf8")).servers;
	const bad = [], count = { there: 0, gone: 0, maybe: 0 };
	for (const [name, word] of Object.entries(words)) {
		count[word]++;
		if (word === "there" && (!servers[name] || servers[name].args[0] !== name))
			bad.push(name + " was added and is lost");
		if (word === "there" && list.find(s => s.name === name)?.state !== "ready")
			bad.push(name + " was added and is not approved");
		if (word === "gone" && servers[name])
			bad.push(name + " was removed and is there");
	}
	for (const name of Object.keys(servers))
		if (!(name in words) && name !== "first" && name !== "second")
			bad.push(name + " came from nowhere");
	console.log(JSON.stringify(count));
	if (bad.length || !count.there || !count.gone || !count.maybe) {
		console.log(bad.join("; "));
		process.exit(1);
	}'

t_twenty_at_once() { # U32 B56
	put_comments
	MCPOOL_TEST_MARK="$work" "$node" -e "$watch" "$tree" "$user" "$work/stop" >"$work/watched" 2>&1 &
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
	here 0 add last -- cmd last && here 0 rm last && here 0 list --json && "$node" -e "$compare" "$tree" "$user" "$work" <"$work/out" || return 1
	[ "$(ls -A "$XDG_CONFIG_HOME/mcpool")" = mcp.json ] || { echo "left: $(ls -A "$XDG_CONFIG_HOME/mcpool")"; return 1; }
	here '0|3' config check "$user" --json && json '!d.problems.some(p => /not valid JSON/.test(p.message))' && nothing_left
}

run_cases "$@"
