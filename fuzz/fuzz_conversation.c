/*
 * fuzz_conversation.c - a whole conversation with a server that says what the input tells it to.
 * Lines of the input are messages of the server, but for those that begin with a mark: they are
 * what we do meanwhile. `$` in a message stands for the id of our last request.
 * Whatever is said, each call ends exactly once, each fetch and probe is answered, and the
 * upstream closes.
 */
#include "fuzz.h"

#include "base/loop.h"
#include "client/catalog.h"
#include "client/probe.h"
#include "client/upstream.h"
#include "memory.h"
#include "outgoing.h"

enum { MAX_CALLS = 64, MAX_FETCHES = 8 };

struct talk {
	struct mp_loop *loop;
	struct mp_upstream *up;
	struct mp_transport *server;
	char last_id[300]; /* of our last request, as written */
	int calls, answered[MAX_CALLS];
	struct mp_catalog_list lists[MAX_FETCHES];
	int fetches, fetched, probes, probed, ready, ended, closed, asked;
	mp_id request;
	int dials;
};

struct slot {
	struct mp_call call;
	struct talk *talk;
	int number;
};
static struct slot slots[MAX_CALLS];

static void server_message(void *u, struct mp_str text)
{
	struct talk *k = u;
	struct mp_tape t;
	struct mp_message m;

	mp_message_tape_init(&t);
	FUZZ_CHECK(mp_message_scan(&t, text, &m, NULL) == 0); /* what we write can be read */
	if (m.kind == MP_MESSAGE_REQUEST && m.id.len < sizeof(k->last_id)) {
		memcpy(k->last_id, m.id.p, m.id.len);
		k->last_id[m.id.len] = '\0';
	}
	mp_tape_done(&t);
}

static const struct mp_transport_hooks server_hooks = {.message = server_message};

static int dial(void *u, struct mp_transport **ret, struct mcpool_error *reterr)
{
	struct talk *k = u;

	k->dials++;
	FUZZ_CHECK(k->dials <= 2);
	k->server = mp_transport_free(k->server);
	mp_memory_new(k->loop, ret, &k->server);
	k->server->hooks = &server_hooks;
	k->server->u = k;
	return k->server->impl->start(k->server, reterr);
}

static void ready(void *u)
{
	((struct talk *)u)->ready++;
}

static void ended(void *u, const struct mcpool_error *why)
{
	FUZZ_CHECK(why->code < 0 && why->message[0]);
	((struct talk *)u)->ended++;
}

static void closed(void *u)
{
	((struct talk *)u)->closed++;
}

static void notification(void *u, const struct mp_message *m)
{
	(void)u;
	(void)m;
}

static const struct mp_upstream_hooks hooks = {
	.ready = ready, .ended = ended, .notification = notification, .closed = closed};

static void answered(struct mp_call *c, const struct mp_answer *answer)
{
	struct slot *s = mp_container_of(c, struct slot, call);

	FUZZ_CHECK((answer->outcome == MP_OUTCOME_ANSWERED) == (answer->message != NULL));
	FUZZ_CHECK(s->talk->answered[s->number] == 0);
	s->talk->answered[s->number]++;
}

static void progressed(struct mp_call *c, const struct mp_message *m)
{
	struct slot *s = mp_container_of(c, struct slot, call);

	FUZZ_CHECK(m->method == MP_METHOD_PROGRESS);
	FUZZ_CHECK(s->talk->answered[s->number] == 0);
}

static void fetched(struct mp_catalog_list *l, const struct mcpool_error *error, void *u)
{
	(void)error;
	for (size_t i = 0; i < l->n; i++)
		FUZZ_CHECK(l->items[i].name.len && l->items[i].json.len);
	((struct talk *)u)->fetched++;
}

static void probed(const struct mcpool_error *error, void *u)
{
	(void)error;
	((struct talk *)u)->probed++;
}

static void ask(void *u, const struct mp_server_request *rq)
{
	struct talk *k = u;

	k->request = rq->id;
	k->asked++;
}

static void start_call(struct talk *k, enum mp_method_id method)
{
	static const struct mp_call_hooks hooks_of_call = {.answered = answered,
							   .progress = progressed};
	struct mp_call_options o = {
		.method = method,
		.params = MP_STR("{\"name\":\"x\"}"),
		.timeout_ms = 5000,
		.max_total_ms = 9000,
	};

	if (k->calls == MAX_CALLS)
		return;
	slots[k->calls] = (struct slot){.talk = k, .number = k->calls};
	mp_call_init(&slots[k->calls].call, k->loop, &hooks_of_call);
	if (mp_upstream_call(k->up, &slots[k->calls].call, &o) == 0)
		k->calls++;
}

static void act(struct talk *k, char what, char more)
{
	switch (what) {
	case '!':
		start_call(k, more == 'r' ? MP_METHOD_RESOURCES_READ : MP_METHOD_TOOLS_CALL);
		break;
	case '-':
		if (k->calls)
			mp_peer_cancel(&slots[(unsigned char)more % k->calls].call);
		break;
	case '+':
		mp_loop_advance(k->loop, ((unsigned char)more - '0') * 100);
		break;
	case '?':
		if (k->fetches < MAX_FETCHES) {
			struct mp_catalog_list *l = &k->lists[k->fetches];

			mp_catalog_list_init(l, (enum mp_catalog_kind)((unsigned char)more % 4));
			if (mp_upstream_is_ready(k->up) &&
			    mp_catalog_fetch(k->up, l, 5000, fetched, k, k->loop, NULL) == 0)
				k->fetches++;
			else
				mp_catalog_list_done(l);
		}
		break;
	case '~':
		k->probes += mp_probe_start(k->up, more == 'l', probed, k) == 0;
		break;
	case '=':
		if (k->asked)
			mp_upstream_reply(k->up, k->request,
					  more == '{' ? MP_STR("{\"action\":\"accept\"}")
						      : MP_STR(""));
		break;
	case '#':
		mp_memory_break(k->server);
		break;
	default:
		break;
	}
}

/* The line with every `$` replaced by the id of our last request. */
static void say(struct talk *k, struct mp_str line)
{
	struct mp_buf text;

	mp_buf_init(&text, 1 << 20);
	for (size_t i = 0; i < line.len; i++) {
		int r = line.p[i] == '$' ? mp_buf_addf(&text, "%s", k->last_id)
					 : mp_buf_add_char(&text, line.p[i]);

		FUZZ_CHECK(r == 0);
	}
	(void)!outgoing_send(k->server, mp_buf_get(&text), NULL); /* it may be dead */
	mp_buf_done(&text);
}

static void finish(struct talk *k)
{
	mp_upstream_close(k->up);
	for (int i = 0; i < k->calls; i++)
		FUZZ_CHECK(k->answered[i] == 1);
	mp_loop_advance(k->loop, 100);
	FUZZ_CHECK(k->closed == 1);
	FUZZ_CHECK(k->ready <= 1 && k->ended <= 1);
	FUZZ_CHECK(k->fetched == k->fetches);
	FUZZ_CHECK(k->probed == k->probes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct mp_identity me = {
		.name = "f", .version = "1", .capabilities = {"{}", 2}};
	struct fuzz_input in = {data, size};
	uint8_t choice = fuzz_byte(&in);
	struct talk k = {.last_id = "0"};
	struct mp_answerer answerer = {.ask = ask, .u = &k};
	struct mp_upstream_options options = {
		.me = &me,
		.eras = choice % 3 == 0   ? MP_ERA_BOTH
			: choice % 3 == 1 ? MP_ERA_LEGACY
					  : MP_ERA_MODERN,
		.timeout_ms = 10000,
		.answerer = choice & 4 ? &answerer : NULL,
		.dial = dial,
		.dial_u = &k,
	};
	struct mp_str rest;

	if (size > 20000)
		return 0;
	FUZZ_CHECK(mp_loop_new_by_hand(0, &k.loop) == 0);
	k.up = mp_upstream_new(k.loop, &options, &hooks, &k);
	FUZZ_CHECK(mp_upstream_open(k.up, NULL) == 0);
	mp_loop_advance(k.loop, 0);
	rest = fuzz_rest(&in);
	while (rest.len) {
		const char *newline = memchr(rest.p, '\n', rest.len);
		struct mp_str line = {rest.p, newline ? (size_t)(newline - rest.p) : rest.len};

		rest.p += line.len + (newline ? 1 : 0);
		rest.len -= line.len + (newline ? 1 : 0);
		if (line.len >= 2 && strchr("!-+?~=#", line.p[0]) && line.p[0])
			act(&k, line.p[0], line.p[1]);
		else
			say(&k, line);
		mp_loop_advance(k.loop, 0);
	}
	finish(&k);
	k.up = mp_upstream_free(k.up);
	k.server = mp_transport_free(k.server);
	for (int i = 0; i < k.fetches; i++)
		mp_catalog_list_done(&k.lists[i]);
	mp_loop_free(k.loop);
	return 0;
}
