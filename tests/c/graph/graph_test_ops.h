/* Shared by the tests of graphs: their own ops (graph_ops_test.c registers them before every test), and
 * helpers to make and inspect graphs. */
#ifndef TFCORE_TESTS_GRAPH_TEST_OPS_H_
#define TFCORE_TESTS_GRAPH_TEST_OPS_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph.h"
#include "harness.h"

extern int ops_add_runs; /* number of runs of the kernel of Add in this test */

/* Adds the node of a NodeDef in text format; inputs as "a b:1 - ^c" ("-": none). NULL if refused. */
Node *ops_add(Graph *graph, const char *text, const char *inputs, Status *status);
/* Imports a GraphDef in text format, through its bytes. */
bool ops_import(Graph *graph, const char *text, const ImportOptions *options, Arena *arena,
                ImportResults *results, Status *status);
/* The shape of output "n:1" as "[2,?]". */
void ops_shape_text(Graph *graph, const char *output, char text[64]);
bool ops_has_edge(const Graph *graph, const Node *src, int output, const Node *dst, int input);
/* The whole graph as a GraphDef in text format, one line. */
char *ops_export_text(const Graph *graph, Arena *arena);
/* Checks that nodes, names, edges and counts are consistent. */
void ops_check_whole(const Graph *graph);

#endif
