# test_strange_files.sh - what stands where a configuration is looked for may be anything: a pipe, a device, a file
# without end. Each is one clear warning at most, takes no time, and costs nothing but itself.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=strange-files
. tests/servers/lib.sh
case $mcpool in
/*) ;;
*) mcpool=$PWD/$mcpool ;;
esac
node=$PWD/$node
project=$work/project
mkdir -p "$project/.git" || exit 1
[ $# -eq 0 ] || cd "$project" || exit 1
extra_ms=${sanitized:+500}
extra_ms=${extra_ms:-100}

# Servers of the user and of the project beside the strange file: they must be listed all the same.
[ $# -eq 0 ] || {
	mkdir -p "$HOME/.cursor" "$project/.cursor"
	echo '{"mcpServers": {"of-the-user": {"command": "true"}}}' >"$HOME/.cursor/mcp.json"
	echo '{"mcpServers": {"of-the-project": {"command": "false"}}}' >"$project/.cursor/mcp.json"
}

# best_of_3 WANTED: the fastest of three `list`, in $best
best_of_3() {
	best=999999
	for i in 1 2 3; do
		run "$1" list || return 1
		[ "$took" -lt "$best" ] && best=$took
	done
	return 0
}

# strange PATH WORDS...: with it there `list` is done as soon as without, warns once, and lists the others. What made
# it is called before; `clear_up` after.
strange() {
	path=$1
	shift
	without=999999
	with=999999
	for i in 1 2 3 4 5 6 7 8; do # as often as a loaded machine needs
		mv "$path" "$work/aside" && best_of_3 0 && mv "$work/aside" "$path" || return 1
		[ "$best" -lt "$without" ] && without=$best
		best_of_3 0 || return 1
		[ "$best" -lt "$with" ] && with=$best
		[ "$with" -gt $((without + extra_ms)) ] || break
	done
	[ "$with" -le $((without + extra_ms)) ] || { echo "took $with ms, and without it $without"; return 1; }
	says out of-the-user of-the-project && says err "$path" "$@" || return 1
	[ "$(grep -c '^mcpool: ' "$work/err")" -eq 1 ] || { echo "not one warning: $(cat "$work/err")"; return 1; }
	run 0 list --json && json 'd.problems.length === 1 && d.problems[0].severity === "warning"' &&
		json "d.problems[0].file.endsWith('$path') && d.servers.length >= 2"
}

t_a_pipe() { mkfifo .mcp.json && strange .mcp.json 'named pipe'; }
t_a_pipe_as_codex_file() { mkdir .codex && mkfifo .codex/config.toml && strange .codex/config.toml 'named pipe'; }
t_a_pipe_as_user_file() {
	mkdir -p "$XDG_CONFIG_HOME/mcpool" && mkfifo "$XDG_CONFIG_HOME/mcpool/mcp.json" && strange "$XDG_CONFIG_HOME/mcpool/mcp.json" 'named pipe'
}
t_a_pipe_with_a_writer() {
	mkfifo .mcp.json && { MCPOOL_TEST_MARK="$work" sleep 60 <>.mcp.json & } && strange .mcp.json 'named pipe'
}
t_a_folder() { mkdir .mcp.json && strange .mcp.json 'a folder'; }
t_a_device() { ln -s /dev/zero .mcp.json && strange .mcp.json 'a device'; }
t_a_terminal() { ln -s /dev/tty .mcp.json && strange .mcp.json 'a device'; }
t_a_socket() {
	"$node" -e 'require("net").createServer().listen(".mcp.json", () => process.kill(process.pid, "SIGKILL"))'
	[ -S .mcp.json ] && strange .mcp.json 'a socket'
}
t_a_file_of_10_gigabytes() { truncate -s 10G .mcp.json && strange .mcp.json '10737418240 bytes'; }
t_links_in_a_circle() { ln -s loop .mcp.json && ln -s .mcp.json loop && strange .mcp.json circle; }
t_a_link_to_itself() { ln -s .mcp.json .mcp.json && strange .mcp.json circle; }
t_a_file_of_the_kernel() { ln -s /proc/self/environ .mcp.json && best_of_3 0 && says out of-the-user of-the-project && silent_on err HOME=; }
t_a_link_that_leads_nowhere() { # counts as no file, without a warning
	ln -s nowhere .mcp.json && run 0 list && says out of-the-user of-the-project && silent_on err .mcp.json
}
t_a_file_nobody_may_read() {
	echo '{}' >.mcp.json && chmod 0 .mcp.json
	if [ "$(id -u)" -eq 0 ]; then # who may read everything cannot try it: another user does
		cp "$mcpool" "$work/mcpool" && chmod -R a+rwX "$work" && chmod 700 "$XDG_RUNTIME_DIR" && chmod 0 .mcp.json &&
			chown -R 65534:65534 "$work" && setpriv --reuid=65534 --regid=65534 --clear-groups "$work/mcpool" list >"$work/out" 2>"$work/err"
		[ $? -eq 0 ] && says out of-the-user of-the-project && says err .mcp.json 'may not read'
		return
	fi
	strange .mcp.json 'may not read'
}
t_a_mebibyte_and_a_byte() {
	{ echo '{}' && head -c 1048574 /dev/zero | tr '\0' ' '; } >.mcp.json && strange .mcp.json '1048577 bytes'
}
t_a_mebibyte() {
	{ echo '{"mcpServers": {"large": {"command": "cat"}}}' && head -c 1048576 /dev/zero | tr '\0' ' '; } | head -c 1048576 >.mcp.json &&
		run 0 list && says out large
}
t_garbage() { { printf '\001\377\376' && head -c 100000 /dev/urandom; } >.mcp.json && strange .mcp.json 'not valid JSON'; } # B72
t_zeros() { head -c 4096 /dev/zero >.mcp.json && strange .mcp.json 'not valid JSON'; }
t_half_a_file() { printf '{"mcpServers": {"a": {"comm' >.mcp.json && strange .mcp.json 'not valid JSON'; } # B72
t_nested_deeply() { head -c 500000 /dev/zero | tr '\0' '[' >.mcp.json && strange .mcp.json 'nested too deeply'; }
t_nested_deeply_in_an_entry() {
	{ printf '{"mcpServers": {"a": {"x": ' && head -c 100000 /dev/zero | tr '\0' '['; } >.mcp.json && strange .mcp.json 'nested too deeply'
}
t_nested_deeply_in_toml() {
	mkdir .codex && { printf 'a = ' && head -c 500000 /dev/zero | tr '\0' '['; } >.codex/config.toml && strange .codex/config.toml 'nested too deeply'
}
t_another_kind_of_value() { echo '[1, 2]' >.mcp.json && strange .mcp.json 'object in braces'; }
t_an_empty_file() { : >.mcp.json && run 0 list && says out of-the-user of-the-project && silent_on err .mcp.json; }
t_keys_without_number() { # what is compared pair by pair is bounded
	"$node" -e 'const mcp = {}; for (let i = 0; i < 80000; i++) mcp["k" + i] = 1; fs.writeFileSync("opencode.json", JSON.stringify({ mcp }))' &&
		strange opencode.json 'too many keys'
}
t_a_file_that_grows() {
	echo '{}' >.mcp.json
	MCPOOL_TEST_MARK="$work" sh -c 'while :; do echo " " >>.mcp.json; done' 2>/dev/null &
	best_of_3 0 && growing=$best && says out of-the-user of-the-project || return 1
	kill_marked
	rm .mcp.json && best_of_3 0 && [ "$growing" -le $((best + extra_ms)) ]
}
t_a_file_that_is_replaced() { # all the time: it is read whole, or not at all
	MCPOOL_TEST_MARK="$work" sh -c 'while :; do
		echo "{\"mcpServers\": {\"first\": {\"command\": \"cat\"}}}" >.a && mv .a .mcp.json
		echo "{\"mcpServers\": {\"second\": {\"command\": \"cat\"}}}" >.a && mv .a .mcp.json
	done' 2>/dev/null &
	for i in 1 2 3 4 5; do
		run 0 list && says out of-the-user of-the-project && silent_on err 'not valid' || return 1
	done
}
t_no_folder_to_be_in() {
	mkdir gone && cd gone && rmdir "$project/gone" && run 3 list && says err 'the current directory no longer exists'
}

run_cases "$@"
