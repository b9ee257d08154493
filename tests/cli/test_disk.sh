# test_disk.sh - disks that are full, read-only or limited, and folders that may not be written: a clear error with what to
# do about it, exit code 3, the old file byte for byte, and nothing lying about.
set -u
cd "$(dirname "$0")/../.." || exit 1
exec 3>&1 # for what is left out, and why
group=disk
. tests/servers/lib.sh
. tests/own.sh

trap 'kill_marked; [ -z "${APART-}" ] || umount "$XDG_CONFIG_HOME" "$XDG_STATE_HOME" 2>/dev/null; chmod -R u+rwX "$work"; rm -rf "$work"' EXIT

# apart CASE: that case again, where mounts are its own
apart() {
	as=-rm
	[ "$(id -u)" != 0 ] || as=-m
	unshare $as true 2>/dev/null || { echo "   no mounts of our own here (unshare $as fails): $1 is left out" >&3; return 0; }
	APART=1 unshare $as sh "$0" "$1" >"$work/apart" 2>&1
	grep -q '^ok' "$work/apart" || { cat "$work/apart"; return 1; }
}

small() { # FOLDER: a disk of 64 KiB, mounted there
	mkdir -p "$1" && mount -t tmpfs -o size=64k,mode=700 none "$1" || { echo "   no small disk here: left out" >&3; return 1; }
}
fill() { ! dd if=/dev/zero of="$1/fill" bs=1k count=100 2>/dev/null; }

begin() { mkdir -p "$XDG_CONFIG_HOME/mcpool" && echo '{ /* mine */ "mcpServers": {"a": {"command": "a"}} }' >"$user" && cp "$user" "$work/before"; }

# fails WORDS ARGUMENTS...: exit code 3, these words, in JSON as well, and everything as it was
fails() {
	sentence=$1
	shift
	here 3 "$@" && says err "$sentence" 'nothing was changed' "$user cannot be written" && here 3 "$@" --json &&
		json 'd.error.data.code === "io" && /nothing was changed/.test(d.error.message)' && same "$work/before" "$user" &&
		[ "$(ls -A "$XDG_CONFIG_HOME/mcpool")" = mcp.json ] || { echo "after: $*"; return 1; }
}
all_fail() { # WORDS: every verb that writes
	fails "$1" add-json b '{"command":"c"}' && fails "$1" rm a && fails "$1" disable a &&
		echo '{"mcpServers":{"other":{"command":"o"}}}' >"$HOME/.claude.json" && fails "$1" disable other &&
		here 3 import other --yes && says err "$1" 'nothing was changed' && same "$work/before" "$user"
}

t_full_disk() { # B56 U32
	[ -n "${APART-}" ] || { apart full_disk; return; }
	small "$XDG_CONFIG_HOME" || return 0
	begin && fill "$XDG_CONFIG_HOME" && all_fail 'the disk is full (No space left on device)' && says err 'make room and try again' &&
		rm "$XDG_CONFIG_HOME/fill" && here 0 add b -- c && is "$user" 'd.mcpServers.a && d.mcpServers.b' && grep -q mine "$user"
}
t_full_disk_and_no_file_yet() {
	[ -n "${APART-}" ] || { apart full_disk_and_no_file_yet; return; }
	small "$XDG_CONFIG_HOME" || return 0
	mkdir "$XDG_CONFIG_HOME/mcpool" && fill "$XDG_CONFIG_HOME" && here 3 add b -- c && says err 'the disk is full' &&
		[ -z "$(ls -A "$XDG_CONFIG_HOME/mcpool")" ]
}
# What cannot be approved is not written either.
t_full_disk_of_the_approvals() { # U4
	[ -n "${APART-}" ] || { apart full_disk_of_the_approvals; return; }
	small "$XDG_STATE_HOME" || return 0
	begin && fill "$XDG_STATE_HOME" && here 3 add b -- c && says err 'the disk is full' '"b" was not added, because it could not be approved' &&
		same "$work/before" "$user" && here 3 add b --json -- c && json '/was not added/.test(d.error.message)' && here 0 list && says out needs-approval
}
t_read_only_disk() {
	[ -n "${APART-}" ] || { apart read_only_disk; return; }
	begin && mount --bind "$XDG_CONFIG_HOME" "$XDG_CONFIG_HOME" && mount -o remount,ro,bind "$XDG_CONFIG_HOME" ||
		{ echo '   no read-only disk here: left out' >&3; return 0; }
	all_fail 'the disk it is on is read-only' && says err 'make it writable'
}
t_read_only_folder() {
	begin && chmod 500 "$XDG_CONFIG_HOME/mcpool"
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid 65534 true 2>/dev/null || { echo '   setpriv is missing, and root may write everywhere: left out' >&3; return 0; }
		chmod 711 "$work" && chown -R 65534:65534 "$HOME" "$project" "$work/run" && mcpool_of_nobody
	fi
	all_fail "Permission denied; nothing was changed, check the permissions of $XDG_CONFIG_HOME/mcpool"
}
mcpool_of_nobody() { # a copy in a folder without access, run as user 65534
	cp "$mcpool" "$work/mcpool.real" && chmod 755 "$work/mcpool.real" && mcpool=$work/mcpool.nobody &&
		printf '#!/bin/sh\nexec setpriv --reuid 65534 --regid 65534 --clear-groups "%s" "$@"\n' "$work/mcpool.real" >"$mcpool" && chmod 755 "$mcpool"
}
t_read_only_project() {
	mkdir -p "$project/.mcpool" && chmod 500 "$project"
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid 65534 true 2>/dev/null || { echo '   setpriv is missing, and root may write everywhere: left out' >&3; return 0; }
		chmod 711 "$work" && rmdir "$project/.mcpool" && chown -R 65534:65534 "$HOME" "$project" "$work/run" && mcpool_of_nobody
	else
		chmod 700 "$project" && rmdir "$project/.mcpool" && chmod 500 "$project"
	fi
	here 3 add b --project -- c && says err "$own cannot be written" 'cannot be made: Permission denied' && here 0 add b -- c
}
# The same for everyone, without a disk: no file may have more than 128 KiB.
t_limited_files() {
	begin && here 0 list && { head -c 300000 /dev/zero | tr '\0' ' ' && echo '// the end'; } >>"$user" && cp "$user" "$work/before" &&
		(ulimit -f 256 && fails 'larger than files may be here (see `ulimit -f`)' add-json b '{"command":"c"}' && fails 'larger than files' rm a) &&
		here 0 add b -- c && grep -q 'the end' "$user"
}

run_cases "$@"
