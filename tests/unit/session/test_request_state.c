/*
 * test_request_state.c - what an agent must bring back.
 */
#include "test.h"

#include "base/limits.h"
#include "session/request_state.h"

static const unsigned char what[MP_DIGEST_SIZE] = {1};

static struct mp_request_state_bond bond_of(const char *principal)
{
	return (struct mp_request_state_bond){
		.principal = mp_str_of(principal),
		.method = MP_STR("tools/call"),
		.digest = what,
		.expires_ms = 1000,
	};
}

/* V42 */
TEST(a_seal_is_good_for_one_thing)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_request_state_key key, other_key;
	struct mp_request_state_id id, read;
	struct mp_request_state_bond bond = bond_of("uid:1"), other;
	unsigned char other_digest[MP_DIGEST_SIZE] = {2};

	mp_buf_init(&text, MP_KIB(1));
	mp_request_state_make_key(&key);
	mp_request_state_make_key(&other_key);
	mp_request_state_id_make(&id);
	CHECK_EQ(mp_request_state_write(&key, &id, &bond, &text), 0);
	CHECK(mp_request_state_is_ours(mp_buf_get(&text)));
	CHECK(mp_request_state_read(mp_buf_get(&text), &read));
	CHECK_EQ(memcmp(&read, &id, sizeof(id)), 0);
	CHECK(mp_request_state_check(&key, &id, &bond, mp_buf_get(&text)));
	CHECK(!mp_request_state_check(&other_key, &id, &bond, mp_buf_get(&text)));
	other = bond_of("uid:2");
	CHECK(!mp_request_state_check(&key, &id, &other, mp_buf_get(&text)));
	other = bond;
	other.expires_ms++;
	CHECK(!mp_request_state_check(&key, &id, &other, mp_buf_get(&text)));
	other = bond;
	other.digest = other_digest;
	CHECK(!mp_request_state_check(&key, &id, &other, mp_buf_get(&text)));
	other = bond;
	other.method = MP_STR("prompts/get");
	CHECK(!mp_request_state_check(&key, &id, &other, mp_buf_get(&text)));
}

/* V42 */
HEAVY_TEST(every_bit_of_a_seal_counts)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_request_state_bond bond = bond_of("uid:1");
	struct mp_request_state_key key;
	struct mp_request_state_id id;

	mp_buf_init(&text, MP_KIB(1));
	mp_request_state_make_key(&key);
	mp_request_state_id_make(&id);
	CHECK_EQ(mp_request_state_write(&key, &id, &bond, &text), 0);
	for (size_t bit = 0; bit < 8 * text.len; bit++) {
		text.data[bit / 8] = (char)(text.data[bit / 8] ^ (1 << bit % 8));
		CHECK(!mp_request_state_check(&key, &id, &bond, mp_buf_get(&text)));
		text.data[bit / 8] = (char)(text.data[bit / 8] ^ (1 << bit % 8));
	}
	CHECK(!mp_request_state_check(&key, &id, &bond, (struct mp_str){text.data, text.len - 1}));
}

TEST(others_seals_are_not_ours)
{
	struct mp_request_state_id id;

	CHECK(!mp_request_state_is_ours(MP_STR("")));
	CHECK(!mp_request_state_is_ours(MP_STR("eyJhbGciOi")));
	CHECK(!mp_request_state_read(MP_STR("mcpool1."), &id));
	CHECK(!mp_request_state_read(MP_STR("mcpool1.zz"), &id));
}
