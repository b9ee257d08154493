/*
 * bearer.h - an authorization that has one token, "Bearer hush", for every request.
 */
#ifndef TEST_BEARER_H
#define TEST_BEARER_H

#include "net/authorization.h"

static inline bool bearer_is_used(const struct mp_authorization *a)
{
	(void)a;
	return true;
}

static inline int bearer_add(struct mp_authorization *a, const char *method, const char *url,
			     struct mp_http_fields *fields, unsigned *ret_token)
{
	(void)a;
	(void)method;
	(void)url;
	*ret_token = 1;
	return mp_http_fields_add(fields, MP_STR("Authorization"), MP_STR("Bearer hush"));
}

static inline bool bearer_refused(struct mp_authorization *a,
				  const struct mp_authorization_refusal *refusal,
				  struct mp_authorization_waiter *waiter)
{
	(void)a;
	(void)refusal;
	(void)waiter;
	return false;
}

static inline void bearer_leave(struct mp_authorization *a, struct mp_authorization_waiter *waiter)
{
	(void)a;
	(void)waiter;
}

static const struct mp_authorization_ops bearer_ops = {bearer_is_used, bearer_add, bearer_refused,
						       bearer_leave};

#endif
