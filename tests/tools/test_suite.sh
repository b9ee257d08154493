# test_suite.sh - tools/run-tests runs the whole suite, whatever the environment holds, and notices every way to fail.
# It is run in a tree of its own, where builds are programs that do nothing and tests are a line each.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=suite
. tests/lib.sh
tree=$work/tree
export SEEN=$work/seen # dropped by run-tests, so the scripts have its value written into them

# test_script FILE LINE...: a script of the little tree; it notes its name and its environment first
test_script() {
	file=$1
	shift
	{
		echo "echo $file >>'$SEEN' && env >>'$SEEN'"
		printf '%s\n' "$@"
	} >"$tree/$file"
}

stub() { # NAME COMMAND: a program that is found before the real one
	printf '#!/bin/sh\n%s\n' "$2" >"$tree/bin/$1"
	chmod +x "$tree/bin/$1"
}

make_tree() {
	rm -rf "$tree" "$SEEN"
	mkdir -p "$tree/bin" "$tree/build" "$tree/tools" "$tree/node_modules/.bin"
	for folder in hub remote pool clients face replay servers cli tools js; do
		mkdir -p "$tree/tests/$folder"
	done
	cp tools/run-tests "$tree/tools/"
	printf '#!/bin/sh\n' >"$tree/tools/configure"
	chmod +x "$tree/tools/configure"
	stub ninja "echo ninja >>'$SEEN' && env >>'$SEEN'"
	stub meson "echo \"meson \$*\" >>'$SEEN' && env >>'$SEEN' && echo 'ok test_a/b' >>\"\$MCPOOL_TEST_RESULTS\""
	printf '#!/bin/sh\nexec sh "$@"\n' >"$tree/node_modules/.bin/node"
	chmod +x "$tree/node_modules/.bin/node"
	for file in hub/test_a remote/test_neighbours pool/test_b clients/test_c face/test_pressure replay/test_g cli/test_d tools/test_e; do
		test_script "tests/$file.sh" "echo ok $file/one" "echo ok $file/two"
	done
	test_script tests/servers/sanitized.sh 'echo "tests/hub/test_a.sh again"'
	test_script tests/js/f.mjs 'echo ok f/one'
}

# suite WANTED VARIABLE=VALUE...: run-tests of the little tree, with these in the environment
suite() {
	wanted=$1
	shift
	env "$@" PATH="$tree/bin:$PATH" sh "$tree/tools/run-tests" >"$work/out" 2>"$work/err"
	code=$?
	[ $code -eq "$wanted" ] || { echo "exit code $code: $(tail -n 5 "$work/out" "$work/err")"; return 1; }
}

last_line() { [ "$(tail -n 1 "$work/out")" = "$1" ] || { echo "it ends: $(tail -n 3 "$work/out")"; return 1; }; }

# Two unit runs of one case, eight scripts and one again of two cases, JavaScript of one.
whole='21 passed, 0 failed'

runs_everything() {
	make_tree
	suite 0 && last_line "$whole"
}

# D20 D31
the_environment_narrows_nothing() {
	make_tree
	suite 0 CI=true ONLY=none FEATURES=none UPDATE=1 SEED=1 KILLS=0 SESSIONS=0 CALLS=0 HOSTILE=0 MESSAGES=0 SHOW=1 \
		STORM_SEED=1 STORMS=0 MESON_TESTTHREADS=1 CFLAGS=-DNDEBUG NODE_OPTIONS=--no-warnings MCPOOL=/bin/true \
		MCPOOL_TEST_RESULTS=/dev/null MAKEFLAGS=-n ASAN_OPTIONS=detect_leaks=0 http_proxy=http://127.0.0.1:9 || return 1
	last_line "$whole" && only_known_variables
}

# D20: from the program that CI starts to the last script, and make is not told to do less either.
ci_runs_the_whole_suite() {
	make_tree
	mkdir "$tree/.ci" && cp .ci/run "$tree/.ci/" && cp Makefile "$tree/" && printf '#!/bin/sh\n' >"$tree/tools/setup" && chmod +x "$tree/tools/setup" || return 1
	printf 'SHELL := /bin/true\n' >"$work/less.mk" && echo 'exit 0' >"$work/less.sh"
	for flags in '' -n; do
		: >"$SEEN"
		env CI=true ONLY=none MAKEFILES="$work/less.mk" BASH_ENV="$work/less.sh" ENV="$work/less.sh" MAKEFLAGS=$flags GNUMAKEFLAGS=$flags PATH="$tree/bin:$PATH" "$tree/.ci/run" >"$work/out" 2>"$work/err" && last_line "$whole" || return 1
	done
}

# What ninja, meson and each script were given: shells add PWD, OLDPWD, SHLVL and _.
only_known_variables() {
	sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p' "$SEEN" | sort -u >"$work/names"
	grep -qx PATH "$work/names" || { echo "the environment was not looked at"; return 1; }
	grep -vxE 'PATH|PKG_CONFIG_PATH|CCACHE_[A-Z]*|HOME|XDG_(CONFIG|STATE)_HOME|XDG_RUNTIME_DIR|TMPDIR|MCPOOL_TEST_RESULTS|PWD|OLDPWD|SHLVL|_' \
		"$work/names" && return 1
	! grep -x 'MCPOOL_TEST_RESULTS=/dev/null' "$SEEN"
}

# Homes are the suite's own, so nothing of the user is read or written.
the_home_is_not_the_users() {
	make_tree
	suite 0 HOME="$work/mine" XDG_CONFIG_HOME="$work/mine" XDG_STATE_HOME="$work/mine" XDG_RUNTIME_DIR="$work/mine" &&
		! grep -F "=$work/mine" "$SEEN"
}

# fails_with LINE SCRIPT-LINE...: one script more, which makes the whole fail
fails_with() {
	line=$1
	shift
	make_tree
	test_script tests/hub/test_bad.sh "$@"
	suite 1 && grep -qF "$line" "$work/out" || { echo "not said: $line: $(tail -n 3 "$work/out")"; return 1; }
}
a_failed_case() { fails_with 'FAIL x/y: why' 'echo "FAIL x/y: why"' && last_line '21 passed, 1 failed'; }
a_script_that_ends_badly() { fails_with 'ended badly' 'exit 3' && last_line '21 passed, 1 failed'; }
a_unit_test_that_crashes() {
	make_tree
	stub meson 'exit 1'
	suite 1 && grep -qF 'a test program crashed or hung' "$work/out"
}
a_build_that_fails() {
	make_tree
	stub ninja 'exit 1'
	suite 1 && grep -qF 'FAIL build/build-asan' "$work/out"
}
one_command() {
	make_tree
	[ "$(ONLY=none sh "$tree/tools/run-tests" sh -c 'echo "${ONLY-unset} $1"' - 'a  b')" = 'unset a  b' ] &&
		! sh "$tree/tools/run-tests" false
}

for case in runs_everything the_environment_narrows_nothing ci_runs_the_whole_suite the_home_is_not_the_users a_failed_case a_script_that_ends_badly \
	a_unit_test_that_crashes a_build_that_fails one_command; do
	check "$case" "$case"
done
exit $bad
