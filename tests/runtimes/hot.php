<?php
// What OPcache's tracing JIT compiles: loops, arrays, strings, methods.
function sum(int $n): int
{
	$s = 0;
	for ($i = 0; $i < $n; $i++)
		$s = ($s + $i * 7) % 1000003;
	return $s;
}

function sieve(int $n): int
{
	$composite = array_fill(0, $n + 1, false);
	$count = 0;
	for ($i = 2; $i <= $n; $i++) {
		if ($composite[$i])
			continue;
		$count++;
		for ($j = $i * $i; $j <= $n; $j += $i)
			$composite[$j] = true;
	}
	return $count;
}

function words(int $n): int
{
	$counts = [];
	for ($i = 0; $i < $n; $i++) {
		$word = 'w' . ($i % 97);
		$counts[$word] = ($counts[$word] ?? 0) + 1;
	}
	return count($counts);
}

$result = 0;
for ($round = 0; $round < 20; $round++)
	$result += sum(20000) + sieve(10000) + words(3000);
echo $result, "\n";
