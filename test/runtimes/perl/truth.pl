# truth.pl MODE DEPTH: runs subs, prints its own stack as the reader shall find it, and waits for a line of input. A line for each frame: name,
# file, line. The innermost frame is Truth::stop, in the line of its read. Ends if the input does.
package Truth;
use strict;
use warnings;
no warnings 'recursion';
use Fcntl qw(O_WRONLY O_CREAT O_EXCL);
use List::Util qw(first reduce any);

# Prints the frames that caller() has: a frame runs at the place where it called the frame before it. Arguments are pairs: before the frame at
# this index of caller's is a block that caller() does not show, (sort) or (regexp); `hidden`: the frame is an eval of native code around a
# sub; `no main`: the program does not run.
sub stop
{
	my ($file, $line, $out, $end, %block) = (__FILE__, __LINE__ + 13, '', '<main>', @_);
	$end = '' if delete $block{'no main'};
	for (my $i = 0; my @frame = caller($i); $i++) {
		my ($called_file, $called_line, $sub, $text, $require) = @frame[1 .. 3, 6, 7];
		my $block = $block{$i} || '';
		$out .= "$block\t$file\t$line\n" if $block =~ /^\(/;
		# all subs without a name are in one line
		$sub .= "[" . ($file =~ s{.*/}{}r) . ":$line]" if $sub =~ /::__ANON__$/;
		$out .= ($require ? $text : $sub) . "\t$file\t$line\n" unless $block eq 'hidden';
		($file, $line) = ($called_file, $called_line);
	}
	$out .= "$end\t$file\t$line\n" if $end;
	syswrite(STDOUT, $out . "end\n");
	exit 0 unless sysread(STDIN, my $buffer, 1);
}

sub deep { my $n = shift; return deep($n - 1) if $n > 0; stop(); return 0; }
sub looping { for my $i (1 .. 1) { my $j = 0; while ($j++ < 1) { { stop() } } } }

sub cross
{
	my ($n, %blocks) = @_;
	my @a;
	if ($n == 0) { @a = sort by_stop 2, 1 }
	else { @a = sort { $n > 1 ? cross($n - 1, %blocks, $n => '(sort)') : stop(1 => '(sort)', %blocks); $a <=> $b } 2, 1 }
	return @a;
}
sub by_stop { stop(); return $a <=> $b; }

package Thing;
use overload '""' => sub { Truth::stop(); return 'thing' }, '<=>' => \&compare;
sub new { my $class = shift; my $self = bless {@_}, $class; return $self; }
sub compare { Truth::stop(); return 0 }
sub DESTROY { my $self = shift; Truth::stop(2 => 'hidden') if $self->{ending}; }
our $AUTOLOAD;
sub AUTOLOAD { Truth::stop(); }
sub TIESCALAR { return bless {}, shift }
sub FETCH { Truth::stop(); return 1 }
package Thing::Deep::Child;
our @ISA = ('Thing');
sub method { my $self = shift; Truth::stop(); }
{ no strict 'refs'; no warnings 'once'; *{'Thing::Deep::Child::aliased'} = \&method; *{'Thing::Deep::Child::closure'} = sub { Truth::stop() }; }

package Truth;
sub raises
{
	my $n = shift;
	die "x\n" if $n == 0;
	eval { raises($n - 1); };
	stop() if $@;
}

sub closures { my @subs = map { my $x = $_; sub { stop() if $x } } 1 .. 2; $_->() for @subs; }

our $ending;
END { stop(2 => 'hidden', 'no main' => 1) if $ending }

sub main
{
	my ($mode, $depth) = @_;
	if ($mode eq 'deep') { deep($depth) }
	elsif ($mode eq 'looping') { looping() }
	elsif ($mode eq 'cross') { cross($depth) }
	elsif ($mode eq 'lists') {
		first { stop(); 1 } 1;
		my $sum = reduce { stop(); $a + $b } 1, 2;
		my $any = any { first { stop(); 1 } 1 } 1;
		map { stop() } 1;
		grep { stop() } 1;
	} elsif ($mode eq 'objects') {
		my $thing = Thing->new;
		my $text = "$thing";
		my $order = $thing <=> 1;
		$thing->missing;
		Thing::Deep::Child->new->method;
		Thing::Deep::Child->new->aliased;
		Thing::Deep::Child->new->closure;
		{ my $ending = Thing->new(ending => 1); }
		tie my $tied, 'Thing';
		my $value = $tied;
	} elsif ($mode eq 'closures') { closures(); sub { sub { stop() }->() }->() }
	elsif ($mode eq 'storable') {
		# native code that calls a sub back from a block: the sub has an activation of its own
		require Storable;
		my @a = sort { Storable::dclone(bless {}, 'Frozen'); $a <=> $b } 2, 1;
		@a = sort { Storable::dclone(bless {}, 'Frozen') } 2, 1;
	}
	elsif ($mode eq 'exceptions') { raises(3) }
	elsif ($mode eq 'code') {
		eval 'stop()';
		eval "package Other; sub made { Truth::stop() } 1" and Other::made();
		eval "#line 77 \"other.file\"\nstop();";
		my $file = "$0.required";
		sysopen my $out, $file, O_WRONLY | O_CREAT | O_EXCL, 0600 or die;
		print $out "Truth::stop(); Truth::deep(2);\n1;\n";
		close $out;
		require $file;
		unlink $file;
		eval 'BEGIN { stop(2 => "hidden") }';
		local $SIG{__WARN__} = sub { stop() };
		warn "x";
		local $SIG{ALRM} = sub { stop(2 => "hidden") };
		kill ALRM => $$;
	} elsif ($mode eq 'catching') {
		# evals in callbacks, and callbacks in these: each has a run loop of its own, of which only one runs the callback's frames
		my @a = sort { eval { stop(2 => '(sort)') }; $a <=> $b } 2, 1;
		my $x = first { eval { my $y = first { eval { stop(); 1 } } 1; 1 }; deep(1); 1 } 1;
		$x = Thing->new(a => sub { eval { stop() } })->{a}->();
		@a = sort { last_call() } 2, 1;
	} elsif ($mode eq 'regexp') { 'a' =~ /(?{ stop(1 => '(regexp)') })a/ }
	elsif ($mode eq 'ends') { $ending = 1 }
	elsif ($mode eq 'blocks') {
		# since 5.36
		eval <<'END';
#line 1 "blocks"
use feature qw(defer try); no warnings;
sub deferring { defer { stop(1 => '(defer)') } return 1 }
sub trying { try { stop(); die "x" } catch ($e) { stop() } }
deferring(); trying();
END
	}
}
sub last_call { stop(2 => '(sort)'); 0 }

package Frozen;
sub STORABLE_freeze { Truth::stop(2 => '(sort)'); return 'x' }
sub STORABLE_thaw { Truth::stop(2 => '(sort)'); return }

package main;
Truth::main($ARGV[0], $ARGV[1]);
