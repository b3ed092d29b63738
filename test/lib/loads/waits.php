<?php
// waits.php SECONDS - one thread that waits at known places, as waits.py.
$end = microtime(true) + (float)$argv[1];

function pause($seconds)
{
	usleep((int)($seconds * 1e6));
}

function left()
{
	pause(0.03);
}

function right()
{
	pause(0.01);
}

function down($n)
{
	if ($n > 0)
		down($n - 1);
	else
		pause(0.02);
}

function alternates()
{
	left();
	right();
}

function deep()
{
	down(100);
}

function slow_key($a, $b)
{
	pause(0.02);
	return $a <=> $b;
}

function calls_back()
{
	$list = [1, 2];
	usort($list, 'slow_key');
}

while (microtime(true) < $end) {
	alternates();
	deep();
	calls_back();
}
