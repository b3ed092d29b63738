# truth.pl MODE SECONDS: runs subs whose stacks are known: fifty, thirty and twenty run 50, 30 and 20 turns of one loop.
use strict;
use warnings;
no warnings qw(recursion redefine);
use List::Util qw(first reduce any);
sub fifty { my $x = 0; for my $i (1 .. 250) { $x = ($x * 31 + $i) & 0xffffff } return $x }
sub thirty { my $x = 0; for my $i (1 .. 150) { $x = ($x * 31 + $i) & 0xffffff } return $x }
sub twenty { my $x = 0; for my $i (1 .. 100) { $x = ($x * 31 + $i) & 0xffffff } return $x }
sub left { fifty() }
sub right { thirty() }
sub Mid::middle { twenty() }

sub parents { left(); right(); Mid->middle }
sub down { my $n = shift; if ($n) { down($n - 1) } else { parents() } }

sub by_number { thirty(); return $a <=> $b }
sub callbacks
{
	my @a = sort by_number 3, 1, 2;
	@a = sort { my $found = first { fifty(); $_ == 2 } 1, 2, 3; $a <=> $b } @a;
	my $sum = reduce { twenty(); $a + $b } @a;
	@a = map { twenty(); $_ } grep { thirty(); 1 } @a;
}

# The callback's own evals run in a run loop of their own, which goes on with the callback.
sub caught { my $n = shift; eval { twenty(); die "x\n" if $n; }; fifty(); return 1 }
sub catching
{
	my $found = first { caught($_) && $_ > 2 } 0 .. 2;
	my @a = sort { eval { thirty() }; twenty(); $a <=> $b } 2, 1;
}

sub raises { my $n = shift; die "x\n" if $n == 0; eval { raises($n - 1); 1 } or do { twenty(); die "y\n" } }
sub exceptions { eval { raises(4) }; thirty() }

sub closures { my @subs = map { my $n = $_; sub { fifty() if $n } } 1 .. 3; $_->() for @subs; thirty() }

# Two subs without a name, each freed after its call: the next one often gets its memory.
sub called { $_[0]->() }
# line 1 "left.pl"
sub temporary_left { my $n = shift; called(sub { fifty() if $n }) }
# line 1 "right.pl"
sub temporary_right { my $n = shift; called(sub { thirty() if $n }) }
# line 45 "truth.pl"
sub temporaries { temporary_left(1); temporary_right(1) }

package Thing;
use overload '<=>' => sub { main::thirty(); return 0 }, '""' => \&text;
sub text { main::fifty(); return 'thing' }
sub DESTROY { main::twenty() }
package main;
sub objects { my @things = map { bless {}, 'Thing' } 1 .. 2; my $text = "$things[0]"; @things = sort { $a <=> $b } @things }

# Code that comes and goes.
sub renewed { my $n = eval 'fifty(); 1'; eval 'package Made; sub made { main::twenty() } made()' }

# Makes closures, runs code in a substitution after an eval of its own, and in a match that goes on; the top level calls it.
sub making
{
	for my $i (1 .. 100) { my ($x, $y, $z) = ($i) x 3; my $made = sub { my ($v, $w); return $x + $y + $z } }
	eval { twenty() };
	for my $i (1 .. 100) { my $text = 'x'; $text =~ s/x/$i + 1/e }
	my $none = ('ab' x 500) =~ /^(?{ 1 })(?:a|b)*[cd]/;
}

my ($mode, $seconds) = @ARGV;
if ($mode eq 'making') { for (my $end = time() + $seconds; time() < $end;) { making() } exit 0 }
sub main
{
	no strict 'refs';
	for (my $end = time() + $seconds; time() < $end;) {
		if ($mode eq 'deep') { down(120) } else { $mode->() }
	}
}
main();
