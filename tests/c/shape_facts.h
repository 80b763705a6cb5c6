/* Facts about shape functions, and a runner for records of them.
 * The language is that of op/shape_language.h; expected outputs may name alternatives: `d0_1|d1_0` is either
 * of the two.
 */
#ifndef TFCORE_TESTS_SHAPE_FACTS_H_
#define TFCORE_TESTS_SHAPE_FACTS_H_

#include "base/str.h"
#include "json.h"
#include "op/op_registry.h"
#include "op/shape_inference.h"

enum { SHAPE_FACTS_MAX_SHAPES = 64 };

/* The shapes of a list, each and each of its dimensions an object of its own. The number of shapes ("" has
 * none), or -1 when the text is malformed or memory runs out. */
int shape_facts_parse(InferenceContext *c, const char *text, ShapeHandle shapes[SHAPE_FACTS_MAX_SHAPES]);
/* Whether the context's outputs are as `expected` says, values and identity. What differs is appended to
 * `why`. */
bool shape_facts_match(const InferenceContext *c, const char *expected, StrBuf *why);

typedef enum ShapeFactResult {
  SHAPE_FACT_HOLDS,
  SHAPE_FACT_FAILS,
  SHAPE_FACT_NO_OP,    /* no such op here */
  SHAPE_FACT_NEW_ATTR, /* asks for an attr that our op definition (TensorFlow 1.15's) lacks, with a value that
                          says something */
} ShapeFactResult;

enum { SHAPE_FACT_RESULTS = SHAPE_FACT_NEW_ATTR + 1 };

/* Runs one record against an op; NULL when there is none. `why` gets a description when it fails. It runs
 * short of memory as well (shortage.h). */
ShapeFactResult shape_fact_run(const Json *fact, const Op *op, StrBuf *why);
/* Runs every record of the file (tests/data/shape-facts.jsonl) against the op that `find` gives for its name
 * (NULL: none), checks that none fails and counts the results. */
void shape_facts_run_all(const char *path, const Op *(*find)(void *arg, const char *name), void *arg,
                         int counts[SHAPE_FACT_RESULTS]);

#endif
