/* ApiDefs: how they follow from ops, and how texts change them. See c_api/transcript_lines.h. */
#include "c_api/transcript_lines.h"

static TF_ApiDefMap *map;

/* An op with an input, an output and an attr, each with a description, and another op. */
static void start(void) {
  static const char ops[] =
      "\012\134\012\006TestOp\022\026\012\001a\022\021the `a` of TestOp\032\003\012\001b\042\016\012\001T"
      "\022\004type\042\003the*\015S of `TestOp`2\015D `a` `b` "
      "`T`B\007\010\007\022\003old\012\007\012\005Other";
  TF_Buffer *list = TF_NewBufferFromString(ops, sizeof ops - 1);
  if (map) TF_DeleteApiDefMap(map);
  map = TF_NewApiDefMap(list, status);
  say_status("a list of ops");
  TF_DeleteBuffer(list);
}

static void put(const char *text) {
  TF_ApiDefMapPut(map, text, strlen(text), status);
  say_status(text);
}

static void get(const char *name) {
  Text text = {0};
  char piece[4];
  TF_Buffer *def = TF_ApiDefMapGet(map, name, strlen(name), status);
  say_status(name);
  if (!def) {
    say(name, "none");
    return;
  }
  text_print(&text, "");
  for (size_t i = 0; i < def->length; i++) {
    unsigned byte = ((const uint8_t *)def->data)[i];
    snprintf(piece, sizeof piece, byte >= ' ' && byte <= '~' ? "%c" : "<%o>", byte);
    text_print(&text, piece);
  }
  say(name, text.data);
  free(text.data);
  TF_DeleteBuffer(def);
}

static void ops(void) {
  TF_Buffer *nonsense = TF_NewBufferFromString("\377\377", 2);
  say_number("nonsense", TF_NewApiDefMap(nonsense, status) != NULL);
  say_status_part("nonsense", strlen("Unparseable OpList"));
  TF_DeleteBuffer(nonsense);
  start();
  get("TestOp");
  get("Other");
  get("None");
  get("");
  put("");
  TF_Buffer *all = TF_GetAllOpList();
  TF_ApiDefMap *many = TF_NewApiDefMap(all, status);
  say_status("all ops");
  TF_Buffer *def = TF_ApiDefMapGet(many, "MatMul", 6, status);
  say_number("MatMul has an ApiDef", def && def->length > 0);
  TF_DeleteBuffer(def);
  TF_DeleteApiDefMap(many);
  TF_DeleteBuffer(all);
}

static void changes(void) {
  start();
  put("op { graph_op_name: \"None\" summary: \"nothing\" in_arg { name: \"x\" } }");
  put("op { graph_op_name: \"TestOp\" deprecation_message: \"no more\" deprecation_version: 3 "
      "visibility: HIDDEN }");
  put("op { graph_op_name: \"Other\" summary: \"of `Other`\" visibility: SKIP endpoint { name: \"E.F\" "
      "deprecated: true deprecation_version: 4 } endpoint { name: \"G\" } }"
      "op { graph_op_name: \"TestOp\" in_arg { name: \"a\" rename_to: \"first\" } out_arg { name: \"b\" "
      "description: \"b of `a`, `a`\" } attr { name: \"T\" rename_to: \"`\" description: \"`b``T`\" "
      "default_value { type: DT_FLOAT } } arg_order: \"a\" description_prefix: \"before\" "
      "description_suffix: \"after\" }");
  put("op { graph_op_name: \"TestOp\" description_prefix: \"first\" }");
  get("TestOp");
  get("Other");
  start();
  put("op { graph_op_name: \"TestOp\" description: \"D\" description_suffix: \"S\" endpoint { name: "
      "\"NewOp\" } }");
  get("TestOp");
  get("TestOp");
}

static void wrong_changes(void) {
  start();
  put("op { graph_op_name: \"TestOp\" in_arg { name: \"a\" rename_to: \"z\" } in_arg { name: \"q\" } "
      "visibility: SKIP summary: \"not merged\" }");
  put("op { graph_op_name: \"TestOp\" out_arg { name: \"a\" } }");
  put("op { graph_op_name: \"TestOp\" attr { name: \"a\" } }");
  put("op { graph_op_name: \"TestOp\" arg_order: \"x\" arg_order: \"a\" }");
  put("op { graph_op_name: \"TestOp\" arg_order: \"x\" }");
  put("op { graph_op_name: \"Other\" arg_order: \"x\" }");
  put("op { graph_op_name: \"Other\" summary: \"merged\" } op { graph_op_name: \"TestOp\" attr { name: \"U\" "
      "} }"
      " op { graph_op_name: \"Other\" description: \"not merged\" }");
  get("TestOp");
  get("Other");
}

static void texts(void) {
  start();
  put("op {\n graph_op_name: \"TestOp\"\n summary: <<END\nA \"B\"\\\n\t'C'\nEND\n}");
  put("op {\n graph_op_name: \"TestOp\"\n description:<<EOF\nEND\n\nEOF # the end\n}\n");
  put("op {\n graph_op_name: \"Other\"\n summary: <<END\nEND\n description: <<END\nENDdescription_suffix: "
      "\"s\"\n}");
  put("op {\n graph_op_name: \"Other\"\n summary: <<END\nA\nB");
  put("op {\n graph_op_name: \"Other\"\n summary: <<END\nA\n END\n}");
  put("op {\n graph_op_name: \"Other\"\n summary: <<\nA\n\n}");
  put("op {\n graph_op_name: \"Other\"\n summary: <<END");
  put("op {\n graph_op_name: \"Other\"\n summary: <<END\nA\nENDsummary: \"again\" }");
  put("op { graph_op_name: \"TestOp\" bogus: 1 }");
  put("op { visibility: NO }");
  put("op { graph_op_name: 3 }\nop { x: 3 }");
  put("op { description: \"\\q\" }");
  put("garbage");
  put("# nothing");
  get("TestOp");
  get("Other");
}

int main(int argc, char **argv) {
  status = TF_NewStatus();
  ops();
  changes();
  wrong_changes();
  texts();
  TF_DeleteApiDefMap(map);
  return finish_transcript(argc, argv, "api_defs_transcript.txt");
}
