# completions.awk - completions of a tool for a shell, made from its --help: TOOL --help | awk -v shell=bash|zsh|fish -f completions.awk
#
# After that text may come TOOL VERB --help of each verb: a word that stands in front of all options, and has options of its own.
# A text begins with "TOOL - what it does", or with "TOOL VERB - what it does".
# The rows and the usage lines are those that opt.c prints: "  -o, --output=FILE          text", or the text in the next line. The
# name of a value selects what completes it: FILE, DIR, PID, USER, CGROUP, COMMAND; "a|b|c" are its words; EVENT, PALETTE, STORE,
# CONTAINER and KEY come from TOOL --values=OPTION when they are needed. "NAME,..." is a list of such values.
# A word from --values may be chosen by another user, as the name of a container: only those of letters, digits and _.:@/+- are used.

NR == 1 { tool = $1; verb[texts = 1] = ""; first[1] = 1; next }
$1 == tool && $2 ~ /^[a-z]+$/ && $3 == "-" && !usage {
	last[texts] = n
	verb[++texts] = $2
	does[texts] = substr($0, length($1 $2) + 5)
	first[texts] = n + 1
	verbs = verbs (verbs == "" ? "" : " ") $2
	next
}
/^usage:/ { usage = 1 }
usage && /^$/ { usage = 0 }
usage { synopsis[texts] = synopsis[texts] " " $0 }
/^  (-.|  )(, |  )?-?-?/ && /^ +-/ { row($0); next }
n >= first[texts] && help[n] == "" && substr($0, 1, 29) ~ /^ *$/ && length($0) > 29 { help[n] = substr($0, 30) }

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

# operands(T): what the operands of a text are
function operands(t)
{
	if (synopsis[t] ~ /COMMAND/) return "COMMAND"
	if (synopsis[t] ~ /\[?PID/) return "PID"
	if (synopsis[t] ~ /\[DIR\]/) return "DIR"
	if (synopsis[t] ~ /file|FILE|BEFORE/) return "FILE"
	return ""
}

END {
	last[texts] = n
	print (shell == "zsh" ? "#compdef " tool "\n" : "") "# " shell " completion of " tool ", made from " tool " --help"
	if (shell == "zsh") print "setopt localoptions extendedglob"
	for (t = texts; t > 0; t--) # the verbs before the function that uses them
		if (shell == "bash") bash(t)
		else if (shell == "zsh") zsh(t)
		else fish(t)
	if (shell == "bash") print "complete -o default -F _" tool " " tool
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

function bash(t,   i, with_value, all, lists, function_name)
{
	function_name = "_" tool (t > 1 ? "_" verb[t] : "")
	for (i = first[t]; i <= last[t]; i++) {
		if (value[i] != "" && !optional[i]) with_value = with_value (with_value == "" ? "" : " | ") names(i, " | ")
		if (list[i]) lists = lists (lists == "" ? "" : " | ") names(i, " | ")
		all = all " " (long[i] == "" ? "-" letter[i] : "--" long[i] (value[i] == "" || optional[i] ? "" : "="))
	}
	print function_name "()\n{"
	print "\tlocal line=${COMP_LINE:0:COMP_POINT} word='' option='' operand='' choices='' choice before='' i words"
	print "\tread -ra words <<<\"$line\""
	print "\tcase $line in *[![:space:]]) word=${words[-1]}; unset 'words[-1]' ;; esac"
	for (i = 2; i <= texts && t == 1; i++) print "\tcase ${words[1]-} in " verb[i] ") _" tool "_" verb[i] "; return ;; esac"
	print "\tfor ((i = " (t > 1 ? 2 : 1) "; i < ${#words[@]}; i++)); do"
	print "\t\toption=''"
	print "\t\tcase ${words[i]} in"
	if (with_value != "") print "\t\t" with_value ") option=${words[i]}; ((++i)) ;;"
	print "\t\t--) operand=$((i + 1)); break ;;"
	print "\t\t-*) ;;"
	print "\t\t*) operand=$i; " (operands(t) == "COMMAND" ? "break" : "") " ;;"
	print "\t\tesac"
	print "\tdone"
	if (operands(t) == "COMMAND") {
		print "\tif [ -n \"$operand\" ] && declare -F _command_offset >/dev/null; then"
		print "\t\t_command_offset \"$operand\"\n\t\treturn\n\tfi"
	}
	print "\t[ \"$i\" -gt \"${#words[@]}\" ] || option=''"
	print "\tcase $option$word in\n\t--*=*) [ -n \"$option\" ] || { option=${word%%=*}; word=${word#*=}; } ;;\n\tesac"
	print "\tcase $option in"
	for (i = first[t]; i <= last[t]; i++)
		if (value[i] != "" && (long[i] != "" || !optional[i])) print "\t" names(i, " | ") ") " bash_values(i) " ;;"
	print "\t?*) compopt +o default 2>/dev/null; return ;;"
	print "\t'')\n\t\tcase $word in\n\t\t-*) choices='" substr(all, 2) "' ;;"
	if (operands(t) == "COMMAND") {
		print "\t\t*/*) return ;;"
		print "\t\t*) choices=$(compgen -c " (synopsis[t] ~ /FILE/ ? "-f " : "") "-- \"$word\")"
		if (t == 1 && verbs != "") print "\t\t\t[ \"${#words[@]}\" -gt 1 ] || choices=\"" verbs " $choices\""
		print "\t\t\t;;"
	}
	else if (operands(t) == "PID") print "\t\t*) choices=$(cd /proc && printf '%s ' [1-9]*) ;;"
	else if (operands(t) == "DIR") print "\t\t*) compopt -o dirnames 2>/dev/null; return ;;"
	else if (operands(t) == "FILE") print "\t\t*) return ;;"
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

function zsh(t,   i, h, spec, v)
{
	if (t > 1) print "if (( CURRENT > 2 )) && [[ $words[2] == " verb[t] " ]]; then\n\tshift words\n\t(( CURRENT-- ))"
	print "_arguments -s -S : \\"
	for (i = first[t]; i <= last[t]; i++) {
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
	if (t == 1 && verbs != "") print "\t'*::command:{(( CURRENT > 1 )) || compadd -- " verbs "; _normal}'"
	else if (operands(t) == "COMMAND") print "\t'*::command:_normal'"
	else if (operands(t) == "") print "\t'*: :'"
	else print "\t'*:" tolower(operands(t)) ":" quoted(zsh_values(operands(t), 0)) "'"
	if (t > 1) print "\treturn\nfi"
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

# fish_when(T): the condition of the candidates of a text
function fish_when(t)
{
	if (verbs == "") return ""
	return t > 1 ? " -n '__fish_seen_subcommand_from " verb[t] "'" : " -n 'not __fish_seen_subcommand_from " verbs "'"
}

function fish(t,   i, complete)
{
	complete = "complete -c " tool
	if (t > 1) print complete " -n __fish_is_first_token -x -a " verb[t] " -d '" escaped(does[t]) "'"
	complete = complete fish_when(t)
	if (operands(t) == "COMMAND") print complete " -x -a '(__fish_complete_subcommand)'"
	else if (operands(t) == "PID" || operands(t) == "DIR") print complete fish_values(operands(t), 0)
	else if (operands(t) == "") print complete " -f"
	for (i = first[t]; i <= last[t]; i++)
		print complete (letter[i] == "" ? "" : " -s " letter[i]) (long[i] == "" ? "" : " -l " long[i]) \
			(value[i] == "" || optional[i] ? "" : fish_values(value[i], i)) " -d '" escaped(help[i]) "'"
}
