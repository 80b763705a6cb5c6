/* Renames the nodes of a body that is copied into a graph. */
#include <string.h>

#include "op/node_def.h"
#include "op/op_class.h"

static bool set_frame_name(NodeDef *node, Arena *arena, const char *prefix, const char *suffix,
                           Status *status) {
  Str frame;
  TRY(node_attr_string(node, "frame_name", &frame, status));
  StrBuf text = {0};
  strbuf_append(&text, prefix);
  strbuf_append_bytes(&text, frame.data, frame.length);
  strbuf_append(&text, suffix);
  AttrValue *value = text.failed ? NULL : attr_value_string(arena, strbuf_text(&text), (size_t)text.length);
  strbuf_free(&text);
  if (!value) return status_oom(status, "frame_name");
  return node_def_set_attr(node, arena, "frame_name", value, status);
}

bool node_def_add_prefix_and_suffix(NodeDef *node, Arena *arena, const char *prefix, const char *suffix,
                                    Status *status) {
  char *name = arena_printf(arena, "%s%s%s", prefix, node->name, suffix);
  if (!name) return status_oom(status, "a node name");
  if (node_class_of_op(node->op) == NODE_ENTER) {
    TRY(set_frame_name(node, arena, prefix, suffix, status));
  }
  node->name = name;
  return true;
}

static const char kLocation[] = "loc:@";

bool node_def_rename_colocation(NodeDef *node, Arena *arena, NodeRenameFn rename, void *arg, Status *status) {
  const AttrValue *old = node_def_attr(node, "_class");
  if (!old || (AttrKind)old->value_case != ATTR_LIST || !old->list || old->list->n_s == 0) return true;
  AttrValue *value = proto_copy(old, arena);
  if (!value) return status_oom(status, "_class");
  bool changed = false;
  for (size_t i = 0; i < value->list->n_s; i++) {
    ProtobufCBinaryData *entry = &value->list->s[i];
    Str text = {(const char *)entry->data, entry->len};
    if (!str_starts_with(text, kLocation)) continue;
    size_t skip = sizeof kLocation - 1;
    const char *to = rename(arg, (Str){text.data + skip, text.length - skip});
    if (!to) continue;
    char *renamed = arena_printf(arena, "%s%s", kLocation, to);
    if (!renamed) return status_oom(status, "_class");
    *entry = (ProtobufCBinaryData){strlen(renamed), (uint8_t *)renamed};
    changed = true;
  }
  return !changed || node_def_set_attr(node, arena, "_class", value, status);
}
