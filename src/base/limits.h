/*
 * limits.h - every ceiling in the program, named and explained. Nothing that a peer can make grow
 * grows without one of these. Those that peers and users can notice are a contract
 * (doc/protocol.md, "Limits"); the others are ours to tune.
 */
#ifndef MP_LIMITS_H
#define MP_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#define MP_KIB(n)     ((size_t)(n) << 10)
#define MP_MIB(n)     ((size_t)(n) << 20)
#define MP_GIB(n)     ((size_t)(n) << 30)
#define MP_SECONDS(n) ((int64_t)(n)*1000)

/* One message */
#define MP_LIMIT_MESSAGE    MP_MIB(32) /* bytes of one JSON-RPC message, either direction */
#define MP_LIMIT_JSON_DEPTH 128        /* levels of nesting in any JSON text */
#define MP_LIMIT_JSON_NODES (4u << 20) /* values and keys on one tape: 64 MiB of tape at most */
#define MP_LIMIT_JSON_MEMBERS \
	65536                     /* of one object whose keys are compared: envelopes, arguments */
#define MP_LIMIT_ID    256        /* bytes of a JSON-RPC id as written */
#define MP_LIMIT_NAME  256        /* bytes of a method, tool, prompt or server name */
#define MP_LIMIT_ARENA MP_MIB(64) /* what one message may derive from itself in memory */

/* What one server may offer and write */
#define MP_LIMIT_LIST_PAGES  64          /* pages of one list before it is cut */
#define MP_LIMIT_TOOLS       10000       /* tools of one server */
#define MP_LIMIT_NAMES       262144      /* tools, or prompts, of all servers of one session */
#define MP_LIMIT_STDERR_RING MP_KIB(256) /* last bytes of stderr kept per server */
#define MP_LIMIT_STDERR_LINE MP_KIB(16)  /* one line of stderr; the rest of it is cut */
#define MP_LIMIT_PINS        20000       /* tools of one server that are pinned; its newest */
#define MP_LIMIT_PIN_OWNERS  8192        /* servers with pins, besides those in use */
#define MP_LIMIT_TOPICS      1024        /* resources that one session listens to */
#define MP_LIMIT_TOPICS_ALL  16384       /* resources of one server that are listened to */
#define MP_LIMIT_MEMOS       256         /* ids per server whose session is remembered */

/* Sessions and waiting */
#define MP_LIMIT_SESSIONS          4096
#define MP_LIMIT_SESSIONS_SHARE    3072 /* of one way in: stdio, or all of HTTP */
#define MP_LIMIT_WORKSPACES        256  /* projects, with their environments, at once */
#define MP_LIMIT_SESSION_FILES     16   /* files that one session names */
#define MP_LIMIT_WORKSPACE_IDLE_MS MP_SECONDS(5 * 60) /* an unused one */
#define MP_LIMIT_OPEN_REQUESTS     16384              /* of one session, to be answered */
#define MP_LIMIT_PARKED            1024 /* calls that wait for their agent to come back */
#define MP_LIMIT_PARKED_EACH       64   /* of one session, when all places are taken */
#define MP_LIMIT_TASKS             1024 /* of one session that go by a name */
#define MP_LIMIT_SUBSCRIPTIONS     1024 /* resources one session hears of */
#define MP_LIMIT_PAGE              1000 /* items of one page of a list */
#define MP_LIMIT_SESSION_IDLE_MS   MP_SECONDS(30 * 60) /* an unused HTTP session */
#define MP_LIMIT_PARKED_MS         MP_SECONDS(10 * 60) /* a question that waits for its answer */
#define MP_LIMIT_ACQUIRE_MS        MP_SECONDS(60) /* a first caller waits for a start this long */
#define MP_LIMIT_DRAIN_MS          MP_SECONDS(30) /* calls of a server that is replaced may finish */
#define MP_LIMIT_INSTANCES         16384          /* servers of the pool, private ones included */
#define MP_LIMIT_DIALS             32             /* remote servers dialled at once */
#define MP_LIMIT_PROBE_MS          MP_SECONDS(3)  /* one health probe */
#define MP_LIMIT_ONE_SHOT_MS       MP_SECONDS(30) /* `tools`, `call` wait for servers this long */

/* Input from the network and from files */
#define MP_LIMIT_HEADER_BLOCK     MP_KIB(64) /* all HTTP header lines of one message */
#define MP_LIMIT_IDLE_CONNECTIONS 1024       /* HTTP connections kept for the next request */
#define MP_LIMIT_CONFIG_FILE      MP_MIB(1)  /* a project's configuration file */
#define MP_LIMIT_OWN_FILE         MP_MIB(8)  /* a file of ours that is to be changed */
#define MP_LIMIT_USER_FILE        MP_MIB(32) /* one in the home folder; ~/.claude.json grows */
#define MP_LIMIT_FOLLOWED         4096       /* files whose changes one follower is told of */
#define MP_LIMIT_SERVERS          4096       /* entries of one configuration set */
#define MP_LIMIT_PROBLEMS         1024 /* told of one configuration set; the rest is counted */
#define MP_LIMIT_SCRIPT           MP_MIB(256) /* a project's file whose content is part of an approval */
#define MP_LIMIT_SCRIPT_WORDS     16384       /* words of one entry that are tried as paths */
#define MP_LIMIT_SCRIPTS          MP_MIB(512) /* all such files of one set together */
#define MP_LIMIT_SCRIPTS_SEEN     131072      /* all such words of one set */
#define MP_LIMIT_LAYER_KEYS       1024        /* members of an object that is merged with others */

/* Clients of the HTTP face */
#define MP_LIMIT_NAMED_TOKENS 256         /* of `mcpool token add` */
#define MP_LIMIT_HOLDERS      4096        /* different users with tokens, at once */
#define MP_LIMIT_UNADMITTED   256         /* connections without a token; the oldest goes first */
#define MP_LIMIT_HTTP_HELD    MP_MIB(256) /* incomplete bodies and unsent answers, of all clients */
#define MP_LIMIT_HTTP_GROWTH  MP_MIB(384) /* what clients may add to the hub's RSS; tested */
#define MP_LIMIT_HTTP_RATE    MP_KIB(16) /* bytes a second that a client sends or takes, at least */
#define MP_LIMIT_REPLAY       MP_MIB(64) /* finished streams, kept for clients that come back */

/* What we keep for people */
#define MP_LIMIT_LOG_LINE          MP_KIB(8) /* one line of our own log; the rest of it is cut */
#define MP_LIMIT_SECRETS           16384     /* values, and lines of values, hidden in logs */
#define MP_LIMIT_EVENT_RING        4096      /* transitions kept for late readers */
#define MP_LIMIT_EVENT_TEXT        120       /* bytes of words in one event */
#define MP_LIMIT_VERB_OUTPUT       MP_MIB(4) /* of a verb that the dashboard runs */
#define MP_LIMIT_FLOWS             16384     /* pairs of session and server with calls */
#define MP_LIMIT_CALL_RING         512       /* calls that ended, kept for late readers */
#define MP_LIMIT_NOTIFICATION_RING 512       /* notifications of servers, kept for late readers */
#define MP_LIMIT_NOTIFICATION_TEXT 500       /* bytes of words of one */
#define MP_LIMIT_NOTIFICATION_RATE 20        /* of one server that are kept in a second */
#define MP_LIMIT_AUDIT_TEXT \
	MP_KIB(64) /* bytes of one text of a record; longer arguments are not kept */

#define MP_LIMIT_RESULTS      1000        /* stored results; the oldest go first */
#define MP_LIMIT_RESULT_BYTES MP_MIB(256) /* of all of them */

/* The store */
#define MP_LIMIT_DB_QUEUE     4096       /* writes that wait for the store's thread */
#define MP_LIMIT_DB_VALUE     MP_MIB(64) /* one text of a row */
#define MP_LIMIT_SIGHTS       16384      /* ids whose first sight is remembered; the newest */
#define MP_LIMIT_ERAS         4096       /* servers whose era is remembered */
#define MP_LIMIT_LAST_GOOD    1024       /* configuration files whose last good state is kept */
#define MP_LIMIT_SECRETS_FILE MP_MIB(4)  /* all secrets that are kept in a file */
#define MP_LIMIT_SECRET_NAME  512        /* bytes of the name of one */
#define MP_LIMIT_SECRET_VALUE MP_KIB(64) /* bytes of its value */
#define MP_LIMIT_HELD_SCOPES  1024 /* workspaces, styles and kinds whose names are remembered */

/* What servers offered: a row for each server and credentials, of which the newest stay */
#define MP_LIMIT_DEFINITION      MP_MIB(16)  /* bytes of one row; one that needs more is not kept */
#define MP_LIMIT_DEFINITIONS     8192        /* rows: two for each server of a full configuration */
#define MP_LIMIT_DEFINITIONS_ALL MP_MIB(512) /* bytes of all rows */

/* Images that the terminal shows */
#define MP_LIMIT_IMAGE_SIDE 16384      /* pixels of one side */
#define MP_LIMIT_IMAGE      MP_MIB(64) /* bytes when it is decoded, four a pixel; of its sixels, too */
#define MP_LIMIT_SIXEL_SIDE 4096       /* pixels of one side; a larger image is made smaller */

/* Telling changes */
#define MP_BOARD_INTERVAL_MS 16  /* observers hear at most this often (C16) */
#define MP_BOARD_BUDGET      512 /* changes handed to an observer at once */
#define MP_LIMIT_RELOAD_SERVERS \
	32 /* of a reload that are named, of each kind; others are counted */
#define MP_LIMIT_RELOAD_KEYS    12 /* of one of them, or of the settings; others are counted */
#define MP_LIMIT_RELOAD_NAME    64 /* bytes of a key, or of a member of one */
#define MP_LIMIT_RELOAD_CHANGES MP_KIB(128) /* the same as JSON, of each workspace */

#endif
