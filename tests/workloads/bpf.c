/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bpf.c - loads a BPF program and has the kernel run it: bpf SECONDS_BEFORE SECONDS
 *
 * The program is a socket filter of 2,500 instructions, which runs for each datagram.  If the
 * kernel refuses it, prints the reason and ends with status 77.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define INSTRUCTIONS 2500u

static int load(void)
{
	static struct bpf_insn code[INSTRUCTIONS + 3];
	union bpf_attr attr;
	size_t n = 0;

	code[n++] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K};
	while (n <= INSTRUCTIONS)
		code[n++] = (struct bpf_insn){.code = BPF_ALU64 | BPF_ADD | BPF_K, .imm = 1};
	code[n++] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 65535};
	code[n++] = (struct bpf_insn){.code = BPF_JMP | BPF_EXIT};
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = (uint32_t)n;
	attr.license = (uintptr_t) "GPL";
	memcpy(attr.prog_name, "strobe_filter", sizeof("strobe_filter"));
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

int main(int argc, char **argv)
{
	char bytes[8] = "";
	int sockets[2];

	if (argc < 3)
		return 2;
	/* Gives the profiler a process to follow before the program is loaded. */
	while ((double)clock() / CLOCKS_PER_SEC < atof(argv[1]))
		;
	int program = load();
	if (program < 0) {
		printf("bpf(2): %s\n", strerror(errno));
		return 77;
	}
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) ||
		setsockopt(sockets[1], SOL_SOCKET, SO_ATTACH_BPF, &program, sizeof(program)))
		return 1;
	while ((double)clock() / CLOCKS_PER_SEC < atof(argv[1]) + atof(argv[2])) {
		for (int i = 0; i < 100; i++)
			if (write(sockets[0], bytes, 1) != 1 ||
				recv(sockets[1], bytes, sizeof(bytes), MSG_DONTWAIT) < 0)
				return 1;
	}
	return 0;
}
