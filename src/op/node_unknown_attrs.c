/* Attrs that an op does not declare: a newer producer may have written them. */
#include <string.h>

#include "base/log.h"
#include "base/string_map.h"
#include "base/sync.h"
#include "op/node_def.h"
#include "op/op_def_builder.h"

/* Hashes of "op attr", 0 for empty entries: a table in static memory. */
enum { MAX_NOTED = 1000, SLOTS = 2048 };
static Mutex lock = MUTEX_INIT;
static uint64_t noted[SLOTS];
static int num_noted;

/* True on the first call for an op and attr. */
static bool note(const char *op, const char *attr) {
  uint64_t hash = (hash_bytes(op, strlen(op)) * 31 + hash_bytes(attr, strlen(attr))) | 1;
  size_t slot = (size_t)(hash >> 32) % SLOTS;
  mutex_lock(&lock);
  while (noted[slot] != 0 && noted[slot] != hash) slot = (slot + 1) % SLOTS;
  bool first = noted[slot] == 0 && num_noted < MAX_NOTED;
  if (first) {
    noted[slot] = hash;
    num_noted++;
  }
  mutex_unlock(&lock);
  return first;
}

static void log_attr(const NodeDef *node, const char *attr) {
  StrBuf line = {0};
  strbuf_printf(&line,
                "NodeDef mentions attribute %s which is not in the op definition of %s: it is kept and has "
                "no effect. The graph may come "
                "from a newer TensorFlow. NodeDef: ",
                attr, node->op);
  node_def_format_for_error(node, &line);
  if (!line.failed) log_line(strbuf_text(&line));
  strbuf_free(&line);
}

void node_def_note_unknown_attrs(const NodeDef *node, const OpDef *op_def) {
  size_t others = 0;
  for (size_t i = 0; i < node->n_attr; i++) others += node->attr[i]->key[0] != '_';
  if (others <= op_def->n_attr) return; /* all attrs are the op's */
  for (size_t i = 0; i < node->n_attr; i++) {
    const char *attr = node->attr[i]->key;
    if (attr[0] != '_' && !op_def_attr(op_def, attr) && note(node->op, attr)) log_attr(node, attr);
  }
}
