/*
 * tree.h - processes and their descendants, as /proc shows them.
 * A signal to a process group misses processes that left it. A walk from parents to children misses
 * none as long as the root is a subreaper, which adopts every orphan below it.
 */
#ifndef MP_TREE_H
#define MP_TREE_H

#include <sys/types.h>

#include "base/base.h"
#include "base/str.h"

enum { MP_PROC_NAME = 16 };

struct mp_proc {
	pid_t pid, parent;
	char state;              /* as ps shows it; Z has ended and waits for its parent */
	char name[MP_PROC_NAME]; /* not the command line; of threads and programs, cut */
	uint64_t threads;        /* a first thread that ended shows Z while others work */
	uint64_t started;        /* in ticks since boot; tells a pid from its next owner */
	uint64_t cpu_ticks;      /* used by itself and by children that it has waited for */
};

/* The text of /proc/PID/stat. A name may hold blanks and parentheses. MCPOOL_EPARSE. */
int mp_tree_parse(struct mp_str text, struct mp_proc *ret_proc) MP_MUST;
/* MCPOOL_ENOENT: there is no such process. */
int mp_tree_read(pid_t pid, struct mp_proc *ret_proc) MP_MUST;
bool mp_tree_is_alive(const struct mp_proc *p);

/* What processes use. */
struct mp_tree_usage {
	int64_t memory; /* bytes; a page that n processes share counts as 1/n where the kernel
			   tells, else not at all */
	int64_t cpu_us; /* since they began, with children that have ended */
	int64_t processes;
};
/*
 * Add the descendants of root, or this one process; nothing if it is gone. They read files of
 * /proc: not for the loop. MCPOOL_ESYSTEM: there is no /proc.
 */
int mp_tree_measure(pid_t root, struct mp_tree_usage *to) MP_MUST;
void mp_tree_measure_one(pid_t pid, struct mp_tree_usage *to);
/* The bytes in the text of /proc/PID/smaps_rollup; -1: it does not say. */
int64_t mp_tree_parse_memory(struct mp_str text);

/* Is pid a descendant of root? Whatever forked itself away is, where root is a subreaper. */
bool mp_tree_is_below(pid_t pid, pid_t root);

/* Is this child of the root, and all below it, meant? */
typedef bool (*mp_tree_fn)(const struct mp_proc *child, void *u);

/*
 * Signal the descendants of root, all or those below the children that `takes` wants. Returns how
 * many of them were alive, 0 when there are none; a caller repeats this until then, because what
 * forks meanwhile is seen in the next round only. MCPOOL_ESYSTEM without /proc.
 */
int mp_tree_signal(pid_t root, int signal, mp_tree_fn takes, void *u) MP_MUST;

/* Signal the process that was read, not one that has its pid by now. */
void mp_tree_signal_one(const struct mp_proc *p, int signal);

/*
 * Signal the children of this process at once, all or those that `takes` accepts by pid: nothing is
 * looked up, so they have no time to fork. The caller must be the only one that waits for its
 * children; until then their pids cannot be reused. The tree below them is left to
 * mp_tree_signal().
 */
void mp_tree_strike(int signal, mp_tree_fn takes, void *u);

/* For tests: do as on a kernel that does not list children. */
void mp_tree_set_only_scan(bool only);

#endif
