/* TF_ApiDefMap: the ApiDefs of a list of ops. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sync.h"
#include "c_api/c_api_internal.h"
#include "native/native_api_defs.h"

struct TF_ApiDefMap {
  Mutex lock; /* protects the fields below */
  Arena *arena;
  StringMap defs; /* ApiDefs by the name of the op */
  bool is_read;   /* TF_ApiDefMapGet was called */
};

static bool add_ops(TF_ApiDefMap *map, const TF_Buffer *op_list, Status *status) {
  void *message;
  TRY(parse_given(kOpList, op_list->data, op_list->length, "Unparseable OpList", map->arena, &message,
                  status));
  const OpList *ops = message;
  for (size_t i = 0; i < ops->n_op; i++) {
    ApiDef *def = api_def_of_op(ops->op[i], map->arena);
    if (!def) return status_oom(status, "an ApiDef");
    TRY(string_map_set(&map->defs, def->graph_op_name, def, status));
  }
  return true;
}

TF_ApiDefMap *TF_NewApiDefMap(TF_Buffer *op_list_buffer, TF_Status *status) {
  start_status(status);
  TF_ApiDefMap *map = mem_calloc(1, sizeof *map);
  if (!map || !mutex_init(&map->lock)) {
    mem_free(map);
    status_oom(&status->status, "a map of ApiDefs");
    return NULL;
  }
  map->arena = arena_new();
  if (add_ops(map, op_list_buffer, &status->status)) return map;
  TF_DeleteApiDefMap(map);
  return NULL;
}

void TF_DeleteApiDefMap(TF_ApiDefMap *apimap) {
  if (!apimap) return;
  string_map_free(&apimap->defs);
  arena_free(apimap->arena);
  mutex_destroy(&apimap->lock);
  mem_free(apimap);
}

/* "1:5: problem" becomes "1(5): problem\n", as TensorFlow reports problems of ApiDefs. */
static bool reword_place(Status *status) {
  char *rest;
  Status problem = *status;
  long line = strtol(problem.message, &rest, 10);
  if (rest == problem.message || *rest != ':') return false;
  long column = strtol(rest + 1, &rest, 10);
  if (!text_starts_with(rest, ": ")) return false;
  return status_set(status, problem.code, "%ld(%ld)%s\n", line, column, rest);
}

static bool parse_defs(Str text, Arena *arena, ApiDefs **defs, Status *status) {
  StrBuf plain = {0};
  void *message = NULL;
  api_def_plain_text(text, &plain);
  bool ok = strbuf_ok(&plain, status) &&
            (proto_parse_text(kApiDefs, (Str){strbuf_text(&plain), (size_t)plain.length}, arena, &message,
                              status) ||
             reword_place(status));
  strbuf_free(&plain);
  *defs = message;
  return ok;
}

static bool put(TF_ApiDefMap *map, Str text, Status *status) {
  ApiDefs *defs;
  if (map->is_read)
    return status_set(status, CODE_FAILED_PRECONDITION,
                      "TF_ApiDefMapPut cannot be called after TF_ApiDefMapGet has been called.");
  TRY(parse_defs(text, map->arena, &defs, status));
  for (size_t i = 0; i < defs->n_op; i++) {
    ApiDef *def = string_map_find(&map->defs, defs->op[i]->graph_op_name);
    if (def) TRY(api_def_merge(def, defs->op[i], map->arena, status));
  }
  return true;
}

void TF_ApiDefMapPut(TF_ApiDefMap *api_def_map, const char *text, size_t text_len, TF_Status *status) {
  start_status(status);
  mutex_lock(&api_def_map->lock);
  reported(put(api_def_map, (Str){text, text_len}, &status->status));
  mutex_unlock(&api_def_map->lock);
}

/* The new names are put into the texts of a copy, so that all calls see the same ApiDef. */
static bool get(TF_ApiDefMap *map, Str name, Arena *arena, TF_Buffer *buffer, Status *status) {
  const ApiDef *known = string_map_find_bytes(&map->defs, name.data, name.length);
  map->is_read = true;
  if (!known) return false;
  ApiDef *def = proto_copy(known, arena);
  if (!def) return status_oom(status, "an ApiDef");
  return api_def_rename_in_texts(def, arena, status) && fill_buffer_with_message(def, buffer, status);
}

TF_Buffer *TF_ApiDefMapGet(TF_ApiDefMap *api_def_map, const char *name, size_t name_len, TF_Status *status) {
  start_status(status);
  Arena *arena = arena_new();
  TF_Buffer *buffer = TF_NewBuffer();
  mutex_lock(&api_def_map->lock);
  bool ok = arena && buffer ? get(api_def_map, (Str){name, name_len}, arena, buffer, &status->status)
                            : status_oom(&status->status, "an ApiDef");
  mutex_unlock(&api_def_map->lock);
  arena_free(arena);
  if (ok) return buffer;
  TF_DeleteBuffer(buffer);
  return NULL;
}
