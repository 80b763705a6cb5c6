/* Libraries with functions that use unregistered ops. */
#include "function/graph_to_function.h"
#include "gradient/graph_gradients.h"
#include "runtime/session_fixture.h"

static const char kLibrary[] =
    "Unknown(x:float) -> (y:float) { y = NoSuchOp[T=float](x) return y = y:z:0 }\n"
    "Deeper(x:float) -> (y:float) { y = Unknown(x) return y = y:y:0 }\n"
    "Known(x:float) -> (y:float) { y = Square[T=float](x) return y = y:y:0 }\n";

static bool fetch_one(Fixture *f, NodeOutput x, float at, NodeOutput y, float *value) {
  Tensor fed = {0}, result = {0};
  const Tensor *pointer = &fed;
  float_tensor(&fed, 0, NULL, &at);
  bool ok = session_run(f->session, &x, &pointer, 1, &y, &result, 1, NULL, 0, &f->status);
  if (ok) *value = tensor_f32(&result)[0];
  tensor_clear(&fed);
  tensor_clear(&result);
  return ok;
}

TEST(functions_with_unknown_ops_stop_nobody_who_does_not_call_them) {
  for (int i = 0; i < 2; i++) {
    Fixture f;
    float value = 0;
    REQUIRE(begin(&f));
    session_optimize(f.session, i == 0);
    REQUIRE(define(f.graph, kLibrary));
    NodeOutput x = placeholder(f.graph, "x", "shape { }"), dx;
    NodeOutput y = unary(f.graph, "Known", "y", x);
    CHECK_OK(graph_add_gradients(f.graph, &y, 1, &x, 1, NULL, NULL, &dx, &f.status), f.status);
    NodeOutput bad = unary(f.graph, "Deeper", "bad", x);
    if (CHECK_OK(fetch_one(&f, x, 3, y, &value), f.status)) CHECK_NEAR(value, 9, 0);
    if (CHECK_OK(fetch_one(&f, x, 3, dx, &value), f.status)) CHECK_NEAR(value, 6, 0);
    CHECK(!fetch_one(&f, x, 3, bad, &value));
    CHECK_INT_EQ(f.status.code, CODE_NOT_FOUND);
    CHECK_STR_CONTAINS(f.status.message, "Op type not registered 'NoSuchOp'");
    CHECK_STR_CONTAINS(f.status.message, "[[bad]]");
    status_init(&f.status);
    /* The session still works. */
    if (CHECK_OK(fetch_one(&f, x, 4, y, &value), f.status)) CHECK_NEAR(value, 16, 0);
    end(&f);
  }
}

TEST(libraries_with_unknown_ops_are_exported_and_imported) {
  Fixture f;
  REQUIRE(begin(&f));
  REQUIRE(define(f.graph, kLibrary));
  NodeOutput x = placeholder(f.graph, "x", "shape { }");
  unary(f.graph, "Known", "y", x);
  Graph *other = graph_new();
  Arena *arena = arena_new();
  GraphDef *def;
  CHECK_OK(graph_to_def(f.graph, arena, &def, &f.status), f.status);
  CHECK_OK(graph_import(other, def, false, NULL, arena, NULL, &f.status), f.status);
  CHECK_INT_EQ(graph_num_functions(other), 3);
  /* Again, and into a graph that has them. */
  CHECK_OK(graph_add_function_library(other, def->library, &f.status), f.status);
  CHECK_INT_EQ(graph_num_functions(other), 3);
  arena_free(arena);
  graph_free(other);
  end(&f);
}
