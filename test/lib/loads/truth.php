<?php
// truth.php MODE SECONDS, or ?mode=MODE&seconds=SECONDS: runs functions whose stacks are known: fifty, thirty and twenty run 50, 30 and 20 turns of one loop.
function fifty() { for ($i = $x = 0; $i < 500; $i++) $x = ($x * 31 + $i) & 0xffffff; return $x; }
function thirty() { for ($i = $x = 0; $i < 300; $i++) $x = ($x * 31 + $i) & 0xffffff; return $x; }
function twenty() { for ($i = $x = 0; $i < 200; $i++) $x = ($x * 31 + $i) & 0xffffff; return $x; }
function left() { fifty(); }
function right() { thirty(); }
class Mid { static function middle() { twenty(); } }

function parents() { left(); right(); Mid::middle(); }
function down($n) { if ($n) down($n - 1); else parents(); }

class Order
{
	function __invoke($a, $b) { thirty(); return $a - $b; }
	function outer($a) { usort($a, function ($x, $y) { fifty(); return $x - $y; }); return $a; }
}
function callbacks()
{
	$order = new Order;
	$a = [3, 1, 2];
	usort($a, $order);
	array_map([$order, 'outer'], [$a, $a]);
	array_map('strrev', ['a', 'b']);
	preg_replace_callback('/b/', 'matched', 'abc');
}
function matched($m) { twenty(); return ''; }

function numbers($n) { for ($i = 0; $i < $n; $i++) { fifty(); yield $i; } }
function doubled($n) { foreach (numbers($n) as $i) { thirty(); yield 2 * $i; } }
function delegating($n) { yield from numbers($n); }
function generators() { foreach (doubled(3) as $i) twenty(); foreach (delegating(3) as $i) twenty(); }

class Ending { function __destruct() { fifty(); } }
function raises($n)
{
	$ending = $n == 2 ? new Ending : null;
	if ($n == 0) throw new RuntimeException('x');
	try { raises($n - 1); } finally { twenty(); }
}
function exceptions() { try { raises(4); } catch (RuntimeException $e) { thirty(); } }

// Code that comes and goes: each file and each text has functions that only it calls.
function renewed()
{
	static $file;
	if (!$file) {
		$file = tempnam(sys_get_temp_dir(), 'pj-truth-');
		file_put_contents($file, '<?php fifty(); return thirty();');
		register_shutdown_function('unlink', $file);
	}
	include $file;
	eval('twenty();');
}

// For two seconds, files that are new: a just-in-time compiler that compiles each file is nearly always at work.
function compiling()
{
	static $until, $n = 0;
	$until ??= microtime(true) + 2;
	if (microtime(true) > $until) return parents();
	$file = tempnam(sys_get_temp_dir(), 'pj-truth-');
	$text = '<?php ';
	for ($i = 0, $n++; $i < 200; $i++)
		$text .= "function new{$n}_$i(\$a) { for (\$i = \$x = 0; \$i < \$a; \$i++) \$x = (\$x * 31 + \$i) & 0xffff; return \$x; } new{$n}_$i(9);\n";
	file_put_contents($file, $text);
	include $file;
	unlink($file);
}

// The variables of a callback end after its frame has left the list: their destructor runs without it.
function uses($x, $y) { $ending = new Ending; return $x - $y; }
function ends() { $a = [3, 1, 2]; usort($a, 'uses'); thirty(); }

// Fibers (8.1) with functions of their own, of as many activations as their resumer has.
function inside($n) { for ($i = 0; $i < $n; $i++) { fifty(); Fiber::suspend($i); twenty(); } }
function fibers()
{
	$fiber = new Fiber('inside');
	for ($fiber->start(3); !$fiber->isTerminated(); $fiber->resume()) thirty();
}

function main($mode, $seconds)
{
	for ($end = time() + $seconds; time() < $end;)
		if ($mode == 'deep') down(120); else $mode();
}
// a program, or the script of a request
isset($argv) ? main($argv[1], $argv[2]) : main($_GET['mode'], $_GET['seconds']);
