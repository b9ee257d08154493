# sanitized.sh - cases that have a server or hostile files behind mcpool once more, with the build that notices
# what is read, freed or lost by mistake (build-asan): it then ends with an exit code that no case wants.
#   sanitized.sh          all of them
#   sanitized.sh --list   how each is run alone, a line each
#   sanitized.sh FILE     that one
# Not here, because others run the same code with sanitizers: import and switch (the parsers in discovery, the writer
# in add), storm (tests/unit/config/test_storm.c), real_servers and remote/conformance (hostile, hostile_http, tools),
# systemd (test_manager.c). Those that take long come first.
set -u
cd "$(dirname "$0")/../.." || exit 1
list() {
	for name in remote/test_hostile_http cli/test_trust hub/test_attacks cli/test_hostile cli/test_hostile_project cli/test_tools cli/test_serve \
		hub/test_hub face/test_tls cli/test_add cli/test_strange_files cli/test_discovery \
		hub/test_bridge pool/test_ledger hub/test_versions cli/test_trial hub/test_tasks pool/test_modes cli/test_kill \
		cli/test_disk hub/test_recursion face/test_http hub/test_crowd cli/test_wizard; do
		echo "tests/$name.sh"
	done
}
case ${1-} in
--list)
	list | sed 's|^|tests/servers/sanitized.sh |'
	exit
	;;
'') files=$(list) ;;
*) files=$1 ;;
esac
bad=0
for file in $files; do
	MCPOOL=build-asan/mcpool sh "$file" || bad=1
done
exit $bad
