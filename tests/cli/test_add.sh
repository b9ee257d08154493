# test_add.sh - `mcpool add` and `add-json`: every option, every refusal, the file afterwards, and
# that an entry added by a person may run while one merely found in the file may not.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=add
. tests/servers/lib.sh
. tests/own.sh

# The two forms.
# B75 B55
t_a_command() {
	here 0 add files -- npx -y some-server 'a b' '' && says out 'Added stdio server "files" to '"$user" &&
		is "$user" 'd.mcpServers.files.type === "stdio" && d.mcpServers.files.command === "npx"' &&
		is "$user" 'JSON.stringify(d.mcpServers.files.args) === JSON.stringify(["-y", "some-server", "a b", ""])' &&
		silent_on err mcpool
}
t_options_behind_the_dashes_belong_to_the_command() { # V10
	here 0 add x -- cmd --url u --json --project -- --help && says out Added &&
		is "$user" 'd.mcpServers.x.args.join(" ") === "--url u --json --project -- --help"'
}
t_a_url() {
	here 0 add web --url https://example.com/mcp && says out 'Added http server "web" to '"$user" &&
		is "$user" 'd.mcpServers.web.type === "http" && d.mcpServers.web.url === "https://example.com/mcp"' &&
		is "$user" '!("headers" in d.mcpServers.web)' && silent_on err note
}
t_a_url_without_a_scheme_gets_one() { # O47
	here 0 add web --url example.com/mcp?next=http://x && says err 'note: https:// was put in front' &&
		is "$user" 'd.mcpServers.web.url === "https://example.com/mcp?next=http://x"' &&
		here 0 add sock --url example.com/ws --transport websocket && says err 'wss:// was put' &&
		is "$user" 'd.mcpServers.sock.url === "wss://example.com/ws" && d.mcpServers.sock.type === "websocket"'
}
# B24: what the manual says of both files is what `add` does.
t_the_file_of_a_project_and_the_file_of_the_user() {
	man=$(sed 's/^\.I //; s/^\.B //; s/\\-/-/g' "$tree/doc/mcpool-config.5" | tr '\n' ' ')
	case $man in *'$XDG_CONFIG_HOME/mcpool/mcp.json of the user. mcpool add writes here. .TP .mcpool/mcp.json of a project. mcpool add --project writes here.'*) ;;
	*) echo 'the manual says something else'; return 1 ;; esac
	here 0 add a -- cmd && is "$user" 'd.mcpServers.a' && ! [ -e "$own" ] && here 0 add b --project -- cmd2 &&
		is "$own" 'Object.keys(d.mcpServers).join() === "b"' && is "$user" 'Object.keys(d.mcpServers).join() === "a"' &&
		[ "$own" = "$project/.mcpool/mcp.json" ] && [ "$user" = "$XDG_CONFIG_HOME/mcpool/mcp.json" ]
}
# B75
t_transports() {
	for t in http sse websocket; do
		here 0 add "by-$t" --url "https://$t.example.com" --transport $t &&
			is "$user" "d.mcpServers['by-$t'].type === '$t'" || return 1
	done
	here 0 add socket --url wss://example.com/mcp && is "$user" 'd.mcpServers.socket.type === "websocket"' &&
		here 0 add plain --url https://example.com/mcp && is "$user" 'd.mcpServers.plain.type === "http"' &&
		here 2 add y --url x --transport stdio && says err '--transport takes http, sse or websocket.'
}
t_env_and_cwd() {
	mkdir -p "$project/sub/deep" && here 0 add x --env A=1 --env 'B=x = y' --env C= --cwd sub -- cmd &&
		is "$user" 'JSON.stringify(d.mcpServers.x.env) === JSON.stringify({A: "1", B: "x = y", C: ""})' &&
		is "$user" "d.mcpServers.x.cwd === '$project/sub'" &&
		here 0 add abs --cwd /tmp -- cmd && is "$user" 'd.mcpServers.abs.cwd === "/tmp"' &&
		here 0 add home --cwd '~/x' -- cmd && is "$user" 'd.mcpServers.home.cwd === "~/x"' &&
		cd "$project/sub" && inside 0 add --project p --cwd deep -- ./run && inside 0 add --project q --cwd . -- cmd &&
		is "$own" 'd.mcpServers.p.cwd === "sub/deep" && d.mcpServers.p.command === "./run"' &&
		is "$own" 'd.mcpServers.q.cwd === "sub"'
}
# What is relative here would be relative to the home folder later.
t_a_relative_command_is_written_whole() {
	echo >"$project/server.js" && mkdir "$project/sub" &&
		here 0 add x -- ./bin/server && is "$user" "d.mcpServers.x.command === '$project/bin/server'" &&
		silent_on err note && here 0 add y -- node server.js && says err "note: 'server.js' is here" '--cwd .' &&
		here 0 add z --cwd . -- node server.js && silent_on err note && is "$user" "d.mcpServers.z.cwd === '$project'" &&
		cd "$project/sub" && inside 0 add w --project -- ../bin/server && is "$own" 'd.mcpServers.w.command === "sub/../bin/server"'
}
# X31
t_headers_and_a_token_variable() {
	here 0 add x --url https://h.example.com --header 'X-A: b: c' --header X-B:d --token-env MY_TOKEN &&
		is "$user" 'JSON.stringify(d.mcpServers.x.headers) ===
			JSON.stringify({"X-A": "b: c", "X-B": "d", Authorization: "Bearer ${MY_TOKEN}"})'
}
# X31
t_a_token_from_stdin() {
	printf ' secret-token-1\n' >"$work/token" && input=$work/token here 0 add x --url https://h.example.com --token - &&
		is "$user" 'd.mcpServers.x.headers.Authorization === "Bearer secret-token-1"' &&
		mode 600 "$user" && silent_on out secret-token-1 && silent_on err secret-token-1 &&
		here 0 list && silent_on out secret-token-1 && here 0 get x --json && silent_on out secret-token-1
}
t_a_long_token_is_whole() {
	head -c 20000 /dev/zero | tr '\0' x >"$work/token"
	input=$work/token here 0 add x --url https://h.example.com --token - &&
		is "$user" 'd.mcpServers.x.headers.Authorization.length === 20007'
}
t_a_secret_in_a_projects_file_is_noted() {
	here 0 add x --project --env API_KEY=abc123 --env MODE=fast -- cmd && says err "note: everyone who can read the project's file sees the value of API_KEY" &&
		silent_on err abc123 && silent_on err MODE && here 0 add y --project --env 'API_KEY=${MY_KEY}' -- cmd && silent_on err 'note: everyone' &&
		here 0 add z --env API_KEY=abc123 -- cmd && silent_on err 'note: everyone'
}

# use-P1: a command that is not there is noted, and the next step is told for URLs, too; use-P2: quoted where needed.
t_the_next_step_is_told() {
	here 0 add x -- no-such-command-here && says err "note: the command 'no-such-command-here' is not found in PATH" && says out '`mcpool test x` tries it' &&
		here 0 add y --url https://a.example.com/mcp && says out '`mcpool test y` tries it' && silent_on err 'in PATH' &&
		here 0 add 'my server' -- sh -c true && silent_on err 'in PATH' && says out "\`mcpool test 'my server'\` tries it"
}

# use-P3: only what is similar is suggested. use-P10: on a narrow terminal whose file it is, not the end of its path.
t_names_and_places_for_people() {
	here 0 add u -- cat && here 0 add memory -- sh -c true && here 9 get nosuch && silent_on err 'Did you mean' &&
		here 9 get memry && says err 'Did you mean "memory"' && COLUMNS=80 on_terminal 0 list && says out 'mcpool user:3' &&
		COLUMNS=200 on_terminal 0 list && says out '/mcp.json:3' && silent_on out 'mcpool user:3'
}

# What makes no sense: exit code 2, nothing is written.
refused() { # CODE WORDS ARGUMENTS...
	expected=$1 sentence=$2
	shift 2
	here "$expected" "$@" && says err "$sentence" && [ ! -e "$user" ] && [ ! -e "$own" ] && [ ! -s "$work/out" ] ||
		{ echo "after: $*"; return 1; }
}
t_both_forms() { refused 2 'Use either --url or -- <command...>, not both.' add x --url https://a.example.com -- cmd; } # B63
# B64
t_a_token_without_a_url() {
	refused 2 '--token requires --url (HTTP/SSE transport).' add x --token - -- cmd &&
		refused 2 '--token requires --url (HTTP/SSE transport).' add x --token abc &&
		refused 2 '--token requires --url (HTTP/SSE transport).' add x --token-env T -- cmd
}
# B64 X31
t_a_token_on_the_command_line() {
	refused 2 '--token requires --url (HTTP/SSE transport).' add x --token sk-1 -- cmd && silent_on err sk-1 &&
		refused 2 'A token on the command line can be read by everyone' add x --url https://a.example.com --token sk-1 &&
		says err '--token -' --token-env && silent_on err sk-1
}
t_a_token_for_a_project() {
	echo t >"$work/token" && input=$work/token refused 2 "does not belong in a project's file" add x \
		--url https://a.example.com --token - --project && says err --token-env
}
t_two_tokens() { refused 2 'Use either --token - or --token-env, not both.' add x --url u --token - --token-env T; }
t_a_token_where_its_variable_belongs() {
	refused 2 'takes the name of the variable' add x --url u --token-env sk-ant-1 && silent_on err sk-ant-1 &&
		refused 2 'takes the name' add x --url u --token-env '${T}' && refused 2 'takes the name' add x --url u --token-env 1A
}
t_a_token_that_is_none() {
	for text in '' ' ' 'two\nlines' 'two words' 'a${B}c' 'nul\0byte' 'esc\033x'; do
		printf "$text" >"$work/token"
		input=$work/token refused 2 'one line with a token is expected' add x --url https://a.example.com --token - || return 1
	done
}
t_token_and_authorization() {
	refused 2 'which --header names, too' add x --url https://a.example.com --header 'authorization: a' --token-env T
}
t_options_of_the_other_form() {
	refused 2 '--header and --transport require --url.' add x --header A:b -- cmd &&
		refused 2 '--header and --transport require --url.' add x --transport sse -- cmd &&
		refused 2 '--env and --cwd are for servers that are started' add x --url u --env A=b &&
		refused 2 '--env and --cwd are for servers that are started' add x --url u --cwd /
}
t_malformed_pairs() {
	refused 2 "--env takes NAME=VALUE, not 'A'" add x --env A -- cmd &&
		refused 2 "--env takes NAME=VALUE, not '=b'" add x --env =b -- cmd &&
		refused 2 "--header takes NAME:VALUE, not 'A=b'" add x --url https://a.example.com --header A=b &&
		refused 2 "'A b' is not a valid header" add x --url https://a.example.com --header 'A b: c' &&
		refused 2 "'A' is not a valid header" add x --url https://a.example.com --header "$(printf 'A: b\nC: d')" &&
		refused 2 "--env names 'A' twice" add x --env A=1 --env A=2 -- cmd &&
		refused 2 "--header names 'a' twice" add x --url https://a.example.com --header A:b --header a:b
}
t_bytes_that_are_no_text() {
	refused 2 'is not valid UTF-8' add x -- "$(printf 'a\377')" &&
		refused 2 'is not valid UTF-8' add x --env "$(printf 'A=\300')" -- cmd &&
		refused 2 'is not valid UTF-8' add x --url "$(printf 'https://\377')"
}
t_missing_parts() {
	refused 2 'there is no terminal to ask on' add && says err 'mcpool add NAME -- COMMAND...' &&
		refused 2 'Say what to add' add x && refused 2 'Say what to add' add x -- &&
		refused 2 'needs a name' add -- cmd && refused 2 "there is no address behind '--url'" add x --url &&
		refused 2 "there is no NAME=VALUE behind '--env'" add x --env -- cmd &&
		refused 2 'say --project or --user, not both' add x --project --user -- cmd
}
t_a_command_without_its_dashes() {
	refused 2 "A server's command stands behind --" add x npx -y server && refused 2 'stands behind --' add x npx server
}
t_add_json_usage() {
	refused 2 'missing argument: mcpool add-json NAME JSON' add-json x &&
		refused 2 'one argument too many' add-json x '{}' y && refused 2 "nothing may stand behind '--'" add-json x '{}' -- y &&
		refused 2 "no option '--url'" add-json x --url u
}

# What does not validate: exit code 3.
# B74 B11 B61 B12 B13 O14
t_names() {
	refused 3 'Invalid server config: Server name cannot be empty' add '' -- cmd &&
		refused 3 'Server name is too long (max 100 characters)' add "$(printf 'x%.0s' $(seq 101))" -- cmd &&
		for odd in a/b '../up' 'a  b' ' a' 'a ' 'a!' 'ä' 'a
b'; do
			refused 3 'can only contain letters, numbers, dash, underscore, dot, colon, and single spaces' \
				add "$odd" -- cmd || return 1
		done
	here 0 add "$(printf 'x%.0s' $(seq 100))" -- cmd && here 0 add 'a:b.c d' -- cmd2 &&
		says err 'note:' 'everything in "a:b.c d" but letters, digits, - and _ becomes _' &&
		here 3 config check && says err 'server a:b.c d: characters other than letters, digits, - and _ become _ in the names of its tools' &&
		silent_on err 'server xx'
}
# B13 X28
t_names_in_the_omp_profile() {
	mkdir -p "$(dirname "$user")" && echo '{"mcpool": {"profile": "omp"}, "mcpServers": {}}' >"$user" && cp "$user" "$work/before" &&
		for odd in 'a b' a:b a/b 'a!' 'ä'; do
			here 3 add "$odd" -- cmd && same "$work/before" "$user" &&
				says err 'Invalid server config: Server name can only contain letters, numbers, dash, underscore, and dot' || return 1
		done
	here 0 add 'azAZ09_.-' -- cmd && echo '{"mcpool": {"profile": "omp", "names": "wide"}, "mcpServers": {}}' >"$user" && here 0 add 'a:b c' -- cmd &&
		echo '{"mcpool": {"names": "strict"}, "mcpServers": {}}' >"$user" && here 3 add 'a:b c' -- cmd
}
t_entries_that_do_not_validate() { # B10 B61
	refused 3 'Invalid server config: Server "x": "url" must begin with http' add x --url ftp://a.example.com &&
		refused 3 'Invalid server config: Server "x": stdio server requires "command" field' add-json x '{}' &&
		refused 3 'Invalid server config: Server "x": an object in braces is expected' add-json x '[1]' &&
		refused 3 'Invalid server config: Server "x": both "command" and "url"' add-json x '{"command":"a","url":"b"}' &&
		refused 3 'Invalid server config: Server "x": unknown server type "pigeon"' add-json x '{"type":"pigeon"}' &&
		refused 3 'Invalid server config: Server "x": "url" must be a string' add-json x '{"url":5}' &&
		refused 3 'Invalid server config: line 1, column 1' add-json x nope &&
		refused 3 'Invalid server config: line 1' add-json x '{"command":"a",}' &&
		refused 3 'Invalid server config' add-json x '' || return 1
	here 0 add ok -- c && cp "$user" "$work/before" && here 3 add-json x '{"command":"a","url":"b"}' && same "$work/before" "$user"
}
t_a_name_twice() { # B62
	here 0 add x -- one && cp "$user" "$work/before" && here 3 add x -- two &&
		says err "mcpool: Server \"x\" already exists in $user" && here 3 add-json x '{"command":"two"}' &&
		says err "Server \"x\" already exists in $user" && same "$work/before" "$user" &&
		here 0 add x --project -- two && says out "to $own" && here 0 get x --json && json "d.source.file === '$own'" &&
		here 0 add y --project -- three && here 0 add y -- four && says out 'Not used: "y" ('"$own" 'comes before it'
}

# add-json
t_add_json() {
	here 0 add-json x '{"command": "c", "args": ["a"], "mode": "serial", "timeout": 5}' && says out 'Added stdio server "x"' &&
		is "$user" 'd.mcpServers.x.mode === "serial" && d.mcpServers.x.timeout === 5' &&
		echo ' {"type":"sse","url":"https://a.example.com/sse"} ' >"$work/json" && input=$work/json here 0 add-json y - &&
		is "$user" 'd.mcpServers.y.type === "sse"'
}
t_unknown_keys_are_kept_and_told() {
	here 0 add-json x '{"command":"c","bogus":{"a":[1.50]}}' && says err 'note: "bogus" is not a key that is known here' &&
		grep -qF 1.50 "$user" && is "$user" 'd.mcpServers.x.bogus.a[0] === 1.5'
}

# Files and folders.
t_modes() { # O16 U32
	(umask 0 && here 0 add x -- c && here 0 add y --project -- c) && mode 600 "$user" && mode 700 "$XDG_CONFIG_HOME/mcpool" &&
		mode 600 "$own" && mode 700 "$project/.mcpool" && [ "$(ls -A "$project/.mcpool" "$XDG_CONFIG_HOME/mcpool" | grep -c mcpool-tmp)" = 0 ]
}
t_the_mode_of_a_file_stays() {
	here 0 add x -- c && chmod 640 "$user" && here 0 add y -- c && mode 640 "$user"
}
t_a_link_stays_a_link() {
	mkdir -p "$XDG_CONFIG_HOME/mcpool" "$work/dotfiles" && echo '{ /* mine */ }' >"$work/dotfiles/mcp.json" &&
		ln -s "$work/dotfiles/mcp.json" "$user" && here 0 add x -- c && [ -L "$user" ] &&
		grep -q mine "$work/dotfiles/mcp.json" && grep -q '"x"' "$work/dotfiles/mcp.json" && here 0 list && says out ready
}
t_everything_else_in_the_file_stays() { # U32 B55 B56
	mkdir -p "$XDG_CONFIG_HOME/mcpool"
	printf '// top\r\n{\r\n\t"other": [1, /* in */ 2,],\r\n\t"mcpServers": {\r\n\t\t// about a\r\n\t\t"a": {"command": "a", "later": 1e3,}, // behind\r\n\t},\r\n\t"mcpool": {"deny": ["z",]},\r\n}\r\n' >"$user"
	cp "$user" "$work/before" && here 0 add b -- c && same_but "$work/before" "$user" '"b"' &&
		! grep -qv "$(printf '\r')\$" "$user" && here 0 rm b && same "$work/before" "$user"
}
same_but() { # OLD NEW WORD: every line of OLD is in NEW, in order, perhaps with a comma more
	grep -q -- "$3" "$2" && tr -d ', \t' <"$1" | grep -v '^.$' >"$work/1" && tr -d ', \t' <"$2" >"$work/2" &&
		! diff "$work/1" "$work/2" | grep '^<'
}
t_broken_json_is_not_touched() { # B72 U32
	mkdir -p "$XDG_CONFIG_HOME/mcpool" && printf '{\n  "mcpServers": {"a": {"command": "a"}\n' >"$user" &&
		cp "$user" "$work/before" && here 3 add x -- c && says err "$user:3:1: is not valid JSON; it was not changed" &&
		here 3 add-json x '{"command":"c"}' && here 3 rm a && says err "$user:3:1:" 'not valid JSON' &&
		here 3 disable a && says err 'not valid JSON' && same "$work/before" "$user" &&
		[ "$(ls -A "$XDG_CONFIG_HOME/mcpool")" = mcp.json ]
}
t_no_object_is_not_touched() {
	mkdir -p "$XDG_CONFIG_HOME/mcpool" && echo '{"mcpServers": []}' >"$user" && cp "$user" "$work/before" &&
		here 3 add x -- c && says err '"mcpServers"' 'must be an object' && same "$work/before" "$user"
}
# B56: another name, synced, then renamed.
t_a_file_is_synced_before_it_is_renamed() {
	here 0 add a -- c && [ -z "$sanitized" ] && command -v strace >"$work/null" || return 0
	cd "$project" && strace --seccomp-bpf -f -y -e trace=fsync,fdatasync,rename,renameat,renameat2,link,linkat -o "$work/trace" "$mcpool" add b -- c >"$work/out" || return 1
	awk '/sync\([0-9]+<[^>]*\/\.mcp\.json\.[^>]*mcpool-tmp>\) = 0/ { synced = 1 }
		/rename.*"\.mcp\.json\.[^"]*mcpool-tmp".*"mcp\.json"/ { renamed = synced } END { exit !renamed }' "$work/trace" &&
		is "$user" 'd.mcpServers.a && d.mcpServers.b' || { grep mcp.json "$work/trace"; return 1; }
}
t_an_empty_file_is_filled() { mkdir -p "$XDG_CONFIG_HOME/mcpool" && : >"$user" && here 0 add x -- c && is "$user" 'd.mcpServers.x'; }
t_without_a_home() {
	(unset HOME XDG_CONFIG_HOME && cd "$project" && inside 2 add x -- c) && says err 'HOME is not set'
}

# What is added is approved, and only that.
t_added_is_approved() { # U4
	here 0 add demo -- "$mcpool" demo-server && here 0 list && says out 'demo  ready' && here 0 test demo &&
		says out 'demo: works, 3 tools' && here 0 add p --project -- "$mcpool" demo-server --x && here 0 get p && says out 'ready' &&
		nothing_left
}
t_edited_by_hand_needs_approval() { # U4
	here 0 add demo -- "$mcpool" demo-server && sed -i 's/"demo-server"/"demo-server", "--more"/' "$user" && here 0 list &&
		says out needs-approval 'changed outside mcpool' && here 7 test demo && says err 'needs your approval' &&
		here 7 test demo --json && json 'd.error.code === 1007 && d.error.data.code === "mcp_needs_approval"' && nothing_left
}
t_written_by_hand_needs_approval() { # U4
	mkdir -p "$XDG_CONFIG_HOME/mcpool" && echo '{"mcpServers":{"a":{"command":"a"}}}' >"$user" && here 0 add b -- c &&
		here 0 list --json && json 'd.servers.find(s => s.name === "a").state === "needs-approval"' &&
		json 'd.servers.find(s => s.name === "b").state === "ready"'
}
t_removed_and_written_again_by_hand() { # U4
	here 0 add a -- cmd && cp "$user" "$work/before" && here 0 rm a && cp "$work/before" "$user" && here 0 list && says out needs-approval
}

# --json
t_json_of_what_was_added() {
	here 0 add x --json --url https://h.example.com --header A:b && json 'Object.keys(d).join() === "added"' &&
		json 'd.added.name === "x" && d.added.state === "ready" && d.added.transport === "http"' &&
		json "d.added.source.file === '$user' && d.added.source.line > 0 && d.added.source.level === 'user'" &&
		here 0 add-json y '{"command":"c"}' --json && json 'd.added.name === "y" && d.added.transport === "stdio"'
}
t_json_of_a_failure() {
	here 0 add x -- c && here 3 add x --json -- c && json 'd.error.data.code === "exists" && /already exists in/.test(d.error.message)' &&
		says err 'already exists' && here 3 add '' --json -- c && json 'd.error.data.code === "invalid" && /cannot be empty/.test(d.error.message)' &&
		here 2 add y --json && json '/Say what to add/.test(d.error.message)' &&
		here 2 add y --json --nonsense && json '/no option/.test(d.error.message)' && echo '{' >"$user" &&
		here 3 add y --json -- c && json 'd.error.data.code === "parse"' &&
		here 3 add z -- c --json && [ ! -s "$work/out" ] && rm "$user" && here 9 get nothing --json && json 'd.error.data.code === "not_found" && d.error.code === -32602'
}

# A cloned project may hold links: what a person tells mcpool to write there stays there.
t_a_link_out_of_the_project_is_refused() { # U32
	mkdir -p "$project/.mcpool" "$HOME/.cursor" && echo '{"mcpServers": {"fs": {"command": "c"}}}' >"$HOME/.cursor/mcp.json" &&
		cp "$HOME/.cursor/mcp.json" "$work/before" && ln -s "$HOME/.cursor/mcp.json" "$project/.mcpool/mcp.json" &&
		here 3 add z --project -- cat && says err 'leads out of the project' && here 3 remove fs --project &&
		here 3 disable fs --project && same "$work/before" "$HOME/.cursor/mcp.json" || return
	rm -r "$project/.mcpool" && ln -s "$HOME/.cursor" "$project/.mcpool" && here 3 add z --project -- cat &&
		same "$work/before" "$HOME/.cursor/mcp.json" || return
	rm "$project/.mcpool" && mkdir "$project/.mcpool" && ln -s "$HOME/new.json" "$project/.mcpool/mcp.json" &&
		here 3 add z --project -- cat && [ ! -e "$HOME/new.json" ]
}
t_a_link_to_another_tools_file_is_refused() { # U32
	mkdir -p "$HOME/.cursor" "$(dirname "$user")" && echo '{"mcpServers": {}}' >"$HOME/.cursor/mcp.json" &&
		cp "$HOME/.cursor/mcp.json" "$work/before" && ln -s "$HOME/.cursor/mcp.json" "$user" && here 3 add z -- cat &&
		says err 'which mcpool never changes' && same "$work/before" "$HOME/.cursor/mcp.json"
}

run_cases "$@"
