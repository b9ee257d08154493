# test_real_servers.sh - mcpool with servers that people run: from npm, and written on both SDKs in
# each era. No network: the packages are those of package-lock.json.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=real
. tests/servers/lib.sh
everything="$node $npm/server-everything/dist/index.js"
memory="$node $npm/server-memory/dist/index.js"
files="$node $npm/server-filesystem/dist/index.js $work/files"
export MEMORY_FILE_PATH="$work/memory.json"
mkdir -p "$work/files"

# server-everything, SDK 1.x
t_everything_lists_its_tools() {
	run 0 tools -- $everything && says out echo get-sum trigger-long-running-operation &&
		[ ! -s "$work/err" ] && nothing_left
}
t_everything_in_json() {
	run 0 tools --json -- $everything && json 'd.errors.length === 0 && d.tools.length >= 12' &&
		json 'd.tools.every((t) => t.name && t.tool && t.server && t.inputSchema.type === "object" && t.state === "live")' &&
		json 'd.tools.find((t) => t.tool === "get-sum").inputSchema.properties.a.type === "number"'
}
t_everything_shows_a_schema() {
	run 0 tools --schema get-sum -- $everything && json 'Object.keys(d.properties).join() === "a,b"'
}
t_everything_answers() { run 0 call echo message=hi -- $everything && says out 'Echo: hi' && nothing_left; }
t_everything_adds() { run 0 call get-sum a=2 b=3 -- $everything && says out 'The sum of 2 and 3 is 5.'; }
t_everything_has_structured_content() {
	run 0 call get-structured-content location=Chicago --json -- $everything &&
		json 'typeof d.structuredContent.temperature === "number"'
}
t_everything_has_an_image() {
	run 0 call get-tiny-image -- $everything && says out image/png && run 0 call get-tiny-image --json -- $everything &&
		json 'd.content.some((c) => c.type === "image" && c.data.length > 100)'
}
t_everything_takes_its_time() {
	run 0 call trigger-long-running-operation duration=1 steps=4 -- $everything &&
		says out 'Long running operation completed'
}
t_everything_has_resources() {
	run 0 resources -- $everything && says out demo://resource/static/document/architecture.md &&
		says out 'demo://resource/dynamic/text/{resourceId}' &&
		run 0 read demo://resource/dynamic/text/3 -- $everything && says out 'Resource 3'
}
t_everything_has_prompts() {
	run 0 prompts -- $everything && says out simple-prompt args-prompt &&
		run 0 prompt args-prompt city=Paris -- $everything && says out Paris
}
t_everything_by_npx() {
	run 0 call echo message=hi -- npx --no-install mcp-server-everything && says out 'Echo: hi' && nothing_left
}

# server-filesystem and server-memory
t_files_are_written_and_read() {
	run 0 tools -- $files && says out read_text_file write_file &&
		run 0 call write_file "path=$work/files/a b.txt" 'content=1 = one' -- $files &&
		[ "$(cat "$work/files/a b.txt")" = '1 = one' ] &&
		run 0 call read_text_file "path=$work/files/a b.txt" -- $files && says out '1 = one' && nothing_left
}
t_files_outside_are_refused() { run 1 call read_text_file path=/etc/hosts -- $files && says out 'Access denied'; }
t_memory_remembers() {
	entity='{"name":"mcpool","entityType":"program","observations":["pools"]}'
	run 0 call create_entities --args "{\"entities\":[$entity]}" -- $memory &&
		run 0 call read_graph --json -- $memory && json 'd.structuredContent.entities[0].name === "mcpool"' && nothing_left
}

# Servers on the SDKs: the same in every era.
works() { # SERVER
	behind="$node $servers/$1.mjs"
	run 0 tools --json -- $behind && json 'd.tools.map((t) => t.tool).join() === "echo,add,stats,slow,fail,change,touch,log,ask,elicit,sample,roots"' &&
		json 'd.tools[0].title === "Echo" && d.errors.length === 0' &&
		run 0 tools -- $behind && says out echo 'Adds two numbers' &&
		run 0 call add a=2 b=3 -- $behind && says out 5 &&
		run 0 call add a=2 b=3 loud=true -- $behind && says out '5!' &&
		run 0 call stats 'numbers=[1,2,3]' --json -- $behind && json 'd.structuredContent.sum === 6' &&
		run 1 call fail -- $behind && says out 'it went wrong' &&
		run 9 call no-such-tool -- $behind && says err no-such-tool && nothing_left
}
t_sdk1_works() { works sdk1; }
t_sdk2_legacy_works() { works sdk2-legacy; }
t_sdk2_dual_works() { works sdk2-dual; }
t_sdk2_modern_works() { works sdk2-modern; }

offers() { # SERVER: a resource, a template and a prompt
	behind="$node $servers/$1.mjs"
	run 0 resources -- $behind && says out note://greeting 'note://number/{n}' &&
		run 0 read note://greeting -- $behind && says out 'hello from a resource' &&
		run 0 read note://number/7 -- $behind && says out 'note 7' &&
		run 0 prompts --json -- $behind && json 'd.prompts[0].arguments[0].name === "code"' &&
		run 0 prompt review code=main.c -- $behind && says out 'Please review main.c' &&
		run '1|5|9' read note:nowhere -- $behind && blames "$1" json_rpc && nothing_left
}
t_sdk1_offers_more() { offers sdk1; }
t_sdk2_legacy_offers_more() { offers sdk2-legacy; }
t_sdk2_dual_offers_more() { offers sdk2-dual; }
t_sdk2_modern_offers_more() { offers sdk2-modern; }
t_sdk1_pages_its_resources() {
	run 0 resources -- $node $servers/sdk1.mjs && says out note://number/1 note://number/2 note://number/3 note://number/4
}

# Arguments.
t_text_stays_text() { run 0 call echo message=5 -- $node $servers/sdk1.mjs && says out 'Echo: 5'; }
t_text_keeps_its_signs() {
	run 0 call echo 'message=a=b "c" \ {d} é' -- $node $servers/sdk1.mjs && says out 'Echo: a=b "c" \ {d} é'
}
t_arguments_from_stdin() {
	echo '{"a": 40, "b": 2}' >"$work/args" && input="$work/args" &&
		run 0 call add --args - -- $node $servers/sdk1.mjs && says out 42
}
t_arguments_of_a_wrong_type() { run '1|2' call add a=two b=3 -- $node $servers/sdk1.mjs; }
t_arguments_that_are_not_json() { run 2 call add --args '{a:1}' -- $node $servers/sdk1.mjs && says err args; }

# Eras.
# A server request without a client for it is a protocol error there. The server listens before it is asked: one that is
# started and silent for 1.5 s is taken for a legacy one.
t_dual_is_spoken_to_in_the_modern_era() {
	MCPOOL_TEST_MARK="$work" $node $servers/sdk2-dual.mjs http 0 >"$work/dual.log" 2>&1 </dev/null &
	dual=$!
	wait_for_line "$work/dual.log" 'listening on' 15 &&
		printf '{"mcpServers":{"sdk2-dual":{"type":"http","url":"http://127.0.0.1:%s/mcp"}}}' "$(sed -n 's/^listening on //p' "$work/dual.log")" >"$work/dual.json" &&
		run 5 call sdk2-dual/ask --strict-config --config "$work/dual.json" && blames sdk2-dual json_rpc -32021 && kill $dual
}
t_dual_as_legacy() {
	run 1 call ask --era legacy -- $node $servers/sdk2-dual.mjs && says out '2025-era connection'
}
t_dual_as_modern() { run 0 call echo message=hi --era modern -- $node $servers/sdk2-dual.mjs && says out 'Echo: hi'; }
t_modern_does_not_speak_legacy() {
	run '4|5' tools --era legacy -- $node $servers/sdk2-modern.mjs && blames sdk2-modern handshake 2026-07-28
}
t_modern_has_a_question() {
	run 5 call ask -- $node $servers/sdk2-modern.mjs && blames sdk2-modern json_rpc elicitation
}
t_legacy_has_a_question() {
	run 1 call ask -- $node $servers/sdk1.mjs && says out 'does not support form elicitation'
}

# Progress and Ctrl-C.
t_progress_is_shown() {
	on_terminal 0 call slow ms=1500 steps=3 -- $node $servers/sdk1.mjs && says out 'slept 1500 ms' 'step 2'
}
t_progress_is_shown_in_the_modern_era() {
	on_terminal 0 call slow ms=1500 steps=3 -- $node $servers/sdk2-modern.mjs && says out 'slept 1500 ms' 'step 2'
}
t_progress_is_not_in_the_output() {
	run 0 call slow ms=500 steps=3 -- $node $servers/sdk1.mjs && [ "$(cat "$work/out")" = 'slept 500 ms' ] &&
		[ ! -s "$work/err" ]
}
interrupted() { # SERVER
	start call slow ms=20000 -- $node "$servers/$1.mjs"
	noted 'slow started' 5 && kill -INT $mcpool_pid && ended 130 3 && noted 'slow cancelled' && nothing_left
}
t_ctrl_c_cancels_sdk1() { interrupted sdk1; }
t_ctrl_c_cancels_modern() { interrupted sdk2-modern; }
t_timeout_cancels() { # a hub has started the server before, because the limit of a call also covers the start
	user=$XDG_CONFIG_HOME/mcpool/mcp.json
	mkdir -p "${user%/*}" && printf '{"mcpServers":{"sdk1":{"command":"%s","args":["%s"]}}}' "$PWD/$node" "$PWD/$servers/sdk1.mjs" >"$user" &&
		run 0 trust --user-file --yes && run 0 up && run 0 call sdk1/echo message=hi &&
		run 6 call sdk1/slow ms=20000 --timeout 1s && within 3500 && noted 'slow cancelled' && run 0 down && nothing_left 3
}

run_cases "$@"
