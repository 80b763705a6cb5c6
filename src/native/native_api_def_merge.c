/* The ApiDef of an op, changes to it, and renaming in its texts. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "native/native_api_defs.h"

/* ---- the ApiDef of an op ---- */

static bool add_args(ArgDef *const *args, size_t count, Arena *arena, ApiDefArg ***list, size_t *length,
                     Status *status) {
  for (size_t i = 0; i < count; i++) {
    ApiDefArg *arg = proto_new(kApiDefArg, arena);
    if (!arg) return status_oom(status, "an ApiDef");
    arg->name = arg->rename_to = args[i]->name;
    arg->description = args[i]->description;
    TRY(proto_append(arena, (void ***)list, length, arg, status));
  }
  return true;
}

static bool add_attrs(ApiDef *def, const OpDef *op_def, Arena *arena, Status *status) {
  for (size_t i = 0; i < op_def->n_attr; i++) {
    ApiDefAttr *attr = proto_new(kApiDefAttr, arena);
    if (!attr) return status_oom(status, "an ApiDef");
    attr->name = attr->rename_to = op_def->attr[i]->name;
    attr->default_value = op_def->attr[i]->default_value;
    attr->description = op_def->attr[i]->description;
    TRY(proto_append(arena, (void ***)&def->attr, &def->n_attr, attr, status));
  }
  return true;
}

static bool fill(ApiDef *def, const OpDef *op_def, Arena *arena, Status *status) {
  ApiDefEndpoint *endpoint = proto_new(kApiDefEndpoint, arena);
  if (!endpoint) return status_oom(status, "an ApiDef");
  def->graph_op_name = endpoint->name = op_def->name;
  def->visibility = TENSORFLOW__API_DEF__VISIBILITY__VISIBLE;
  def->summary = op_def->summary;
  def->description = op_def->description;
  TRY(proto_append(arena, (void ***)&def->endpoint, &def->n_endpoint, endpoint, status));
  TRY(add_args(op_def->input_arg, op_def->n_input_arg, arena, &def->in_arg, &def->n_in_arg, status));
  TRY(add_args(op_def->output_arg, op_def->n_output_arg, arena, &def->out_arg, &def->n_out_arg, status));
  for (size_t i = 0; i < op_def->n_input_arg; i++)
    TRY(proto_append(arena, (void ***)&def->arg_order, &def->n_arg_order, op_def->input_arg[i]->name,
                     status));
  return add_attrs(def, op_def, arena, status);
}

ApiDef *api_def_of_op(const OpDef *op_def, Arena *arena) {
  ApiDef *def = proto_new(kApiDef, arena);
  Status ignored;
  status_init(&ignored);
  return def && fill(def, op_def, arena, &ignored) ? def : NULL;
}

/* ---- changes ---- */

static void replace_text(char **text, char *with) {
  if (with[0]) *text = with;
}

static bool merge_args(ApiDefArg **args, size_t num_args, ApiDefArg *const *changes, size_t num_changes,
                       const char *op, Status *status) {
  for (size_t i = 0; i < num_changes; i++) {
    size_t k = 0;
    while (k < num_args && strcmp(args[k]->name, changes[i]->name) != 0) k++;
    if (k == num_args)
      return status_set(status, CODE_FAILED_PRECONDITION, "Argument %s not defined in base api for %s",
                        changes[i]->name, op);
    replace_text(&args[k]->rename_to, changes[i]->rename_to);
    replace_text(&args[k]->description, changes[i]->description);
  }
  return true;
}

static bool merge_attrs(ApiDef *def, const ApiDef *changes, Status *status) {
  for (size_t i = 0; i < changes->n_attr; i++) {
    const ApiDefAttr *change = changes->attr[i];
    size_t k = 0;
    while (k < def->n_attr && strcmp(def->attr[k]->name, change->name) != 0) k++;
    if (k == def->n_attr)
      return status_set(status, CODE_FAILED_PRECONDITION, "Attribute %s not defined in base api for %s",
                        change->name, def->graph_op_name);
    replace_text(&def->attr[k]->rename_to, change->rename_to);
    replace_text(&def->attr[k]->description, change->description);
    if (change->default_value) def->attr[k]->default_value = change->default_value;
  }
  return true;
}

static int compare_texts(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **sorted_copy(char *const *texts, size_t count, Arena *arena) {
  char **copy = arena_calloc(arena, (int64_t)count, sizeof *copy);
  if (!copy) return NULL;
  memcpy(copy, texts, count * sizeof *copy);
  qsort(copy, count, sizeof *copy, compare_texts);
  return copy;
}

/* Appends "a, b". */
static void join(char *const *texts, size_t count, StrBuf *out) {
  for (size_t i = 0; i < count; i++) {
    if (i > 0) strbuf_append(out, ", ");
    strbuf_append(out, texts[i]);
  }
}

static bool refuse_order(const ApiDef *def, const ApiDef *changes, Status *status) {
  StrBuf wanted = {0}, known = {0};
  join(changes->arg_order, changes->n_arg_order, &wanted);
  join(def->arg_order, def->n_arg_order, &known);
  status_set(status, CODE_FAILED_PRECONDITION,
             "Invalid arg_order: %s for %s. All elements in arg_order override must match base arg_order: %s",
             strbuf_text(&wanted), def->graph_op_name, strbuf_text(&known));
  strbuf_free(&wanted);
  strbuf_free(&known);
  return false;
}

static bool merge_arg_order(ApiDef *def, const ApiDef *changes, Arena *arena, Status *status) {
  size_t count = changes->n_arg_order;
  if (count == 0) return true;
  if (count != def->n_arg_order)
    return status_set(status, CODE_FAILED_PRECONDITION,
                      "Invalid number of arguments %zu for %s. Expected: %zu", count, def->graph_op_name,
                      def->n_arg_order);
  char **known = sorted_copy(def->arg_order, count, arena);
  char **wanted = sorted_copy(changes->arg_order, count, arena);
  if (!known || !wanted) return status_oom(status, "an ApiDef");
  for (size_t i = 0; i < count; i++) {
    if (strcmp(known[i], wanted[i]) != 0) return refuse_order(def, changes, status);
  }
  def->arg_order = changes->arg_order;
  return true;
}

static bool merge_description(ApiDef *def, const ApiDef *changes, Arena *arena, Status *status) {
  replace_text(&def->description, changes->description);
  if (changes->description_prefix[0])
    def->description = arena_printf(arena, "%s\n%s", changes->description_prefix, def->description);
  if (def->description && changes->description_suffix[0])
    def->description = arena_printf(arena, "%s\n%s", def->description, changes->description_suffix);
  if (def->description) return true;
  def->description = "";
  return status_oom(status, "an ApiDef");
}

bool api_def_merge(ApiDef *def, const ApiDef *changes, Arena *arena, Status *status) {
  const char *op = def->graph_op_name;
  if (changes->visibility != TENSORFLOW__API_DEF__VISIBILITY__DEFAULT_VISIBILITY)
    def->visibility = changes->visibility;
  if (changes->n_endpoint > 0) {
    def->endpoint = changes->endpoint;
    def->n_endpoint = changes->n_endpoint;
  }
  TRY(merge_args(def->in_arg, def->n_in_arg, changes->in_arg, changes->n_in_arg, op, status));
  TRY(merge_args(def->out_arg, def->n_out_arg, changes->out_arg, changes->n_out_arg, op, status));
  TRY(merge_arg_order(def, changes, arena, status));
  TRY(merge_attrs(def, changes, status));
  replace_text(&def->summary, changes->summary);
  return merge_description(def, changes, arena, status);
}

/* ---- renaming ---- */

typedef struct Renaming {
  const char *from, *to; /* in backquotes */
  Arena *arena;
  Status *status;
} Renaming;

static bool rename_in_text(const Renaming *renaming, char **text) {
  StrBuf out = {0};
  size_t length = strlen(renaming->from);
  char *place = strstr(*text, renaming->from);
  if (!place) return true;
  const char *rest = *text;
  for (; place; place = strstr(rest, renaming->from)) {
    strbuf_append_bytes(&out, rest, (size_t)(place - rest));
    strbuf_append(&out, renaming->to);
    rest = place + length;
  }
  strbuf_append(&out, rest);
  char *renamed = out.failed ? NULL : arena_strndup(renaming->arena, strbuf_text(&out), (size_t)out.length);
  strbuf_free(&out);
  if (renamed) *text = renamed;
  return renamed || status_oom(renaming->status, "an ApiDef");
}

static bool rename_in_def(ApiDef *def, const char *from, const char *to, Arena *arena, Status *status) {
  Renaming renaming = {arena_printf(arena, "`%s`", from), arena_printf(arena, "`%s`", to), arena, status};
  if (strcmp(from, to) == 0) return true;
  if (!renaming.from || !renaming.to) return status_oom(status, "an ApiDef");
  for (size_t i = 0; i < def->n_in_arg; i++) TRY(rename_in_text(&renaming, &def->in_arg[i]->description));
  for (size_t i = 0; i < def->n_out_arg; i++) TRY(rename_in_text(&renaming, &def->out_arg[i]->description));
  for (size_t i = 0; i < def->n_attr; i++) TRY(rename_in_text(&renaming, &def->attr[i]->description));
  return rename_in_text(&renaming, &def->summary) && rename_in_text(&renaming, &def->description);
}

bool api_def_rename_in_texts(ApiDef *def, Arena *arena, Status *status) {
  TRY(rename_in_def(def, def->graph_op_name, def->endpoint[0]->name, arena, status));
  for (size_t i = 0; i < def->n_in_arg; i++)
    TRY(rename_in_def(def, def->in_arg[i]->name, def->in_arg[i]->rename_to, arena, status));
  for (size_t i = 0; i < def->n_out_arg; i++)
    TRY(rename_in_def(def, def->out_arg[i]->name, def->out_arg[i]->rename_to, arena, status));
  for (size_t i = 0; i < def->n_attr; i++)
    TRY(rename_in_def(def, def->attr[i]->name, def->attr[i]->rename_to, arena, status));
  return true;
}
