/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calls.c - makes known system calls a known number of times, for tests of tracepoints.
 *
 * usage: calls
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* more than fit on the kernel's stack, so it allocates 16 bytes for each */
#define IOVECS 100

static void on_signal(int signal)
{
	(void)signal;
}

static void files(void)
{
	static char bytes[64];
	struct iovec pieces[IOVECS];
	int zero = open("/dev/zero", O_RDWR), memory = memfd_create("calls", MFD_CLOEXEC);

	for (int i = 0; i < IOVECS; i++)
		pieces[i] = (struct iovec){bytes, 1};
	for (int i = 0; i < 40; i++) {
		(void)!write(zero, bytes, i % 4 ? 7 : 64);
		(void)!read(zero, bytes, (size_t)(i % 5) + 1);
		lseek(memory, i % 3 ? 4096 : 123456789012, SEEK_SET);
	}
	lseek(memory, -1, SEEK_SET);
	for (int i = 0; i < 6; i++) {
		(void)!writev(zero, pieces, IOVECS);
		close(dup2(zero, 50 + i % 2));
	}
	for (int i = 0; i < 5; i++) {
		struct flock lock = {.l_type = i % 2 ? F_RDLCK : F_WRLCK, .l_len = 10 + i};

		fcntl(memory, F_SETLK, &lock);
	}
	for (int i = 0; i < 3; i++)
		munmap(mmap(NULL, 10 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
			10 << 20);
	close(memory);
	close(zero);
}

static void tasks(void)
{
	const struct itimerval timers[] = {
		{.it_value = {1000, 0}}, {.it_value = {2000, 0}}, {{0, 0}, {0, 0}}};

	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	for (int i = 0; i < 5; i++)
		kill(getpid(), i < 2 ? SIGUSR1 : SIGUSR2);
	for (int i = 0; i < 3; i++)
		setitimer(ITIMER_REAL, &timers[i], NULL);
	for (int i = 0; i < 4; i++) {
		if (!fork()) {
			if (i == 3)
				prctl(PR_SET_NAME, "calls child");
			_exit(0);
		}
		wait(NULL);
	}
}

static void network(void)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(here);
	static char bytes[500];
	int to = socket(AF_INET, SOCK_DGRAM, 0), from = socket(AF_INET, SOCK_DGRAM, 0);
	int stream = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(to, (struct sockaddr *)&here, sizeof(here)) ||
		getsockname(to, (struct sockaddr *)&here, &len))
		return;
	for (size_t i = 0; i < 9; i++)
		sendto(from, bytes, i % 3 ? 100 : 500, 0, (struct sockaddr *)&here, len);
	here.sin_port = 0;
	if (!bind(stream, (struct sockaddr *)&here, sizeof(here)))
		listen(stream, 1);
	close(stream);
	close(from);
	close(to);
}

int main(void)
{
	files();
	tasks();
	network();
	return 0;
}
