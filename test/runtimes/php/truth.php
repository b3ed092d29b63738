<?php
// truth.php MODE DEPTH: runs functions, prints its own stack as the reader shall find it, and waits for a line of input: the innermost
// function is fgets. A line for each frame: name, file, line. Ends if the input does.
namespace Truth;

// Prints the frames of a backtrace: a frame runs at the place where it called the frame before it.
function stop()
{
	$trace = debug_backtrace();
	$out = "fgets\t\t0\n";
	$file = __FILE__;
	$line = __LINE__ + 15;
	foreach ($trace as $frame) {
		$name = isset($frame['class']) ? strtok($frame['class'], "\0") . '::' . $frame['function'] : $frame['function'];
		if (in_array($name, ['include', 'require', 'include_once', 'require_once']))
			$name = $file;
		else if ($name === 'eval')
			$name = '<eval>';
		else if ($name === 'Truth\delegating')
			list($name, $file, $line) = ['{yield from}', '', 0];
		$out .= $name . "\t$file\t$line\n";
		$file = $frame['file'] ?? '';
		$line = $frame['line'] ?? 0;
	}
	$out .= "<main>\t$file\t$line\n";
	echo $out . "end\n";
	if (\fgets(\STDIN) === false) exit(0);
}

function deep($n)
{
	if ($n > 0)
		return deep($n - 1);
	stop();
	return 0;
}

function cross($n)
{
	$a = [2, 1];
	usort($a, function ($x, $y) use ($n) {
		if ($n > 0) cross($n - 1); else stop();
		return $x - $y;
	});
}

function counted($n)
{
	for ($i = 0; $i < $n; $i++) {
		if ($i == 1) stop();
		yield $i;
	}
}

// The reader does not know which generators wait.
function delegating() { yield 7; yield from counted(3); }

class Thing
{
	public $parts = [];
	static function made() { return new static; }
	function __construct() { if (static::class === 'Truth\Stopping') stop(); }
	function __destruct() { if (static::class === 'Truth\Ending') stop(); }
	function __get($name) { stop(); return $name; }
	function __call($name, $arguments) { stop(); return $arguments; }
	static function __callStatic($name, $arguments) { stop(); }
	function __toString() { stop(); return 'thing'; }
	function map() { return array_map([$this, 'mapped'], [1]); }
	private function mapped($x) { stop(); return $x; }
}
class Stopping extends Thing { }
class Ending extends Thing { }

function ends() { $thing = new Ending; return 1; }

function raises($n)
{
	if ($n == 0) throw new \RuntimeException('x');
	try {
		raises($n - 1);
	} finally {
		if ($n == 2) stop();
	}
}

function main($mode, $depth)
{
	switch ($mode) {
	case 'deep': deep($depth); break;
	case 'cross': cross($depth); break;
	case 'generators': foreach (counted(2) as $x); break;
	case 'delegating': foreach (delegating() as $x); break;
	case 'objects':
		$thing = Thing::made();
		$thing->missing;
		$thing->absent(1);
		Thing::nothing();
		$text = "$thing";
		$thing->map();
		new Stopping;
		$anonymous = new class { function method() { stop(); } };
		$anonymous->method();
		break;
	case 'ends': ends(); break;
	case 'exceptions':
		try {
			raises(3);
		} catch (\RuntimeException $e) {
			stop();
		}
		break;
	case 'callbacks':
		call_user_func('Truth\stop');
		call_user_func_array(['Truth\Thing', 'made'], []);
		preg_replace_callback('/a/', function ($m) { stop(); return ''; }, 'ba');
		array_walk_recursive($GLOBALS['nested'], function ($x) { stop(); });
		(new \ReflectionFunction('Truth\stop'))->invoke();
		break;
	case 'code':
		eval('namespace Truth; stop();');
		eval('namespace Truth; function made() { stop(); }');
		made();
		file_put_contents($file = tempnam(sys_get_temp_dir(), 'pj-truth'), '<?php Truth\stop(); if (++$GLOBALS["included"] == 2) unlink(__FILE__); return Truth\deep(3);');
		include $file;
		require $file;
		break;
	}
}

$nested = [[1]];
$included = 0;
main($argv[1], (int)$argv[2]);
