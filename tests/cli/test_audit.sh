# test_audit.sh - `mcpool calls --export`: calls outlive the hub, in the store.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=audit
. tests/hub/lib.sh

# exported N OPTIONS...: so many lines
exported() {
	n=$1
	shift
	run 0 calls --export "$@" && [ "$(wc -l <"$work/out")" = "$n" ] || { echo "calls --export $*: $(wc -l <"$work/out") lines, not $n"; return 1; }
}

t_export() {
	with a b && up && run 0 call a/echo message=hello && run 0 call b/echo message=x && run 9 call a/none
	finish && exported 2 && exported 1 --server b && json 'd.server === "b" && d.tool === "echo" && d.outcome === "answered" && d.argsHash.length === 16 && !("args" in d)' &&
		exported 1 --server a && exported 0 --failed && exported 2 --since 1d && exported 0 --session 1 &&
		run 2 calls --since 1d && says err 'for --export' && run 2 calls --export --follow && run 2 calls --export --since soon
}
# Off: nothing is kept. With arguments: secrets are dots.
t_settings() {
	mkdir -p "$(dirname "$user")" && printf '{"mcpool":{"audit":{"store":false}},"mcpServers":{%s}}' "$(server a)" >"$user" && run 0 trust --user-file --yes &&
		up && run 0 call a/echo message=hello && finish && exported 0 &&
		printf '{"mcpool":{"audit":{"args":true}},"mcpServers":{%s}}' "$(server a)" >"$user" &&
		up && run 0 call a/echo message=hello password=hunter22hunter && finish && exported 1 && says out '"message":"hello"' && silent_on out hunter22
}

run_cases "$@"
