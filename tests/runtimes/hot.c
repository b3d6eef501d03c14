/* A guest program for QEMU's user emulation. */
#include <stdio.h>

static unsigned sum(unsigned n)
{
	unsigned s = 0;

	for (unsigned i = 0; i < n; i++)
		s = (s + i * 7) % 1000003;
	return s;
}

static unsigned fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(void)
{
	printf("%u\n", sum(100000) + fib(18));
	return 0;
}
