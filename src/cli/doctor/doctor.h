/*
 * doctor.h - what `mcpool doctor` looks at: checks, and what they find. A finding says what is
 * wrong and what to type; --fix does that itself where nothing can be lost.
 */
#ifndef MP_DOCTOR_H
#define MP_DOCTOR_H

#include "base/arena.h"
#include "cli/servers/configured.h"
#include "cli/servers/hub_status.h"
#include "hub/election.h"

/* An error keeps something from working; a warning costs time, memory or a surprise. */
enum mp_finding_severity { MP_FINDING_ERROR, MP_FINDING_WARNING };

struct mp_doctor {
	struct mp_configured *c;
	const char *only; /* look at this server alone; NULL: at everything */
	struct mp_hub_place place;
	bool has_place;              /* place is known */
	struct mp_hub_status hub;    /* of the running hub, its servers as `status` shows them */
	struct mp_hub_status sick;   /* all about those that do not work, and about `only` */
	struct mcpool_error hub_why; /* why it cannot be asked; code 0: it was, or none runs */
	const char *hub_path;        /* PATH of the hub; "": none runs, or it does not say */
	struct mp_arena arena;       /* texts of the findings */
	struct mp_finding {
		const char *check; /* its name, below */
		enum mp_finding_severity severity;
		const char *server;  /* NULL: it is not about one server */
		const char *subject; /* server, agent or file */
		const char *text;    /* what is wrong */
		const char *fix;     /* what to type */
		bool is_safe;        /* --fix may do it */
		bool is_fixed;
	} items[256];
	size_t n;
	size_t more; /* found, and without a place in items */
};

struct mp_check {
	const char *name;
	const char *fine; /* if nothing is found */
	int (*find)(struct mp_doctor *d) MP_MUST;
	/* Do what a finding with is_safe says; NULL: none has it. */
	int (*fix)(struct mp_doctor *d, const struct mp_finding *f, struct mcpool_error *reterr);
};

/* Texts are copied; those about servers that are not asked for are dropped. Returns 0, or an error.
 */
int mp_doctor_add(struct mp_doctor *d, const struct mp_finding *f) MP_MUST;
/* The same from formats, about one server (may be NULL) or `subject`. */
int mp_doctor_tell(struct mp_doctor *d, const struct mp_finding *f, const char *fix,
		   const char *format, ...) MP_MUST MP_PRINTF(4, 5);
/* Was something that keeps this server from working found already? */
bool mp_doctor_knows(const struct mp_doctor *d, const char *server);
/* An entry in effect that may run, of the servers that are looked at. */
bool mp_doctor_is_about(const struct mp_doctor *d, const struct mp_entry *e);
/* As the hub shows it; NULL: no hub runs, or it does not know the server. */
const struct mp_status *mp_doctor_get_status(const struct mp_doctor *d, const char *server);

extern const struct mp_check mp_check_config;      /* files of servers that cannot be read */
extern const struct mp_check mp_check_commands;    /* programs that entries name */
extern const struct mp_check mp_check_runtimes;    /* node, python, docker and their versions */
extern const struct mp_check mp_check_path;        /* PATH of the hub, and of this shell */
extern const struct mp_check mp_check_variables;   /* variables and secrets that entries name */
extern const struct mp_check mp_check_permissions; /* files of ours that others may use */
extern const struct mp_check mp_check_leftovers;   /* lock and socket of a hub that has ended */
extern const struct mp_check mp_check_hub;         /* one hub, which answers */
extern const struct mp_check mp_check_remote;      /* names, proxies, TLS of remote servers */
extern const struct mp_check mp_check_clock;       /* of this machine */
extern const struct mp_check mp_check_port;        /* of the HTTP face */
extern const struct mp_check mp_check_duplicates;  /* the same servers, started by others */
extern const struct mp_check mp_check_agents;      /* entries for mcpool in agents' files */
extern const struct mp_check mp_check_servers;     /* what the hub says of the rest */
extern const struct mp_check mp_check_secrets;     /* tokens that files have in plain text */

#endif
