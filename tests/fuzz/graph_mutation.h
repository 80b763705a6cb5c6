/* Mutations that usually keep graphs valid: nodes with registered ops, attrs that their OpDefs allow,
 * existing inputs. Graphs with random byte changes would rarely be imported. */
#ifndef TFCORE_TESTS_FUZZ_GRAPH_MUTATION_H_
#define TFCORE_TESTS_FUZZ_GRAPH_MUTATION_H_

#include "fuzz/fuzz.h"
#include "proto/proto.h"

typedef enum GraphForm {
  kGraphAsBytes,     /* a serialised GraphDef */
  kGraphAsText,      /* the same as text */
  kGraphAsFunctions, /* function text, a library of it */
} GraphForm;

/* As FuzzTarget.mutate. */
size_t mutate_graph_input(GraphForm form, uint8_t *bytes, size_t size, size_t capacity, Random *random);
/* Mutates a text by words: inserts names of ops, attrs and types, repeats or removes pieces. */
size_t mutate_words(uint8_t *bytes, size_t size, size_t capacity, Random *random);

/* A value for an attr, usually an allowed one; in `arena`, NULL when out of memory. */
AttrValue *random_attr_value(const AttrDef *attr, Arena *arena, Random *random);
/* An op of the registry. */
const OpDef *random_op(Random *random);

#endif
