# test_secret.sh - `mcpool secret`, and ${secret:NAME} in the entries of servers: the value reaches an approved server
# and is nowhere else: no argument, no log, no file of ours in plain text.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=secret
. tests/servers/lib.sh
. tests/own.sh
pty=$(dirname "$mcpool")/tests/pty
secrets=$XDG_STATE_HOME/mcpool/secrets

# The canary is in a file: what looks for it must not have it among its arguments.
printf 'canary-%s-%s' "$$" "$(od -An -N6 -tx1 /dev/urandom | tr -d ' \n')" >"$work/canary"
save() { # NAME: the canary
	input=$work/canary here 0 secret set "$1"
}
# nowhere FOLDERS...: no file and no command line has it
nowhere() {
	found=$(grep -rlaF -f "$work/canary" "$@" 2>/dev/null; grep -lasF -f "$work/canary" /proc/[0-9]*/cmdline 2>/dev/null)
	[ -z "$found" ] || { echo "the canary is in $found"; return 1; }
}
# A server that writes its TOKEN to a file and to stderr.
server() { printf '{"command": "sh", "args": ["-c", "printf %%s \\"$TOKEN\\" >%s/got; echo \\"my TOKEN is $TOKEN\\" >&2; exec %s"], "env": {"TOKEN": "${secret:%s}"}}' "$work" "$demo_server" "$1"; }
project_has() { printf '{"mcpServers": {"s": %s}}' "$1" >"$project/.mcp.json"; }
got() { cmp -s "$work/got" "$work/canary" || { echo "the server got something else: $(wc -c <"$work/got") bytes"; return 1; }; }
got_nothing() { [ ! -e "$work/got" ] || { echo 'the server was started'; return 1; }; }

# Verbs.
t_saved_listed_and_removed() {
	here 0 secret list && says out 'There are no secrets' && save A.b-2 && says out "Saved A.b-2 in $secrets" '${secret:A.b-2}' &&
		mode 600 "$secrets" && here 0 secret list && says out A.b-2 "$secrets" since && here 0 secret list --json &&
		json "d.secrets.length === 1 && d.secrets[0].name === 'A.b-2' && d.secrets[0].place === '$secrets' && Date.now() - d.secrets[0].savedMs < 600000" &&
		nowhere "$HOME" "$work/out" "$work/err" && here 0 secret rm A.b-2 && here 9 secret rm A.b-2 && says err "there is no secret 'A.b-2'" &&
		[ ! -e "$secrets" ]
}
t_json_of_set_and_rm() {
	input=$work/canary here 0 secret set X --json && json "d.name === 'X' && d.place === '$secrets'" && here 0 secret rm X --json &&
		json "d.name === 'X'" && here 9 secret rm X --json && json 'd.error.data.code === "not_found"'
}
t_the_first_line_of_stdin_is_the_value() {
	{ cat "$work/canary"; printf '\r\nsecond\n'; } >"$work/lines" && input=$work/lines here 0 secret set X &&
		project_has "$(server X)" && here 0 trust s --yes && here 0 tools s && got
}
t_a_value_is_never_an_argument() {
	here 2 secret set X "$(cat "$work/canary")" && says err 'not given as an argument' && nowhere "$work/out" "$work/err" "$HOME" &&
		[ ! -e "$secrets" ]
}
t_odd_input_is_refused() {
	here 2 secret && here 2 secret set && here 2 secret get X && here 2 secret set X && says err 'one line with the value' &&
		for odd in '' 'a b' 'a/b' '../x' 'ä' "$(printf '%0129d' 0)"; do
			input=$work/canary here 2 secret set "$odd" && says err 'letters, digits' || return 1
		done && printf '\n' >"$work/empty" && input=$work/empty here 2 secret set X &&
		printf 'a\0b\n' >"$work/nul" && input=$work/nul here 2 secret set X && [ ! -e "$secrets" ]
}
t_typed_without_echo() {
	[ -x "$pty" ] || { echo "no $pty"; return 1; }
	(cd "$project" && MCPOOL_TEST_MARK="$work" timeout -k 2 60 "$pty" 'Value:=typed-value' -- "$mcpool" secret set X) >"$work/out" 2>"$work/err" </dev/null
	says out 'Value:' 'Saved X in' && silent_on out typed-value && printf typed-value >"$work/canary" && project_has "$(server X)" &&
		here 0 trust s --yes && here 0 tools s && got
}

# Files that are not as they should be.
refused() { # WORDS...: reading and writing fail, and the file stays
	cp -p "$secrets" "$work/before" && here 3 secret list && says err "$@" && input=$work/canary here 3 secret set Y && says err "$@" &&
		here 3 secret rm X && cmp "$secrets" "$work/before"
}
t_others_may_read_it() { save X && chmod 640 "$secrets" && refused 'others may read' 'chmod 600' && mode 640 "$secrets" && chmod 600 "$secrets" && here 0 secret list && says out X; }
flip() { printf "\\$(printf %o $(($(od -An -tu1 -j "$1" -N 1 "$work/good") ^ 1)))"; } # AT: this byte with another bit
t_it_is_damaged() {
	save X && cp "$secrets" "$work/good" && head -c 40 "$work/good" >"$secrets" && refused 'cut off' 'Restore it from a backup' &&
		{ head -c 60 "$work/good"; flip 60; tail -c +62 "$work/good"; } >"$secrets" && refused 'it is damaged, or local.key is not the key' &&
		cp "$work/good" "$secrets" && here 0 secret list && says out X
}
t_the_key_is_another() {
	save X && head -c 32 /dev/zero >"$XDG_STATE_HOME/mcpool/local.key" && refused 'local.key is not the key that sealed it'
}
t_a_passphrase() {
	mkdir -p "$(dirname "$user")" && printf '{"mcpool": {"secrets": {"passphraseCommand": "cat %s/pass"}}}' "$work" >"$user" &&
		echo 'my passphrase' >"$work/pass" && save X && project_has "$(server X)" && here 0 trust s --yes && here 0 tools s && got &&
		echo 'another' >"$work/pass" && refused 'the passphrase is another one' && rm "$work/pass" && refused '"passphraseCommand" failed' &&
		rm "$user" && refused 'is sealed with a passphrase' && nowhere "$HOME"
}

# Servers.
# B34
t_an_approved_server_gets_it_and_nothing_else_does() {
	save X && project_has "$(server X)" && here 0 trust s --yes && cd "$project" && start serve --json && eventually 20 test -s "$work/got" && got &&
		wait_for_line "$XDG_STATE_HOME/mcpool/logs/s.log" 'my TOKEN is' 10 && cd "$tree" && here 0 status --json && here 0 get s --json &&
		nowhere "$HOME" "$project" "$work/out" "$work/err" "$XDG_RUNTIME_DIR" && kill "$mcpool_pid" && ended '0|130|143' 10 && nothing_left 5
}
t_a_project_gets_nothing_without_approval() {
	save X && project_has "$(server X)" && here '0|7' tools && got_nothing && here 7 tools s && got_nothing && here 7 test s && got_nothing &&
		here 7 trust && got_nothing && says out '${secret:X}' && grep -q 'gets secrets *X$' "$work/out" && silent_on out canary && here 0 trust s --yes && here 0 tools s && got &&
		nowhere "$HOME" "$project" "$work/out" "$work/err"
}
t_another_secret_needs_another_approval() {
	save X && save Y && project_has "$(server X)" && here 0 trust s --yes && here 0 tools s && got && rm "$work/got" &&
		project_has "$(server Y)" && here 7 tools s && got_nothing
}
t_a_remote_source_gets_nothing_without_approval() {
	save X && printf '{"mcpServers": {"s": %s}}' "$(server X)" >"$work/source.json" && mkdir -p "$(dirname "$user")" &&
		printf '{"mcpool": {"remote": ["file://%s/source.json"]}}' "$work" >"$user" && here 0 trust --user-file --yes && here '0|7' tools &&
		got_nothing && here 7 tools s && got_nothing && here 0 trust s --yes && here 0 tools s && got
}
t_a_missing_one_says_what_to_do() {
	project_has "$(server NOT.SAVED)" && here 0 trust s --yes && here '3|4|9' tools s && got_nothing &&
		says err "there is no secret 'NOT.SAVED'. Save it: mcpool secret set NOT.SAVED"
}
# B34
t_a_new_value_needs_no_approval() {
	printf old-value >"$work/old" && input=$work/old here 0 secret set X && project_has "$(server X)" && here 0 trust s --yes && here 0 tools s &&
		cmp "$work/got" "$work/old" && save X && here 0 tools s --fresh && got
}
t_a_project_cannot_say_how_secrets_are_opened() {
	save X && mkdir -p "$project/.mcpool" &&
		printf '{"mcpool": {"secrets": {"passphraseCommand": "touch %s/pwned", "keyring": false}}}' "$work" >"$own" &&
		here 0 trust --all --yes && here 0 secret list && says out X && here 0 list --json && says out 'is ignored here; it is read from your own file only' && [ ! -e "$work/pwned" ]
}

# Import.
claude() { printf '{"mcpServers": {"a server": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer %s", "X-Region": "eu"}},
	"b": {"command": "true", "env": {"API_TOKEN": "%s", "LEVEL": "info", "OTHER_TOKEN": "${ELSEWHERE}"}}}}' "$1" "$1" >"$HOME/.claude.json"; }
t_import_moves_tokens() {
	claude "$(cat "$work/canary")" && cp "$HOME/.claude.json" "$work/claude.json" && here 0 import --from claude --yes --secrets && rm "$HOME/.claude.json" &&
		is "$user" 'd.mcpServers["a server"].headers.Authorization === "Bearer ${secret:a_server.Authorization}" && d.mcpServers["a server"].headers["X-Region"] === "eu"' &&
		is "$user" 'd.mcpServers.b.env.API_TOKEN === "${secret:b.API_TOKEN}" && d.mcpServers.b.env.LEVEL === "info" && d.mcpServers.b.env.OTHER_TOKEN === "${ELSEWHERE}"' &&
		nowhere "$HOME" "$work/out" "$work/err" && here 0 secret list --json && json 'd.secrets.map((s) => s.name).sort().join() === "a_server.Authorization,b.API_TOKEN"'
}
t_import_without_it_leaves_them() {
	claude "$(cat "$work/canary")" && here 0 import --from claude --yes && grep -qF -f "$work/canary" "$user" && [ ! -e "$secrets" ] && nowhere "$work/out" "$work/err"
}
t_import_overwrites_no_secret() {
	claude "$(cat "$work/canary")" && printf other-value >"$work/other" && input=$work/other here 0 secret set b.API_TOKEN &&
		here 3 import --from claude --yes --secrets b && says err "another secret 'b.API_TOKEN'" && [ ! -e "$user" ]
}
t_import_asks_at_a_terminal() {
	[ -x "$pty" ] || { echo "no $pty"; return 1; }
	claude "$(cat "$work/canary")"
	(cd "$project" && MCPOOL_TEST_MARK="$work" timeout -k 2 60 "$pty" '[n]:=y' '[n]:=y' -- "$mcpool" import b) >"$work/out" 2>"$work/err" </dev/null
	says out '1 token in plain text' '${secret:b.API_TOKEN}' && is "$user" 'd.mcpServers.b.env.API_TOKEN === "${secret:b.API_TOKEN}"' &&
		nowhere "$work/out" "$user" && here 0 secret list && says out b.API_TOKEN
}

# Doctor.
own_tokens() { # in our own file, with comments, and in another tool's
	mkdir -p "$(dirname "$user")" && printf '{ // mine\n "mcpServers": {\n  "s": {"command": "sh", "args": ["-c", "printf %%s \\"$API_TOKEN\\" >%s/got; exec %s"], "env": {"API_TOKEN": "%s", "LEVEL": "info"}}, // keep\n  "web": {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer %s"}}}}' \
		"$work" "$demo_server" "$(cat "$work/canary")" "$(cat "$work/canary")" >"$user" && chmod 600 "$user"
}
t_doctor_moves_our_tokens() {
	own_tokens && here 0 trust --all --yes && here 3 doctor && says out "s: 1 token in plain text in $user:3" "web: 1 token" 'mcpool doctor --fix' && nowhere "$work/out" "$work/err" &&
		here 3 doctor --json && json 'd.findings.map((f) => f.check).join() === "remote,secrets,secrets" && d.findings.slice(1).every((f) => f.fix === "mcpool doctor --fix" && !f.fixed)' &&
		here 3 doctor --fix && says out fixed && grep -q '// keep' "$user" && nowhere "$HOME" "$work/out" "$work/err" &&
		is "$user" 'd.mcpServers.s.env.API_TOKEN === "${secret:s.API_TOKEN}" && d.mcpServers.s.env.LEVEL === "info" && d.mcpServers.web.headers.Authorization === "Bearer ${secret:web.Authorization}"' &&
		here 3 doctor --all && says out 'no file has a token in plain text' && here 0 list && silent_on out needs-approval && here 0 tools s && got
}
t_doctor_leaves_other_files() {
	claude "$(cat "$work/canary")" && cp "$HOME/.claude.json" "$work/claude.json" && here 3 doctor --fix && says out 'b: 1 token in plain text' 'mcpool import b --secrets' &&
		silent_on out fixed && cmp "$HOME/.claude.json" "$work/claude.json" && [ ! -e "$secrets" ] && nowhere "$work/out" "$work/err"
}
t_doctor_overwrites_no_secret() {
	own_tokens && here 0 trust --all --yes && cp "$user" "$work/before" && printf other-value >"$work/other" && input=$work/other here 0 secret set s.API_TOKEN &&
		input=$work/other here 0 secret set web.Authorization && here 3 doctor --fix && says err "another secret 's.API_TOKEN'" && cmp "$user" "$work/before"
}
t_doctor_takes_nothing_from_a_cloned_project() {
	project_has "$(printf '{"command": "true", "env": {"API_TOKEN": "%s"}}' "$(cat "$work/canary")")" && mkdir -p "$project/.mcpool" && mv "$project/.mcp.json" "$own" &&
		cp "$own" "$work/before" && here 3 doctor --fix && says out 'mcpool trust s, then mcpool doctor --fix' && cmp "$own" "$work/before" && [ ! -e "$secrets" ] &&
		here 0 trust s --yes && here 0 doctor --fix && is "$own" 'd.mcpServers.s.env.API_TOKEN === "${secret:s.API_TOKEN}"' && here 0 trust
}

run_cases "$@"
