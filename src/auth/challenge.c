/*
 * challenge.c - reads WWW-Authenticate (RFC 9110, 11.6.1): what a server wants of a token.
 */
#include "auth/challenge.h"

#include <string.h>

struct challenge_reader {
	const char *p, *end;
};

static bool challenge_is_token(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

static void challenge_skip(struct challenge_reader *r, const char *what)
{
	while (r->p < r->end && *r->p && strchr(what, *r->p))
		r->p++;
}

static struct mp_str challenge_take_token(struct challenge_reader *r)
{
	const char *from = r->p;

	while (r->p < r->end && challenge_is_token(*r->p))
		r->p++;
	return (struct mp_str){from, (size_t)(r->p - from)};
}

/* A quoted string, escapes resolved; or a token. NULL: neither, or no memory. */
static const char *challenge_take_value(struct challenge_reader *r, struct mp_arena *arena)
{
	char *out;
	size_t n = 0;

	if (r->p == r->end || *r->p != '"') {
		struct mp_str token = challenge_take_token(r);

		return token.len ? mp_arena_dup(arena, token) : NULL;
	}
	out = mp_arena_alloc(arena, (size_t)(r->end - r->p));
	for (r->p++; out && r->p < r->end && *r->p != '"'; r->p++) {
		if (*r->p == '\\' && r->p + 1 < r->end)
			r->p++;
		out[n++] = *r->p;
	}
	if (!out || r->p == r->end)
		return NULL;
	r->p++;
	out[n] = '\0';
	return out;
}

static void challenge_keep(struct mp_challenge *c, struct mp_str name, const char *value)
{
	const struct {
		const char *name, **field;
	} rows[] = {
		{"resource_metadata", &c->resource_metadata},
		{"scope", &c->scope},
		{"error", &c->error},
		{"error_description", &c->description},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		if (mp_str_eq_nocase(name, mp_str_of(rows[i].name)) && !*rows[i].field)
			*rows[i].field = value;
}

/* Parameters up to the next scheme. False: the rest cannot be read. */
static bool challenge_read_params(struct challenge_reader *r, struct mp_arena *arena,
				  struct mp_challenge *c)
{
	for (;;) {
		struct challenge_reader before;
		struct mp_str name;
		const char *value;

		challenge_skip(r, " \t,");
		before = *r;
		name = challenge_take_token(r);
		if (name.len == 0)
			return false;
		challenge_skip(r, " \t");
		if (r->p == r->end || *r->p != '=') {
			*r = before; /* a scheme, which begins the next challenge */
			return true;
		}
		r->p++;
		challenge_skip(r, " \t");
		value = challenge_take_value(r, arena);
		if (!value)
			return false;
		if (c)
			challenge_keep(c, name, value);
	}
}

int mp_challenge_read(struct mp_str header, struct mp_arena *arena, struct mp_challenge *ret)
{
	struct challenge_reader r = {header.p, header.p + header.len};
	bool goes_on = header.len > 0;

	*ret = (struct mp_challenge){.scope = NULL};
	while (goes_on && !ret->is_bearer && !ret->is_dpop) {
		struct mp_str scheme;

		challenge_skip(&r, " \t,");
		scheme = challenge_take_token(&r);
		ret->is_bearer = mp_str_eq_nocase(scheme, MP_STR("Bearer"));
		ret->is_dpop = mp_str_eq_nocase(scheme, MP_STR("DPoP"));
		goes_on = scheme.len > 0 &&
			  challenge_read_params(&r, arena,
						ret->is_bearer || ret->is_dpop ? ret : NULL);
	}
	return mp_arena_get_error(arena) == MCPOOL_ENOMEM ? MCPOOL_ENOMEM : 0;
}
