# test_explain.sh - `mcpool explain`: a page for each code that an error can have, and mcpool-errors(7) with the same text.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=explain
. tests/servers/lib.sh

codes=$(sed -n 's/^\tX([A-Z_]*, [0-9]*, [-0-9]*, "\([a-z_]*\)".*/\1/p' include/mcpool/error.h)

t_every_code_has_a_page() {
	[ "$(echo "$codes" | wc -l)" -ge 26 ] || { echo "only $(echo "$codes" | wc -l) codes were found"; return 1; }
	for word in $codes; do
		run 0 explain "$word" && says out "$word (" 'Usual causes' && grep -q '^  - ' "$work/out" && grep -q '^      ' "$work/out" || return 1
	done
}
t_by_word_number_or_name() {
	for word in mcp_unavailable unavailable 1005 MCPOOL_EUNAVAILABLE MCP_Unavailable; do
		run 0 explain "$word" && says out 'mcp_unavailable (1005): the server could not be started' || return 1
	done
}
t_listed() { run 0 explain && for word in $codes; do says out "$word" || return 1; done; }
t_json() {
	run 0 explain mcp_timeout --json && json 'd.codes.length === 1 && d.codes[0].code === "mcp_timeout" && d.codes[0].number === 1004 && d.codes[0].causes.length > 1' &&
		run 0 explain --json && json "d.codes.length === $(echo "$codes" | wc -l)"
}
t_an_unknown_one() { run 9 explain mcp_timeuot && says err "Did you mean 'mcp_timeout'" && run 9 explain 1999 && run 9 explain '' && run 2 explain a b; }
# A failed call names its code, and the page is there.
t_the_code_of_a_failed_call() {
	run 4 call x -- sh -c 'exit 3' && word=$(sed -n 's/^  code: *[0-9]* \(mcp_[a-z_]*\)$/\1/p' "$work/err") && [ -n "$word" ] && run 0 explain "$word"
}
# U33
t_verbs_of_the_manual() {
	sed 's/\\-/-/g' doc/mcpool.1 >"$work/manual"
	for verb in add add-json edit remove list get test connect import trust untrust enable disable login reauth logout unauth reload reconnect \
		status logs config secret token serve up down stdio explain doctor completion events wait tools call $(sed -n '/^\.TP$/{n;s/^\.B \([a-z][a-z-][a-z-]*\)\(\\fR.*\)\{0,1\}$/\1/p}' doc/mcpool.1); do
		grep -qE "^\.B[IR]? (.*[ \"])?$verb([ \",]|$)" "$work/manual" || { echo "$verb is not in the manual"; return 1; }
		run 0 "$verb" --help && says out "usage: mcpool $verb" || { echo "$verb"; return 1; }
	done
}
t_the_manual_page_is_current() {
	run 0 manual-of-errors && cmp "$work/out" doc/mcpool-errors.7 || { echo 'run tools/write-manual'; return 1; }
	run 0 manual-of-verbs && tools/write-manual --verbs "$work/out" | cmp - doc/mcpool.1 || { echo 'run tools/write-manual'; return 1; }
	! command -v man >/dev/null || ! man --warnings -E UTF-8 -l -Tutf8 -Z doc/mcpool-errors.7 doc/mcpool.1 2>&1 >/dev/null | grep . || return 1
}

run_cases "$@"
