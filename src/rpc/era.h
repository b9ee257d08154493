/*
 * era.h - what the two eras put on the wire, as far as they differ.
 * Legacy (up to 2025-11-25) opens with initialize and then remembers. Modern (2026-07-28) remembers
 * nothing: every request says who asks, and every result says what kind it is.
 */
#ifndef MP_ERA_H
#define MP_ERA_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "rpc/message.h"

#define MP_MODERN_VERSION "2026-07-28"
#define MP_LEGACY_VERSION "2025-11-25"

/* Who we say we are. Everything is borrowed. */
struct mp_identity {
	const char *name, *title, *version;
	struct mp_str capabilities; /* a JSON object; "{}" where we can be asked nothing */
	/* What modern servers may log while they work for us, as "info"; NULL: nothing. */
	const char *log_level;
};

/* What a server offers. */
enum {
	MP_OFFERS_TOOLS = 1 << 0,
	MP_OFFERS_PROMPTS = 1 << 1,
	MP_OFFERS_RESOURCES = 1 << 2,
	MP_OFFERS_SUBSCRIBE = 1 << 3, /* to changes of single resources */
	MP_OFFERS_COMPLETIONS = 1 << 4,
	MP_OFFERS_LOGGING = 1 << 5,
	MP_OFFERS_TOOLS_CHANGES = 1 << 6, /* list_changed */
	MP_OFFERS_PROMPTS_CHANGES = 1 << 7,
	MP_OFFERS_RESOURCES_CHANGES = 1 << 8,
};

/* How long a result may be kept, and by which clients. */
struct mp_cache_hint {
	int64_t ttl_ms;  /* 0: do not keep it */
	bool is_private; /* only for the requester; the default */
};

/* What a server said about itself when the conversation began. Texts live in the arena. */
struct mp_hello {
	enum mp_era era;
	struct mp_str version; /* of the protocol */
	struct mp_str name, title, server_version;
	struct mp_str instructions;
	struct mp_str capabilities; /* as it wrote them */
	unsigned offers;            /* MP_OFFERS_* */
	struct mp_cache_hint cache; /* modern */
};

/* --- legacy --- */

bool mp_legacy_knows(struct mp_str version);
const char *mp_legacy_list_versions(void); /* for people: "2025-11-25, 2025-06-18, ..." */
/* The params of initialize. */
int mp_legacy_write_initialize(const struct mp_identity *me, struct mp_buf *out) MP_MUST;
/* The answer to it. MCPOOL_EPROTO says what is wrong, such as an unknown version. */
int mp_legacy_read_initialize(const struct mp_message *m, struct mp_arena *arena,
			      struct mp_hello *ret_hello, struct mcpool_error *reterr) MP_MUST;

/* --- modern --- */

/* What _meta says on every request alike, without brackets: version, who we are. */
int mp_modern_write_who(const struct mp_identity *me, struct mp_buf *out) MP_MUST;
/* All of _meta for one request, an object. log_level: static; NULL: none. */
int mp_modern_write_meta_for(struct mp_str who, struct mp_str capabilities, const char *log_level,
			     struct mp_buf *out) MP_MUST;
int mp_modern_read_discover(const struct mp_message *m, struct mp_arena *arena,
			    struct mp_hello *ret_hello, struct mcpool_error *reterr) MP_MUST;
/* Is this error -32022, and does it list a version we speak? *ret_is_refusal: it is -32022. */
bool mp_modern_may_retry(const struct mp_message *m, bool *ret_is_refusal);
/* The versions an error lists, as written; empty: none. */
struct mp_str mp_modern_read_supported(const struct mp_message *m);

enum mp_result_kind {
	MP_RESULT_COMPLETE,
	MP_RESULT_INPUT_REQUIRED, /* the server sends requests; see call_input.h */
	MP_RESULT_TASK,           /* the call goes on as a task (extension) */
	MP_RESULT_UNKNOWN,        /* a kind we do not know, so it cannot be used */
};
struct mp_result {
	enum mp_result_kind kind;
	struct mp_str input_requests; /* a JSON object, or empty */
	struct mp_str request_state;  /* a JSON string as written, or empty */
	struct mp_cache_hint cache;
};
/* What a result says of itself; one without resultType is complete. */
void mp_modern_read_result(const struct mp_message *m, struct mp_result *ret_result);

/* What a listener wants to hear of. */
struct mp_listen_filter {
	bool tools, prompts, resources; /* changes of these lists */
	const struct mp_str *uris;      /* changes of these resources */
	size_t n_uris;
};
int mp_modern_write_listen(const struct mp_listen_filter *f, struct mp_buf *out) MP_MUST;

/* Of an error: its code; 0 where it has none. And its words, in the arena. */
int64_t mp_error_read_code(const struct mp_message *m);
struct mp_str mp_error_read_words(const struct mp_message *m, struct mp_arena *arena);

/* Both eras, for their codecs: what follows reads a result whose tape keeps all levels. */
int mp_era_open(const struct mp_message *m, mp_value v, struct mp_tape *ret_tape) MP_MUST;
unsigned mp_era_read_offers(const struct mp_tape *t, mp_value capabilities);
int mp_era_read_text(const struct mp_tape *t, mp_value object, const char *key,
		     struct mp_arena *arena, struct mp_str *ret_text) MP_MUST;
int mp_era_read_implementation(const struct mp_tape *t, mp_value v, struct mp_arena *arena,
			       struct mp_hello *hello) MP_MUST;
void mp_era_write_implementation(struct mp_writer *w, const struct mp_identity *me);

#endif
