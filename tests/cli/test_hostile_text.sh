# test_hostile_text.sh - texts that would write to the terminal (tests/servers/hostile_text.mjs), in each place where a verb
# shows them: escaped, whole lines, and in bounded time and memory with names of 1 MB (V40).
set -u
cd "$(dirname "$0")/../.." || exit 1
group=hostile-text
. tests/hub/lib.sh
. tests/terminal.sh
hostile=$PWD/tests/servers/hostile_text.mjs
project=$work/project
export TERM=dumb NO_COLOR=1

entry() { printf '"%s":{"command":"%s","args":["%s","%s"]}' "$1" "$node" "$hostile" "${2:-}"; }
# evil FOR: a text as JSON has it
evil() { printf '%s\\u001b[35;45m\\u001b]52;c;x\\u0007\\u009b35m\\u202eesrever\\u2066\\u2069\\u007f\\u0008end' "$1"; }

# only_text FILE: no control or bidirectional character but the line ends of a terminal and the erased progress line
only_text() {
	tr -d '\000' <"$1" | cmp -s - "$1" || { echo "NUL in $1"; return 1; }
	iconv -f UTF-8 -t UTF-8 "$1" >/dev/null || { echo "$1 is not UTF-8"; return 1; }
	sed 's/\r*$//; s/\r\x1b\[K//g' "$1" |
		grep -aP '[\x00-\x08\x0b-\x1f\x7f]|[\x{80}-\x{9f}\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}\x{e0041}]' |
		cut -c 1-300 | cat -v | head -3 >"$work/wrong"
	[ ! -s "$work/wrong" ] || { echo "not escaped: $(cat "$work/wrong")"; return 1; }
}
# shown WORDS ARGUMENTS...: mcpool with these on a terminal says all WORDS, and nothing of it is obeyed
shown() {
	words=$1
	shift
	MCPOOL_TEST_MARK="$work" timeout -k 2 20 script -qec "'$mcpool' --plain $*" /dev/null >"$work/out" 2>&1 </dev/null
	case $? in
	124 | 137) echo "$*: does not end"; return 1 ;;
	esac
	only_text "$work/out" || { echo "by: $*"; return 1; }
	[ "$(wc -c <"$work/out")" -le "${most:-20000}" ] || { echo "$*: $(wc -c <"$work/out") bytes"; return 1; }
	for word in $words; do
		grep -qF -- "$word" "$work/out" || { echo "$*: no '$word': $(head -c 600 "$work/out")"; return 1; }
	done
}
all_shown() { # VERB...: each, with any words
	for verb in "$@"; do
		shown '' "$verb" || return 1
	done
}
# A marker and what directly follows it, escaped.
e='\x1b[35;45m'

# V40
t_one_server() {
	set -- -- "$node" "$hostile"
	shown "T-name$e T-text" tools "$@" && shown 'S-key\u001b S-hint\u001b' tools --schema plain "$@" &&
		shown "R-uri$e R-template$e" resources "$@" && shown "P-name$e" prompts "$@" && shown "R-content$e" read evil://x "$@" &&
		shown "C-text$e" call plain "$@" && shown "C-text$e" call plain error:=true "$@" && shown "F-text$e" call fail "$@" &&
		shown "E-call$e" call die "$@" && shown 'T-name\u001b' tools --json "$@" && shown 'C-text\u001b' call plain --json "$@" &&
		shown 'F-text\u001b' call fail --json "$@" && shown no-such-tool call no-such-tool "$@"
}

t_one_server_with_names_of_a_megabyte() { # shown once each at most, in names that are never cut
	set -- -- "$node" "$hostile" big
	most=30000000
	shown 'T-text' tools "$@" && shown S-key tools --schema plain "$@" && shown R-uri resources "$@" && shown P-name prompts "$@" &&
		most=5000000 && shown C-text call plain "$@" && most=40000 && shown F-text call fail "$@" && shown E-call call die "$@" && shown no-such-tool call no-such-tool "$@"
}
t_a_form() {
	for size in '' big; do
		MCPOOL_TEST_MARK="$work" timeout -k 2 30 "$(dirname "$mcpool")/tests/pty" '>=Ada' 'Send this?=y' -- "$mcpool" call plain form:=true --plain -- "$node" "$hostile" $size >"$work/out"
		exits 0 $? && only_text "$work/out" && says out "Q-text$e" "S-key$e" "S-hint$e" "S-default" || return 1
	done
}

# V40: what a project brings: names, commands and environments of its entries.
t_a_project() {
	mkdir -p "$project/.git"
	{
		printf '{"mcpServers":{"%s":{"command":"true"},"%s":{"command":"true"},' "$(evil N-name)" "$(head -c 1048000 /dev/zero | tr '\0' n | head -c 900000)"
		printf '"good":{"command":"%s","args":["%s"],"env":{"%s":"%s"}},' "$(evil N-command)" "$(evil N-arg)" "$(evil N-key)" "$(evil N-value)"
		printf '"far":{"url":"http://127.0.0.1:1/%s","headers":{"%s":"%s"}}}}' "$(evil N-path)" "$(evil N-header)" "$(evil N-value)"
	} >"$project/.mcp.json"
	raw=$(printf 'X\033[35;45m\302\2335m\342\200\256\007end')
	cd "$project" && most=40000 &&
		all_shown '' status 'status good' 'get far' 'test good' doctor 'doctor good' 'config path' tools 'list --json' 'status --json' 'remove --dry-run good' &&
		shown "N-name$e" list && shown 'N-command\x1b' get good && asked_for_approval && shown 'X\x1b' get "'$raw'" && shown 'X\x1b' test "'$raw'" && shown 'X\x1b' doctor "'$raw'" &&
		shown 'X\x1b' explain "'$raw'" && shown 'X\x1b' "'$raw'" && shown 'X\x1b' tools "'$raw'" && shown 'X\x1b' call "'$raw'" && shown 'X\x1b' "list '--$raw'" &&
		all_shown "complete -- get ''" "complete -- get N" "complete -- '$raw'" "connect '$raw'" "help '$raw'"
}

asked_for_approval() {
	MCPOOL_TEST_MARK="$work" timeout -k 2 20 "$(dirname "$mcpool")/tests/pty" 'Approve?=n' 'Approve?=n' -- "$mcpool" --plain trust >"$work/out"
	only_text "$work/out" && says out 'N-command\x1b' 'N-arg' 'N-key' 'N-header'
}

# V40: a hub with two such servers and an agent whose name is such a text.
t_a_hub() {
	mkdir -p "$(dirname "$user")"
	printf '{"mcpServers":{%s,%s,%s}}' "$(entry evil)" "$(entry huge big)" \
		"\"broken\":{\"command\":\"sh\",\"args\":[\"-c\",\"printf '$(evil B-text | sed 's/\\u001b/\\\\033/g; s/\\u0007/\\\\007/g; s/\\u[0-9a-f]*//g')\\\\n' >&2; exit 3\"]}" >"$user"
	mkdir -p "$project" && cd "$project" && run 0 trust --user-file --yes && run 0 up && run 0 wait evil huge && run 0 wait broken --for failed || return 1
	agent_comes && shown '' call evil/plain && shown '' call evil/fail && shown '' call huge/fail && most=60000 &&
		all_shown '' status 'status huge' list 'get evil' 'test evil' doctor 'doctor evil' 'doctor broken' events 'logs huge' connect 'status --json' 'status evil --json' 'events --json' \
			'tools evil' 'prompts evil' 'logs evil --json' "complete -- call ''" 'complete -- call evil__' "complete -- prompt ''" "complete -- read ''" &&
		shown "A-name$e" calls && shown 'A-name\u001b' calls --json && shown "E-call$e" logs evil && shown 'L-text\x1b' notifications && shown 'L-text\\x1b' notifications --json && shown 'B-text\x1b' status broken && shown S-title tools evil --schema evil__plain &&
		shown "R-uri$e" resources evil && shown "I-name" status evil && most=30000000 && all_shown tools resources prompts 'tools huge --json' &&
		on_screens && exec 9>&- && finish
}
# Two pictures that go on: their own sequences are not the server's.
on_screens() {
	MCPOOL_TEST_MARK="$work" timeout -k 2 -s INT 1.5 script -qec "'$mcpool' status --watch" /dev/null >"$work/out" 2>&1 </dev/null
	silent_on out "$(printf '\033[35')" "$(printf '\033]')" "$(printf '\302\233')" "$(printf '\342\200\256')" "$(printf '\007')" && says out evil huge || return 1
	open_terminal "$project" 100 40 && types "'$mcpool' top" 'q quit' && shows evil && keys j && keys Enter && shows 'details of' && only_text "$work/out" && keys Escape &&
		keys j && shows '──' && only_text "$work/out" && keys l && shows 'stderr of' && only_text "$work/out" && keys Escape && keys c && shows 'calls of' && only_text "$work/out" && keys Escape &&
		keys Tab && shows 'A-name' && only_text "$work/out" && keys q && tm kill-server
}
agent_comes() {
	mkfifo "$work/agent-in" && : >"$work/agent"
	MCPOOL_TEST_MARK="$work" "$mcpool" stdio <"$work/agent-in" >"$work/agent" 2>&1 &
	exec 9>"$work/agent-in"
	{
		printf '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"%s","title":"%s","version":"1"}}}\n' "$(evil A-name)" "$(evil A-title)"
		printf '{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
		printf '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"evil__plain","arguments":{}}}\n'
	} >&9
	eventually 10 grep -q '"id":2' "$work/agent" || { echo "no answer for the agent: $(head -c 300 "$work/agent")"; return 1; }
}

run_cases "$@"
