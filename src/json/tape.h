/*
 * tape.h - the one JSON parser: bytes to a tape of offsets.
 *
 * The tape is a flat array of nodes in document order. A node has the position of its value in the
 * source and the index of the next node; nothing is copied or converted until it is read (value.h),
 * so big integers, key order, duplicate keys and spelling survive. The source is borrowed and must
 * stay as long as the tape is read.
 *
 * An object's node is followed by key, value, key, value, ...; an array's by its elements.
 */
#ifndef MP_TAPE_H
#define MP_TAPE_H

#include "base/base.h"
#include "base/limits.h"
#include "base/str.h"
#include "json/tape_fault.h"

enum mp_tape_type {
	MP_TAPE_NULL,
	MP_TAPE_FALSE,
	MP_TAPE_TRUE,
	MP_TAPE_NUMBER,
	MP_TAPE_STRING,
	MP_TAPE_ARRAY,
	MP_TAPE_OBJECT,
};

struct mp_tape_node {
	uint32_t start; /* offset of the first byte; of the opening quote or bracket */
	uint32_t end;   /* offset behind the last byte */
	uint32_t next;  /* index of the node behind this one and all it contains */
	uint8_t type;   /* enum mp_tape_type */
	uint8_t flags;
	uint16_t depth; /* how many arrays and objects are around it */
};

/* What we accept beyond RFC 8259, for configuration files. */
enum {
	MP_TAPE_COMMENTS = 1,       /* line and block comments where white space may stand */
	MP_TAPE_TRAILING_COMMA = 2, /* one comma behind the last member or element */
	MP_TAPE_BOM = 4,            /* a byte order mark at the very beginning */
	MP_TAPE_JSONC = 7,
};

struct mp_tape {
	/* Set by mp_tape_init() to the program's limits; may be changed before parsing. */
	unsigned accept;     /* MP_TAPE_COMMENTS and so on */
	unsigned keep_depth; /* values with more brackets around them are checked, not kept */
	unsigned max_depth;
	uint32_t max_nodes;
	size_t max_bytes;

	const char *src; /* borrowed */
	size_t len;
	struct mp_tape_node *nodes; /* owned, used again for the next document */
	uint32_t n;
	uint32_t room;
	bool loose; /* white space, comments or trailing commas stand inside the outermost brackets
		     */

	enum mp_tape_fault fault; /* why it is not JSON */
	size_t fault_at;          /* and where */

	/* The state of an unfinished document; see mp_tape_feed(). */
	int state;
	unsigned depth;
	uint32_t open;     /* node of the innermost array or object that is kept */
	uint64_t kinds[2]; /* bit per level: is it an object? */
	size_t pos;        /* all before is parsed */
	size_t patience;   /* look again when there are this many bytes */
};

void mp_tape_init(struct mp_tape *t, unsigned accept);
void mp_tape_done(struct mp_tape *t);

/*
 * One whole document. 0, or MCPOOL_EPARSE, MCPOOL_ELIMIT or MCPOOL_ENOMEM with line and column in
 * reterr.
 */
int mp_tape_parse(struct mp_tape *t, struct mp_str src, struct mcpool_error *reterr) MP_MUST;

/*
 * A document that arrives in pieces: after mp_tape_begin(), feed it all bytes there are so far
 * (they may have moved in memory), each time more than before; last: no more will come. 1 when the
 * document is complete and last was given, 0 while it may still go on, negative as above as soon as
 * it cannot. What has been parsed is not parsed again, so a large message is paid for while it
 * arrives and a broken one is refused early (a token that is not complete is looked at again only
 * when it has doubled).
 */
void mp_tape_begin(struct mp_tape *t);
int mp_tape_feed(struct mp_tape *t, const char *src, size_t len, bool last) MP_MUST;

/* The words of the last fault, with line and column, as reterr of mp_tape_parse() has them. */
int mp_tape_explain(const struct mp_tape *t, struct mcpool_error *reterr);

struct mp_tape_place {
	uint32_t line;   /* from 1; LF, CR LF and CR end a line */
	uint32_t column; /* from 1, in characters */
};
struct mp_tape_place mp_tape_locate(struct mp_str src, size_t offset);

#endif
