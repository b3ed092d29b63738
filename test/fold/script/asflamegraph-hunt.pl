#!/usr/bin/perl
# asflamegraph-hunt.pl SCRIPT PJFOLD [COUNT [SEED]] - hunt for differences between stackcollapse-perf.pl and its counterpart here.
#
# Makes COUNT small inputs (equal for equal SEED): samples put together from odd parts, most of them damaged at random.
# Every row of research/flamegraph.md 1.4 comes first, with each option. Both programs fold each input; what they write must be
# equal. The script gets empty lines behind the input, as it would lose the last sample otherwise. Inputs whose total needs
# more than 63 bits are not compared. Prints each difference with its input; exit status 1 when there was one.
use strict;
use warnings;
use File::Temp qw(tempdir);
use Getopt::Long ();    # once here: the script is run in a forked child, without perl's start-up each time

my ($script, $pjfold, $count, $seed) = @ARGV;
defined $pjfold or die "usage: $0 SCRIPT PJFOLD [COUNT [SEED]]\n";
$count //= 2000;
$seed //= 1;
srand $seed;
my $dir = tempdir(CLEANUP => 1);
my $parent = $$;

sub pick { $_[rand @_] }
sub maybe { my ($p, $text) = @_; rand() < $p ? $text : '' }

# ---- parts ----------------------------------------------------------------------------------------------------------

my @comm = ('java', 'java_vm 2', 'javac', 'node', 'my tool', 'pool 3', 'thread 1', 'a;b', 't', 'xy', 'swapper', ':-1',
	'(daemon)', "caf\xc3\xa9", '00', '0', '#no', ' pad', "tab\there", '"quoted"', 'x  y', 'a/b', '7f3a', 'ja va', '-1/-1');
my @task = ('12', '12/13', '0/0', '0', '00', '12/0', '12/00', '0/5', '12//13', '12/', '/12', '-1/-1', '1/2/3', '99999/100000',
	'12/13x', '012/013');
my @cpu = ('', '', '[000]', '[015]');
my @time = ('1.5:', '8675.309123:', '1.5:', '', '12:', '1.5', '1.5 :', ':', '1:2:');
my @period = ('', '1', '1', '0', '00', '007', '1001', '250000', '12a', 'a', '1 2', '4611686018427387');
my @event = ('cycles:', 'cycles:', 'cycles:', 'cycles:u:', 'cycles::', 'cpu-clock:ppp:', 'cpu_core/cycles/P:',
	'sched:sched_switch: prev=a next=b', 'sched:sched_switch:', '', ':', '12:', '0:', 'cycles', 'cy cles:', "\xff:");
my @pc = ('7f00deadbeef', 'ffffffff81000010', '8', '55aa', '4_0', '', '-', '7f.1', '[', "\xe9", '0', 'z');
my @gap = (' ', ' ', ' ', '', '  ', "\t", "\x0b", "\xa0");
my @symbol = ('main', 'work', '[unknown]', '[unknown]', 'sum(int, char)', 'ns::(anonymous namespace)::go(int)',
	'(anonymous namespace)::go(int)', '(anonymous namespace)', 'x(anonymous namespace)(int)(anonymous namespace)',
	'a/http.(*Server).Serve', 'a.(b', 'a).b.(', '.().', '.(.).', 'a.(*b).c(d)', 'outer->middle->inner', '->x', 'x->', '->', '->->',
	'->->y->->', 'a->->b', 'X::operator->() const', '<fn(A) -> B as T>::m', 'Pattern:[<>"\']', 'Lorg/pj/Demo;::run',
	"L'a/b", "'La/b", 'Lib', 'LL/x', 'L/', '/L', 'Lorg/pj/A;::f->Lorg/pj/B;::g', 'x;y', ';', 'f+0x12', 'f+0x', 'f+0xG', '+0x1', 'f+0x1+0x2',
	'0x1f', 'f+0xABC', 'add', '+0x1->', 'f+0x1->g+0x2', '[unknown]->f', 'f->[unknown]', '[unknown]->[unknown]',
	'[unknown]+0x5', ' [unknown]', '[unknown] ', 'f_[i]->g_[i]', 'f->g_[i]h', 'f_[j]', 'f_[k]', 'foo(int) (inlined)', 'tool 12 (x) y',
	'(tool)', 'a (b', 'a (b)', ') (', '(', ')', '(x)', '"', '"("', 'f"->"g', '-', '>', '', ' ', 'operator<<(std::ostream&)',
	'main::{lambda(int)#1}::operator()', 'std::function<void (int)>::operator()(int)', "\xc3\xbc", "\x01\x00\x7f", 'py::f:/a/b.py');
my @dso = ('/usr/lib/libx.so.6', '/usr/lib/libx.so.6', '/tmp/perf-12.map', '/tmp/perf-7.map', '/tmp/perf-.map', '/tmp/perf-1.mapx',
	'/x/tmp/perf-1.map.old', '/tmp/perf-a/tmp/perf-34.map', '/tmp/perf-12map', '[kernel.kallsyms]', '[kernel.kallsyms]', '[unknown]', '[unknown]', '[unknown',
	'vmlinux', '/boot/vmlinux', '/boot/vmlinux-6.1', 'vmlinux ', '[guest.unknown.7]', '/unknown/vmlinux', '[vdso]', '[mod]', 'x[y]', 'inlined',
	'/a b/c.so', '/lib/x.so (deleted)', '[JIT] tid 5', '', '/', 'a/', '/b+0x123', '(', ')', '()', 'x(y)z', '/q"uo\'te', 'a;b', 'L/x', 'a->b', "\xff",
	'.(x).', 'anonymous namespace)', '[k.ko]/x->y');
my @behind = ('', '', '', '', ')', ' ', "\r", 'x)', ' (x)', ' (', "\t", '))', ' (inlined)');
my @source = ('  file.c:12', '  libx.so[27b]', '[[a]b]', '', "\t", 'a;b', 'x [1] y [2', '#note', ']x[', '[]', '  [a] b [c]  ', ';', "  c.h:3\r", "\x0b");
my @noise = ('# cmdline : /usr/bin/perf record -g ./x', '#', '# x', ' #', 'garbage', ' ', "\t", "\r", 'LOST 12', '', '', '7f 12 (x)',
	'7f00 12 main (x)', '0', 'ab 12', 'ab 12 ', '()', ' ()', 'a ()', 'ab ()', 'a b ()', ' (x)', '12 12 12');

sub header {
	my $s = pick(@comm) . pick(' ', ' ', ' ', '  ', "\t", '') . pick(@task) . ' ';
	$s .= "$_ " for grep { length } pick(@cpu), pick(@time), pick(@period);
	return $s . pick(@event) . pick('', ' ', ' ', "\t ", "\r", ' x');
}

sub frame {
	return pick("\t    ", "\t", '', ' ', "\x0c", "\t    ") . pick(@pc) . pick(@gap) . pick(@symbol) . pick(' ', ' ', ' ', '') .
		'(' . pick(@dso) . pick(')', ')', ')', ')', '') . pick(@behind);
}

# As perf prints them.
sub plain_header {
	return sprintf('%s %5s [%03d] %d.%06d: %10s %s ', pick('java', 'node', 'my tool', 'xy'), pick('12/13', '14', '0/0'), rand 4,
		rand 1e4, rand 1e6, pick('1', '250000', '0'), pick('cycles:', 'cycles:', 'cycles:', 'cache-misses:'));
}

sub plain_frame {
	return sprintf("\t%16x %s (%s)", rand 2**40, pick(@symbol), pick(@dso[0 .. 29]));
}

sub input {
	my ($srcline) = @_;
	my $s = '';
	my $odd = pick(0, 0.1, 0.5, 1);

	for (1 .. 1 + rand 4) {
		$s .= (rand() < $odd ? header() : plain_header()) . "\n";
		for (1 .. rand 5) {
			$s .= (rand() < $odd ? frame() : plain_frame()) . "\n";
			$s .= pick(@source) . "\n" if $srcline && rand() < 0.9;
			$s .= pick(@noise) . "\n" if rand() < $odd / 8;
		}
		$s .= pick("\n", "\n", "\n", "\n", "\n\n", " \n", "\r\n", '');
	}
	return $s;
}

# Strings of few letters: they reach corners of the regular expressions that no list of parts thinks of.
sub letters {
	my ($n, @letter) = @_;
	return join '', map { pick(@letter) } 1 .. 1 + rand $n;
}

sub dense_input {
	my $s = '';

	for (1 .. 8) {
		$s .= pick(
			letters(18, ' ', ' ', ' ', "\t", 'a', ':', ':', '0', '1', '2', '/'),
			'a' . letters(8, ' ', ' ', '/', '0', '7') . ' ' . letters(8, ' ', ' ', ':', ':', '0', '5', 'e'),
			'cc 1/2 ' . letters(8, ' ', ' ', "\t", ':', ':', '0', '5', 'e') . maybe(0.7, 'e:'),
			'cc 1/2 3.4: 5 e:') . "\n";
		$s .= pick(
			letters(14, ' ', ' ', ' (', ' (', ')', ')', "\t", 'a', '1', '-'),
			"\t1 " . letters(10, '(', ')', '.', '.', 'a', '->', 'anonymous namespace', '"', ' ', '+0x1') . ' (b)',
			"\t2 " . pick('f', '[unknown]', 'L/f') . ' (' . letters(6, '/tmp/perf-', '1', '.map', '[', ']', 'unknown', 'vmlinux', '/', ' ') . ')',
			"\t3 " . letters(6, '->', '-', '>', '[unknown]', '_[i]', '_[j]', '+0x', 'a', '(', ';') . ' ([unknown])') . "\n" for 1 .. rand 4;
		$s .= pick(@source) . "\n" if rand() < 0.1;
		$s .= pick("\n", "\n", "\n", '');
	}
	return $s;
}

my @byte = (split(//, " \t\r\n\x0b\x0c:;/()[]->+0x189afL\"'#.,_\\{}=\x00\xa0\xff"), ' (', ')', '->', ': ', '+0x', "\n\n", '[unknown]', ' ', ' ', ' ');

sub damage {
	my ($s) = @_;

	for (1 .. rand 5) {
		my $at = int rand(1 + length $s);
		my $what = rand;

		if ($what < 0.4) {
			substr($s, $at, 0) = pick(@byte);
		} elsif ($what < 0.7) {
			substr($s, $at, 1 + rand 3) = '' if $at < length $s;
		} elsif ($what < 0.85) {
			substr($s, $at, 1) = pick(@byte) if $at < length $s;
		} elsif ($what < 0.95) {
			my $part = substr($s, int rand(1 + length $s), rand 20);
			substr($s, $at, 0) = $part;
		} else {
			my @line = split /(?<=\n)/, $s;
			push @line, splice @line, rand @line, 1 if @line;
			$s = join '', @line;
		}
	}
	return $s;
}

# ---- the rows of the table --------------------------------------------------------------------------------------------

my @row = (
	"t 99076/99080 [001] 104.002559: 250 cycles:\n\t 55d0 run (/b/t)\n",                           # comm of one byte
	"   ls  31 [000]  1.25:  7 cycles:\n\t 55d0 run (/b/ls)\n\nls 31 1.5: 7 cycles:\n\t 1 a (/b)\n", # padded header
	"ls  31 [000]  1.25:  7 cycles:  7f10 start+0x1 (/b/ls)\nls 31 [000] 1.26: 9 cycles: ffff1 idle ([kernel.kallsyms])\n",
	"   xterm  31/31  1.25:  7 cycles:  7f10 [unknown] (/b/xterm)\n",
	"thread 1 12345/12346 1.0: 5 cycles:\n\t 1 a (/b)\n",
	"swapper 0/0 [003] 1.0: 5 cycles:\n\t 1 idle ([kernel.kallsyms])\n",
	":-1 -1/-1 [000] 1.5: 3 cycles:\n\t 1 a (/b)\n",
	"xy 1/1 1.5: 3 cycles:\n\t 1 gone+0x1 (/lib/y.so (deleted))\n\t 2 [unknown] (/memfd:j (deleted))\n\t 3 [unknown] ([unknown])\n",
	"xy 1/1 1.5: 3 cycles:\n\t 1 g (/my dir/c.so)\n\t 2 q ([JIT app cache])\n",
	"xy 1/1 1.5: 3 cycles:\n\t 1 (anonymous namespace)::f(int) (/b)\n\t 2 ns::(anonymous namespace)::g(int) (/b)\n",
	"xy 1/1 1.5: 3 cycles:\n\t 1 std::function<void (int)>::operator()(int)+0x3 (/b)\n\t 2 foo<(color)0>::bar (/b)\n",
	"xy 1/1 1.5: 3 cycles:\n\t 1 main::{lambda(int)#1}::operator()(int) const (/b)\n\t 2 operator<<(std::ostream&, int) (/b)\n",
	"xy 1/1 1.5: 3 cycles:\n\t 1 X::operator->() const (/b)\n\t 2 <fn(A) -> B as T>::m (/b)\n",
	"xy 1/1 1.5: 3 cycles:\n\t    7f1e2215d058 (/x.so)\n\t 7f1e  (/x.so)\n",
	"xy 1/1 1.5: 3 cycles:\n\t 1 foo(int) (inlined)\n\t 1 bar (/b)\n",
	"xy 1/1 1.5: 3 cycles:\n\t 1 gettime ([vdso])\n\t 2 k (/lib/modules/x.ko)\n\t 3 l (/boot/vmlinux-5.4.14)\n\t 4 m (/boot/vmlinux)\n",
	"xy 1/1 1.5: 3 cycles:\n\t 1 add (/tmp/jitted-1-2.so)\n\t 2 sub (/tmp/perf-1.map)\n\t 3 La/b;::f->Lc/d;::g (/tmp/perf-1.map)\n",
	"java 1/1 1.5: 3 cycles:\n\t 1 [unknown] (/b+0x1234)\n\t 3 La/b;::f->Lc/d;::g (/tmp/perf-1.map)\n\t 4 Lib/x (/b)\n",
	"xy 1 [0] 1.5: sched:sched_switch: prev=a next=b\n\t 1 schedule ([kernel.kallsyms])\n\nxy 1 1.6: 5 cycles:\n\t 1 b (/b)\n",
	"xy 1 1.5: 5 cycles:u:\n\t 1 a (/b)\n\nxy 1 1.6: 5 cycles:k:\n\t 1 b (/b)\n",
	"xy 1 1.5: 5 cpu_core/cycles/P:\n\t 1 a (/b)\n\nxy 1 1.6: 5 cpu_atom/cycles/P:\n\t 1 b (/b)\n",
	"xy 12 cycles: \n\t 1 a (/b)\n\nxy 12 faults: \n\t 1 a (/b)\n",
	"xy 1 1.5: 5 cycles: \r\n\t 1 a (/b)\r\n\r\nxy 1 1.5: 5 cycles: \r\n\t 1 b (/b)\r\n\r\n",
	"xy 1 1.5: 5 cycles:\n\t 1 a (/b)\n  \nzz 1 1.5: 6 cycles:\n\t 1 b (/b)\n",
	"garbage here\n\t 1 a (/b)\n\nxy 1 1.5: 5 cycles:\n\t 1 a (/b)\n",
	"xy 1 1.5: 5 cycles:\n\t 1 a (/b)\n  a.c:1\n\t 1 b\n  b.c:2 (inlined)\n\t 1 c (/b)\n  c.c:3\n",
	"xy 1 1.5: 5 cycles:\n\t 1 a (/b)\n\t 2 b (/b)\n  b.c:2\n\n",
	"xy 1 1.5: 0 cycles:\n\t 1 a (/b)\n\nxy 1 1.5: 00 cycles:\n\t 1 c (/b)\n\nxy 1 1.5: 5 cycles:\n\n",
	"DEFERRED CALLCHAIN [cookie: 12]\nxy 1 1.5: 5 cycles:\n\t 1 a (/b)\n# c\n#\n\t 2 b (/b)\nzz 2 1.5: 6 cycles:\n\t 3 c (/b)\n",
	"xy 1 1.5: 5 cycles:\n\t 1 foo (/b)\n\nxy 1 1.5: 5 cycles:\n\t 1 bar (/b)\n\t 1 foo (/b)\n\nxy 1 1.5: 5 cycles:\n\t 1 foo.cold (/b)\n",
	'', "\n", "xy 1 1.5: 5 cycles:", "xy 1 1.5: 5 cycles:\n\t 1 a (/b)",
);

# ---- both programs ------------------------------------------------------------------------------------------------------

sub slurp { local $/; open my $f, '<:raw', $_[0] or die "$_[0]: $!"; my $s = <$f>; return $s // '' }
sub spill { open my $f, '>:raw', $_[0] or die "$_[0]: $!"; print $f $_[1]; close $f or die "$_[0]: $!" }

# Runs code in a child whose input and output are files; returns output and wait status.
sub in_child {
	my ($in, $code) = @_;
	my $pid = fork // die "fork: $!";

	if ($pid == 0) {
		open STDIN, '<', $in or die $!;
		open STDOUT, '>', "$dir/out" or die $!;
		open STDERR, '>', "$dir/err" or die $!;
		$code->();
		close STDOUT;
		require POSIX;
		POSIX::_exit(0);
	}
	waitpid $pid, 0;
	my $status = $?;
	return (slurp("$dir/out"), $status);
}

my ($differences, $compared, $large, $empty) = (0, 0, 0, 0);

sub compare {
	my ($input, @option) = @_;
	my @ours;

	spill("$dir/input", $input);
	spill("$dir/ended", $input . "\n" x 9);
	my ($theirs) = in_child("$dir/ended", sub {
		@ARGV = @option;
		do($script) // ($@ && die $@);
	});
	my $total = 0;
	$total += $_ for $theirs =~ / (\S+)$/mg;
	return $large++ if $total >= 2**63;
	$empty++ if $theirs eq '';
	for my $option (@option) {
		push @ours, $option =~ /^--event-filter=(.*)/s ? ('--only', "event=$1") : $option;
	}
	my ($got, $status) = in_child('/dev/null', sub {
		exec $pjfold, '--as-flamegraph', @ours, "$dir/input" or die "$pjfold: $!\n";
	});
	$compared++;
	my $crash = $status & 127 || $status >> 8 > 1;    # 1: nothing usable
	return if $got eq $theirs && !$crash;
	$differences++;
	if ($differences <= 10) {
		my $show = sub { my $t = shift; $t =~ s/([^\n -~])/sprintf '\x%02x', ord $1/ge; $t =~ s/^/#   |/mg; chomp $t; "$t\n" };
		print "# difference with @option", $crash ? " (status $status, " . slurp("$dir/err") . ")" : '', "\n# input\n", $show->($input),
			"# $script\n", $show->($theirs), "# $pjfold\n", $show->($got);
	}
}

my @flags = qw(--pid --tid --kernel --jit --all --addrs --srcline);

for my $row (@row) {
	compare($row);
	compare($row, $_) for @flags;
	compare($row, '--event-filter=cycles');
}
for (1 .. $count) {
	my @option = grep { rand() < 0.2 } @flags;
	push @option, '--event-filter=' . pick('cycles', 'cycles:u', 'faults', 'x') if rand() < 0.1;
	my $input = rand() < 0.3 ? dense_input() : input(grep { $_ eq '--srcline' } @option);
	$input = damage($input) if rand() < 0.7;
	compare($input, @option);
}
print "# seed $seed: $compared inputs compared, $differences differences, $empty without a stack, $large too large to compare\n";
exit($differences ? 1 : 0);
