/* Says that it is ready and waits for SIGTERM, which it answers with status 3. The handler
 * is set by its first instructions of its own; until then the signal is held back by the
 * mask that it is started with, if any. */
#include <signal.h>
#include <unistd.h>

static void end(int signal)
{
	(void)signal;
	_exit(3);
}

int main(void)
{
	sigset_t none;

	signal(SIGTERM, end);
	signal(SIGINT, end);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (write(1, "ready\n", 6) != 6)
		return 1;
	for (;;)
		pause();
}
