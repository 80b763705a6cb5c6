/* Calls that run out of memory. The body of the loop runs repeatedly: with enough memory, then with only the
 * n-th request failing, and with all requests from the n-th on failing, for every n.
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
 * A call that fails with enough memory must fail in the same way in the other rounds, or with
 * RESOURCE_EXHAUSTED. The loop's body checks the call's result, and the state that it leaves after a failure.
 * It frees everything at its end, because live bytes are compared. base/alloc.h defines requests.
 *
 * For a call with more than `most` requests, the first `most` / 4 and a sample of the others are tried; with
 * the environment variable TFCORE_FAULTS=all, all are tried. There are a quarter as many rounds in which all
 * requests fail.
 */
#ifndef TFCORE_TESTS_SHORTAGE_H_
#define TFCORE_TESTS_SHORTAGE_H_

#include "harness.h"

typedef struct Shortage {
  const char *what; /* for messages */
  int most;         /* the number of n to try; 0: SHORTAGE_MOST */
  /* Private to the functions. */
  int plenty; /* number of rounds with enough memory */
  bool begun, once;
  int64_t n, count, live;
  unsigned seed;
  Code code; /* the result with enough memory */
  int failures;
} Shortage;

enum { SHORTAGE_MOST = 400 };

/* Memory is short from here on, unless this is one of the first two rounds. */
void shortage_begin(Shortage *shortage);
/* Memory is sufficient again. `ok` and `code` are the call's result. */
void shortage_end(Shortage *shortage, bool ok, Code code);
/* Whether a request fails in this round. */
bool shortage_is_on(const Shortage *shortage);
/* Whether there is another round. */
bool shortage_next(Shortage *shortage);
/* True with TFCORE_FAULTS=all. */
bool shortage_is_thorough(void);
/* The step from n to the next n, for a loop that continues until its call succeeds: 1 at first, larger later,
 * in all about 20 steps each time that n triples. */
int64_t shortage_stride(int64_t n);

#endif
