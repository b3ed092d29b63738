<?php
// fastcgi.php SOCKET SCRIPT QUERY: a FastCGI client: one request for a script. Prints the response.
function record($type, $bytes) { return pack('CCnnCC', 1, $type, 1, strlen($bytes), 0, 0) . $bytes; }
[, $path, $script, $query] = $argv;
$parameters = '';
foreach (['SCRIPT_FILENAME' => $script, 'REQUEST_METHOD' => 'GET', 'QUERY_STRING' => $query] as $name => $value)
	$parameters .= pack('NN', strlen($name) | 1 << 31, strlen($value) | 1 << 31) . $name . $value;
$socket = stream_socket_client("unix://$path", $code, $why) or exit("$why\n");
fwrite($socket, record(1, pack('nCx5', 1, 0)) . record(4, $parameters) . record(4, '') . record(5, ''));
while (($bytes = fread($socket, 8192)) !== '' && $bytes !== false) echo $bytes;
