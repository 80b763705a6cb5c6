#include "graph/unary_compositions.h"

#include "harness.h"

/* The GraphDef of a text, with compositions expanded; its nodes as lines. */
static bool expanded(const char *text, StrBuf *lines, Status *status) {
  Arena *arena = arena_new();
  void *message;
  status_init(status);
  bool ok = proto_parse_text(kGraphDef, str_of(text), arena, &message, status) &&
            expand_unary_compositions(message, arena, status);
  const GraphDef *def = message;
  for (size_t i = 0; ok && i < def->n_node; i++) {
    const NodeDef *node = def->node[i];
    strbuf_printf(lines, "%s=%s(", node->name, node->op);
    for (size_t k = 0; k < node->n_input; k++) strbuf_printf(lines, k > 0 ? ",%s" : "%s", node->input[k]);
    strbuf_printf(lines, ")%zu\n", node->n_attr);
  }
  arena_free(arena);
  return ok;
}

#define TYPE " attr { key: 'T' value { type: DT_FLOAT } }"
#define OPS(names) " attr { key: 'op_names' value { list { " names " } } }"

TEST(a_composition_becomes_a_chain_whose_last_node_has_its_name) {
  StrBuf lines = {0};
  Status status;
  CHECK_OK(expanded("node { name: 'x' op: 'Placeholder' }"
                    "node { name: 'c' op: '_UnaryOpsComposition' input: 'x' input: '^p'" TYPE OPS(
                        "s: 'Abs' s: 'Sqrt' s: 'Neg'") "}"
                                                       "node { name: 'one' op: '_UnaryOpsComposition' input: "
                                                       "'c'" OPS("s: 'Exp'") TYPE
                    "}"
                    "node { name: 'y' op: 'Identity' input: 'one' }",
                    &lines, &status),
           status);
  CHECK_STR_EQ(strbuf_text(&lines),
               "x=Placeholder()0\nc/_0=Abs(x,^p)1\nc/_1=Sqrt(c/_0)1\nc=Neg(c/_1)1\none=Exp(c)1\n"
               "y=Identity(one)0\n");
  strbuf_free(&lines);
}

TEST(a_composition_of_nothing_is_refused) {
  StrBuf lines = {0};
  Status status;
  CHECK_ERROR(expanded("node { name: 'c' op: '_UnaryOpsComposition' input: 'x'" OPS("") "}", &lines, &status),
              status, CODE_INVALID_ARGUMENT, "{{node c}} composes no ops");
  CHECK_ERROR(expanded("node { name: 'c' op: '_UnaryOpsComposition' input: 'x' }", &lines, &status), status,
              CODE_NOT_FOUND, "op_names");
  strbuf_free(&lines);
}
