/*
 * http_metadata.c - serves the metadata of the protected resource (RFC 9728) to everyone, so that
 * clients find out where to log in.
 */
#include "face/http_face.h"
#include "face/oauth_resource.h"

void mp_http_metadata_serve(struct mp_http_face *f, struct mp_exchange *x)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_KIB(64));
	if (!f->admit.oauth)
		mp_exchange_refuse(x,
				   &(struct mp_http_refusal){404, "there is nothing here", NULL});
	else if (mp_oauth_resource_write(f->admit.oauth, mp_inbound_get(x->in, MP_FIELD_HOST),
					 &text) < 0)
		mp_exchange_refuse(x, &(struct mp_http_refusal){503, "there is no memory", NULL});
	else
		mp_exchange_answer(x, &(struct mp_http_answer){200, "application/json",
							       "Cache-Control: no-cache\r\n",
							       mp_buf_get(&text)});
}
