# completions.awk - completions of a tool for a shell, made from its --help: TOOL --help | awk -v shell=bash|zsh|fish -f completions.awk
#
# The rows and the usage lines are those that opt.c prints: "  -o, --output=FILE          text", or the text in the next line. The
# name of a value selects what completes it: FILE, DIR, PID, USER, CGROUP, COMMAND; "a|b|c" are its words; EVENT, PALETTE, STORE,
# CONTAINER and KEY come from TOOL --values=OPTION when they are needed. "NAME,..." is a list of such values.
# A word from --values may be chosen by another user, as the name of a container: only those of letters, digits and _.:@/+- are used.

NR == 1 { tool = $1; does = substr($0, length(tool) + 4); next }
/^usage:/ { usage = 1 }
usage && /^$/ { usage = 0 }
usage { synopsis = synopsis " " $0 }
/^  (-.|  )(, |  )?-?-?/ && /^ +-/ { row($0); next }
n && help[n] == "" && substr($0, 1, 29) ~ /^ *$/ && length($0) > 29 { help[n] = substr($0, 30) }

function row(line,   spelled, rest)
{
	letter[++n] = long[n] = value[n] = ""
	spelled = substr(line, 3)
	if (spelled ~ /^-[^-]/) { letter[n] = substr(spelled, 2, 1); spelled = substr(spelled, 3); sub(/^, /, "", spelled) }
	sub(/^ */, "", spelled)
	rest = ""
	if (match(spelled, /  +/)) rest = substr(spelled, RSTART + RLENGTH)
	else if (match(spelled, / [^ ]*[a-z(]/) && length(line) > 40) rest = substr(spelled, RSTART + 1)
	if (rest != "") spelled = substr(spelled, 1, length(spelled) - length(rest))
	sub(/ +$/, "", spelled)
	help[n] = rest
	optional[n] = sub(/\[=/, "=", spelled) && sub(/\]$/, "", spelled)
	if (match(spelled, /=/)) { value[n] = substr(spelled, RSTART + 1); spelled = substr(spelled, 1, RSTART - 1) }
	else if (spelled !~ /^--/) { value[n] = spelled; spelled = "" }
	sub(/^--/, "", spelled)
	long[n] = spelled
	list[n] = sub(/,\.\.\.$/, "", value[n])
}

# words(I): words of the value, separated by blanks; empty if they are not fixed
function words(i,   w, part, count, k, known)
{
	count = split(value[i], part, "|")
	for (k = 1; k <= count; k++)
		if (part[k] ~ /^[a-z][a-z-]*$/) { w = w (w == "" ? "" : " ") part[k]; known++ }
	return known > 1 ? w : ""
}

function takes_values(i) { return value[i] ~ /^(EVENT|PALETTE|STORE|CONTAINER|KEY)$/ }

# names(I, SEPARATOR): the option as it is spelled
function names(i, separator)
{
	return (letter[i] == "" ? "" : "-" letter[i]) (letter[i] != "" && long[i] != "" ? separator : "") (long[i] == "" ? "" : "--" long[i])
}

# What the operands are.
function operands()
{
	if (synopsis ~ /COMMAND/) return "COMMAND"
	if (synopsis ~ /\[?PID/) return "PID"
	if (synopsis ~ /\[DIR\]/) return "DIR"
	if (synopsis ~ /file|FILE|BEFORE/) return "FILE"
	return ""
}

END {
	if (shell == "bash") bash()
	else if (shell == "zsh") zsh()
	else fish()
}

# ---- bash ------------------------------------------------------------------------------------------------------------

function bash_values(i)
{
	if (words(i) != "") return "choices='" words(i) "'"
	if (takes_values(i)) return "choices=$(" tool " --values=" long[i] " 2>/dev/null)"
	if (value[i] == "PID") return "choices=$(cd /proc && printf '%s ' [1-9]*)"
	if (value[i] == "USER") return "choices=$(compgen -u)"
	if (value[i] == "CGROUP") return "choices=$(cd /sys/fs/cgroup && compgen -d -- \"$word\")"
	if (value[i] == "FILE") return "return"
	if (value[i] == "DIR") return "compopt -o dirnames 2>/dev/null; return"
	return "compopt +o default 2>/dev/null; return"
}

function bash(   i, with_value, all, lists, function_name)
{
	function_name = "_" tool
	for (i = 1; i <= n; i++) {
		if (value[i] != "" && !optional[i]) with_value = with_value (with_value == "" ? "" : " | ") names(i, " | ")
		if (list[i]) lists = lists (lists == "" ? "" : " | ") names(i, " | ")
		all = all " " (long[i] == "" ? "-" letter[i] : "--" long[i] (value[i] == "" || optional[i] ? "" : "="))
	}
	print "# bash completion of " tool ", made from " tool " --help"
	print function_name "()\n{"
	print "\tlocal line=${COMP_LINE:0:COMP_POINT} word='' option='' operand='' choices='' choice before='' i words"
	print "\tread -ra words <<<\"$line\""
	print "\tcase $line in *[![:space:]]) word=${words[-1]}; unset 'words[-1]' ;; esac"
	print "\tfor ((i = 1; i < ${#words[@]}; i++)); do"
	print "\t\toption=''"
	print "\t\tcase ${words[i]} in"
	if (with_value != "") print "\t\t" with_value ") option=${words[i]}; ((++i)) ;;"
	print "\t\t--) operand=$((i + 1)); break ;;"
	print "\t\t-*) ;;"
	print "\t\t*) operand=$i; " (operands() == "COMMAND" ? "break" : "") " ;;"
	print "\t\tesac"
	print "\tdone"
	if (operands() == "COMMAND") {
		print "\tif [ -n \"$operand\" ] && declare -F _command_offset >/dev/null; then"
		print "\t\t_command_offset \"$operand\"\n\t\treturn\n\tfi"
	}
	print "\t[ \"$i\" -gt \"${#words[@]}\" ] || option=''"
	print "\tcase $option$word in\n\t--*=*) [ -n \"$option\" ] || { option=${word%%=*}; word=${word#*=}; } ;;\n\tesac"
	print "\tcase $option in"
	for (i = 1; i <= n; i++)
		if (value[i] != "" && (long[i] != "" || !optional[i])) print "\t" names(i, " | ") ") " bash_values(i) " ;;"
	print "\t?*) compopt +o default 2>/dev/null; return ;;"
	print "\t'')\n\t\tcase $word in\n\t\t-*) choices='" substr(all, 2) "' ;;"
	if (operands() == "COMMAND") {
		print "\t\t*/*) return ;;"
		print "\t\t*) choices=$(compgen -c " (synopsis ~ /FILE/ ? "-f " : "") "-- \"$word\") ;;"
	}
	else if (operands() == "PID") print "\t\t*) choices=$(cd /proc && printf '%s ' [1-9]*) ;;"
	else if (operands() == "DIR") print "\t\t*) compopt -o dirnames 2>/dev/null; return ;;"
	else if (operands() == "FILE") print "\t\t*) return ;;"
	else print "\t\t*) compopt +o default 2>/dev/null; return ;;"
	print "\t\tesac\n\t\t;;\n\tesac"
	if (lists != "") {
		print "\tcase $option in"
		print "\t" lists ") before=${word%\"${word##*,}\"}; word=${word##*,} ;;"
		print "\tesac"
	}
	print "\tcase $word in *:*) before='' ;; esac # readline replaces what is after the last : or ="
	print "\tread -r -d '' -a words <<<\"$choices\""
	print "\tfor choice in \"${words[@]}\"; do"
	print "\t\tcase $choice in *[!A-Za-z0-9_.:@/+=-]*) continue ;; esac"
	print "\t\tcase $choice in \"$word\"*) ;; *) continue ;; esac"
	print "\t\tcase $word in *:*) choice=${choice#\"${word%\"${word##*:}\"}\"} ;; esac"
	print "\t\tCOMPREPLY+=(\"$before$choice\")"
	print "\tdone"
	print "\tcase ${COMPREPLY[*]-} in '') compopt +o default 2>/dev/null ;; *=) compopt -o nospace 2>/dev/null ;; esac"
	print "}"
	print "complete -o default -F " function_name " " tool
}

# ---- zsh -------------------------------------------------------------------------------------------------------------

function quoted(s) { gsub(/'/, "'\\''", s); return s }

function zsh_values(v, i,   action)
{
	if (i && words(i) != "") return "(" words(i) ")"
	if (i && takes_values(i)) action = "compadd -- ${(M)${(f)\"$(" tool " --values=" long[i] " 2>/dev/null)\"}:#[A-Za-z0-9_.:@/+-]#}"
	else if (v == "PID") action = "compadd -- /proc/<->(N:t)"
	else if (v == "USER") action = "_users"
	else if (v == "CGROUP") action = "_path_files -/ -W /sys/fs/cgroup"
	else if (v == "FILE") action = "_files"
	else if (v == "DIR") action = "_files -/"
	else return " "
	gsub(/:/, "\\:", action)
	if (i && list[i]) return "{compset -P '*,'; " action "}"
	return action ~ /^compadd/ ? "{" action "}" : action
}

function zsh(   i, h, spec, v)
{
	print "#compdef " tool
	print "# zsh completion of " tool ", made from " tool " --help"
	print "setopt localoptions extendedglob"
	print "_arguments -s -S : \\"
	for (i = 1; i <= n; i++) {
		h = help[i]
		gsub(/[][\\:]/, "\\\\&", h)
		spec = "[" h "]"
		v = value[i]
		gsub(/:/, "\\:", v)
		if (value[i] != "") spec = spec (optional[i] ? "::" : ":") v ":" zsh_values(value[i], i)
		spec = "'" quoted(spec) "'"
		if (help[i] ~ /may be repeated/ || list[i]) {
			if (letter[i] != "") print "\t'*-" letter[i] (value[i] == "" ? "" : "+") "'" spec " \\"
			if (long[i] != "") print "\t'*--" long[i] (value[i] == "" ? "" : optional[i] ? "=-" : "=") "'" spec " \\"
			continue
		}
		if (letter[i] != "" && long[i] != "")
			print "\t'(-" letter[i] " --" long[i] ")'{-" letter[i] (value[i] == "" ? "" : "+") ",--" long[i] (value[i] == "" ? "" : optional[i] ? "=-" : "=") "}" spec " \\"
		else if (letter[i] != "") print "\t'-" letter[i] (value[i] == "" ? "" : "+") "'" spec " \\"
		else print "\t'--" long[i] (value[i] == "" ? "" : optional[i] ? "=-" : "=") "'" spec " \\"
	}
	if (operands() == "COMMAND") print "\t'*::command:_normal'"
	else if (operands() == "") print "\t'*: :'"
	else print "\t'*:" tolower(operands()) ":" quoted(zsh_values(operands(), 0)) "'"
}

# ---- fish ------------------------------------------------------------------------------------------------------------

function escaped(s) { gsub(/\\/, "\\\\", s); gsub(/'/, "\\'", s); return s }

function fish_values(v, i,   source)
{
	if (i && words(i) != "") return " -x -a '" words(i) "'"
	if (i && takes_values(i)) source = tool " --values=" long[i] " 2>/dev/null | string match -r \"^[A-Za-z0-9_.:@/+-]+\\$\""
	else if (v == "PID") source = "__fish_complete_pids"
	else if (v == "USER") source = "__fish_complete_users"
	else if (v == "CGROUP") source = "path filter -d /sys/fs/cgroup/* | path basename"
	else if (v == "FILE") return " -r -F"
	else if (v == "DIR") source = "__fish_complete_directories (commandline -ct)"
	else return " -x"
	if (i && list[i]) source = "__fish_complete_list , \"" (takes_values(i) ? tool " --values=" long[i] " 2>/dev/null" : source) "\""
	return " -x -a '(" escaped(source) ")'"
}

function fish(   i)
{
	print "# fish completion of " tool ", made from " tool " --help"
	if (operands() == "COMMAND") print "complete -c " tool " -x -a '(__fish_complete_subcommand)'"
	else if (operands() == "PID" || operands() == "DIR") print "complete -c " tool fish_values(operands(), 0)
	else if (operands() == "") print "complete -c " tool " -f"
	for (i = 1; i <= n; i++)
		print "complete -c " tool (letter[i] == "" ? "" : " -s " letter[i]) (long[i] == "" ? "" : " -l " long[i]) \
			(value[i] == "" || optional[i] ? "" : fish_values(value[i], i)) " -d '" escaped(help[i]) "'"
}
