/*
 * tape_fault.h - why a text is not JSON, and the flags of a node: what token.h and tape.h share.
 */
#ifndef MP_TAPE_FAULT_H
#define MP_TAPE_FAULT_H

enum {                      /* node flags */
       MP_TAPE_ESCAPED = 1, /* string: has a backslash, so its text differs from its source */
       MP_TAPE_WHOLE = 2,   /* number: neither fraction nor exponent */
       MP_TAPE_FOLDED = 4,  /* array, object: not empty, but its children are not on the tape */
};

#define MP_TAPE_FAULTS(X)                                                       \
	X(NONE, "nothing is wrong")                                             \
	X(EMPTY, "there is no value")                                           \
	X(CUT, "the text ends too early")                                       \
	X(VALUE, "a value is expected here")                                    \
	X(KEY, "a key in double quotes is expected here")                       \
	X(COLON, "a ':' is expected here")                                      \
	X(COMMA_OR_BRACKET, "a ',' or ']' is expected here")                    \
	X(COMMA_OR_BRACE, "a ',' or '}' is expected here")                      \
	X(TRAILING_COMMA, "a ',' before a closing bracket is not allowed here") \
	X(EXTRA, "there is something behind the end of the value")              \
	X(NUMBER, "this is not a number as JSON writes it")                     \
	X(CONTROL, "a control character must be escaped in a string")           \
	X(ESCAPE, "this escape does not exist")                                 \
	X(UTF8, "this is not valid UTF-8")                                      \
	X(COMMENT, "a comment is not allowed here")                             \
	X(OPEN_COMMENT, "this comment is never closed")                         \
	X(BOM, "a byte order mark is not allowed here")                         \
	X(DEPTH, "arrays and objects are nested too deeply")                    \
	X(BYTES, "the text is too long")                                        \
	X(NODES, "there are too many values")                                   \
	X(MEMORY, "the system refused memory")

enum mp_tape_fault {
#define MP_TAPE_X(name, sentence) MP_TAPE_FAULT_##name,
	MP_TAPE_FAULTS(MP_TAPE_X)
#undef MP_TAPE_X
};

#endif
