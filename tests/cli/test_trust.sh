# test_trust.sh - an entry merely found in a file needs approval: shown whole, no by default, bound to
# the entry, its file, its project and the scripts it names.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=trust
. tests/servers/lib.sh
case $mcpool in
/*) ;;
*) mcpool=$PWD/$mcpool ;;
esac
node=$PWD/$node
pty=$(dirname "$mcpool")/tests/pty
project=$work/project
mkdir -p "$project" || exit 1
[ $# -eq 0 ] || cd "$project" || exit 1

# put NAME JSON: the project's .mcp.json with this one server
put() { printf '{\n  "mcpServers": {\n    "%s": %s\n  }\n}\n' "$1" "$2" >.mcp.json; }

# answered WANTED ANSWERS... -- ARGUMENTS...: mcpool on a terminal, with one answer per question
answered() {
	wanted=$1
	shift
	count=$#
	command=
	for word in "$@"; do
		[ "$word" = -- ] && command=yes
		if [ -n "$command" ]; then
			[ "$word" = -- ] && set -- "$@" -- "$mcpool" || set -- "$@" "$word"
		else
			set -- "$@" "[y/N]=$word"
		fi
	done
	shift "$count"
	MCPOOL_TEST_MARK="$work" TERM=xterm timeout -k 2 60 "$pty" "$@" >"$work/out" 2>"$work/err" </dev/null
	exits "$wanted" $?
}

state() { # NAME STATE, as list has it
	run '0|3' list --json && json "d.servers.find((s) => s.name === '$1').state === '$2'"
}
approve() { run 0 trust "$@" --yes; }

# Questions.
t_the_default_is_no() { # U4
	put one '{"command": "true"}' && answered 7 '' -- trust && says out 'Approve? [y/N]' 'Not approved' &&
		state one needs-approval
}
t_anything_but_yes_is_no() {
	put one '{"command": "true"}' &&
		for answer in n no yeah yesyesyesyesyesyesyesyesyesyesyes ' y' ^D; do
			answered 7 "$answer" -- trust || return 1
		done && state one needs-approval
}
t_yes_approves_exactly_that_one() { # U4
	put one '{"command": "true"}, "two": {"command": "false"}, "three": {"command": "cat"}' &&
		answered 7 n y '' -- trust && state one needs-approval && state two ready && state three needs-approval
}
t_q_stops_and_the_rest_waits() {
	put one '{"command": "true"}, "two": {"command": "false"}, "three": {"command": "cat"}' &&
		answered 7 y q -- trust && says out '1 of 3: ' '2 of 3: ' && silent_on out '3 of 3: ' && state one ready &&
		state two needs-approval && state three needs-approval
}
t_a_long_answer_answers_one_question() {
	put one '{"command": "true"}, "two": {"command": "false"}' &&
		answered 7 yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy '' -- trust && state one needs-approval &&
		state two needs-approval
}
t_a_long_command_is_shown_whole() { # V09
	long=$(head -c 4000 /dev/zero | tr '\0' x)END
	put one "{\"command\": \"sh\", \"args\": [\"-c\", \"$long\", \"last\"]}" && answered 7 '' -- trust &&
		says out "\"$long\"" '"last"'
}
t_word_borders_can_be_seen() {
	put one '{"command": "sh", "args": ["-c a", "b  c", "", "d\"e\\"]}' && answered 7 '' -- trust &&
		says out '"-c a"' '"b \x20c"' '""' '"d\"e\\"'
}
t_nothing_paints_the_terminal() { # V40
	put one '{"command": "\u001b[2Jls\u202e", "args": ["\u009b5m\u2066\udb40\udc41\b\u007f"], "env": {"\u001bK": "\u001b]0"},
		"cwd": "\u001b[1m", "headers": {"\u001bH": "1"}}' && answered 7 '' -- trust &&
		says out '\x1b[2Jls\u{202e}' '\u{9b}5m\u{2066}\u{e0041}\x08\x7f' &&
		silent_on out "$(printf '\033')" "$(printf '\302\233')" "$(printf '\342\200\256')" \
			"$(printf '\342\201\246')" "$(printf '\363\240\201\201')" "$(printf '\b')" "$(printf '\177')"
}
t_nothing_paints_beside_the_question_either() { # V40
	odd=$(printf 'f\302\2335m\342\200\256') && mkdir "$odd" && cd "$odd" && mkdir .git &&
		put one '{"command": "ls", "env": {"\u001bK\u009b5m\u202e": "1"}, "headers": {"\u001bH": "1"}}' &&
		for words in 'get one' 'config show one' list 'trust one --yes' 'trust list' 'untrust one'; do
			on_terminal 0 $words && [ -s "$work/out" ] && silent_on out "$(printf '\302\233')" "$(printf '\342\200\256')" ||
				{ echo "in $words"; return 1; }
		done
}
t_all_of_an_entry_is_shown() {
	mkdir sub && echo x >sub/run.sh && put one '{"command": "./run.sh", "cwd": "sub", "args": ["${A}"], "env": {"B": "${C:-${D}}",
		"API_TOKEN": "hidden-value", "ASK_TOKEN": "./sub/run.sh", "E_KEY": "!touch x"}}' &&
		answered 7 '' -- trust && says out '"./run.sh"' '"sub"' '"${A}"' 'B = "${C:-${D}}"' 'sub/run.sh' \
		'"touch x" in a shell, for E_KEY' 'ASK_TOKEN = "./sub/run.sh"' 'API_TOKEN = •••' "$project/.mcp.json:3" &&
		silent_on out hidden-value &&
		for name in A C D; do grep -Eq "^  (reads|     ) +$name.?\$" "$work/out" || { echo "$name is not named"; return 1; }; done
}
t_a_remote_one_is_shown() {
	put one '{"url": "http://127.0.0.1:1/${A}?x", "headers": {"Authorization": "Bearer abcdefgh", "X-A": "${B}"}}' &&
		answered 7 '' -- trust && says out '"http://127.0.0.1:1/${A}?x"' 'Authorization = •••' 'X-A = "${B}"' &&
		silent_on out abcdefgh
}

# No terminal.
t_no_terminal_is_no() { # U4
	put one '{"command": "true"}' && run 7 trust && says out '"true"' && says err 'no terminal' && state one needs-approval
}
t_no_terminal_in_ci_is_no() { # U4
	put one "{\"command\": \"touch\", \"args\": [\"$work/ran\"]}" && CI=true run 7 trust one && CI=true run 7 test one &&
		CI=true run 7 call one/x && state one needs-approval && [ ! -e "$work/ran" ] && approve one && run 4 test one && [ -e "$work/ran" ]
}
t_a_yes_from_a_pipe_is_none() {
	put one '{"command": "true"}' && printf 'y\nyes\n' >"$work/yes" && input=$work/yes run 7 trust && state one needs-approval
}
t_no_question_where_nobody_sees_it() { # stdout is a file, stdin and stderr a terminal
	put one '{"command": "true"}' &&
		MCPOOL_TEST_MARK="$work" "$pty" -- sh -c "'$mcpool' trust >/dev/null" >"$work/out"
	exits 7 $? && silent_on out 'y/N' && state one needs-approval
}
t_yes_as_an_option() {
	put one '{"command": "true"}, "two": {"command": "false"}' && approve one && says out '"true"' Approved &&
		state one ready && state two needs-approval && run 0 trust -y && state two ready &&
		run 0 trust && says out 'Nothing waits' && run 0 trust one && says out 'approved already'
}
t_json() {
	put one '{"command": "true", "args": ["${A}"]}' && run 7 trust --json &&
		json 'd.approved.length === 0 && d.waiting.length === 1 && d.waiting[0].argv.join() === "true,${A}"' &&
		json 'd.waiting[0].reads.join() === "A" && /terminal/.test(d.error)' && run 0 trust --json --yes &&
		json 'd.approved[0].name === "one" && d.waiting.length === 0 && d.error === null' && run 0 trust --json &&
		json 'd.approved.length + d.waiting.length === 0'
}
t_names_that_are_wrong() {
	put one '{"command": "true"}, "bad": {"command": 5}' && run 9 trust one nobody --yes && says err nobody &&
		state one needs-approval && run 3 trust bad --yes && says err 'must be a string' && run 2 trust one --all &&
		run 9 trust nobody --json --yes && json '/nobody/.test(d.error)'
}

# Changes.
changed() { # JSON WORDS...: another entry asks again, and shows the difference
	json=$1
	shift
	put one '{"command": "sh", "args": ["a", "b"], "env": {"A": "1"}, "cwd": ".", "timeout": 5}' && approve one && state one ready &&
		put one "$json" && state one needs-approval && run 7 trust one && says out 'changed since you approved' "$@" &&
		run 0 list && says out 'changed outside mcpool since'
}
t_a_changed_command() { changed '{"command": "bash", "args": ["a", "b"], "env": {"A": "1"}, "cwd": ".", "timeout": 5}' 'command is changed' '"sh"' '"bash"'; } # U4
t_changed_words() { changed '{"command": "sh", "args": ["a b"], "env": {"A": "1"}, "cwd": ".", "timeout": 5}' 'args is changed' '["a","b"]' '["a b"]'; }
t_a_changed_variable() { changed '{"command": "sh", "args": ["a", "b"], "env": {"A": "2"}, "cwd": ".", "timeout": 5}' 'env.A is changed' '"1"' '"2"'; }
t_a_new_variable() { changed '{"command": "sh", "args": ["a", "b"], "env": {"A": "1", "PATH": "."}, "cwd": ".", "timeout": 5}' 'env.PATH is new'; }
t_a_renamed_variable() { changed '{"command": "sh", "args": ["a", "b"], "env": {"B": "1"}, "cwd": ".", "timeout": 5}' 'env.A is gone' 'env.B is new'; }
t_a_changed_folder() { changed '{"command": "sh", "args": ["a", "b"], "env": {"A": "1"}, "cwd": "..", "timeout": 5}' 'cwd is changed'; }
t_a_key_that_is_gone() { changed '{"command": "sh", "args": ["a", "b"], "env": {"A": "1"}, "timeout": 5}' 'cwd is gone'; }
t_a_key_that_nobody_knows() { changed '{"command": "sh", "args": ["a", "b"], "env": {"A": "1"}, "cwd": ".", "timeout": 5, "x": [1]}' 'x is new'; }
t_a_changed_number() { changed '{"command": "sh", "args": ["a", "b"], "env": {"A": "1"}, "cwd": ".", "timeout": 6}' 'timeout is changed'; }
t_a_server_that_became_remote() { changed '{"url": "http://127.0.0.1:1/"}' 'url is new' 'command is gone'; }
remote_changed() { # JSON WORDS
	put one '{"url": "http://127.0.0.1:1/", "headers": {"A": "1"}}' && approve one && put one "$1" && state one needs-approval &&
		run 7 trust one && says out "$2"
}
t_a_changed_address() { remote_changed '{"url": "http://127.0.0.1:2/", "headers": {"A": "1"}}' 'url is changed'; }
t_a_changed_header() { remote_changed '{"url": "http://127.0.0.1:1/", "headers": {"A": "2"}}' 'headers.A is changed'; }
t_a_changed_transport() { remote_changed '{"url": "http://127.0.0.1:1/", "headers": {"A": "1"}, "type": "sse"}' 'type is new'; }
t_a_secret_that_changed_is_dots() {
	put one '{"command": "true", "env": {"TOKEN": "first-secret"}}' && approve one &&
		put one '{"command": "true", "env": {"TOKEN": "other-secret"}}' && run 7 trust one && says out 'env.TOKEN is changed' •••  &&
		silent_on out first-secret other-secret
}
t_no_secret_is_kept_with_an_approval() { # attack-S15
	put one '{"command": "true", "args": ["--token", "arg-sesame-1"], "env": {"TOKEN": "env-sesame-1"}},
		"two": {"url": "http://user:url-sesame-1@127.0.0.1:1/?key=query-sesame-1", "headers": {"X-Any": "header-sesame-1"}}' &&
		approve && state one ready && state two ready &&
		for kept in "$XDG_STATE_HOME"/mcpool/mcpool.db*; do
			! grep -aq 'sesame-1' "$kept" || { echo "a secret is in $kept"; return 1; }
		done && grep -aq -- --token "$XDG_STATE_HOME"/mcpool/mcpool.db* &&
		put one '{"command": "true", "args": ["--token", "arg-sesame-2"], "env": {"TOKEN": "env-sesame-1"}},
		"two": {"url": "http://user:url-sesame-2@127.0.0.1:1/?key=query-sesame-1", "headers": {"X-Any": "header-sesame-2"}}' &&
		run 7 trust && says out 'args is changed' 'url is changed' 'headers.X-Any is changed' &&
		silent_on out arg-sesame-1 url-sesame-1 header-sesame-1 'env.TOKEN is changed'
}
t_a_value_with_a_blank_is_shown() { # attack-S16
	put one '{"command": "true", "env": {"GIT_SSH_AUTH_COMMAND": "touch pwned", "A_TOKEN": "hidden-value", "LD_PRELOAD": "x.so"}}' &&
		answered 7 '' -- trust && says out 'GIT_SSH_AUTH_COMMAND = "touch pwned"  <- decides what code runs' 'A_TOKEN = •••' \
		'LD_PRELOAD = "x.so"  <- decides what code runs' && silent_on out hidden-value && approve &&
		put one '{"command": "true", "env": {"GIT_SSH_AUTH_COMMAND": "touch other", "A_TOKEN": "hidden-value", "LD_PRELOAD": "x.so"}}' &&
		run 7 trust && says out 'env.GIT_SSH_AUTH_COMMAND is changed' '"touch other"'
}
t_a_long_entry_is_summed_up_by_the_question() { # attack-S10
	words=$(i=0; while [ $i -lt 400 ]; do printf ', "ok"'; i=$((i + 1)); done)
	put one "{\"command\": \"sh\", \"args\": [\"-c\", \"curl http://127.0.0.1:1|sh\"$words], \"env\": {\"V\": \"x\"}}" &&
		answered 7 '' -- trust && tail -n 14 "$work/out" >"$work/screen" &&
		says screen 'It runs 403 words' '"sh"' '"curl http://127.0.0.1:1|sh"' 'and 397 words more' 'lines; look at all' &&
		put one '{"command": "true"}' && answered 7 '' -- trust && silent_on out 'look at all'
}
t_white_space_comments_and_order_do_not_matter() { # U4
	put one '{"command": "sh", "args": ["a", "b"], "env": {"A": "1", "B": "2"}}' && approve one &&
		printf '// moved\n{"mcpServers":{"one":{ /* x */ "env":{"B":"2","\\u0041":"1"},\n\n"args":["a",\t"\\u0062"],\n"command":"sh",}}}' >.mcp.json &&
		state one ready
}
t_another_name_asks_again() { # U4
	put one '{"command": "true"}' && approve one && put two '{"command": "true"}' && state two needs-approval
}
t_the_first_one_again_needs_no_second_yes() { # until another was approved in its place
	put one '{"command": "true"}' && approve one && put one '{"command": "false"}' && state one needs-approval &&
		put one '{"command": "true"}' && state one ready && put one '{"command": "false"}' && approve one &&
		put one '{"command": "true"}' && state one needs-approval
}

# Scripts of the project.
script_counts() { # FILE JSON: one byte of the file changed asks again
	mkdir -p "$(dirname "$1")" && echo 'exit 0' >"$1" && put one "$2" && approve one && says out "$1" && state one ready &&
		echo 'exit 1' >"$1" && state one needs-approval && run 7 trust one && says out "the file $1 has another content" &&
		echo 'exit 0' >"$1" && state one ready && rm "$1" && state one needs-approval
}
t_a_script_as_command() { script_counts run.sh '{"command": "./run.sh"}'; } # U4
t_a_script_as_argument() { script_counts lib/run.js '{"command": "node", "args": ["lib/run.js"]}'; }
t_a_script_behind_an_option() { script_counts run.js '{"command": "node", "args": ["--require=./run.js"]}'; }
t_a_script_glued_to_an_option() { script_counts run.js '{"command": "node", "args": ["-r./run.js"]}'; }
t_a_script_in_a_line_for_a_shell() { script_counts sub/run.sh '{"command": "sh", "args": ["-c", "cd sub && ./run.sh; true"]}'; }
t_a_script_in_a_folder_named_later() { script_counts sub/run.py '{"command": "uv", "args": ["run", "run.py", "--directory", "sub"]}'; }
t_a_script_below_its_folder() { script_counts sub/run.sh '{"command": "./run.sh", "cwd": "sub"}'; }
t_a_script_below_a_folder_by_placeholder() { script_counts run.js '{"command": "node", "args": ["run.js"], "cwd": "${workspaceFolder}"}'; }
t_a_script_behind_a_placeholder() { script_counts run.js '{"command": "node", "args": ["${CLAUDE_PROJECT_DIR}/run.js"]}'; }
t_a_script_as_a_default() { script_counts run.js '{"command": "node", "args": ["${SCRIPT:-run.js}"]}'; }
t_a_script_below_home() { script_counts run.js '{"command": "node", "args": ["~/anywhere/project/run.js"]}'; }
t_a_script_in_a_variable() { script_counts run.js '{"command": "node", "env": {"NODE_OPTIONS": "--require ./run.js"}}'; }
t_a_script_that_gives_a_variable() { script_counts token.sh '{"command": "node", "env": {"A": "!./token.sh a"}}'; }
t_a_script_that_gives_a_header() { script_counts token.sh '{"url": "http://127.0.0.1:1/", "headers": {"A": "!./token.sh"}}'; }
t_a_script_in_a_path_of_its_own() { script_counts bin/npx '{"command": "npx", "env": {"PATH": "./bin:/usr/bin"}}'; }
t_a_file_of_variables() { script_counts .env '{"command": "node", "envFile": ".env"}'; }
t_codex_starts_at_its_file() { # where its relative commands begin
	mkdir .codex && echo 1 >.codex/run.sh && printf '[mcp_servers.one]\ncommand = "./run.sh"\n' >.codex/config.toml && approve one &&
		state one ready && echo 2 >.codex/run.sh && state one needs-approval
}
t_a_link_that_is_turned() {
	echo 1 >a.js && ln -s a.js run.js && echo 2 >b.js && put one '{"command": "node", "args": ["run.js"]}' && approve one &&
		ln -sf b.js run.js && state one needs-approval && ln -sf a.js run.js && state one ready &&
		echo 1 >../outside.js && ln -sf ../outside.js run.js && state one needs-approval
}
# attack-S6, attack-S7: a file that is run is covered, in whatever way it is named; changed, it is not started.
server() { # FILE...: each notes that it ran, and is a server
	for file in "$@"; do
		mkdir -p "$(dirname "$file")" && printf '#!/bin/sh\necho "%s" >>"%s/ran"\nexec "%s"\n' "$file" "$work" "$demo_server" >"$file" &&
			chmod +x "$file" || return 1
	done
}
ran() { [ "$(wc -l <"$work/ran")" -eq "$1" ] || { echo "it ran $(wc -l <"$work/ran") times and not $1"; return 1; }; }
stops() { # FILE JSON: approved it runs; with another content of the file it does not
	put one "$2" && approve one && run 0 test one && ran 1 && echo '# changed' >>"$1" && run 7 test one && says err 'approv' && ran 1
}
t_a_default_in_a_folder() { server sub/run.sh && stops sub/run.sh '{"command": "./run.sh", "cwd": "${NOPE:-sub}"}'; }
t_a_default_within_a_word() { server server.sh && stops server.sh '{"command": "./ser${NOPE:-ver}.sh"}'; }
t_a_folder_behind_eight_others() {
	mkdir d1 d2 d3 d4 d5 d6 d7 d8 && server d9/go.sh &&
		stops d9/go.sh '{"command": "sh", "args": ["-c", "ls d1 d2 d3 d4 d5 d6 d7 d8 >&2; cd d9 && exec ./go.sh"]}'
}
t_a_quoted_blank() { server 'serv er.sh' && stops 'serv er.sh' "{\"command\": \"sh\", \"args\": [\"-c\", \"exec './serv er.sh'\"]}"; }
t_a_link_between_two_covered_files() {
	server a.sh b.sh && ln -s a.sh link && put one '{"command": "sh", "args": ["-c", "true a.sh b.sh; exec ./link"]}' && approve one &&
		says out 'link  -> a.sh' && run 0 test one && ran 1 && ln -sf b.sh link && run 7 test one && ran 1
}
t_a_program_of_the_project_in_the_path() {
	server bin/myserver && put one '{"command": "myserver"}' && approve one &&
		(PATH="$project/bin:$PATH" && export PATH && run 7 test one) && says err 'bin/myserver, a file of the project that its approval does not cover' \
		'mcpool trust one' && [ ! -e "$work/ran" ] && put one '{"command": "./bin/myserver"}' && approve one && run 0 test one && ran 1
}
t_a_variable_that_leads_elsewhere() {
	server server.sh other.sh && put one '{"command": "./${WHICH:-server}.sh"}' && approve one && run 0 test one && ran 1 &&
		WHICH=other run 7 test one && says err 'other.sh, a file of the project that its approval does not cover' && ran 1
}
t_a_file_that_an_env_file_names() {
	server server.sh && echo 'true' >evil.sh && echo "BASH_ENV=$project/evil.sh" >.env && put one '{"command": "./server.sh", "envFile": ".env"}' &&
		answered 7 '' -- trust && says out "BASH_ENV = \"$project/evil.sh\"  <- decides what code runs" 'evil.sh  ' &&
		stops evil.sh '{"command": "./server.sh", "envFile": ".env"}'
}
t_an_env_file_of_the_user_is_shown() { # attack-S7
	echo 'NODE_OPTIONS=--require x' >"$HOME/x.env" && mkdir -p "$HOME/.cursor" &&
		for path in x.env '~/x.env' "$HOME/x.env"; do
			echo "{\"mcpServers\": {\"one\": {\"command\": \"true\", \"envFile\": \"$path\"}}}" >"$HOME/.cursor/mcp.json" &&
				run 7 trust one && says out 'NODE_OPTIONS = "--require x"  <- decides' || { echo "as $path"; return 1; }
		done
}
t_what_is_not_covered_is_said() {
	mkdir data && echo '{"scripts": {"start": "./run.sh"}}' >package.json && echo 'exit 0' >run.sh && put one '{"command": "npm", "args": ["start", "data"]}' &&
		answered 7 '' -- trust && says out "may read      everything in $project, which may change" 'everything in data' 'package.json' 'run.sh' \
		'trusts        all of the project: npm runs what its files say' && approve one && state one ready && echo 'exit 1' >run.sh &&
		state one needs-approval && run 7 trust --json && json 'd.waiting[0].folders.join() === ".,data" && d.waiting[0].runners.join() === "npm"'
}
t_a_name_that_looks_like_two_lines() {
	odd=$(printf 'a.js\t0123\nb.js') && echo 1 >"$odd" && ln -s "$odd" run.js && put one '{"command": "node", "args": ["run.js"]}' &&
		run 3 trust one --yes && says err 'line break'
}
t_files_without_end_cannot_be_approved() {
	mkfifo pipe && truncate -s 300M large && put one '{"command": "cat", "args": ["pipe"]}, "two": {"command": "cat", "args": ["large"]}' &&
		run 3 trust one --yes && says err pipe && run 3 trust two --yes && says err large
}

# Places.
t_a_copy_of_the_project_asks_again() { # U4
	put one '{"command": "true"}' && approve one && cp -a "$project" "$work/copy" && cd "$work/copy" && state one needs-approval
}
t_a_link_to_a_trusted_file_asks_again() { # U4
	put one '{"command": "./run.sh"}' && approve one && mkdir "$work/evil" && cd "$work/evil" && ln -s ../project/.mcp.json . &&
		echo 'touch pwned' >run.sh && state one needs-approval && rm .mcp.json && cd .. && rmdir evil 2>/dev/null
	mkdir -p "$work/evil2" && ln -s "$project" "$work/evil2/.claude" && ln -s .mcp.json "$project/mcp.json" && cd "$work/evil2" &&
		state one needs-approval
}
t_git_pointers_lead_nowhere() {
	mkdir .git && put one '{"command": "true"}' && approve one && mkdir -p "$work/evil/.git" "$work/evil/sub" && cd "$work/evil" &&
		cp "$project/.mcp.json" . && echo "$project/.git" >.git/commondir && state one needs-approval &&
		cp .mcp.json sub && echo "gitdir: $project/.git" >sub/.git && cd sub && state one needs-approval
}
t_a_repository_in_a_trusted_one() {
	mkdir .git sub && put one '{"command": "true"}' && approve one && mkdir sub/.git && cp .mcp.json sub && cd sub &&
		state one needs-approval
}
t_from_a_folder_below_it_is_the_same() {
	mkdir -p .git a/b && put one '{"command": "true"}' && approve one && cd a/b && state one ready
}
t_through_a_link_it_is_the_same_project() {
	put one '{"command": "true"}' && approve one && ln -s "$project" "$work/link" && cd "$work/link" && state one ready
}
t_another_file_of_the_project_asks_again() {
	put one '{"command": "true"}' && approve one && mv .mcp.json mcp.json && state one needs-approval
}
t_an_unapproved_one_takes_no_name_away() {
	mkdir -p "$HOME/.cursor" && echo '{"mcpServers": {"one": {"command": "true"}}}' >"$HOME/.cursor/mcp.json" && approve one &&
		put one '{"command": "false"}' && mkdir .omp && mv .mcp.json .omp/mcp.json && state one ready && run 0 list --json &&
		json 'd.servers[0].source.level === "user"' && run 7 trust && says out '"false"' 'the one you approved' &&
		approve one && run 0 list --json && json 'd.servers[0].source.level === "project"'
}

# Taking it back, and the store.
t_untrust() {
	put one '{"command": "true"}, "two": {"command": "true", "args": ["2"]}' && approve && run 0 untrust one && state one needs-approval &&
		state two ready && run 9 untrust one && says err 'not approved' && run 0 untrust --all --json && json 'd.untrusted.join() === "two"' &&
		state two needs-approval && run 2 untrust && run 2 untrust one --all
}
t_untrust_leaves_other_projects_alone() {
	put one '{"command": "true"}' && approve && mkdir "$work/other" && cp .mcp.json "$work/other" && cd "$work/other" && approve &&
		run 0 untrust --all && state one needs-approval && cd "$project" && state one ready
}
t_list() {
	put one '{"command": "true"}' && approve one && put two '{"command": "true"}' && approve two && run 0 trust list --json &&
		json 'd.approved.map((a) => a.name).join() === "two,one" && d.approved[0].root === d.approved[1].root' &&
		json 'd.approved[0].how === "trust" && d.approved[0].id.length === 64 && d.files.length === 0' && run 0 trust list &&
		says out one two .mcp.json
}
user_file() { mkdir -p "$XDG_CONFIG_HOME/mcpool" && echo "$1" >"$XDG_CONFIG_HOME/mcpool/mcp.json"; }
t_the_user_file_as_a_whole() {
	user_file '{"mcpServers": {"one": {"command": "true"}}}' && state one needs-approval && run 7 trust --user-file &&
		answered 7 '' -- trust --user-file && says out mcpool/mcp.json 'without a question' && state one needs-approval &&
		answered 0 y -- trust --user-file && state one ready && user_file '{"mcpServers": {"one": {"command": "false"}}}' && state one ready &&
		run 0 trust list && says out 'as a whole' && run 9 untrust one && says err 'untrust --user-file' && run 0 untrust --user-file &&
		state one needs-approval && run 9 untrust --user-file
}
# U4 X29: said by a person at a terminal, shown by status, and taken back. What an agent names stays unapproved.
t_all_projects() {
	put one '{"command": "true"}' && echo '{"mcpServers": {"asked": {"command": "true"}}}' >asked.json && run 2 trust --projects sometimes &&
		run 2 trust --projects always one && run 7 trust --projects always --yes && says err 'said by a person' && state one needs-approval &&
		answered 7 '' -- trust --projects always && state one needs-approval && answered 0 y -- trust --projects always &&
		says out 'A cloned repository can then run its code as you' && state one ready && put one '{"command": "false"}' && state one ready && in_every_profile ready &&
		run 0 status && says err 'servers of every project start without your approval; `mcpool trust --projects ask` ends that' &&
		run 0 trust list && says out 'servers of every project' && run 9 untrust one && says err 'mcpool trust --projects ask' &&
		run 7 trust --config asked.json && says out asked && run 0 trust --projects ask && state one needs-approval && in_every_profile needs-approval &&
		run 0 status && silent_on err --projects && run 0 trust list && silent_on out project
}
in_every_profile() { # STATE, of the project's server
	for profile in default omp claude netdata; do
		user_file "{\"mcpool\": {\"profile\": \"$profile\"}}" && run '0|3' list --json && says out "\"name\":\"one\",\"state\":\"$1\"" && run 0 config show one && { [ $profile = default ] || says out "profile $profile"; } || return 1
	done
	user_file '{}'
}
# U4 X29: in whichever file it stands.
t_no_file_trusts_projects() {
	put one '{"command": "true"}' && user_file '{"mcpool": {"projectTrust": "always"}}' && state one needs-approval && run 0 list &&
		says err '"projectTrust" is ignored, because no file can approve servers' && user_file '{}' && mkdir .mcpool &&
		echo '{"mcpool": {"projectTrust": "always"}}' >.mcpool/mcp.json && state one needs-approval && run 0 trust '[settings]' --yes &&
		state one needs-approval && run 0 list && says err '"projectTrust" is ignored'
}
t_a_link_to_the_trusted_user_file_is_not_it() { # its words would be taken from the project's folder
	user_file '{"mcpServers": {"one": {"command": "./run.sh"}}}' && run 0 trust --user-file --yes && state one ready &&
		echo 'touch pwned' >run.sh && ln -s "$XDG_CONFIG_HOME/mcpool/mcp.json" .mcp.json && mkdir .mcpool &&
		ln -s "$XDG_CONFIG_HOME/mcpool/mcp.json" .mcpool/mcp.json && run 0 list --all --json &&
		json 'd.servers.every((s) => s.state !== "ready" || s.source.level === "user") && d.servers.length === 3'
}
t_settings_of_a_project() {
	mkdir .mcpool && echo '{"mcpServers": {"one": {"command": "true"}}, "mcpool": {"deny": ["one"]}}' >.mcpool/mcp.json &&
		state one needs-approval && run 0 list && says err 'settings of a project need your approval' && answered 7 '' -- trust '[settings]' &&
		says out '{"deny":["one"]}' && state one needs-approval && run 0 trust '[settings]' --yes && state one disabled &&
		echo '{"mcpServers": {"one": {"command": "true"}}, "mcpool": {"deny": []}}' >.mcpool/mcp.json && state one needs-approval &&
		run 7 trust '[settings]' && says out 'deny is changed' '["one"]' '[]' && run 0 untrust '[settings]'
}
t_settings_with_a_key_twice_cost_nothing_else() {
	put one '{"command": "true"}' && mkdir .mcpool && echo '{"mcpool": {"a": 1, "a": 2}}' >.mcpool/mcp.json && run 0 list &&
		says out one && says err 'occurs twice'
}
t_approvals_survive() {
	put one '{"command": "true"}' && approve one && cp -a "$HOME" "$work/kept" && rm -rf "$HOME" && state one needs-approval &&
		rm -rf "$HOME" && mv "$work/kept" "$HOME" && state one ready
}
t_a_broken_store_approves_nothing() { # U4
	put one '{"command": "true"}' && approve one && db=$XDG_STATE_HOME/mcpool/mcpool.db &&
		rm -f "$db-wal" "$db-shm" && head -c 8192 /dev/urandom >"$db" && run '0|3' list && says out needs-approval &&
		says err mcpool.db 'nothing counts as approved' && run 3 trust --yes && says err 'nothing can be approved' && run 7 test one &&
		[ "$(stat -c %s "$db")" -eq 8192 ]
}
t_a_store_that_cannot_be_opened_approves_nothing() {
	put one '{"command": "true"}' && approve one && db=$XDG_STATE_HOME/mcpool/mcpool.db && rm -f "$db"* && mkdir "$db" &&
		run '0|3' list && says out needs-approval && says err 'nothing counts as approved' && run 3 trust one --yes && run 7 test one
}

run_cases "$@"
