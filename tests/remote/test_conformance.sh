# test_conformance.sh - the client scenarios of the public conformance suite, against build/conformance-client,
# which is the hub's client code with a list of calls and a browser whose user agrees to everything.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=conformance
. tests/remote/lib.sh
suite="$npm/conformance/dist/index.js"

# judged VERSION SCENARIO: the suite's verdict; what went wrong is in its own words
judged() {
	MCPOOL_TEST_MARK="$work" timeout -k 2 60 "$node" "$suite" client --command "$bin/conformance-client" \
		--scenario "$2" --spec-version "$1" -o "$work/suite" >"$work/out" 2>&1 </dev/null
	code=$?
	[ $code -eq 0 ] && nothing_left && return
	grep -hE 'FAIL|✗|rror' "$work/out" | head -n 5
	cat "$work"/suite/*/stderr.txt 2>/dev/null | head -n 3
	return 1
}

t_initialize() { judged 2025-11-25 initialize; }
t_tools_call_legacy() { judged 2025-11-25 tools_call; }
t_elicitation_defaults() { judged 2025-11-25 elicitation-sep1034-client-defaults; }
t_sse_retry() { judged 2025-11-25 sse-retry; }
t_schema_is_kept_legacy() { judged 2025-11-25 json-schema-2020-12-preservation; }
t_tools_call() { judged 2026-07-28 tools_call; }
t_request_metadata() { judged 2026-07-28 request-metadata; }
t_request_state() { judged 2026-07-28 sep-2322-client-request-state; }
t_standard_headers() { judged 2026-07-28 http-standard-headers; }
t_custom_headers() { judged 2026-07-28 http-custom-headers; }
t_invalid_tool_headers() { judged 2026-07-28 http-invalid-tool-headers; }
t_no_reference_is_fetched() { judged 2026-07-28 json-schema-ref-no-deref; }
t_schema_is_kept() { judged 2026-07-28 json-schema-2020-12-preservation; }

# all HOW_MANY ARGUMENTS...: every scenario of a set passes, also those that are not scored, and there are so many
all() {
	n=$1
	shift
	MCPOOL_TEST_MARK="$work" timeout -k 2 120 "$node" "$suite" client --command "$bin/conformance-client" "$@" \
		-o "$work/suite" >"$work/out" 2>&1 </dev/null
	code=$?
	sed -n '/SUITE SUMMARY/,/^Total/p' "$work/out" | grep -E '^[✓✗]' >"$work/verdicts"
	[ $code -eq 0 ] && [ "$(grep -c '^✓' "$work/verdicts")" -eq "$n" ] && ! grep '^✗' "$work/verdicts" && nothing_left && return
	echo "exit $code, $(grep -c '^✓' "$work/verdicts") of $n scenarios passed"
	return 1
}
t_all_of_2025_11_25() { all 25 --requirements 2025-11-25; }
t_all_of_2026_07_28() { all 39 --requirements 2026-07-28; }
t_logins_of_2025_03_26() { all 2 --suite backcompat; }
t_logins_of_extensions() { all 6 --suite extensions; }

run_cases "$@"
