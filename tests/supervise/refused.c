/* getrandom and the devices with arguments that have an answer of their own. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

static void tell(const char *what, long result)
{
	printf("%s: %ld, %d\n", what, result, result < 0 ? errno : 0);
}

int main(void)
{
	char bytes[16];

	tell("no bytes", getrandom(bytes, 0, 0));
	tell("no memory", syscall(SYS_getrandom, 16, 16, 0));
	tell("unknown flags", getrandom(bytes, sizeof(bytes), 0x80));
	tell("both flags", getrandom(bytes, sizeof(bytes), GRND_RANDOM | GRND_INSECURE));
	tell("no path", open((char *)8, O_RDONLY));
	tell("no such device", open("/dev/urandom/", O_RDONLY));
	tell("a directory", open("/dev/urandom", O_RDONLY | O_DIRECTORY));
	tell("lowest descriptor", open("/dev/urandom", O_RDONLY));
	tell("the next one", open("/dev/random", O_RDONLY | O_CLOEXEC));
	tell("close-on-exec", fcntl(3, F_GETFD) * 2 + fcntl(4, F_GETFD));
	tell("writing", open("/dev/urandom", O_WRONLY) >= 0);
	return 0;
}
