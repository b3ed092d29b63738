#!/bin/sh
# completions.t - completions for bash, zsh and fish: options, words of enumerations, files, PIDs, events, and names that others chose.
# once: files that are made from texts of the tools, which do not depend on the build
# covers: common/filter/completions.awk common/filter/opt.c flame/pjflame.sh flame/verbs.sh
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
dir=${PJ_BUILD:-$top/build/std-cc}/completions
[ -e "$dir/pjfold.bash" ] || skip_all "no completions in this build"
touch recording.data other.folded
mkdir folder
tab=$(printf '\t')
all=$(printf '\033*') # inserts all candidates

# bash_line KEYS: the words of the command line after these keys, as bash and readline make them
bash_line()
{
	printf '%s\n' "for f in '$dir'/*.bash; do . \"\$f\"; done" >keys
	printf '%s\001set -- \005 ;printf "ran:%%s\\n" "$*"\n' "$1" >>keys
	INPUTRC=/dev/null TERM=dumb HISTFILE='' timeout 60 bash --norc -i <keys 2>bash.err | sed -n 's/^ran://p' | sed 's/ *$//'
}

for t in $(tools); do
	missing=
	"$t" --help | sed -n 's/^  -., \(--[a-z-]*\).*/\1/p; s/^      \(--[a-z-]*\).*/\1/p' >options
	while read -r option; do
		for file in "$t.bash" "_$t" "$t.fish"; do
			case $file in *.fish) word="-l ${option#--} " ;; *) word=$option ;; esac
			grep -qF -e "$word" "$dir/$file" || missing="$missing$file:$option "
		done
	done <options
	ok "$t: --help has options" test -s options
	is "$t: options that a completion lacks" "$missing" ""
done

# ---- verbs: words of pjflame in front of all options
for verb in top dump; do
	unknown=
	pjflame "$verb" --help | sed -n 's/^  -., \(--[a-z-]*\).*/\1/p; s/^      \(--[a-z-]*\).*/\1/p' >options
	while read -r option; do
		pjflame --help | grep -q -e "^  .*$option" || unknown="$unknown$option "
		for file in pjflame.bash _pjflame pjflame.fish; do
			awk -v file="$file" -v verb="$verb" 'file ~ /bash$/ { if (/^_/) on = $1 == "_pjflame_" verb "()" }
				file ~ /^_/ { if (/^if .*words/) on = $0 ~ verb " ]]"; if (/^fi$/) on = 0 }
				file ~ /fish$/ { on = $0 ~ "subcommand_from " verb "\047" }
				on' "$dir/$file" >section
			case $file in *.fish) word="-l ${option#--} " ;; *) word=$option ;; esac
			grep -qF -e "$word" section || unknown="$unknown$file:$option "
		done
	done <options
	ok "pjflame $verb: --help has options of its own" test -s options
	is "pjflame $verb: options that pjflame --help or a completion lacks" "$unknown" ""
done

if have bash; then
	is "bash: a verb" "$(bash_line "pjflame dum$tab")" "pjflame dump"
	is "bash: an option of a verb" "$(bash_line "pjflame dump --out$tab")" "pjflame dump --output="
	is "bash: no option that the verb lacks" "$(bash_line "pjflame dump --tit$tab")" "pjflame dump --tit"
	is "bash: an option" "$(bash_line "pjfold --time-s${tab}")" "pjfold --time-slice="
	is "bash: an option without a value is followed by a blank" "$(bash_line "pjfold --head${tab}x")" "pjfold --header x"
	is "bash: a word after =" "$(bash_line "pjfold --by=con$tab")" "pjfold --by=container"
	is "bash: a word after a blank" "$(bash_line "pjfold --by con$tab")" "pjfold --by container"
	is "bash: all words" "$(bash_line "pjrecord --unwind=$all")" "pjrecord --unwind=auto fp tables verify"
	is "bash: a palette" "$(bash_line "pjsvg -c pyth$tab")" "pjsvg -c python"
	is "bash: a store" "$(bash_line "pjsend --store=clickh$tab")" "pjsend --store=clickhouse:"
	is "bash: a file" "$(bash_line "pjfold rec$tab")" "pjfold recording.data"
	is "bash: a file after =" "$(bash_line "pjfold --output=oth$tab")" "pjfold --output=other.folded"
	is "bash: a directory" "$(bash_line "pjrecord -d $tab")" "pjrecord -d folder/"
	is "bash: an event" "$(bash_line "pjrecord -e page-f$tab")" "pjrecord -e page-faults"
	is "bash: a second event" "$(bash_line "pjrecord --event=cycles,page-f$tab")" "pjrecord --event=cycles,page-faults"
	is "bash: a command" "$(bash_line "pjrecord -a pjfo$tab")" "pjrecord -a pjfold"
	sleep 1000 &
	sleeper=$!
	short=${sleeper%?}
	is "bash: a PID" "$(bash_line "pjflame -p 1,$short$all" | tr ' ' '\n' | grep -cxF "1,$sleeper")" 1
	kill "$sleeper"
	# shellcheck disable=SC2016 # not for this shell
	mkdir stub && printf '#!/bin/sh\necho web-1\necho "web-2;touch\${IFS}bad"\necho '\''web-3$(touch${IFS}bad)'\''\necho web\\*\n' >stub/pjflame
	printf '#!/bin/sh\necho sched:sched_switch\necho sched:sched_wakeup\n' >stub/pjrecord
	chmod +x stub/*
	is "bash: a tracepoint" "$(PATH=$PWD/stub:$PATH bash_line "pjrecord -e cycles,sched:sched_sw$tab")" "pjrecord -e cycles,sched:sched_switch"
	is "bash: a container; names with other characters are left out" "$(PATH=$PWD/stub:$PATH bash_line "pjflame -c $all")" "pjflame -c web-1"
	not_run=$(ls bad 2>/dev/null)
	is "  and nothing in them is run" "$not_run" ""
else
	skip "bash" "not installed"
fi

# zsh_line KEYS: as bash_line
zsh_line()
{
	keys=$1 dir=$dir timeout 60 zsh -f -c '
	zmodload zsh/zpty
	zpty line "TERM=dumb PS1= zsh -f -i"
	zpty -w line "fpath=($dir \$fpath); autoload -Uz compinit; compinit -u -D; bindkey -e; setopt menucomplete no_beep no_list_ambiguous; print rea""dy"
	zpty -r line out "*ready*"
	zpty -w -n line "$keys"
	zpty -w line $'\''\001set -- \005; print -r ran: "$*" :nar'\''
	zpty -r line out "*ran: pj*:nar*"
	print -r -- "$out"' | tr -d '\r' | sed -n 's/^.*ran: \(pj.*\) :nar.*/\1/p' | tail -n 1 | sed 's/ *$//'
}

if have zsh; then
	for f in "$dir"/_pj*; do ok "zsh: ${f##*/} is a script" zsh -n "$f"; done
	is "zsh: a verb" "$(zsh_line "pjflame dum$tab")" "pjflame dump"
	is "zsh: an option of a verb" "$(zsh_line "pjflame top --row${tab}5")" "pjflame top --rows=5"
	is "zsh: an option" "$(zsh_line "pjfold --time-s${tab}5")" "pjfold --time-slice=5"
	is "zsh: a word after =" "$(zsh_line "pjfold --by=con$tab")" "pjfold --by=container"
	is "zsh: a palette" "$(zsh_line "pjsvg -c pyth$tab")" "pjsvg -c python"
	is "zsh: a file" "$(zsh_line "pjfold rec$tab")" "pjfold recording.data"
	is "zsh: a second event" "$(zsh_line "pjrecord --event=cycles,page-f$tab")" "pjrecord --event=cycles,page-faults"
else
	skip "zsh" "not installed"
fi

# fish_words LINE: the candidates, as fish makes them
fish_words()
{
	line=$1 dir=$dir XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD timeout 60 fish --no-config -c 'for f in $dir/*.fish; source $f; end; complete -C $line' 2>fish.err | cut -f 1 | sort | tr '\n' ' '
}

if have fish; then
	ok "fish: a verb" sh -c 'case " $1" in *" dump "*) ;; *) exit 1 ;; esac' sh "$(fish_words "pjflame dum")"
	is "fish: an option of a verb" "$(fish_words "pjflame dump --")" "--container --frequency --help --interpreters --output --pid --quiet --seconds --unwind --verbose "
	is "fish: an option" "$(fish_words "pjfold --time-s")" "--time-slice "
	is "fish: words after =" "$(fish_words "pjfold --by=con")" "--by=container "
	is "fish: all words" "$(fish_words "pjrecord --unwind ")" "auto fp tables verify "
	is "fish: a palette" "$(fish_words "pjsvg -c pyth")" "python "
	is "fish: a file" "$(fish_words "pjfold rec")" "recording.data "
	is "fish: a second event" "$(fish_words "pjrecord -e cycles,page-f")" "cycles,page-faults "
	is "fish: a directory" "$(fish_words "pjrecord -d fol")" "folder/ "
else
	skip "fish" "not installed"
fi

# ---- what they are made of
is "--values of an option with choices" "$(pjfold --values=by | tr '\n' ' ')" "cgroup container pod thread "
is "--values of an option with a number" "$(pjfold --values=top)" ""
ok "--values of events: a clock" sh -c 'pjrecord --values=event | grep -qx cpu-clock'
pjsvg --values=color-map >out 2>err
is "--values of an option that is none: status" "$?" 2
is "  and a message" "$(cat err)" "pjsvg: --values=color-map: there is no option --color-map (see pjsvg --help)"

# ---- install
if have make; then
	make -s -C "$top" CC="${CC:-cc}" DESTDIR="$PWD/root" PREFIX=/usr install >made 2>&1 || cat made
	ok "make install: bash" test -s root/usr/share/bash-completion/completions/pjfold
	ok "make install: zsh" test -s root/usr/share/zsh/site-functions/_pjfold
	ok "make install: fish" test -s root/usr/share/fish/vendor_completions.d/pjfold.fish
	make -s -C "$top" CC="${CC:-cc}" DESTDIR="$PWD/root" PREFIX=/usr uninstall >made 2>&1 || cat made
	is "make uninstall removes them" "$(find root -type f)" ""
fi
done_testing
