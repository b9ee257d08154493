/*
 * params.c - arguments of tools and prompts: one table gives both the schema that clients see and
 * the check of what they send, so the two cannot differ.
 */
#include <math.h>

#include "base/error.h"
#include "demo/demo.h"

static const char *const type_names[] = {
	[MP_DEMO_TEXT] = "string",
	[MP_DEMO_NUMBER] = "number",
	[MP_DEMO_WHOLE] = "integer",
	[MP_DEMO_CHOICE] = "string",
};

static void write_param(struct mp_writer *w, const struct mp_demo_param *p)
{
	mp_write_key(w, mp_str_of(p->name));
	mp_write_begin_object(w);
	mp_write_member_text(w, "type", mp_str_of(type_names[p->type]));
	mp_write_member_text(w, "description", mp_str_of(p->description));
	if (p->type == MP_DEMO_WHOLE) {
		mp_write_member_i64(w, "minimum", p->min);
		mp_write_member_i64(w, "maximum", p->max);
	}
	if (p->type == MP_DEMO_CHOICE) {
		mp_write_key(w, MP_STR("enum"));
		mp_write_begin_array(w);
		for (const char *const *choice = p->choices; *choice; choice++)
			mp_write_text(w, mp_str_of(*choice));
		mp_write_end_array(w);
	}
	mp_write_end_object(w);
}

/* The first parameters, up to the one without a name. */
#define EACH(params, p)                                \
	for (const struct mp_demo_param *p = (params); \
	     p < (params) + MP_DEMO_MAX_PARAMS && p->name; p++)

void mp_demo_params_write_schema(struct mp_writer *w, const struct mp_demo_param *params)
{
	bool any_required = false;

	mp_write_begin_object(w);
	mp_write_member_text(w, "type", MP_STR("object"));
	mp_write_key(w, MP_STR("properties"));
	mp_write_begin_object(w);
	EACH(params, p)
	{
		write_param(w, p);
		any_required |= p->required;
	}
	mp_write_end_object(w);
	if (any_required) { /* draft 4 forbids an empty list, and some clients still go by it */
		mp_write_key(w, MP_STR("required"));
		mp_write_begin_array(w);
		EACH(params, p)
		if (p->required)
			mp_write_text(w, mp_str_of(p->name));
		mp_write_end_array(w);
	}
	mp_write_end_object(w);
}

/* JSON Schema takes 3.0 for an integer, so do we. */
static bool read_whole(const struct mp_tape *t, mp_value v, const struct mp_demo_param *p,
		       int64_t *ret)
{
	double number;

	if (mp_value_f64(t, v, &number) < 0 || number != floor(number) || number < (double)p->min ||
	    number > (double)p->max)
		return false;
	*ret = (int64_t)number;
	return true;
}

static bool read_choice(const struct mp_tape *t, mp_value v, const struct mp_demo_param *p,
			int64_t *ret)
{
	for (int64_t i = 0; p->choices[i]; i++) {
		if (!mp_value_text_is(t, v, mp_str_of(p->choices[i])))
			continue;
		*ret = i;
		return true;
	}
	return false;
}

static int read_param(struct mp_demo *d, const struct mp_demo_param *p, mp_value v,
		      struct mp_demo_arg *arg, struct mcpool_error *reterr)
{
	switch (p->type) {
	case MP_DEMO_TEXT:
		if (mp_value_text(&d->tape, v, &d->arena, &arg->text) < 0)
			break;
		return 0;
	case MP_DEMO_NUMBER:
		if (mp_value_f64(&d->tape, v, &arg->number) < 0)
			break;
		return 0;
	case MP_DEMO_WHOLE:
		if (!read_whole(&d->tape, v, p, &arg->whole))
			return mp_fail(reterr, MCPOOL_EINVAL,
				       "argument '%s' must be an integer from %lld to %lld",
				       p->name, (long long)p->min, (long long)p->max);
		return 0;
	case MP_DEMO_CHOICE:
		if (!read_choice(&d->tape, v, p, &arg->whole))
			return mp_fail(reterr, MCPOOL_EINVAL,
				       "argument '%s' is none of its values; the first is '%s'",
				       p->name, p->choices[0]);
		return 0;
	}
	return mp_fail(reterr, MCPOOL_EINVAL, "argument '%s' must be a %s, not %s", p->name,
		       type_names[p->type], mp_value_describe(&d->tape, v));
}

int mp_demo_params_read(struct mp_demo_call *c, const struct mp_demo_param *params,
			struct mcpool_error *reterr)
{
	const struct mp_message *m = c->message;
	mp_value arguments = mp_value_get(m->tape, m->params, "arguments");
	int r = 0;

	EACH(params, p)
	{
		mp_value v = mp_value_get(m->tape, arguments, p->name);
		struct mp_demo_arg *arg = &c->args[p - params];

		arg->given = v != MP_NONE;
		if (arg->given)
			r = read_param(c->demo, p, v, arg, reterr);
		else if (p->required)
			r = mp_fail(reterr, MCPOOL_EINVAL, "argument '%s' is missing", p->name);
		if (r < 0)
			return r;
	}
	return 0;
}
