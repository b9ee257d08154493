# test_cgroup.sh - hub, launcher and shepherds are killed in one moment: the next hub ends what is left (chaos-C4).
# Needs root, to mount a cgroup of version 2 in a mount namespace of its own; the hub itself runs as an ordinary user.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=cgroup
. tests/hub/lib.sh

# can: why not, where it cannot be tried
can() {
	[ "$(id -u)" = 0 ] || { echo "not tried: this needs root"; return 1; }
	command -v setpriv >/dev/null && command -v unshare >/dev/null || { echo "not tried: no setpriv or unshare"; return 1; }
	unshare -m sh -c 'mount -t cgroup2 none /mnt && mkdir "/mnt/$0" && test -e "/mnt/$0/cgroup.kill"; r=$?; rmdir "/mnt/$0"; exit $r' "mcpool-try-$$" \
		2>/dev/null || { echo "not tried: no cgroup of version 2 with cgroup.kill can be mounted here"; return 1; }
}

left() { grep -ls -- "$work/[s]leeper" /proc/[0-9]*/cmdline | wc -l; }
has_left() { [ "$(left)" = "$1" ]; }

t_what_a_triple_kill_leaves_is_ended_by_the_next_hub() {
	can >"$work/why" || { cat "$work/why" >&2; return 0; }
	cp "$(command -v sleep)" "$work/sleeper" && printf '#!/bin/sh\n("%s" 600 &)\n(setsid "%s" 601 &)\nexec "%s" demo-server\n' "$work/sleeper" "$work/sleeper" "$work/mcpool" >"$work/server" &&
		cp "$mcpool" "$work/mcpool" && chmod 755 "$work/server" "$work/mcpool" "$work/sleeper" &&
		cp tests/hub/triple_kill.sh "$work/" && configure "$user" "\"s\":{\"command\":\"$work/server\"}" &&
		chmod 711 "$work" && chown -R 65534 "$work" || return 1
	MCPOOL_TEST_MARK="$work" work="$work" unshare -m sh -c '
		cd "$work" && mkdir -p mnt && mount -t cgroup2 none "$work/mnt" && box="$work/mnt/mcpool-test-$$" && mkdir "$box" || exit 1
		chown 65534 "$box" "$box/cgroup.procs" "$box/cgroup.threads" "$box/cgroup.subtree_control"
		sh -c "echo 0 >\"$box/cgroup.procs\" && exec setpriv --reuid 65534 --clear-groups sh \"\$@\"" sh "$@"
		r=$?
		echo 1 >"$box/cgroup.kill" 2>/dev/null
		for i in 1 2 3 4 5; do rmdir "$box"/mcpool.* "$box" 2>/dev/null; [ ! -d "$box" ] || sleep 0.1; done
		exit $r' sh "$work/triple_kill.sh" >"$work/out" 2>&1 || { tail -n 3 "$work/out"; return 1; }
	has_left 0 && nothing_left 3
}

run_cases "$@"
