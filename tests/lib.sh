# lib.sh - for tests in sh: one line per case, `ok GROUP/NAME` or `FAIL GROUP/NAME: why`.
# Set group before; end with `exit $bad`. $work is a folder of the test's own, gone at its end.
bad=0
export LC_ALL=C.UTF-8 # grep and sed count characters, also where the machine has set no language
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

check() { # NAME, then a command that must succeed; what it prints is shown if it fails
	name=$1
	shift
	if "$@" >"$work/check" 2>&1; then
		echo "ok $group/$name"
	else
		echo "FAIL $group/$name: $(cat "$work/check" "$work/err" 2>/dev/null | head -12 | tr '\n' ' ')"
		bad=1
	fi
}
