# verbs.sh - --help of the verbs of pjflame, top and dump, which come before all options. The build makes shell
# completions from this text.

help_top()
{
	cat <<'END'
pjflame top - print a table of the hottest functions repeatedly, until q or Ctrl-C
usage: pjflame top [options] [PID]

Targets:
  -a, --all                  record the whole host (the default)
  -p, --pid=PID,...          record these processes and those that they start
  -c, --container=CONTAINER  record a container, by name or start of its id; or a unit

Events:
  -s, --seconds=SECONDS      duration of each table (3)
  -F, --frequency=HZ         samples a second on each busy CPU (303)
  -e, --event=EVENT          event: auto (cycles or cpu-clock), page-faults, ... (auto)
      --unwind=auto|tables|fp
                             auto (both), tables (unwind tables), fp (frame pointers) (auto)
      --interpreters=off|on|all|auto
                             show functions of Python, node, Ruby, PHP, Perl (auto)
      --off-cpu[=US]         record off-CPU times instead, of US microseconds or more

Output:
      --by=process|thread|container|pod|cgroup
                             a table for each process, thread, container, pod or cgroup
      --inline               show inlined functions as frames (debug information)
  -q, --quiet                print errors only
  -n, --tables=N             end after N tables
      --rows=N               rows of a table (as many as fit; 20)

      --help                 show this text

example: pjflame top 4711
END
}

help_dump()
{
	cat <<'END'
pjflame dump - print one stack of each thread of a process as text, without stopping it
usage: pjflame dump [options] PID

Targets:
  -p, --pid=PID,...          print the threads of these processes
  -c, --container=CONTAINER  print the threads of a container, by name or start of its id; or of a unit

Events:
  -s, --seconds=SECONDS      duration of the recording (2)
  -F, --frequency=HZ         samples a second on each busy CPU (997)
      --unwind=auto|tables   unwind tables, also with frame pointers (auto) or alone
      --interpreters=off|on|all|auto
                             show functions of Python, node, Ruby, PHP, Perl (auto)

Output:
  -o, --output=FILE          write the text to FILE (standard output)
  -q, --quiet                print errors only
  -v, --verbose              also print all counts of the recording

      --help                 show this text

example: pjflame dump 4711
END
}
