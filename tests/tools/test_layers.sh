# test_layers.sh - tools/check-layers on the project, and on small trees that break its rules.
set -u
cd "$(dirname "$0")/../.." || exit 1
bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# tree FILE TEXT...: a project of these files only
tree() {
	rm -rf "$work/t"
	mkdir -p "$work/t/src" "$work/t/include/mcpool"
	echo '#include <stddef.h>' >"$work/t/include/mcpool/mcpool.h"
	while [ $# -gt 0 ]; do
		mkdir -p "$work/t/$(dirname "$1")"
		printf '%s\n' "$2" >"$work/t/$1"
		shift 2
	done
}
expect() { # NAME, exit status, text that must appear, folders that may have cycles
	out=$(tools/check-layers --root "$work/t" --cyclic "${4-}" 2>&1)
	status=$?
	if [ $status -eq "$2" ] && printf '%s\n' "$out" | grep -qF "$3"; then
		echo "ok layers/$1"
	else
		echo "FAIL layers/$1: exit $status, $out"
		bad=1
	fi
}

if out=$(tools/check-layers); then echo "ok layers/project"; else echo "FAIL layers/project: $out"; bad=1; fi
# The project obeys, pool/ is between its neighbours there, and none of the five may know one above it.
# A74 C26
five_layers_in_order() {
	tools/check-layers || return 1
	grep -q '#include "client/' src/pool/*.c && grep -q '#include "config/' src/pool/*.c && ! grep -l '#include "face/' src/pool/*.[ch] || return 1
	five='config/read client pool session face'
	for low in $five; do
		for high in ${five#*"$low"}; do
			tree "src/$high/a.c" "#include \"$low/x.h\"" && tools/check-layers --root "$work/t" || return 1
			tree "src/$low/a.c" "#include \"$high/x.h\""
			! tools/check-layers --root "$work/t" >"$work/said" 2>&1 || { echo "$low may include $high"; return 1; }
			grep -qF "$low/ includes $high/x.h, which is a layer above it" "$work/said" || { cat "$work/said"; return 1; }
		done
	done
}
if out=$(five_layers_in_order); then echo "ok layers/five_layers_in_order"; else echo "FAIL layers/five_layers_in_order: $out"; bad=1; fi
tree src/base/a.c '#include <uv.h>' src/json/b.c '#include "base/a.h"'
expect down_is_fine 0 ''
tree src/json/b.c '#include "json/c.h"'
expect own_layer_is_fine 0 ''
tree src/base/a.c '#include "json/tape.h"'
expect up_is_refused 1 'src/base/a.c:1: base/ includes json/tape.h, which is a layer above it'
tree src/pool/a.c '# include	"session/session.h"'
expect up_is_refused_whatever_the_spacing 1 'pool/ includes session/session.h'
tree src/pool/a.c '#include "client/upstream.h"' src/pool/b.c '#include "config/values/set.h"'
# A74 C26
expect connections_rest_on_client_and_configuration 0 ''
tree src/pool/a.c '#include "face/socket.h"'
# C26
expect connections_know_no_face 1 'pool/ includes face/socket.h'
tree src/base/a.c '#include "buf.h"'
expect layer_must_be_named 1 'does not name its layer'
tree src/base/a.c '#include "../json/tape.h"'
expect dots_are_refused 1 'does not name its layer'
tree src/base/a.c '#include <json/tape.h>'
expect angle_brackets_do_not_hide 1 '<json/tape.h> is one of ours'
tree src/extra/a.c 'int x;'
expect unknown_folder 1 'folder extra is no layer'
tree include/mcpool/hub.h '#include "base/buf.h"'
expect public_header_stays_public 1 'a public header includes base/buf.h'
tree src/base/a.h '#include "base/b.h"' src/base/b.c '#include "base/c.h"' src/base/c.c '#include "base/a.h"' \
	src/base/d.c '#include "base/a.h"'
expect circle_of_files_is_refused 1 'src/base: these files include each other in a circle: a b c'
expect circle_may_be_listed 0 '' base
tree src/base/a.c '#include "base/a.h"' src/base/b.c '#include "base/a.h"'
expect a_source_and_its_header_are_one 0 ''
expect a_listed_folder_without_a_circle_is_named 1 'src/base has no cycle of files any more' base
tree src/config/read/a.h '#include "config/values/b.h"' src/config/values/b.c '#include "config/read/a.h"'
expect circle_through_subfolders_is_refused 1 'src/config: these files include each other in a circle: a b'
tree src/config/values/a.c '#include "config/read/b.h"'
expect subfolders_are_layers 1 'config/values/ includes config/read/b.h, which is a layer above it'
tree src/config/a.c 'int x;'
expect files_beside_subfolders_have_no_layer 1 'folder config is no layer'
exit $bad
