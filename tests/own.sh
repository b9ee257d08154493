# own.sh - for tests of the verbs that write our own files: a project of the case's own, its two files, and
# words about them. Source it behind tests/servers/lib.sh.
case $mcpool in
/*) ;;
*) mcpool=$PWD/$mcpool ;;
esac
node=$PWD/$node
project=$work/project
user=$XDG_CONFIG_HOME/mcpool/mcp.json
own=$project/.mcpool/mcp.json
mkdir -p "$project/.git"

inside() { run "$@"; } # in the folder we are in

here() { # WANTED ARGUMENTS...: run, in the project
	was=$PWD
	cd "$project" || return 1
	run "$@"
	here=$?
	cd "$was" || return 1
	return $here
}

is() { # FILE EXPRESSION of d, the object in it, comments and trailing commas allowed
	$node -e '
		const { parse } = require(process.argv[3] + "/node_modules/jsonc-parser");
		const wrong = [];
		const d = parse(fs.readFileSync(process.argv[1], "utf8"), wrong, { allowTrailingComma: true });
		process.exit(!wrong.length && eval(process.argv[2]) ? 0 : 1)' "$1" "$2" "$tree" ||
		{ echo "not so in $1: $2: $(head -c 600 "$1")"; return 1; }
}
tree=$PWD

mode() { [ "$(stat -c %a "$2")" = "$1" ] || { echo "$2 has mode $(stat -c %a "$2") and not $1"; return 1; }; }

same() { cmp "$1" "$2"; }
