# test_program.sh - the program as a user starts it: what it says, and its exit codes.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=cli
. tests/lib.sh
mcpool=build/mcpool

run() { # EXIT CODE, then the arguments of mcpool
	wanted=$1
	shift
	$mcpool "$@" >"$work/out" 2>"$work/err"
	[ $? -eq "$wanted" ]
}
version=$(sed -n "s/^[[:space:]]*version: '\(.*\)',/\1/p" meson.build | head -1)

check overview_without_a_verb run 0
check overview_says_what_it_is grep -q 'pgbouncer for MCP servers' "$work/out"
check overview_names_the_next_step grep -q 'mcpool --help' "$work/out"
check version run 0 --version
check version_is_the_projects grep -qx "mcpool $version" "$work/out"
check version_shows_libuv grep -qE '^libuv [0-9]+\.[0-9]+' "$work/out"
check help run 0 --help
check help_lists_verbs grep -q -- '--version' "$work/out"
check unknown_verb_is_usage run 2 frobnicate
check unknown_verb_is_named grep -q "no verb 'frobnicate'.*--help" "$work/err"
check unknown_verb_prints_nothing_on_stdout test ! -s "$work/out"
check arguments_too_many_is_usage run 2 --version please
check man_page_has_the_exit_codes grep -q 'usage' doc/mcpool.1
exit $bad
