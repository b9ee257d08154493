# test_wizard.sh - `mcpool add` and `edit` on a terminal: what is asked, what is asked again, and that only the end of it adds something.
# The terminal is tmux; where it is missing there is a reason instead of a test.
set -u
cd "$(dirname "$0")/../.." || exit 1
exec 3>&1 # for what is left out, and why
group=wizard
. tests/servers/lib.sh
. tests/own.sh
. tests/terminal.sh

again() { # WORDS: they stand there twice
	eventually 10 twice "$1" || { echo "'$1' was not asked again: $(tail -c 700 "$work/out")"; return 1; }
}
twice() { screen && [ "$(grep -cF -- "$1" "$work/out")" -ge 2 ]; }

# A shell in the project, on a terminal of 120 columns.
terminal() {
	command -v tmux >/dev/null || { echo '   there is no tmux: left out' >&3; return 1; }
	open_terminal "$project" || return 2
}
wizard() { # the first question is there
	terminal
	case $? in
	1) exit 0 ;; # left out
	2) return 1 ;;
	esac
	types "'$mcpool' add; echo exit=\$?" 'Name:'
}
to_command() { # NAME: as far as the command
	types "$1" 'Where: user' && types '' 'Transport: stdio (a command)' && types '' 'Command and arguments'
}

# B55 B59
t_a_command() {
	wizard && shows 'Add an MCP server. Ctrl-C ends this, and nothing is added.' && to_command demo &&
		types "'$mcpool' \"demo-server\"" 'Environment variable, NAME=VALUE' && types 'GREETING=two words' && types '' 'Test it now? [y/N]' &&
		types y 'demo: works, 3 tools' && shows "Added stdio server \"demo\" to $user" && shows exit=0 &&
		is "$user" "d.mcpServers.demo.command === '$mcpool' && d.mcpServers.demo.args.join() === 'demo-server' && d.mcpServers.demo.type === 'stdio'" &&
		is "$user" 'd.mcpServers.demo.env.GREETING === "two words"' && here 0 test demo && says out works
}
t_words_as_in_a_shell() {
	wizard && to_command x && types "cmd 'a  b' \"c'd\" e\\ f ~/g '' '~/h' \"\\\"\"" 'Environment variable' && types '' 'Test it now?' && types n 'Added stdio' &&
		is "$user" "JSON.stringify(d.mcpServers.x.args) === JSON.stringify(['a  b', \"c'd\", 'e f', '$HOME/g', '', '~/h', '\"'])"
}
t_wrong_answers_ask_again() {
	wizard && types 'a/b' 'Server name can only contain' && again Name: && types '' && types ok 'Where: user' && types nowhere 'Please type user or project.' &&
		again 'Where: user' && types USER Transport: && types pigeon 'Please type stdio, http, sse or websocket.' && again 'Transport: stdio' &&
		types stdio 'Command and' && types "cmd 'open" 'A quote is not closed.' && again 'Command and' && types cmd 'Environment variable' &&
		types nonsense 'Please type NAME=VALUE, or nothing.' && types '' 'Test it now?' && types 'no, and this is longer than any answer' 'Added stdio server "ok"'
}
t_a_name_that_is_taken() {
	here 0 add mine -- cmd && echo '{"mcpServers":{"theirs":{"command":"c"}}}' >"$HOME/.claude.json" && wizard &&
		types mine 'There is a server of that name already.' && types theirs "It will take the place of \"theirs\" in $HOME/.claude.json." && shows 'Where: user'
}
t_a_url() {
	wizard && types web 'Where: user' && types project Transport: && types http URL: && types ftp://a.example.com 'Variable that holds its token' &&
		types '' 'Invalid server config' && again URL: && types a.example.com/mcp 'That becomes https://a.example.com/mcp' && again 'Variable that holds' && # use-P4
		 types sk-ant-123 'not the token itself' &&
		types NOT_SET_HERE 'NOT_SET_HERE is not set here' && types n "to $own" &&
		is "$own" 'd.mcpServers.web.url === "https://a.example.com/mcp" && d.mcpServers.web.headers.Authorization === "Bearer ${NOT_SET_HERE}"' && [ ! -e "$user" ]
}
t_no_shell_runs_it() { # use-P2
	wizard && to_command x && types 'cat a && echo hi' 'No shell runs it' && types "sh -c 'true && true'" 'Environment variable'
}
t_what_does_not_work() {
	wizard && to_command x && types 'no-such-command-here --x' 'Environment variable' && types '' 'Test it now?' && types y 'was not found in PATH' &&
		shows 'Save it anyway? [y/N]' && types n 'nothing was added' && shows exit=130 && [ ! -e "$user" ]
}
t_what_does_not_work_is_saved_if_one_insists() {
	wizard && to_command x && types 'no-such-command-here' 'Environment variable' && types '' 'Test it now?' && types y 'Save it anyway?' &&
		types y 'Added stdio server "x"' && is "$user" 'd.mcpServers.x'
}
t_the_end_of_the_input() {
	wizard && types x 'Where: user' && keys C-d && shows 'nothing was added' && shows exit=130 && [ ! -e "$user" ]
}
t_interrupted() {
	wizard && to_command x && types cmd 'Environment variable' && keys C-c && sleep 0.5 && types 'echo now=$?' now=130 && [ ! -e "$user" ]
}
t_a_token_is_not_shown() {
	terminal || exit 0
	types "'$mcpool' add x --url https://a.example.com --token -" Token: && types secret-token-1 'Added http server "x"' && ! has secret-token-1 &&
		is "$user" 'd.mcpServers.x.headers.Authorization === "Bearer secret-token-1"' && types clear &&
		types "'$mcpool' add y --url https://b.example.com --token -" Token: && keys C-c && sleep 0.5 && types 'echo see=this; stty -a' see=this &&
		shows ' echo ' && ! grep -q '"y"' "$user"
}

# --- edit NAME: the same questions, with what is there as the default

edits() { # NAME: the first question is there
	here 0 add web --url https://example.com/mcp && here 0 add files --env A=1 -- npx -y old && here 0 set files timeout=5000 restart.mode=once && terminal
	case $? in
	1) exit 0 ;; # left out
	2) return 1 ;;
	esac
	types "'$mcpool' edit $1; echo exit=\$?" 'Transport: stdio, http, sse or websocket'
}
# What is typed changes, what is not stays.
t_edit_changes_what_is_answered() {
	edits files && shows 'websocket [stdio]:' && types '' 'It is now: npx -y old' && types n 'Command and arguments' && types "node 'a b' x" 'Environment variable' &&
		types B=2 && types '' 'Other key' && types 'timeout=7000' && types -restart && types nonsense 'Please type KEY=VALUE, -KEY, or nothing.' && types '' 'Changed "files" in' && shows exit=0 &&
		is "$user" 'd.mcpServers.files.command === "node" && d.mcpServers.files.args.join() === "a b,x" && d.mcpServers.files.timeout === 7000' &&
		is "$user" 'd.mcpServers.files.env.A === "1" && d.mcpServers.files.env.B === "2" && !("restart" in d.mcpServers.files)' &&
		here 0 get files --json && json 'd.state === "ready"'
}
t_edit_with_empty_answers_changes_nothing() {
	edits web && shows '[http]:' && cp "$user" "$work/before" && types '' 'It is now: https://example.com/mcp' && types '' 'Variable that holds its token' && types '' 'Other key' &&
		types '' 'Nothing is to be changed.' && shows exit=0 && same "$work/before" "$user"
}
t_edit_to_another_transport() {
	edits files && types websocket URL: && types ws.example.com/mcp 'That becomes wss://ws.example.com/mcp' && shows 'Variable that holds its token' && types '' 'Other key' &&
		types '' 'Changed "files" in' && is "$user" 'd.mcpServers.files.url === "wss://ws.example.com/mcp" && d.mcpServers.files.type === "websocket" && !("command" in d.mcpServers.files)' &&
		types "'$mcpool' edit web; echo exit=\$?" '[http]:' && types stdio 'Command and arguments' && types 'cmd z' 'Environment variable' && types '' 'Other key' && types '' 'Changed "web" in' &&
		is "$user" 'd.mcpServers.web.command === "cmd" && !("url" in d.mcpServers.web)' && here 0 list --json && json 'd.servers.every((s) => s.state === "ready")'
}
t_edit_refuses_what_is_not_valid() {
	edits files && cp "$user" "$work/before" && types '' 'It is now' && types '' 'Environment variable' && types '' 'Other key' && types type=pigeon && types '' 'exit=3' &&
		shows 'Invalid server config' && same "$work/before" "$user" && types "'$mcpool' edit files; echo exit=\$?" 'Transport' && keys C-d && shows 'nothing was changed' && shows exit=130 && same "$work/before" "$user"
}
t_edit_without_a_terminal() {
	here 0 add files -- cmd && here 2 edit files && says err 'there is no terminal to ask on: `mcpool edit NAME KEY=VALUE` changes a key' && here 9 edit nobody
}

run_cases "$@"
