# test_messages.sh - every verb that a message names exists, so that no advice leads nowhere.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=messages
. tests/lib.sh

# The words behind "mcpool" in all texts of the program; literals that continue on the next line are one.
named() {
	find src '(' -name '*.c' -o -name '*.def' ')' -exec cat {} + | sed -e ':join' -e '/"$/{N;s/"\n[ \t]*"//;tjoin' -e '}' |
		grep -o '"[^"]*"' | grep -oE '(^|[^a-z:/._-])mcpool [a-z][a-z-]*' | sed 's/.*mcpool //' | sort -u
}
verbs() { build/mcpool --help | sed -n 's/^  \([a-z][a-z-]*\).*/\1/p'; }

every_verb_exists() {
	verbs >"$work/verbs" && [ -s "$work/verbs" ] && named >"$work/named" && [ "$(wc -l <"$work/named")" -gt 20 ] || return 1
	for word in $(cat "$work/named"); do
		grep -qx "$word" "$work/verbs" || [ "$word" = help ] || grep -qwF "$word" "$work/prose" || { echo "there is no verb '$word'"; return 1; }
	done
}
# Verbs of sentences about mcpool, not for it.
cat >"$work/prose" <<'END'
again and approval asks did does has is itself knows launcher listens never out runs sealed that there
END
check every_verb_exists every_verb_exists
exit $bad
