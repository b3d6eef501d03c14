# bash completion for stablerun, stablerun-annotate and stablerun-jit.
#
# Options are read from --help, so that they are those of the installed version; the
# command's own arguments are completed by its own completion where bash-completion is
# loaded.

# _stablerun_options PROGRAM [SUBCOMMAND]: the options that its --help shows, with their "=".
_stablerun_options()
{
	"$@" --help 2>/dev/null | grep -oE -- '(^|[ ,[])--?[a-zA-Z][a-zA-Z-]*(\[?=)?' |
		tr -d ' ,[' | sort -u
}

# _stablerun_reply WORD...: offers those of the words that the current one begins.
_stablerun_reply()
{
	local word

	COMPREPLY=()
	for word; do
		[[ $word == "$current"* ]] && COMPREPLY+=("$word")
	done
	# No blank after the "=" of an option that wants a value.
	[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
	return 0
}

# The words without bash's splitting at "=" and ":": `current` is the one being completed and
# `words` holds those before it; `value_only` says that bash inserts after the "=".
_stablerun_words()
{
	local i word joined=
	words=() value_only=
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $i -gt 0 && ( $word == = || $joined == *= ) && $joined == -* ]]; then
			joined+=$word
		else
			[[ $i -gt 0 ]] && words+=("$joined")
			joined=$word
		fi
	done
	current=$joined
	[[ $COMP_WORDBREAKS == *=* && $current == -*=* ]] && value_only=1
	return 0
}

_stablerun_value()
{
	local option=${current%%=*} i values=()

	case $option in
	--env) values=(pinned keep clean) ;;
	--place) values=(auto personality move load off) ;;
	--plan) values=(json text) ;;
	--rule) values=(none $(stablerun rules 2>/dev/null | awk 'NR > 1 { print $1 }')) ;;
	--cpu) values=($(seq 0 $(($(getconf _NPROCESSORS_ONLN) - 1)))) ;;
	--contexts) values=(plain env perf gdb) ;;
	--differing) values=(drop keep refuse) ;;
	--engine) values=(parallel slurm) ;;
	*)
		COMPREPLY=($(compgen -f -- "${current#*=}"))
		compopt -o filenames 2>/dev/null
		[[ $value_only ]] || COMPREPLY=("${COMPREPLY[@]/#/$option=}")
		return 0
		;;
	esac
	[[ $value_only ]] && current=${current#*=} || values=("${values[@]/#/$option=}")
	_stablerun_reply "${values[@]}"
}

# The index in `words` of COMMAND, or nothing where it has not been typed yet.
_stablerun_command()
{
	local i=$1

	for (( ; i < ${#words[@]}; i++)); do
		case ${words[i]} in
		--) ((i + 1 < ${#words[@]})) && echo $((i + 1)); return ;;
		-o | -n | -F) ((i++)) ;;
		-*) ;;
		*) echo $i; return ;;
		esac
	done
}

_stablerun_files()
{
	compopt -o filenames 2>/dev/null
	COMPREPLY=($(compgen "$@" -- "$current"))
}

# Hands the rest of the line to COMMAND's own completion.
_stablerun_delegate()
{
	if declare -F _command_offset >/dev/null; then
		# Positions count bash's words, which are split at "=".
		local i
		for ((i = 1; i < COMP_CWORD; i++)); do
			[[ ${COMP_WORDS[i]} == "$1" ]] && break
		done
		_command_offset $i
	else
		_stablerun_files -f
	fi
}

# Completes what follows the options from word $1 on; $2... prints their help.
_stablerun_launch()
{
	local first=$1 command
	shift
	command=$(_stablerun_command "$first")
	if [[ $command ]]; then
		_stablerun_delegate "${words[command]}"
	elif [[ ${words[-1]} == -o ]]; then
		_stablerun_files -d
	elif [[ $current == -*=* ]]; then
		_stablerun_value
	elif [[ $current == -* && ${words[-1]} != -- ]]; then
		_stablerun_reply $(_stablerun_options "$@" | tr -d '[') --
	else
		_stablerun_files -c
	fi
}

_stablerun()
{
	local words current value_only program=${COMP_WORDS[0]}
	local subcommands="annotate diff gather gdb jit perf rules show verify"

	_stablerun_words
	if ((${#words[@]} == 1)) && [[ $current != -* ]]; then
		_stablerun_files -c
		local commands=("${COMPREPLY[@]}")
		_stablerun_reply $subcommands
		COMPREPLY+=("${commands[@]}")
		return
	fi
	case ${words[1]-} in
	annotate | jit | diff | gather | show | rules)
		if [[ $current == -*=* ]]; then
			_stablerun_value
		elif [[ $current == -* ]]; then
			_stablerun_reply $(_stablerun_options "$program" "${words[1]}" | tr -d '[')
		else
			_stablerun_files -f
		fi
		;;
	gdb)
		if [[ $current != -* && ${words[-1]} != -- ]]; then
			_stablerun_files -d
		else
			_stablerun_launch 2 "$program" gdb
		fi
		;;
	perf | verify) _stablerun_launch 2 "$program" "${words[1]}" ;;
	*) _stablerun_launch 1 "$program" ;;
	esac
}

# The sibling programs by their own names.
_stablerun_sibling()
{
	local words current value_only

	_stablerun_words
	if [[ $current == -*=* ]]; then
		_stablerun_value
	elif [[ $current == -* ]]; then
		_stablerun_reply $(_stablerun_options "${COMP_WORDS[0]}" | tr -d '[')
	else
		_stablerun_files -f
	fi
}

complete -F _stablerun stablerun
complete -F _stablerun_sibling stablerun-annotate stablerun-jit
