# SPDX-License-Identifier: GPL-3.0-or-later
#
# bash completion of strobe(1).

_strobe_pids()
{
	ps -e -o pid= 2>/dev/null
}

_strobe_comms()
{
	ps -e -o comm= 2>/dev/null | sort -u
}

# Below the hierarchy that events use.
_strobe_cgroups()
{
	local root

	root=$(awk '$3 == "cgroup" && $4 ~ /(^|,)perf_event(,|$)/ { print $2; exit }' /proc/self/mounts 2>/dev/null)
	[[ -n $root ]] || root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts 2>/dev/null)
	[[ -n $root ]] && find "$root" -mindepth 1 -type d -printf '%P\n' 2>/dev/null
}

# Words as they were typed: bash splits "sched:sched_switch" at its colon.  Sets words, cword and at
# (where each begins in COMP_WORDS) of the caller.
_strobe_words()
{
	local i word blanks rest=$COMP_LINE

	words=() at=() cword=0
	for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
		word=${COMP_WORDS[i]}
		blanks=${rest%%[![:blank:]]*}
		rest=${rest#"$blanks"}
		rest=${rest#"$word"}
		if ((i)) && [[ -z $blanks && ($word == :* || ${words[-1]} == *:) ]]; then
			words[-1]+=$word
		else
			words+=("$word")
			at+=("$i")
		fi
		((i == COMP_CWORD)) && cword=$((${#words[@]} - 1))
	done
}

# Complete the last of a list such as "cycles,page-f".
_strobe_list()
{
	local prefix= listed=$1

	[[ $cur == *,* ]] && prefix=${cur%,*},
	mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$listed" -- "${cur##*,}")
	compopt -o nospace 2>/dev/null
	_strobe_behind_colon
}

# Of a word with colons bash replaces what is behind the last one.
_strobe_behind_colon()
{
	local i prefix=${cur%"${cur##*:}"}

	[[ $cur == *:* && $COMP_WORDBREAKS == *:* ]] || return
	for i in "${!COMPREPLY[@]}"; do
		COMPREPLY[i]=${COMPREPLY[i]#"$prefix"}
	done
}

# -f: files, -d: directories.
_strobe_paths()
{
	mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
	_strobe_behind_colon
	compopt -o filenames 2>/dev/null
}

_strobe()
{
	local -a words at
	local cword
	_strobe_words
	local cur=${words[cword]} prev=
	((cword)) && prev=${words[cword-1]}
	local command= word i options
	local events="alignment-faults bpf-output branch-misses branches bus-cycles
		cache-misses cache-references cgroup-switches context-switches cpu-clock
		cpu-migrations cycles dummy emulation-faults instructions major-faults
		minor-faults off-cpu page-faults preempted ref-cycles stalled-cycles-backend
		stalled-cycles-frontend task-clock wall woken"
	local either="-p --pid -t --tid -n --name -C --cpu -e --event"
	local sampled="-u --user -G --cgroup -a --all-cpus --wall --pfm-events --filter --bpf -F --freq -c --count -g --call-graph
		--no-call-graph --kernel-callchains --user-callchains --max-stack --duration --scope --own-threads --until-exec --no-credit --ring-pages
		--flight-recorder --flight-trigger
		--wakeup-events --watermark --data --phys-data --data-page-size --code-page-size
		-W --weight --transaction -b --branch-any -j --branch-filter"
	local views="--comm --image --symbol --only --time --symfs --trust-local-files --debug-dir --debuginfod --memory --no-idle
		--cache-dir"
	local input="-i --input" output="-o --output"
	local tables="--format --percent-limit --rows --raw-cells --crlf --all-notes"
	local report="--sort --group --columns --callers --callees --tree --percentage
		--inline --no-inline"
	local screen="--baseline --sort -d --delay --ascii --mono --no-mouse --theme --config --no-config --color
		--snapshot"
	local general="-h --help -V --version"
	local data=-d
	local code="--syntax --source-prefix"
	local counted="-u --user -G --cgroup -a --all-cpus --pfm-events --filter --bpf --own-threads --until-exec --duration -I --interval -r --repeat --no-inherit
		--per -A --no-aggr --per-thread --format --raw-cells --crlf"
	local commands="live report record export annotate diff archive stat list doctor"

	COMPREPLY=()
	for ((i = 1; i < cword; i++)); do
		word=${words[i]}
		case $word in
		--)
			# A command follows, with its own words.
			if declare -F _command_offset >/dev/null; then
				_command_offset "${at[i + 1]}"
			elif ((cword == i + 1)); then
				mapfile -t COMPREPLY < <(compgen -c -- "$cur")
			else
				mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			fi
			return
			;;
		live|report|record|export|annotate|diff|archive|stat|list|doctor)
			[[ -n $command ]] || command=$word
			;;
		esac
	done

	# "=" splits words: --sort = self
	[[ $cur == = ]] && cur=
	[[ $prev == = ]] && prev=${words[cword-2]}
	case $prev in
	-p|--pid|-t|--tid)
		_strobe_list "$(_strobe_pids)"
		return
		;;
	-n|--name|--comm)
		_strobe_list "$(_strobe_comms)"
		return
		;;
	-G|--cgroup)
		_strobe_list "$(_strobe_cgroups)"
		return
		;;
	-u|--user)
		_strobe_list "$(compgen -u)"
		return
		;;
	-e|--event)
		_strobe_list "$(strobe list --names 2>/dev/null || echo "$events")"
		return
		;;
	--call-graph)
		options="auto fp dwarf lbr no"
		;;
	--scope)
		options="auto task cpu inherit"
		;;
	--sort)
		options="self total"
		;;
	--format)
		options="text csv json"
		[[ $command == export ]] &&
			options="folded speedscope pprof callgrind svg script gecko"
		;;
	--group)
		_strobe_list "symbol image process thread cpu command address line event cgroup"
		return
		;;
	--columns)
		options="event cpu thread cgroup none"
		;;
	--per)
		options="total thread process cpu core socket node"
		;;
	--percentage)
		options="relative absolute"
		;;
	--mode)
		options="mixed source assembly"
		;;
	--syntax)
		options="att intel"
		;;
	--normalize)
		options="sample second"
		;;
	--theme)
		options="dark light mono colour-blind"
		;;
	--color)
		options="auto never always"
		;;
	--snapshot)
		options="80x24 120x40"
		;;
	-j|--branch-filter)
		_strobe_list "any any_call any_ret ind_call ind_jmp call cond in_tx no_tx abort_tx stack u k hv
			no_flags no_cycles save_type hw_index priv"
		return
		;;
	-d)
		# Of the screen it has a value.
		[[ -z $command || $command == live ]] && return
		;;&
	-F|--freq)
		options="max 97 997 4999 20000"
		;;
	--cache-dir|--symfs|--debug-dir|--source-prefix|--source-tree)
		_strobe_paths -d
		return
		;;
	-i|--input|-o|--output|--image|--bpf|--baseline|--config)
		_strobe_paths -f
		return
		;;
	-C|--cpu|-c|--count|--max-stack|--duration|--memory|--ring-pages|--wakeup-events|--watermark|--flight-recorder|--flight-trigger|--percent-limit|\
	--rows|--delay|--symbol|--only|--time|--pfm-events|--filter|-I|--interval|-r|--repeat)
		return
		;;
	*)
		case $command in
		doctor) options=$general ;;
		list) options="-p --pid -t --tid -C --cpu -a --all-cpus --format --names --raw-cells --crlf $general" ;;
		report) options="$either $sampled $data $input $views $tables $report $general" ;;
		record) options="$either $sampled $data $output -z --compress -s --stat --keep-stacks $general" ;;
		export) options="$either $sampled $data $input $output $views --format --all-notes --inline
		--no-inline $general" ;;
		annotate) options="$either $sampled $data $input $views $tables $code --mode --source-tree
			$general" ;;
		diff) options="$either $views $tables --normalize $general" ;;
		stat) options="$either $counted $output $general" ;;
		archive) options="$output --symfs --trust-local-files --debug-dir --debuginfod $general" ;;
		live) options="$either $sampled $input $views $code $screen $general" ;;
		*) options="$either $sampled $input $views $code $screen $general -- $commands" ;;
		esac
		# A recording may stand where no option begins, or a command, of which there are
		# too many to show without a letter.
		if [[ $cur != -* && $command != doctor && $command != list ]]; then
			_strobe_paths -f
			[[ -n $cur && $command != annotate && $command != diff && $command != archive ]] &&
				mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -c -- "$cur")
			[[ -n $command ]] ||
				mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W "$commands" -- "$cur")
			return
		fi
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
}

complete -F _strobe strobe
