#!/bin/sh
# openers.t - no process that opens files of strangers with capabilities is linked with a parser of them (openers.sh); and that the rule finds
# such a call where there is one.
# covers: record/unwind/cfiopener.c record/symsaver/saverprocess.c fold/opener/openerhelper.c common/filter/brokerserver.c
# covers: jmap/perfmap/publisher.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
command -v nm >/dev/null || skip_all "nm is not installed"
build=${PJ_BUILD:-$PJ_TOP/build/std-cc}

ok "openers refer to no parser" sh "$PJ_TOP/test/suite/openers.sh" "$build"

# finds OBJECT PARSER: the rule names the parser that the object refers to
finds()
{
	sh "$PJ_TOP/test/suite/openers.sh" "$build" "$1" >found 2>&1 && return 1
	grep -q "$2" found
}
ok "the rule finds the parser of a process that parses" finds record/symsaver/symparser 'common/formats/elfhead (elfhead_'
ok "  through other objects, and names the way" finds record/symsaver/symsaver \
	'record/symsaver/symsaver -> record/symsaver/symparser -> record/symsaver/elfreducer'
ok "  and a library's" finds common/formats/elfhead 'calls inflate'
ok "  and those of pjmap" finds jmap/attach/jcmdmap 'jmap/attach/mapparser (mapparser_run)'
ok "a build without that object is none" finds record/nothing 'there is no record/nothing.o'
done_testing
