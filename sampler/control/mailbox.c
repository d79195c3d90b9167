/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mailbox.c - a list under a mutex, and an eventfd; see mailbox.h. */
#include "sampler/control/mailbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

int mailbox_init(struct mailbox *box)
{
	int ret;

	*box = (struct mailbox){.wake_fd = -1};
	ret = pthread_mutex_init(&box->lock, NULL);
	if (ret)
		return -ret;
	box->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (box->wake_fd < 0) {
		ret = -errno;
		pthread_mutex_destroy(&box->lock);
		return ret;
	}
	box->end = &box->first;
	return 0;
}

void mailbox_fini(struct mailbox *box)
{
	struct mail *mail;

	if (!box->end)
		return;
	while ((mail = mailbox_take(box)))
		free(mail);
	close(box->wake_fd);
	pthread_mutex_destroy(&box->lock);
	*box = (struct mailbox){.wake_fd = -1};
}

int mailbox_post(struct mailbox *box, const struct mail *mail)
{
	size_t specs_len = mail->n_specs * sizeof(*mail->specs);
	struct mail *copy = malloc(sizeof(*copy) + specs_len);

	if (!copy)
		return -ENOMEM;
	*copy = *mail;
	copy->specs = (const struct event_spec *)(copy + 1);
	if (specs_len)
		memcpy(copy + 1, mail->specs, specs_len);
	copy->next = NULL;
	pthread_mutex_lock(&box->lock);
	*box->end = copy;
	box->end = &copy->next;
	pthread_mutex_unlock(&box->lock);
	mailbox_wake(box);
	return 0;
}

void mailbox_wake(struct mailbox *box)
{
	/* Fails only if the counter is full; the fd is readable then anyway. */
	(void)!eventfd_write(box->wake_fd, 1);
}

struct mail *mailbox_take(struct mailbox *box)
{
	struct mail *mail;

	pthread_mutex_lock(&box->lock);
	mail = box->first;
	if (mail) {
		box->first = mail->next;
		if (!box->first)
			box->end = &box->first;
	}
	pthread_mutex_unlock(&box->lock);
	return mail;
}
