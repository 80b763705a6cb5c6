/* Calls that run short of memory. What stands in the loop runs again and again: with enough memory, then
 * with the n-th request failing alone, and with all from the n-th on failing, for every n.
 *
 *   Shortage shortage = {.what = "inlining"};
 *   do {
 *     Graph *graph = build();
 *     shortage_begin(&shortage);
 *     bool ok = graph_optimize(graph, &options, NULL, &status);
 *     shortage_end(&shortage, ok, status.code);
 *     if (ok) CHECK_INT_EQ(graph_num_nodes(graph), 3);
 *     graph_free(graph);
 *   } while (shortage_next(&shortage));
 *
 * The call may fail with enough memory: then it fails in the same way, or with RESOURCE_EXHAUSTED. The
 * loop's body checks what the call gave, and what it left behind when it failed; its end frees everything,
 * as live bytes are compared. What is a request, base/alloc.h says.
 *
 * Of a call with more requests than `most`, the first quarter of these many and a sample of the others are
 * tried, and all with the environment variable TFCORE_FAULTS=all. Of the rounds in which all fail there
 * are a quarter as many. */
#ifndef TFCORE_TESTS_SHORTAGE_H_
#define TFCORE_TESTS_SHORTAGE_H_

#include "harness.h"

typedef struct Shortage {
  const char *what; /* for messages */
  int most;         /* how many n are tried; 0: SHORTAGE_MOST */
  /* The rest belongs to the functions. */
  int plenty; /* rounds that had enough memory */
  bool begun, once;
  int64_t n, count, live;
  unsigned seed;
  Code code; /* with enough memory */
  int failures;
} Shortage;

enum { SHORTAGE_MOST = 400 };

/* From here on memory is short, unless this is one of the first two rounds. */
void shortage_begin(Shortage *shortage);
/* There is enough memory again. `ok` and `code` are what the call gave. */
void shortage_end(Shortage *shortage, bool ok, Code code);
/* Whether this round is one of those with a failure. */
bool shortage_is_on(const Shortage *shortage);
/* Whether there is another round. */
bool shortage_next(Shortage *shortage);
/* True with TFCORE_FAULTS=all. */
bool shortage_is_thorough(void);
/* How far it is from n to the next n for a loop that goes on until its call succeeds: 1 at first, more
 * later, in all about 20 for each time that n trebles. */
int64_t shortage_stride(int64_t n);

#endif
