# test_edit.sh - `mcpool edit` and `set`: what changes, what stays, what is refused, and who stays approved.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=edit
. tests/servers/lib.sh
. tests/own.sh

given() { # a file with comments, approved
	mkdir -p "$(dirname "$user")" && cat >"$user" <<-'END' && here 0 trust --all --yes
		{
		  // mine
		  "mcpServers": {
		    "files": { // the notes
		      "command": "npx", "args": ["-y", "old"],
		      "env": {"A": "1" /* one */},
		      "timeout": 5000, // slow disk
		    },
		    "web": {"type": "http", "url": "https://example.com/mcp", "headers": {"X-A": "a"}},
		  },
		}
	END
}
refused() { # WANTED WORDS ARGUMENTS...: nothing changes, to the byte
	wanted=$1 words=$2
	shift 2
	cp "$user" "$work/before" && here "$wanted" "$@" && says err "$words" && same "$work/before" "$user"
}

# B10: an entry is validated when it is changed, too; all else stays.
t_keys_change_and_comments_stay() {
	given && here 0 edit files timeout=7000 restart.mode=once 'toolsAllowed:=["a*"]' && says out "Changed \"files\" in $user" && silent_on err mcpool &&
		is "$user" 'd.mcpServers.files.timeout === 7000 && d.mcpServers.files.restart.mode === "once" && d.mcpServers.files.toolsAllowed[0] === "a*"' &&
		is "$user" 'd.mcpServers.files.command === "npx" && d.mcpServers.files.env.A === "1" && d.mcpServers.web.url === "https://example.com/mcp"' &&
		says_file // mine && says_file '// the notes' && says_file '/* one */' && says_file '// slow disk' &&
		here 0 set files --unset restart --unset timeout --env B=2 -- node srv.js x && is "$user" '!("restart" in d.mcpServers.files) && !("timeout" in d.mcpServers.files)' &&
		is "$user" 'd.mcpServers.files.command === "node" && d.mcpServers.files.args.join() === "srv.js,x" && d.mcpServers.files.env.A === "1" && d.mcpServers.files.env.B === "2"' &&
		here 0 edit web --header 'X-B: b' --token-env TOK && is "$user" 'd.mcpServers.web.headers["X-A"] === "a" && d.mcpServers.web.headers["X-B"] === "b"' &&
		is "$user" 'd.mcpServers.web.headers.Authorization === "Bearer ${TOK}"' && here 0 edit web enabled=false --json && json 'd.changed.name === "web" && d.changed.state === "disabled"'
}
says_file() { grep -qF -- "$*" "$user" || { echo "'$*' is gone from $user"; return 1; }; }

t_a_command_and_an_address_take_turns() {
	given && here 0 edit files --unset env --url https://example.org/x && is "$user" 'd.mcpServers.files.url === "https://example.org/x" && !("command" in d.mcpServers.files) && !("args" in d.mcpServers.files)' &&
		here 0 edit web --unset headers -- cmd a && is "$user" 'd.mcpServers.web.command === "cmd" && !("url" in d.mcpServers.web) && d.mcpServers.web.type === "stdio"'
}

# B10 B61
t_bad_values_leave_the_file_alone() {
	given && refused 3 'Invalid server config: Server "web": "url" must begin with http' edit web url=ftp://a.example.com &&
		refused 3 'Invalid server config: Server "files": unknown server type "pigeon"' edit files type=pigeon &&
		refused 3 'Invalid server config' edit files --unset command &&
		refused 3 'Invalid server config: Server "files": both "command" and "url"' edit files url=https://example.com timeout=1 &&
		refused 3 'Invalid server config' set web url:=5 &&
		refused 9 'has no "nothing"' edit files timeout=1 --unset nothing &&
		refused 2 'NAME=VALUE' edit files --env A && refused 2 'there is no terminal to ask on: `mcpool edit NAME KEY=VALUE`' edit files &&
		refused 2 'either --url or --' edit files --url https://example.com -- x && refused 2 'There is no command behind --' edit files -- &&
		refused 9 'nobody' edit nobody a=1 && refused 2 'say --project or --user' edit files --user --project a=1
}
t_nothing_to_change() {
	given && cp "$user" "$work/before" && here 0 edit files timeout=5000 && says out 'is like that already' && same "$work/before" "$user"
}
t_files_of_others_are_never_changed() {
	given && printf '{"mcpServers":{"theirs":{"command":"x"}}}' >"$project/.mcp.json" && cp "$project/.mcp.json" "$work/theirs" &&
		here 3 edit theirs command=y && says err 'which mcpool never changes' && same "$work/theirs" "$project/.mcp.json"
}

# B10 U4: what was approved stays so; an entry that came with a project does not become approved by a change to it.
t_approval_stays_and_is_not_given() {
	given && here 0 edit files timeout=9000 && here 0 get files --json && json 'd.state === "ready"' &&
		here 0 edit files -- true && silent_on out 'waits for your approval' && here 0 get files --json && json 'd.state === "ready"' &&
		mkdir -p "$project/.mcpool" && printf '{"mcpServers":{"evil":{"command":"rm"}}}' >"$own" &&
		here 0 get evil --json && json 'd.state === "needs-approval"' && here 0 edit evil timeout=5 && says out 'waits for your approval: `mcpool trust evil`' &&
		is "$own" 'd.mcpServers.evil.timeout === 5' && here 0 get evil --json && json 'd.state === "needs-approval"'
}

run_cases "$@"
