/*
 * test_queue_storm.c - fifty sessions at random, against a model that is slow and plain.
 */
#include "room.h"

/* The same rules with arrays and loops. A ticket: out, waiting (since), granted. */
struct model {
	size_t slots, line;
	bool exclusive;
	int session[TICKETS];
	int64_t since[TICKETS]; /* 0: does not wait */
	bool granted[TICKETS];
	bool lost[TICKETS];
	int ring[SESSIONS], n_ring; /* sessions that wait */
	int64_t now;
	int passed[SESSIONS]; /* grants (exclusive: turns) of others since it began to wait */
};

static size_t count(const struct model *m, bool granted, int session)
{
	size_t n = 0;

	for (int i = 0; i < TICKETS; i++)
		n += (granted ? m->granted[i] : m->since[i] > 0) &&
		     (session < 0 || m->session[i] == session);
	return n;
}

static void model_unring(struct model *m, int session)
{
	for (int i = 0; i < m->n_ring; i++)
		if (m->ring[i] == session) {
			memmove(&m->ring[i], &m->ring[i + 1],
				(size_t)(m->n_ring - i - 1) * sizeof(int));
			m->n_ring--;
			return;
		}
}

static void model_grant(struct model *m, int session)
{
	int best = -1;

	for (int i = 0; i < TICKETS; i++)
		if (m->session[i] == session && m->since[i] &&
		    (best < 0 || m->since[i] < m->since[best]))
			best = i;
	m->since[best] = 0;
	m->granted[best] = true;
	model_unring(m, session);
	if (count(m, false, session))
		m->ring[m->n_ring++] = session;
	m->passed[session] = 0;
}

static bool model_has_slot(const struct model *m)
{
	return m->slots == 0 || count(m, true, -1) < m->slots;
}

static void model_note_pass(struct model *m)
{
	for (int i = 0; i < m->n_ring; i++)
		m->passed[m->ring[i]]++;
}

static void model_choose(struct model *m)
{
	bool only_holder = m->n_ring == 1 && count(m, true, m->ring[0]) == count(m, true, -1);
	int session = m->n_ring ? m->ring[0] : -1;

	while (!m->exclusive && model_has_slot(m) && m->n_ring) {
		model_grant(m, m->ring[0]);
		model_note_pass(m);
	}
	if (!m->exclusive || session < 0 || (count(m, true, -1) && !only_holder))
		return;
	while (model_has_slot(m) && count(m, false, session))
		model_grant(m, session);
	model_note_pass(m);
}

/* Who has two more than this session loses its last; of two such the one that is served first. */
static bool model_make_room(struct model *m, int session)
{
	size_t most = 0;
	int whose = -1, last = -1;

	for (int i = 0; i < m->n_ring; i++)
		if (count(m, false, m->ring[i]) > most) {
			whose = m->ring[i];
			most = count(m, false, whose);
		}
	if (count(m, false, session) + 1 >= most)
		return false;
	for (int i = 0; i < TICKETS; i++)
		if (m->session[i] == whose && m->since[i] &&
		    (last < 0 || m->since[i] > m->since[last]))
			last = i;
	m->since[last] = 0;
	m->lost[last] = true;
	return true;
}

static int model_enter(struct model *m, int i, int session)
{
	size_t granted = count(m, true, -1);
	bool passes = model_has_slot(m) && m->n_ring == 0 &&
		      (!m->exclusive || granted == count(m, true, session));

	if (!passes && count(m, false, -1) >= m->line && !model_make_room(m, session))
		return MCPOOL_EQUEUE_FULL;
	m->session[i] = session;
	if (passes) {
		m->granted[i] = true;
		return 1;
	}
	if (count(m, false, session) == 0) {
		m->ring[m->n_ring++] = session;
		m->passed[session] = 0;
	}
	m->since[i] = ++m->now;
	return 0;
}

static void model_leave(struct model *m, int i)
{
	bool waited = m->since[i] > 0;

	m->granted[i] = false;
	m->lost[i] = false;
	m->since[i] = 0;
	if (waited && count(m, false, m->session[i]) == 0)
		model_unring(m, m->session[i]);
	model_choose(m);
}

static bool agrees(struct room *r, const struct model *m)
{
	int sessions = 0;

	for (int i = 0; i < TICKETS; i++)
		REQUIRE(r->guests[i].ticket.is_granted == m->granted[i]);
	REQUIRE(mp_queue_count_granted(r->q) == count(m, true, -1));
	REQUIRE(mp_queue_count_waiting(r->q) == count(m, false, -1));
	REQUIRE(mp_queue_count_waiting(r->q) <= m->line);
	REQUIRE(m->slots == 0 || mp_queue_count_granted(r->q) <= m->slots);
	REQUIRE(mp_queue_count_granted(r->q) || mp_queue_count_waiting(r->q) == 0);
	for (int s = 0; s < SESSIONS; s++) {
		sessions += count(m, true, s) > 0;
		REQUIRE(m->passed[s] <= SESSIONS); /* no session starves */
	}
	REQUIRE(!m->exclusive || sessions <= 1);
	return true;
}

/* A call that got a slot later is told exactly once; a displaced one is told, too. */
static bool all_are_told(const struct room *r, const struct model *m, const bool *waited)
{
	for (int i = 0; i < TICKETS; i++)
		REQUIRE(!m->lost[i] || (r->guests[i].lost == 1 && !r->guests[i].ticket.queue));
	for (int i = 0; i < TICKETS; i++)
		REQUIRE(r->guests[i].told == (r->guests[i].ticket.is_granted && waited[i] ? 1 : 0));
	return true;
}

static bool one_step(struct room *r, struct model *m, bool *waited, uint64_t *seed)
{
	int i = (int)(test_random(seed) % TICKETS);
	int session = (int)(test_random(seed) % SESSIONS);
	int want;

	if (r->guests[i].ticket.queue) {
		if (test_random(seed) % 3) /* more come than go */
			return true;
		r->guests[i].told = 0;
		mp_queue_leave(&r->guests[i].ticket);
		model_leave(m, i);
		return true;
	}
	session = session % 4 ? session % 3 : session; /* some are busy */
	r->guests[i].lost = 0;
	m->lost[i] = false;
	want = model_enter(m, i, session);
	waited[i] = want == 0;
	REQUIRE(enter(r, i, (mp_id)session * 1000) == want);
	return true;
}

static bool play(size_t slots, size_t line, bool exclusive, uint64_t seed)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(slots, line, exclusive);
	MP_CLEANUP(mp_freep) struct model *m = mp_alloc(sizeof(*m));
	bool waited[TICKETS] = {false};

	m->slots = slots;
	m->line = line;
	m->exclusive = exclusive;
	REQUIRE(r);
	for (int step = 0; step < 3000; step++) {
		REQUIRE(one_step(r, m, waited, &seed));
		REQUIRE(agrees(r, m));
		if (test_random(&seed) % 3 == 0) {
			settle(r);
			REQUIRE(all_are_told(r, m, waited));
		}
	}
	return true;
}

/* U28 */
HEAVY_TEST(fifty_sessions_at_random)
{
	CHECK(play(1, 200, false, 11));
	CHECK(play(7, 40, false, 12));
	CHECK(play(64, 1024, false, 13));
	CHECK(play(0, 0, false, 14));
}

/* U28 */
HEAVY_TEST(fifty_sessions_at_random_one_at_a_time)
{
	CHECK(play(1, 200, true, 21));
	CHECK(play(4, 40, true, 22));
	CHECK(play(0, 1024, true, 23));
}
