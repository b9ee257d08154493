# test_dist.sh - the source tarball has the bundled page, and needs no Node to build it in.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=dist
. tests/lib.sh

bundle() {
	[ -d .git ] || { echo "no git here, so there is no HEAD to pack"; return 0; }
	tools/make-tarball && tar -xzf build/mcpool-*.tar.gz -C "$work" && cd "$work"/mcpool-* && [ ! -e node_modules ] &&
		tools/embed-page "$work/page_data.c" "$work/page.d" && cmp dist/page_data.c "$work/page_data.c" &&
		grep -q '"/dashboard.js"' "$work/page_data.c" && grep -q 'dist/page_data.c' "$work/page.d"
}

check the_tarball_has_the_page bundle
exit $bad
