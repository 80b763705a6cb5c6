/* The shapes that values in loops have in every round (graph_infer_loops). */
#include "runtime/control_flow_text.h"

/* A loop with the variable `v`, which begins as `start`; its body computes `p`next from `p`s:1. */
#define LOOP(p, start, next, frame, type)                                                                    \
  p "e Enter " start " ; T=" type " frame_name='" frame "'\n" p "m Merge " p "e " p "n ; T=" type " N=2\n" p \
    "s Switch " p "m " frame "c ; T=" type "\n" p "n NextIteration " next " ; T=" type "\n" p "x Exit " p    \
    "s ; T=" type "\n"
/* Three rounds. */
#define ROUNDS(frame)                                                                                      \
  LOOP(frame "i", "zero", frame "a", frame, "DT_INT32")                                                    \
  frame "l Less " frame "im " frame "lim ; T=DT_INT32\n" frame                                             \
        "lim Enter three ; T=DT_INT32 frame_name='" frame "' is_constant=true\n" frame "c LoopCond " frame \
        "l\n" frame "k Const ^" frame "is ; int=1\n" frame "a Add " frame "is:1 " frame "k ; T=DT_INT32\n"
#define NUMBERS                                                                                  \
  "zero Const ; int=0\nthree Const ; int=3\naxis Const ; int=0\nv Placeholder ; dtype=DT_FLOAT " \
  "shape=unknown\n"

/* "[3,2]": of output 0, after the loops were inferred. */
static void check_shape(const Fixture *f, const char *name, const char *want) {
  StrBuf text = {0};
  const Node *node = graph_find_node(f->graph, name);
  if (!CHECK(node)) return;
  ShapeHandle shape = node->output_shapes[0];
  strbuf_append(&text, shape_rank_known(shape) ? "[" : "?");
  for (int32_t i = 0; shape_rank_known(shape) && i < shape_rank(shape); i++) {
    if (i > 0) strbuf_append(&text, ",");
    if (dim_known(shape->dims[i])) strbuf_printf(&text, "%d", (int)dim_value(shape->dims[i]));
    else strbuf_append(&text, "?");
  }
  strbuf_append(&text, shape_rank_known(shape) ? "]" : "");
  CHECK_STR_EQ(strbuf_text(&text), want);
  strbuf_free(&text);
}

/* Imports the nodes, and gives `v` a shape. */
static bool begin_loops(Fixture *f, int rank, const int64_t *dims, const char *lines) {
  if (!begin(f) || !CHECK_OK(import_lines(f->graph, lines, &f->status), f->status)) return false;
  NodeOutput v = out(graph_find_node(f->graph, "v"));
  return CHECK_OK(graph_set_shape(f->graph, v, rank, dims, &f->status), f->status) &&
         CHECK_OK(graph_infer_loops(f->graph, &f->status), f->status);
}

TEST(a_variable_keeps_the_shape_that_every_round_keeps) {
  Fixture f;
  REQUIRE(begin_loops(&f, 2, (int64_t[]){3, -1},
                      NUMBERS ROUNDS("f") LOOP("v", "v", "sum", "f",
                                               "DT_FLOAT") "t Tanh vs:1 ; T=DT_FLOAT\nw Enter v ; T=DT_FLOAT "
                                                           "frame_name='f' is_constant=true\n"
                                                           "sum AddV2 t vs:1 ; T=DT_FLOAT\n"));
  check_shape(&f, "vm", "[3,?]");
  check_shape(&f, "t", "[3,?]");
  check_shape(&f, "vx", "[3,?]");
  check_shape(&f, "fa", "[]");
  const Node *t = graph_find_node(f.graph, "t"), *v = graph_find_node(f.graph, "v");
  CHECK(t->output_shapes[0]->dims[1] == v->output_shapes[0]->dims[1]); /* the same unknown size */
  end(&f);
}

/* v is joined with itself, and w is added to v. */
TEST(a_variable_that_grows_has_no_size_nor_has_what_depends_on_it) {
  Fixture f;
  REQUIRE(begin_loops(&f, 1, (int64_t[]){1},
                      NUMBERS ROUNDS("f") LOOP("v", "v", "twice", "f", "DT_FLOAT") LOOP("w", "v", "sum", "f",
                                                                                        "DT_FLOAT")
                          LOOP("u", "v", "same", "f",
                               "DT_FLOAT") "at Enter axis ; T=DT_INT32 frame_name='f' is_constant=true\n"
                                           "twice ConcatV2 vs:1 vs:1 at ; T=DT_FLOAT N=2 Tidx=DT_INT32\n"
                                           "sum AddV2 ws:1 vs:1 ; T=DT_FLOAT\nsame Neg us:1 ; T=DT_FLOAT\n"));
  check_shape(&f, "vm", "[?]");
  check_shape(&f, "sum", "[?]");
  check_shape(&f, "wx", "[?]");
  check_shape(&f, "ux", "[1]");
  end(&f);
}

/* The rank of v grows, also in the loop inside, which enters it in every round. */
TEST(a_loop_inside_begins_with_the_shapes_of_all_rounds_outside) {
  Fixture f;
  REQUIRE(begin_loops(&f, 1, (int64_t[]){2},
                      NUMBERS ROUNDS("f")
                          LOOP("v", "v", "packed", "f",
                               "DT_FLOAT") "packed Pack vs:1 ; T=DT_FLOAT N=1 axis=0\n"
                                           "ge Enter vs:1 ; T=DT_FLOAT frame_name='g'\ngm Merge ge gn ; "
                                           "T=DT_FLOAT N=2\n"
                                           "gs Switch gm gc ; T=DT_FLOAT\nneg Neg gs:1 ; T=DT_FLOAT\n"
                                           "gn NextIteration neg ; T=DT_FLOAT\ngx Exit gs ; T=DT_FLOAT\n"
                                           "always Const ^gm ; bool=false\ngc LoopCond always\n"));
  check_shape(&f, "vm", "?");
  check_shape(&f, "neg", "?");
  end(&f);
}
