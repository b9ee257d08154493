/*
 * check_network.c - remote servers that cannot be reached, the clock, the port of the HTTP face.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/doctor/dialling.h"
#include "cli/doctor/examination.h"

enum { CLOCK_MS = 60000 };

/* --- remote servers -------------------------------------------------------------------------- */

/* A certificate is not valid yet, a token is said to have expired: often it is the clock. */
static int clock_tell(struct mp_doctor *d, const struct mp_dialled *to)
{
	struct mp_finding f = {.check = mp_check_clock.name,
			       .severity = MP_FINDING_WARNING,
			       .subject = "the clock"};
	int64_t off_ms = to->our_ms - to->date_ms;

	return mp_doctor_tell(d, &f, "timedatectl set-ntp true",
			      "it is %lld s %s that of the server %s: tokens and certificates are "
			      "judged by it",
			      (long long)llabs(off_ms) / 1000, off_ms > 0 ? "ahead of" : "behind",
			      to->e->name);
}

static bool is_off(const struct mp_dialled *to)
{
	return to->date_ms > 0 && !to->is_late && llabs(to->our_ms - to->date_ms) > CLOCK_MS;
}

/* A server that the hub is connected to may still take no HEAD. */
static bool is_unreached(const struct mp_doctor *d, const struct mp_dialled *to)
{
	const struct mp_status *s = mp_doctor_get_status(d, to->e->name);

	return to->has_failed && !(s && s->state == MP_STATUS_CONNECTED) &&
	       !mp_doctor_knows(d, to->e->name);
}

static int remote_find(struct mp_doctor *d)
{
	struct mp_dialled *all = NULL;
	size_t n = 0;
	int r = mp_dialling_run(d, &all, &n);

	for (size_t i = 0; i < n && r == 0; i++) {
		if (is_unreached(d, &all[i]))
			r = mp_doctor_tell_error(d, mp_check_remote.name, all[i].e,
						 all[i].why.message, NULL);
		if (r == 0 && is_off(&all[i]))
			r = clock_tell(d, &all[i]);
	}
	return r;
}

const struct mp_check mp_check_remote = {
	"remote",
	"all approved remote servers can be reached",
	remote_find,
	NULL,
};

/* Its findings come from the answers of remote servers, above. */
static int clock_find(struct mp_doctor *d)
{
	(void)d;
	return 0;
}

const struct mp_check mp_check_clock = {
	"clock",
	"the clock agrees with every remote server that answered",
	clock_find,
	NULL,
};

/* --- the port of the HTTP face --------------------------------------------------------------- */

/* "127.0.0.1:7717"; false: another form, which is not looked at. */
static bool address_read(const char *text, struct sockaddr_in *ret)
{
	struct mp_str all = mp_str_of(text);
	ptrdiff_t colon = mp_str_find(all, MP_STR(":"), 0);
	char host[64];
	int64_t port;

	if (colon <= 0 || (size_t)colon >= sizeof(host) ||
	    mp_str_to_i64((struct mp_str){text + colon + 1, all.len - (size_t)colon - 1}, &port) <
		    0 ||
	    port <= 0 || port > UINT16_MAX)
		return false;
	snprintf(host, sizeof(host), "%.*s", (int)colon, text);
	*ret = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	return inet_pton(AF_INET, host, &ret->sin_addr) == 1;
}

/* Bound and closed again: nothing ever listens. */
static bool is_taken(const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	bool taken;

	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	taken = fd >= 0 &&
		bind(fd, (const struct sockaddr *)(const void *)address, sizeof(*address)) < 0 &&
		errno == EADDRINUSE;
	if (fd >= 0)
		close(fd);
	return taken;
}

static int port_find(struct mp_doctor *d)
{
	const char *listen = d->c->set->settings.http.listen;
	struct mp_finding f = {.check = mp_check_port.name, .subject = listen};
	struct sockaddr_in address;
	char fix[128];

	if (!listen || d->hub.n || !address_read(listen, &address) || !is_taken(&address) ||
	    (d->has_place && mp_hub_place_is_held(&d->place)))
		return 0;
	snprintf(fix, sizeof(fix), "ss -ltnp sport = :%u", (unsigned)ntohs(address.sin_port));
	return mp_doctor_tell(d, &f, fix, "no hub runs, and another process has the port for HTTP");
}

const struct mp_check mp_check_port = {
	"port",
	"the port for HTTP is free, or the hub's own",
	port_find,
	NULL,
};
