# test_binary.sh - what the compiler and the linker left in the released files.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=binary
. tests/lib.sh

# refused WORDS COMMAND...: it must fail, for this reason and no other
refused() {
	words=$1
	shift
	! "$@" >"$work/said" && cat "$work/said" && grep -qF "$words" "$work/said" &&
		[ "$(grep -vcF "$words" "$work/said")" -eq 0 ]
}

check gcc_build_is_hardened tools/check-hardening build/mcpool
check clang_build_is_hardened tools/check-hardening build-clang/mcpool
check exports_of_gcc_build tools/check-exports build/libmcpool.so
check exports_of_clang_build tools/check-exports build-clang/libmcpool.so

# What is installed is enough to build on: plain C99, C++, and a program that runs.
DESTDIR="$work/root" meson install -C build --no-rebuild --quiet >"$work/out" 2>&1 || cat "$work/out"
header=$(find "$work/root" -path '*/mcpool/mcpool.h')
include=$(dirname "$(dirname "$header")")
libraries=$(dirname "$(find "$work/root" -name libmcpool.so)")
check manual_is_installed sh -c "find '$work/root' -name 'mcpool.1*' | grep -q ."
check headers_are_plain_c99 gcc -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$include" "$header"
check headers_are_fine_for_cxx clang -x c++ -Wall -Wextra -Werror -fsyntax-only -I"$include" "$header"
check example_builds_on_what_is_installed gcc -std=c99 -Wall -Wextra -Werror -I"$include" \
	examples/embed.c -L"$libraries" -lmcpool -o "$work/embed"
check example_runs sh -c "LD_LIBRARY_PATH='$libraries' '$work/embed' | grep -q 'MCPOOL_ELIMIT *a ceiling was reached'"

# The checks can fail: each flag taken back is noticed, and so is a symbol too many.
cat >"$work/plain.c" <<'END'
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	char text[64];
	snprintf(text, sizeof(text), "%s %d", argv[0], argc);
	memcpy(text, argv[0], strlen(argv[0]));
	return puts(text) < 0;
}
END
good="-O2 -fPIE -pie -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fcf-protection=full
	-Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code"
check sample_is_hardened sh -c "gcc $(echo $good) $work/plain.c -o $work/good && tools/check-hardening $work/good"
while IFS=: read -r name flags words; do
	gcc $good $flags "$work/plain.c" -o "$work/$name" 2>"$work/out" || { cat "$work/out"; exit 1; }
	check "notices_$name" refused "$words" tools/check-hardening "$work/$name"
done <<'END'
no_pie:-fno-pie -no-pie:not position independent
no_relro:-Wl,-z,norelro:no RELRO
lazy_binding:-Wl,-z,lazy:binds lazily
executable_stack:-Wl,-z,execstack:the stack may be executed
no_separate_code:-Wl,-z,noseparate-code:share pages
no_protector:-fno-stack-protector:no stack protector
no_fortify:-U_FORTIFY_SOURCE:nothing fortified
no_branch_tracking:-fcf-protection=none:no landing pads
END
printf 'int mcpool_extra(void);\nint mcpool_extra(void) { return 0; }\n' >"$work/extra.c"
gcc -shared -fPIC "$work/extra.c" -o "$work/libextra.so"
check notices_foreign_exports refused 'check-exports: ' tools/check-exports "$work/libextra.so"
check names_the_foreign_export sh -c "tools/check-exports '$work/libextra.so' |
	grep -q 'exported by the library but not in src/libmcpool.syms: mcpool_extra'"
check says_when_there_is_no_library refused 'there is no nowhere.so' tools/check-exports nowhere.so
check says_when_there_is_no_program refused 'there is no nowhere' tools/check-hardening nowhere
exit $bad
