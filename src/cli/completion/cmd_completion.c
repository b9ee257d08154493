/*
 * cmd_completion.c - `mcpool completion`: prints the script that teaches a shell our words.
 */
#include <stdio.h>
#include <string.h>

#include "cli/completion/completion.h"
#include "cli/verbs/verbs.h"

static int run_completion(const struct mp_verb *verb, int argc, char **argv);

const struct mp_verb mp_verb_completion = {
	"completion",
	"bash | zsh | fish",
	"Print the script that makes a shell complete verbs, options, servers and tools.",
	"",
	"Put this where your shell reads it at its start:\n\n"
	"  bash   source <(mcpool completion bash)        in ~/.bashrc\n"
	"  zsh    source <(mcpool completion zsh)         in ~/.zshrc, behind compinit\n"
	"  fish   mcpool completion fish | source         in ~/.config/fish/config.fish\n",
	run_completion,
	NULL,
	MP_VERB_PLAIN,
};

/* bash replaces only what follows the last `:` or `=` of a word, but we get and give the whole. */
static const char bash[] =
	"_mcpool() {\n"
	"\tlocal line=${COMP_LINE:0:COMP_POINT} cur= cut candidate words=() found=()\n"
	"\tread -ra words <<<\"$line\"\n"
	"\t[[ $line == *[[:space:]] ]] && words+=('')\n"
	"\tcur=${words[${#words[@]} - 1]}\n"
	"\tcut=${cur%\"${cur##*[:=]}\"}\n"
	"\twhile IFS= read -r candidate; do\n"
	"\t\tif [[ $candidate == " MP_COMPLETION_FILES " ]]; then\n"
	"\t\t\tcompopt -o default 2>/dev/null\n"
	"\t\telse\n"
	"\t\t\tcandidate=${candidate%%$'\\t'*}\n"
	"\t\t\tfound+=(\"${candidate#\"$cut\"}\")\n"
	"\t\tfi\n"
	"\tdone < <(\"${words[0]}\" complete -- \"${words[@]:1}\" 2>/dev/null)\n"
	"\tCOMPREPLY=(\"${found[@]}\")\n"
	"\t[[ ${#found[@]} -eq 1 && ${found[0]} == *= ]] && compopt -o nospace 2>/dev/null\n"
	"\treturn 0\n"
	"}\n"
	"complete -F _mcpool mcpool\n";

static const char zsh[] =
	"#compdef mcpool\n"
	"_mcpool() {\n"
	"\tlocal line\n"
	"\tlocal -a found keys\n"
	"\tfor line in ${(f)\"$(\"${words[1]}\" complete -- \"${(@)words[2,CURRENT]}\" "
	"2>/dev/null)\"}; do\n"
	"\t\tif [[ $line == " MP_COMPLETION_FILES " ]]; then\n"
	"\t\t\t_files\n"
	"\t\telif [[ ${line%%$'\\t'*} == *= ]]; then\n"
	"\t\t\tkeys+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
	"\t\telse\n"
	"\t\t\tfound+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
	"\t\tfi\n"
	"\tdone\n"
	"\tif (( $#keys )); then _describe keys keys -S ''; fi\n" /* the value follows */
	"\tif (( $#found )); then _describe candidates found; fi\n"
	"}\n"
	"compdef _mcpool mcpool\n";

static const char fish[] =
	"function __mcpool_complete\n"
	"\tset -l words (commandline -opc)\n"
	"\tfor line in ($words[1] complete -- $words[2..] (commandline -ct) 2>/dev/null)\n"
	"\t\tif test $line = " MP_COMPLETION_FILES "\n"
	"\t\t\t__fish_complete_path (commandline -ct)\n"
	"\t\telse\n"
	"\t\t\techo $line\n"
	"\t\tend\n"
	"\tend\n"
	"end\n"
	"complete -c mcpool -f -a '(__mcpool_complete)'\n";

static int run_completion(const struct mp_verb *verb, int argc, char **argv)
{
	static const struct {
		const char *shell, *script;
	} rows[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 1, 1, &args);

	if (r)
		return r - 1;
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		if (strcmp(args.words[0], rows[i].shell) == 0) {
			fputs(rows[i].script, stdout);
			return mp_print_finish(MP_EXIT_DONE);
		}
	mp_cli_complain("there is no script for '%s': expected bash, zsh or fish", args.words[0]);
	return MP_EXIT_USAGE;
}
