#!/bin/sh
# openers.sh BUILD - shows that no process that opens files of strangers is linked with a parser of them.
# openers.sh BUILD OBJECT - the same for one object, such as record/symsaver/saverprocess.
#
# From the objects that an opener's code begins in, nm leads to all objects that they refer to, and to those that these refer to. None of
# them may parse bytes of strangers: ELF, DWARF, tables for unwinding, jitdumps, memory of JVMs, packed data. Where a process forks its
# parser, the parser's function is handed to it by its own parent, so it does not refer to it.
set -u
build=$1
cd "$(dirname "$0")/../.." || exit 1
# what an opener's code begins in: pjrecord-open, pjrecord-keeper, pjfold-start and pjfold-open, pjfold-files, pjmap-publish
openers=${2:-record/unwind/cfiopener record/symsaver/saverprocess fold/opener/openerhelper common/filter/brokerserver jmap/perfmap/publisher}
parsers='^(common/formats/(elfhead|jmapfile)|unwind/.*|runtimes/.*|fold/.*|svg/.*|diff/.*|jmap/(codemap|timeline/(journal|frameinfo)|reader/readhelper|attach/(jcmdmap|attach|replies|mapparser|untrustedmap))|record/(symsaver/(elfreducer|dynelf|symparser)|jit/jitrecords|unwind/cfiparser|java/(jvmhelper|jvmbuilds)|interpreters/(interphelper|pythoninterpreter|jsinterpreter)))$'
functions='^(elf|gelf|dwarf|dwfl|lzma|ZSTD|BZ2)_|^(inflate|uncompress|gzread|gzopen)'

[ -d "$build/record" ] || { echo "openers: $build has no objects"; exit 2; }
(cd "$build" && find common unwind runtimes fold record jmap svg diff send -name '*.o' ! -name 'pj[fmrsdp]*.o') | sed "s:^:$build/:" | xargs nm -A -p --no-sort 2>/dev/null |
	awk -v build="$build/" -v openers="$openers" -v parsers="$parsers" -v functions="$functions" '
	{
		# FILE:ADDRESS TYPE NAME, FILE: U NAME
		file = $1
		sub(/:[0-9a-f]*$/, "", file)
		file = substr(file, length(build) + 1)
		sub(/\.o$/, "", file)
		kind = $(NF - 1)
		if (kind == "U" || kind == "w")
			wants[file] = wants[file] " " $NF
		else if (kind ~ /^[A-Z]$/)
			home[$NF] = file
		known[file] = 1
	}
	function chain(object) { return from[object] == "" ? object : chain(from[object]) " -> " object }
	END {
		n = split(openers, opener, " ")
		for (i = 1; i <= n; i++) {
			if (!known[opener[i]]) {
				print "openers: there is no " opener[i] ".o"
				bad = 1
			}
			split("", from); split("", seen); split("", queue)
			queue[1] = opener[i]; seen[opener[i]] = 1; last = 1
			for (k = 1; k <= last; k++) {
				m = split(wants[queue[k]], name, " ")
				for (j = 1; j <= m; j++) {
					if (name[j] ~ functions) {
						print "openers: " chain(queue[k]) " calls " name[j]
						bad = 1
					}
					to = home[name[j]]
					if (to == "" || seen[to])
						continue
					seen[to] = 1
					from[to] = queue[k]
					if (to ~ parsers && to !~ /^fold\/opener\//) {
						print "openers: " chain(to) " (" name[j] ") parses bytes of strangers"
						bad = 1
					}
					queue[++last] = to
				}
			}
			if (last < 3) {
				print "openers: " opener[i] " refers to no other object: nm shows too little"
				bad = 1
			}
			print "# " opener[i] ": " last " objects" > "/dev/stderr"
		}
		exit bad
	}'
