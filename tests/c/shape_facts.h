/* Facts about shape functions, and a runner for records of them. The language is that of op/shape_language.h;
 * expected outputs may name alternatives: `d0_1|d1_0` is either of the two. */
#ifndef TFCORE_TESTS_SHAPE_FACTS_H_
#define TFCORE_TESTS_SHAPE_FACTS_H_

#include "base/str.h"
#include "json.h"
#include "op/op_registry.h"
#include "op/shape_inference.h"

enum { SHAPE_FACTS_MAX_SHAPES = 64 };

/* Parses a list of shapes; all shapes and dimensions are distinct handles. Returns the number of shapes (""
 * has none), or -1 when the text is malformed or memory runs out. */
int shape_facts_parse(InferenceContext *c, const char *text, ShapeHandle shapes[SHAPE_FACTS_MAX_SHAPES]);
/* Whether the context's outputs equal `expected`, values and identity. Appends differences to `why`. */
bool shape_facts_match(const InferenceContext *c, const char *expected, StrBuf *why);

typedef enum ShapeFactResult {
  SHAPE_FACT_HOLDS,
  SHAPE_FACT_FAILS,
  SHAPE_FACT_NO_OP,    /* the op is not in this build */
  SHAPE_FACT_NEW_ATTR, /* needs an attr that our op definition (TensorFlow 1.15's) lacks, with a value other
                        * than the default */
} ShapeFactResult;

enum { SHAPE_FACT_RESULTS = SHAPE_FACT_NEW_ATTR + 1 };

/* Runs one record against an op; NULL if there is none. `why` receives a description of a failure. Also runs
 * it short of memory (shortage.h). */
ShapeFactResult shape_fact_run(const Json *fact, const Op *op, StrBuf *why);
/* Runs every record of the file (tests/data/shape-facts.jsonl) against the op that `find` returns for its
 * name (NULL: none), checks that none fails and counts the results. */
void shape_facts_run_all(const char *path, const Op *(*find)(void *arg, const char *name), void *arg,
                         int counts[SHAPE_FACT_RESULTS]);

#endif
