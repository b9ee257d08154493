/*
 * fuzz_oauth.c - what a login reads. The first byte chooses what the rest is: WWW-Authenticate; the
 * metadata of a resource and of an issuer, whose accepted ones are about ours; the answers to a
 * registration and of a token endpoint; a credential, which survives being written again; the keys
 * oauth and auth of an entry; what a headersHelper prints; an address with its members, whose
 * opened ones are safe.
 */
#include "fuzz.h"

#include "auth/challenge.h"
#include "auth/credential.h"
#include "auth/login_client.h"
#include "auth/metadata.h"
#include "auth/token_request.h"
#include "base/limits.h"
#include "cli/display/browser.h"
#include "config/values/headers_helper.h"
#include "config/values/oauth.h"

static void check_metadata(struct mp_str text, struct mp_arena *arena)
{
	struct mp_resource_metadata r;
	struct mp_issuer_metadata i;
	struct mcpool_error why = {0};
	struct mp_url server, u;

	FUZZ_CHECK(mp_url_read("https://a/mcp", arena, &server) == 0);
	if (mp_resource_metadata_read(text, &server, arena, &r, &why) == 0) {
		FUZZ_CHECK(mp_url_read(r.resource, arena, &u) == 0 &&
			   strcmp(u.origin, "https://a") == 0);
		FUZZ_CHECK(r.issuers.n > 0);
	} else {
		FUZZ_CHECK(why.message[0]);
	}
	if (mp_issuer_metadata_read(text, "https://i", arena, &i, &why) == 0) {
		FUZZ_CHECK(strcmp(i.issuer, "https://i") == 0);
		FUZZ_CHECK(mp_url_read(i.token_endpoint, arena, &u) == 0 && mp_url_is_safe(&u));
	}
}

static void check_answers(struct mp_str text, struct mp_arena *arena)
{
	struct mp_fetch_answer a = {.status = 201, .body = text};
	struct mp_issuer_metadata i = {.issuer = "https://i"};
	struct mp_credential c = {.client_id = NULL};
	struct mp_token_answer t;
	struct mcpool_error why = {0};

	if (mp_login_client_read(&a, arena, &i, &c, &why) == 0)
		FUZZ_CHECK(c.client_id[0] && c.client_auth);
	if (mp_token_answer_read(text, arena, &t, &why) == 0)
		FUZZ_CHECK(t.access_token || t.error);
}

static void check_credential(struct mp_str text, struct mp_arena *arena)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf first, second;
	struct mp_credential c, again;

	mp_buf_init(&first, MP_MIB(1));
	mp_buf_init(&second, MP_MIB(1));
	if (mp_credential_read(text, arena, &c) < 0)
		return;
	FUZZ_CHECK(mp_credential_write(&c, &first) == 0);
	FUZZ_CHECK(mp_credential_read(mp_buf_get(&first), arena, &again) == 0);
	FUZZ_CHECK(mp_credential_write(&again, &second) == 0);
	FUZZ_CHECK(mp_str_eq(mp_buf_get(&first), mp_buf_get(&second)));
}

static int expand(void *u, const char *name, const char *text, const char **ret)
{
	(void)u;
	FUZZ_CHECK(name[0]);
	*ret = text;
	return 0;
}

static void check_entry(struct mp_str text, struct mp_arena *arena)
{
	struct mp_oauth o, copy;
	struct mp_bind_map headers;
	struct mcpool_error why = {0};

	if (mp_oauth_read(MP_STR(""), text, arena, expand, NULL, &o, &why) == 0)
		mp_oauth_copy(&o, arena, &copy);
	else
		FUZZ_CHECK(why.message[0]);
	(void)!mp_oauth_read(text, MP_STR("false"), arena, expand, NULL, &o, NULL);
	if (mp_headers_helper_read(text, arena, &headers, &why) == 0)
		for (size_t i = 0; i < headers.n; i++)
			FUZZ_CHECK(!strpbrk(headers.items[i].value, "\r\n") &&
				   !strpbrk(headers.items[i].key, "\r\n: "));
}

static void check_address(struct mp_str text, struct mp_arena *arena)
{
	char *url = mp_arena_dup(arena, text);
	const char *opened = url ? mp_browser_check(url, arena) : NULL;

	if (!url)
		return;
	(void)mp_url_get_member(url, "code", arena);
	(void)mp_url_get_member(url, "state", arena);
	if (opened)
		FUZZ_CHECK(strncmp(opened, "http", 4) == 0 &&
			   !strpbrk(opened, " \t\r\n\"'`<>\\^{|}"));
}

static void check_challenge(struct mp_str text, struct mp_arena *arena)
{
	struct mp_challenge c;

	(void)!mp_challenge_read(text, arena, &c);
	FUZZ_CHECK(!(c.is_bearer && c.is_dpop));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const checks[])(struct mp_str text, struct mp_arena * arena) = {
		check_challenge,  check_metadata, check_answers,
		check_credential, check_entry,    check_address,
	};
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct fuzz_input in = {data, size};

	mp_arena_init(&arena, MP_MIB(1));
	checks[fuzz_below(&in, MP_ARRAY_LEN(checks))](fuzz_rest(&in), &arena);
	return 0;
}
