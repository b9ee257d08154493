# test_sdk.sh - the clients of SDK 1.x and 2.x (legacy, by negotiation, modern) in front of the hub; see sdk.mjs.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=clients
. tests/clients/lib.sh

t_sdk() {
	every_kind && served || return 1
	MCPOOL_URL=$url MCPOOL_TOKEN=$token MCPOOL_TEST_MARK="$work" timeout -k 2 120 "$node" tests/clients/sdk.mjs \
		>"$work/cases" 2>"$work/err" </dev/null
	code=$?
	grep -E '^(ok|FAIL) ' "$work/cases" >&3
	[ $code = 0 ] || { echo "exit code $code: $(grep -m 3 ^FAIL "$work/cases") $(tail -n 2 "$work/err")"; return 1; }
	stopped
}

exec 3>&1 # every case of sdk.mjs is told as one of ours
run_cases "$@"
