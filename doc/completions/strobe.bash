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

# Complete the last of a list such as "cycles,page-f".
_strobe_list()
{
	local prefix= words=$1

	[[ $cur == *,* ]] && prefix=${cur%,*},
	mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$words" -- "${cur##*,}")
	compopt -o nospace 2>/dev/null
}

_strobe()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	local command= word i options
	local events="alignment-faults bpf-output branch-misses branches bus-cycles
		cache-misses cache-references cgroup-switches context-switches cpu-clock
		cpu-migrations cycles dummy emulation-faults instructions major-faults
		minor-faults page-faults ref-cycles stalled-cycles-backend
		stalled-cycles-frontend task-clock"
	local targets="-p --pid -t --tid -n --name -u --user -C --cpu -a --all-cpus"
	local sampling="-e --event -F --freq -c --count -g --call-graph --no-call-graph
		--max-stack --duration --scope --no-credit --memory --ring-pages"
	local rows="--sort --no-idle"
	local report="--format --percent-limit --rows"
	local screen="-d --delay --ascii --mono --no-mouse --color --snapshot"
	local general="--cache-dir -h --help -V --version"

	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		--)
			# A command follows, with its own words.
			if declare -F _command_offset >/dev/null; then
				_command_offset $((i + 1))
			elif ((COMP_CWORD == i + 1)); then
				mapfile -t COMPREPLY < <(compgen -c -- "$cur")
			else
				mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			fi
			return
			;;
		live|report|doctor)
			[[ -n $command ]] || command=$word
			;;
		esac
	done

	# "=" splits words: --sort = self
	[[ $cur == = ]] && cur=
	[[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}
	case $prev in
	-p|--pid|-t|--tid)
		_strobe_list "$(_strobe_pids)"
		return
		;;
	-n|--name)
		_strobe_list "$(_strobe_comms)"
		return
		;;
	-u|--user)
		_strobe_list "$(compgen -u)"
		return
		;;
	-e|--event)
		_strobe_list "$events"
		return
		;;
	--call-graph)
		options=fp
		;;
	--scope)
		options="auto task cpu inherit"
		;;
	--sort)
		options="self total"
		;;
	--format)
		options="text csv json"
		;;
	--color)
		options="auto never always"
		;;
	--snapshot)
		options="80x24 120x40"
		;;
	-F|--freq)
		options="max 97 997 4999 20000"
		;;
	--cache-dir)
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return
		;;
	-C|--cpu|-c|--count|--max-stack|--duration|--memory|--ring-pages|--percent-limit|\
	--rows|-d|--delay)
		return
		;;
	*)
		case $command in
		doctor) options="-h --help -V --version" ;;
		report) options="$targets $sampling $rows $report $general" ;;
		live) options="$targets $sampling $rows $screen $general" ;;
		*) options="$targets $sampling $rows $screen $general -- live report doctor" ;;
		esac
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
}

complete -F _strobe strobe
