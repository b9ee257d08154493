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
for library in libuv sqlite openssl curl wslay llhttp glibc; do
	check version_shows_$library grep -qE "^$library [0-9]+\.[0-9]+" "$work/out"
done
check version_of_loaded_libraries run 0 version --libraries
for library in libuv sqlite openssl curl wslay llhttp glibc; do
	check version_loaded_$library grep -qE "^$library [0-9]+\.[0-9]+" "$work/out"
done
check help run 0 --help
cp "$work/out" "$work/help"
check help_lists_verbs grep -q -- '--version' "$work/out"
check unknown_verb_is_usage run 2 frobnicate
check unknown_verb_is_named grep -q "no verb 'frobnicate'.*--help" "$work/err"
check unknown_verb_prints_nothing_on_stdout test ! -s "$work/out"
# use-A18, use-P11: help of one verb, verbs that other programs have, typing errors; groups, and [OPTIONS] in usage lines
check help_groups_verbs grep -q '^Servers:' "$work/help"
check help_has_no_alias_line sh -c "! grep -q '^  rm ' $work/help"
check help_of_a_verb run 0 help add
check help_of_a_verb_says_usage grep -q '^usage: mcpool add \[OPTIONS\]' "$work/out"
check help_of_an_alias run 0 help rm
check help_of_nothing run 2 help frobnicate
for pair in ls:list lst:list log:logs restart:reconnect stop:down start:up -V:--version tool:tools; do
	check "verb_${pair%:*}_is_usage" run 2 "${pair%:*}"
	check "verb_${pair%:*}_leads_to_${pair#*:}" grep -q -- "${pair#*:}" "$work/err"
done
check arguments_too_many_is_usage run 2 --version please
check man_page_has_the_exit_codes grep -q 'usage' doc/mcpool.1
# use-A11, use-P13: the manual has HTTP and examples, fits 80 columns, and has nothing that cannot be laid out
for page in doc/mcpool.1 doc/mcpool-config.5; do
	check "${page#doc/}_has_examples" grep -q '^\.SH EXAMPLES' $page
	check "${page#doc/}_fits_a_terminal" awk '/^\.nf/ { n = 1 } /^\.fi/ { n = 0 } n && !/^\\./ && length > 84 { print; bad = 1 } END { exit bad }' $page
done
for word in '\-\-http' '\-\-no\-token' '\-\-background' /mcp /sse /ws 'Authorization: Bearer'; do
	check "manual_has_$word" grep -qF -- "$word" doc/mcpool.1
done
exit $bad
