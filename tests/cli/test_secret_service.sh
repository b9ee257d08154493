# test_secret_service.sh - secrets in a real Secret Service: GNOME Keyring on a session bus of the case's own, with the
# default keyring unlocked, locked, missing, and with a daemon that stops answering.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=secret-service
. tests/servers/lib.sh
. tests/own.sh
secrets=$XDG_STATE_HOME/mcpool/secrets
unit=build-asan/tests/unit/unit_store
export XDG_DATA_HOME="$work/home/data"
mkdir -p "$XDG_DATA_HOME"

for program in gnome-keyring-daemon dbus-daemon gdbus; do
	command -v $program >/dev/null || { echo "FAIL $group/setup: no $program; run tools/setup test"; exit 1; }
done

# bus: a session bus; all that it starts has the mark of the case and ends with it
bus() {
	DBUS_SESSION_BUS_ADDRESS=$(MCPOOL_TEST_MARK="$work" dbus-daemon --session --fork --print-address 2>"$work/bus.err") || return 1
	export DBUS_SESSION_BUS_ADDRESS
}
# keyring [PASSWORD]: the daemon, unlocked with this password; without one it is locked
keyring() {
	if [ $# -gt 0 ]; then
		printf %s "$1" | MCPOOL_TEST_MARK="$work" gnome-keyring-daemon --unlock --components=secrets >"$work/keyring.log" 2>&1
	else
		MCPOOL_TEST_MARK="$work" gnome-keyring-daemon --start --components=secrets >"$work/keyring.log" 2>&1
	fi
	eventually 10 owned
}
ask() { MCPOOL_TEST_MARK="$work" gdbus call --session --timeout 5 "$@"; }
owned() { ask --dest org.freedesktop.DBus --object-path /org/freedesktop/DBus --method org.freedesktop.DBus.NameHasOwner org.freedesktop.secrets | grep -q true; }
daemons() { for pid in $(marked); do grep -qs gnome-keyring "/proc/$pid/comm" && echo "$pid"; done; }
end_keyring() {
	for pid in $(daemons); do kill "$pid"; done
	eventually 10 gone
}
gone() { [ -z "$(daemons)" ] && ! owned; }
lock() {
	ask --dest org.freedesktop.secrets --object-path /org/freedesktop/secrets --method org.freedesktop.Secret.Service.Lock \
		"['/org/freedesktop/secrets/collection/login']" >"$work/lock" 2>&1
}
save() { # NAME VALUE
	printf '%s\n' "$2" >"$work/value" && input=$work/value here 0 secret set "$1"
}
over() { kill_marked; nothing_left 5; }
unit() { # EXPECTED: the unit tests with this service
	[ -x "$unit" ] || { echo "no $unit"; return 1; }
	MCPOOL_TEST_MARK="$work" MCPOOL_TEST_KEYRING=$1 timeout 100 "$unit" secret_service >"$work/unit" 2>&1 || { grep -v RUN "$work/unit" | head -20; return 1; }
}
server() { printf '{"mcpServers": {"s": {"command": "sh", "args": ["-c", "printf %%s \\"$TOKEN\\" >%s/got; exec %s"], "env": {"TOKEN": "${secret:X}"}}}}' "$work" "$demo_server" >"$project/.mcp.json"; }
gets() { [ "$(cat "$work/got")" = "$1" ] || { echo "the server got $(cat "$work/got")"; return 1; }; }

t_an_unlocked_keyring_keeps_them() {
	bus && keyring pw && save X one && says out 'Saved X in the Secret Service' && silent_on err note && [ ! -e "$secrets" ] &&
		here 0 secret list --json && json 'd.secrets[0].place === "the Secret Service" && Date.now() - d.secrets[0].savedMs < 600000' &&
		server && here 0 trust s --yes && here 0 tools s && gets one && save X two && here 0 tools s --fresh && gets two &&
		end_keyring && keyring pw && here 0 tools s --fresh && gets two && here 0 secret rm X && here 9 secret rm X && over
}
t_functions_with_an_unlocked_keyring() { bus && keyring pw && unit unlocked && over; }
t_functions_with_a_locked_keyring() { bus && keyring pw && save LOCKED one && lock && unit locked && over; }
t_a_locked_keyring_is_said_and_the_file_used() {
	bus && keyring pw && save X one && end_keyring && keyring && here 0 secret list && says err 'is locked; secrets in it are not listed' &&
		server && here 0 trust s --yes && here '3|4|5' tools s && says err "there is no secret 'X' (the default keyring of the Secret Service is locked; secrets in it are not found)" && save X two &&
		says err 'note: the default keyring of the Secret Service is locked; the secret is kept in a sealed file' && says out "Saved X in $secrets" &&
		here 0 tools s --fresh && gets two && end_keyring && keyring pw && here 0 tools s --fresh && gets two && # the file has the newer one
		save X three && says out 'in the Secret Service' && [ ! -e "$secrets" ] && here 0 tools s --fresh && gets three && over
}
t_a_wrong_password_leaves_it_locked() {
	bus && keyring pw && save X one && end_keyring && keyring wrong && save Y two && says err 'is locked' && says out "$secrets" && over
}
t_a_service_that_hangs_is_left_after_3_seconds() {
	bus && keyring pw && save X one && for pid in $(daemons); do kill -STOP "$pid"; done && save Y two &&
		says err 'did not answer within 3 s; the secret is kept in a sealed file' && [ "$took" -lt 20000 ] && here 0 secret list && says out Y &&
		for pid in $(daemons); do kill -CONT "$pid"; done && over
}
t_a_bus_without_a_service() {
	# It knows no folder of services, so it can start none.
	DBUS_SESSION_BUS_ADDRESS=$(MCPOOL_TEST_MARK="$work" dbus-daemon --config-file="$(bare_bus)" --fork --print-address) &&
		export DBUS_SESSION_BUS_ADDRESS && save X one && silent_on err note && says out "Saved X in $secrets" && over
}
bare_bus() {
	cat >"$work/bus.conf" <<-END
		<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
		<busconfig><type>session</type><listen>unix:dir=$work</listen><policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/><allow user="*"/></policy></busconfig>
	END
	echo "$work/bus.conf"
}
t_no_bus() {
	unset DBUS_SESSION_BUS_ADDRESS
	save X one && silent_on err note && says out "Saved X in $secrets" && [ "$took" -lt 3000 ]
}
t_a_bus_is_found_in_the_runtime_folder() {
	MCPOOL_TEST_MARK="$work" dbus-daemon --session --fork --address="unix:path=$XDG_RUNTIME_DIR/bus" 2>/dev/null &&
		export DBUS_SESSION_BUS_ADDRESS="unix:path=$XDG_RUNTIME_DIR/bus" && keyring pw && unset DBUS_SESSION_BUS_ADDRESS && save X one &&
		says out 'in the Secret Service' && over
}
t_the_keyring_can_be_switched_off() {
	bus && keyring pw && mkdir -p "$(dirname "$user")" && echo '{"mcpool": {"secrets": {"keyring": false}}}' >"$user" && save X one &&
		says out "Saved X in $secrets" && silent_on err note && over
}

run_cases "$@"
