/*
 * forms.c - the elicitation forms of one command, shown one after the other.
 */
#include "cli/display/forms.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/display/answer.h"

const char mp_forms_refusal[] =
	"the server asked for user input that is not a form with plain fields; call the tool from "
	"an agent that supports it";

struct mp_form {
	struct mp_link link;
	struct mp_forms *forms;
	uint64_t id;
	bool is_dropped;
	char *server; /* owned */
	struct mp_buf params, result;
	int stop_fd; /* readable: the worker gives up */
	int r;       /* of mp_answer_form() */
};

static struct mp_form *form_of(struct mp_link *link)
{
	return mp_container_of(link, struct mp_form, link);
}

static void form_free(struct mp_form *f)
{
	if (f->stop_fd >= 0)
		close(f->stop_fd);
	mp_free(f->server);
	mp_buf_done(&f->params);
	mp_buf_done(&f->result);
	mp_free(f);
}

static void form_fill(void *u)
{
	struct mp_form *f = u;

	f->r = mp_answer_form(f->server, mp_buf_get(&f->params), f->stop_fd, &f->result);
}

static void forms_next(struct mp_forms *fs);

static void form_filled(void *u)
{
	struct mp_form *f = u;
	struct mp_forms *fs = f->forms;

	fs->open = NULL;
	fs->line->is_held = false;
	if (!f->is_dropped)
		fs->fn(fs->u, f->id, f->r < 0 ? MP_STR("") : mp_buf_get(&f->result));
	form_free(f);
	forms_next(fs);
}

/* A form that cannot be shown is declined like one that is not a form. */
static void forms_next(struct mp_forms *fs)
{
	struct mp_link *link = fs->open ? NULL : mp_list_pop(&fs->waiting);
	struct mp_work work = {form_fill, form_filled, NULL};
	struct mp_form *f;

	if (!link)
		return;
	work.u = f = form_of(link);
	mp_progress_line_clear(fs->line);
	fs->line->is_held = true;
	fs->open = f;
	f->r = MCPOOL_ESYSTEM;
	f->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->stop_fd < 0 || mp_loop_work(fs->loop, &work) < 0)
		form_filled(f);
}

void mp_forms_init(struct mp_forms *fs, struct mp_loop *loop, struct mp_progress_line *line,
		   mp_forms_fn fn, void *u)
{
	*fs = (struct mp_forms){.loop = loop, .line = line, .fn = fn, .u = u};
	mp_list_init(&fs->waiting);
}

void mp_forms_add(struct mp_forms *fs, uint64_t id, const char *server, struct mp_str params)
{
	struct mp_form *f = mp_alloc(sizeof(*f));

	f->forms = fs;
	f->id = id;
	f->stop_fd = -1;
	f->server = mp_dup(server);
	mp_buf_init(&f->params, MP_LIMIT_MESSAGE);
	mp_buf_init(&f->result, MP_LIMIT_MESSAGE);
	if (mp_buf_add_str(&f->params, params) < 0)
		mp_buf_clear(&f->params); /* so it is declined */
	mp_list_append(&fs->waiting, &f->link);
	forms_next(fs);
}

/* The next form waits until the worker has left the terminal. */
static void forms_stop(struct mp_forms *fs)
{
	uint64_t one = 1;

	fs->open->is_dropped = true;
	(void)!write(fs->open->stop_fd, &one, sizeof(one));
}

void mp_forms_drop(struct mp_forms *fs, uint64_t id)
{
	MP_LIST_WALK(&fs->waiting, link) {
		if (form_of(link)->id != id)
			continue;
		mp_list_remove(&fs->waiting, link);
		form_free(form_of(link));
	}
	if (fs->open && fs->open->id == id)
		forms_stop(fs);
}

void mp_forms_drop_all(struct mp_forms *fs)
{
	struct mp_link *link;

	while ((link = mp_list_pop(&fs->waiting)))
		form_free(form_of(link));
	if (fs->open)
		forms_stop(fs);
}
