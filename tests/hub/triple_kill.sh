# triple_kill.sh - the part of test_cgroup.sh that runs as an ordinary user inside of a delegated cgroup.
set -u
left() { grep -ls -- "$work/[s]leeper" /proc/[0-9]*/cmdline | wc -l; }
# until COUNT: so many are left within 5 s
until_left() {
	for i in $(seq 100); do
		[ "$(left)" != "$1" ] || return 0
		sleep 0.05
	done
	echo "$(left) are left and not $1"
	return 1
}
# ours PARENT: that process and all below it that are mcpool's own: hub, launcher, shepherds
ours() {
	echo "$1"
	for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
		case $(cat "/proc/$child/comm") in
		mcpool*) ours "$child" ;;
		esac
	done
}

"$work/mcpool" trust --user-file --yes >/dev/null && "$work/mcpool" up && "$work/mcpool" call mcp__s__add a=2 b=40 && until_left 2 || exit 1
server=$("$work/mcpool" status s --json | sed -n 's/.*"pid":\([0-9]*\).*/\1/p')
all=$(ours "$(cat "$XDG_RUNTIME_DIR/mcpool/hub.lock")" | grep -vx "$server" | awk '{ all = $0 " " all } END { print all }')
echo "killed: $(for pid in $all; do cat "/proc/$pid/comm"; done | tr '\n' ' ')"
# stopped first, and the lowest first, so that none of them sees another one die
kill -STOP $all && kill -KILL $all || exit 1
sleep 0.5
[ "$(left)" = 2 ] || { echo "nothing was left to be ended: the case proves nothing"; exit 1; }
"$work/mcpool" up && "$work/mcpool" call mcp__s__add a=2 b=40 && until_left 2 || exit 1 # those of the new server
"$work/mcpool" down && until_left 0
