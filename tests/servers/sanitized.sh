# sanitized.sh - the cases that have a server or hostile files behind mcpool once more, with the build that notices
# what is read, freed or lost by mistake (build-asan): it then ends with an exit code that no case wants.
#   sanitized.sh          all of them
#   sanitized.sh --list   how each is run alone, a line each
#   sanitized.sh FILE     that one
set -u
cd "$(dirname "$0")/../.." || exit 1
list() {
	for name in hostile real_servers kill add switch import storm disk wizard trial tools serve discovery hostile_project \
		strange_files trust; do
		echo "tests/cli/test_$name.sh"
	done
	for name in attacks bridge crowd hub recursion systemd tasks versions; do
		echo "tests/hub/test_$name.sh"
	done
	for name in pool/test_ledger pool/test_modes remote/test_conformance remote/test_hostile_http face/test_http face/test_tls; do
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
