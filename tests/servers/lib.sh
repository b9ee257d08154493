# lib.sh - for tests that run mcpool with a server behind it. Every function t_NAME of the script is a
# case that runs in a process and a folder of its own, two at a time; `sh SCRIPT NAME` runs one.
# A case is a chain of the words below; each says on its output what was wrong. Set group before.
. tests/lib.sh
mcpool=${MCPOOL:-build/mcpool}
case $mcpool in
*asan*) sanitized=yes group=$group-asan ;; # it takes more memory, and says other things
*) sanitized= ;;
esac
demo_server=$(cd "$(dirname "$mcpool")" && pwd)/tests/demo-server
node=node_modules/.bin/node
servers=tests/servers
npm=node_modules/@modelcontextprotocol
export HOME="$work/home" XDG_CONFIG_HOME="$work/home/config" XDG_STATE_HOME="$work/home/state"
export XDG_RUNTIME_DIR="$work/run" TEST_NOTES="$work/notes" TEST_PIDS="$work/pids"
mkdir -p "$HOME"
mkdir -m 700 "$XDG_RUNTIME_DIR"
: >"$TEST_NOTES"
: >"$TEST_PIDS"
trap 'kill_marked; rm -rf "$work"' EXIT

# The processes that this case started, however far they ran: all have its mark in their environment, launchers and
# shepherds as their last word. A hub hides its environment from all but root.
marked() {
	{
		grep -lsF "MCPOOL_TEST_MARK=$work" /proc/[0-9]*/environ
		grep -lszxF launcher $(grep -lszxF "$work" /proc/[0-9]*/cmdline) /dev/null
	} | sed 's|/proc/\([0-9]*\)/.*|\1|'
}
kill_marked() {
	for pid in $(marked); do
		kill -KILL "$pid" 2>/dev/null
	done
}

# eventually SECONDS COMMAND...: it succeeds by then; looked at 20 times a second. The seconds are those of an idle
# machine: before it fails, a busy one gets five times as long.
eventually() {
	tries=$(($1 * 100))
	shift
	until "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.05
	done
}

# wait_for_line FILE PATTERN SECONDS: FILE, which need not be there yet, has such a line by then
wait_for_line() {
	eventually "$3" grep -qs -- "$2" "$1" && return
	echo "no line '$2' in $1 within $3 s; it ends: $(tail -n 2 "$1" 2>/dev/null | head -c 400)"
	return 1
}

# count_processes_of PID: how many descend from it and run, itself and zombies not counted
count_processes_of() {
	cat /proc/[0-9]*/stat 2>/dev/null | sed -n 's/^\([0-9]*\) (.*) \([A-Za-z]\) \([0-9]*\) .*/\1 \2 \3/p' |
		awk -v top="$1" '
			{ parent[$1] = $3; state[$1] = $2 }
			END {
				for (pid in parent) {
					for (up = parent[pid]; up > 1 && up != top && steps[pid]++ < 4096;)
						up = parent[up]
					n += up == top && state[pid] != "Z"
				}
				print n + 0
			}'
}

none_marked() { [ -z "$(marked)" ]; }

nothing_left() { # [SECONDS]
	eventually "${1:-1}" none_marked && return
	echo "left: $(for pid in $(marked); do tr '\0' ' ' <"/proc/$pid/cmdline"; echo "($pid);"; done)"
	return 1
}

# exits WANTED CODE: WANTED is one exit code or several, such as '4|5'
exits() {
	case "|$1|" in
	*"|$2|"*) return 0 ;;
	esac
	echo "exit code $2 and not $1"
	return 1
}

now() { echo $(($(date +%s%N) / 1000000)); }
# tick: the time in $ms, in steps of 10; starts no process
tick() {
	read -r ms _ </proc/uptime
	ms=${ms%.*}${ms#*.}0
}

# run WANTED ARGUMENTS...: mcpool with these, its output in $work/out and $work/err, its time in $took
run() {
	wanted=$1
	shift
	tick
	began=$ms
	MCPOOL_TEST_MARK="$work" timeout -k 2 120 "$mcpool" "$@" >"$work/out" 2>"$work/err" <"${input:-/dev/null}"
	code=$?
	tick
	took=$((ms - began))
	exits "$wanted" $code
}

# start ARGUMENTS...: the same in the background, as $mcpool_pid; SIGINT and SIGHUP are not ignored there. The files are
# emptied here: the shell in the background may do so after we have read what an earlier command wrote.
start() {
	: >"$work/out"
	: >"$work/err"
	MCPOOL_TEST_MARK="$work" env --default-signal=INT,HUP "$mcpool" "$@" >"$work/out" 2>"$work/err" </dev/null &
	mcpool_pid=$!
}

# on_terminal WANTED ARGUMENTS...: with a terminal instead of files; what it shows is in $work/out
on_terminal() {
	wanted=$1
	shift
	MCPOOL_TEST_MARK="$work" TERM=xterm timeout -k 2 120 script -qec "$mcpool $*" /dev/null \
		>"$work/out" 2>"$work/err" </dev/null
	exits "$wanted" $?
}

# ended WANTED SECONDS: what start started is over by then, with that exit code
ended() {
	eventually "$2" not_running || { echo "still running after $2 s"; return 1; }
	wait "$mcpool_pid"
	exits "$1" $?
}

not_running() { # a zombie does not run; without a process for grep, because this is asked 20 times a second
	{ read -r stat_line <"/proc/$mcpool_pid/stat"; } 2>/dev/null || return 0
	case $stat_line in
	*') Z '*) return 0 ;;
	esac
	return 1
}

# says FILE WORDS...: $work/FILE contains each
says() {
	file=$1
	shift
	for words in "$@"; do
		grep -qF -- "$words" "$work/$file" || { echo "no '$words' in $file: $(head -c 400 "$work/$file")"; return 1; }
	done
}

silent_on() { # FILE WORDS...: none of them stands there
	file=$1
	shift
	for words in "$@"; do
		! grep -qF -- "$words" "$work/$file" || { echo "'$words' in $file" | cat -v; return 1; }
	done
}

noted() { eventually "${2:-2}" grep -qxF -- "$1" "$TEST_NOTES" || { echo "the server never noted '$1'"; return 1; }; }

# blames SERVER STAGE WORDS...: what every error tells
blames() {
	grep -q "^\(mcpool: .*\|MCP error: .*\|  server:    \)$1" "$work/err" || { echo "'$1' is not blamed: $(head -c 400 "$work/err")"; return 1; }
	shift
	says err "$@"
}

# On an idle machine; a busy one gets as much more as a loop takes here now beyond its own processor time.
within() {
	[ "$took" -gt "$1" ] || return 0
	busy=$(bash -c 'TIMEFORMAT="%R %U"; time awk "BEGIN { for (i = 0; i < 4000000; i++) x += i }"' 2>&1 |
		awk '{ printf "%d", ($1 / ($2 > 0 ? $2 : 1)) * 15 }')
	[ "$took" -le $(($1 * busy / 10)) ] || { echo "took $took ms and not $1 (busy $busy / 15)"; return 1; }
}

json() { # EXPRESSION of d, the object in $work/out
	$node -e 'const d = JSON.parse(fs.readFileSync(0, "utf8")); process.exit(eval(process.argv[1]) ? 0 : 1)' \
		"$1" <"$work/out" || { echo "not so: $1"; return 1; }
}

# The whole script, or the one case it was started for.
run_cases() {
	if [ $# -gt 0 ]; then
		check "$1" "t_$1"
		exit $bad
	fi
	[ "$(id -u)" = 0 ] || echo "$group: not run as root, so a hub that is left over is not seen" >&2
	[ -x "$mcpool" ] && [ -x "$node" ] || { echo "FAIL $group/setup: build mcpool and run tools/setup js first"; exit 1; }
	sed -n 's/^t_\([a-z0-9_]*\)() {.*/\1/p' "$0" | xargs -P 2 -n 1 sh "$0" || bad=1
	exit $bad
}
