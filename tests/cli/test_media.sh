# test_media.sh - images in results on a terminal: as sixels where it has them, else kept and named.
# `sh tests/cli/test_media.sh NAME` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=media
. tests/servers/lib.sh
. tests/own.sh
pty=$(cd "$(dirname "$mcpool")" && pwd)/tests/pty
unset TMUX STY TERM_PROGRAM LC_TERMINAL KITTY_WINDOW_ID MLTERM

# A server with one tool that returns this picture: red and green, two by two.
png=iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8DAAMFAEgAd8AP94dw1KAAAAABJRU5ErkJggg==
with_picture() { # DATA
	"$node" -e 'console.log(JSON.stringify({mcpServers: {s: {command: process.argv[1], args: ["-e", `
		require("readline").createInterface({input: process.stdin}).on("line", (l) => {
			const m = JSON.parse(l), r = {initialize: {protocolVersion: "2025-11-25", capabilities: {tools: {}}, serverInfo: {name: "s", version: "1"}},
				"tools/list": {tools: [{name: "t", inputSchema: {type: "object"}}]},
				"tools/call": {content: [{type: "text", text: "before"}, {type: "image", mimeType: "image/png", data: "${process.argv[2]}"}]}}[m.method];
			if (m.id !== undefined) console.log(JSON.stringify({jsonrpc: "2.0", id: m.id, ...(r ? {result: r} : {error: {code: -32601, message: "no"}})}));
		})`]}}}))' "$node" "$1" >"$work/s.json" &&
		mkdir -p "$XDG_CONFIG_HOME/mcpool" && cp "$work/s.json" "$XDG_CONFIG_HOME/mcpool/mcp.json" && here 0 trust s --yes
}

# shown TERM [STEP]: on a terminal of this name, which answers the question as the step says
esc=$(printf '\033')
asked="$esc[c"
shown() {
	term=$1
	shift
	(cd "$project" && MCPOOL_TEST_MARK="$work" TERM="$term" timeout -k 2 60 "$pty" "$@" -- "$mcpool" call s/t) >"$work/out" 2>"$work/err"
	exits 0 $?
}
has_sixels() { grep -qF "${esc}P0;1;0q\"1;1;2;2#0;2;" "$work/out" && ! grep -q 'kept for an hour' "$work/out"; }
is_named() { grep -q 'the image is kept for an hour: mcpool read' "$work/out" && ! grep -qF "${esc}P" "$work/out"; }
was_asked() { grep -qF "$asked" "$work/out"; }

t_a_terminal_that_says_so() {
	with_picture "$png" && shown xterm-256color "$asked=$esc[?62;4;22c" && was_asked && has_sixels && grep -q before "$work/out"
}

t_a_terminal_without_sixels() {
	with_picture "$png" && shown xterm-256color "$asked=$esc[?64;1;22c" && was_asked && is_named && shown xterm "$asked=$esc[?4;6c" && is_named
}

t_a_terminal_that_does_not_answer() { with_picture "$png" && shown xterm && was_asked && is_named; }

t_well_known_ones_are_not_asked() {
	with_picture "$png" && for term in foot foot-extra mlterm contour; do
		shown $term && ! was_asked && has_sixels || return 1
	done && shown dumb && ! was_asked && is_named
}

# Within tmux only what tmux says counts, whatever the terminal around it is.
t_within_tmux() {
	with_picture "$png" && export TMUX=/tmp/x,1,0 TERM_PROGRAM=tmux KITTY_WINDOW_ID=1 &&
		shown tmux-256color "$asked=$esc[?1;2;4c" && was_asked && has_sixels && shown tmux-256color "$asked=$esc[?1;2c" && was_asked && is_named &&
		shown foot "$asked=$esc[?1;2c" && was_asked && is_named
}

# Nothing of a broken image reaches the terminal.
t_a_broken_image_is_kept() {
	with_picture "$(printf %s "$png" | sed 's/P4z8/P4z9/')" && shown foot && is_named
}

# What follows on the terminal is read as before: it echoes and waits for lines.
t_the_terminal_is_as_it_was() {
	with_picture "$png" || return 1
	printf 'stty -g; "$@"; stty -g\n' >"$work/script"
	(cd "$project" && MCPOOL_TEST_MARK="$work" TERM=xterm timeout -k 2 60 "$pty" "$asked=$esc[?62;4c" -- sh "$work/script" "$mcpool" call s/t) >"$work/out" 2>&1
	was_asked && has_sixels && grep -a '^[0-9a-f]*:[0-9a-f:]*.$' "$work/out" | sort -u >"$work/modes" && [ "$(wc -l <"$work/modes")" = 1 ]
}

t_nothing_into_a_pipe() { with_picture "$png" && here 0 call s/t && ! grep -qF "$esc" "$work/out" && says out before; }

run_cases "$@"
