# sanitized.sh - the cases that have a server or hostile files behind mcpool once more, with the build that notices
# what is read, freed or lost by mistake (build-asan): it then ends with an exit code that no case wants.
set -u
cd "$(dirname "$0")/../.." || exit 1
bad=0
half=${1-} # cli or rest, so that two can run beside each other; without it both
[ "$half" = rest ] || for name in hostile real_servers kill add switch import storm disk wizard trial tools serve discovery hostile_project strange_files trust; do
	MCPOOL=build-asan/mcpool sh "tests/cli/test_$name.sh" || bad=1
done
[ "$half" = cli ] && exit $bad
for name in ledger modes; do
	MCPOOL=build-asan/mcpool sh "tests/pool/test_$name.sh" || bad=1
done
for name in conformance hostile_http; do
	MCPOOL=build-asan/mcpool sh "tests/remote/test_$name.sh" || bad=1
done
for name in attacks bridge crowd hub recursion systemd tasks versions; do
	MCPOOL=build-asan/mcpool sh "tests/hub/test_$name.sh" || bad=1
done
for name in http tls; do
	MCPOOL=build-asan/mcpool sh "tests/face/test_$name.sh" || bad=1
done
exit $bad
