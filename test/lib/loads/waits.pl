# waits.pl SECONDS - one thread that waits at known places, as waits.py.
use strict;
use warnings;
no warnings 'recursion';
use Time::HiRes qw(sleep time);

my $end = time() + $ARGV[0];

sub pause {
    sleep($_[0]);
    return;
}

sub left {
    pause(0.03);
    return;
}

sub right {
    pause(0.01);
    return;
}

sub down {
    my ($n) = @_;
    if ($n) { down($n - 1) }
    else    { pause(0.02) }
    return;
}

sub alternates {
    left();
    right();
    return;
}

sub deep {
    down(100);
    return;
}

sub slow_key {
    pause(0.02);
    return $a <=> $b;
}

sub calls_back {
    my @sorted = sort slow_key 1, 2;
    return scalar @sorted;
}

while (time() < $end) {
    alternates();
    deep();
    calls_back();
}
