/* Finds the file of a SavedModel, and in it the MetaGraph with the given tags. */
#include <string.h>

#include "base/alloc.h"
#include "base/file_store.h"
#include "saved_model/saved_model.h"

/* protobuf's limit for one message. */
static const int64_t kMaxBytes = INT32_MAX;

static bool file_exists(const char *path) {
  Status ignored;
  int64_t size;
  status_init(&ignored);
  return file_store_of(path)->size(path, &size, &ignored);
}

static bool parse_file(const char *path, bool is_text, Arena *arena, void **message, Status *status) {
  char *bytes;
  int64_t size;
  TRY(file_read_all(path, kMaxBytes, &bytes, &size, status));
  bool ok = is_text ? proto_parse_text(kSavedModel, (Str){bytes, (size_t)size}, arena, message, status)
                    : proto_parse(kSavedModel, bytes, (size_t)size, arena, message, status);
  mem_free(bytes);
  return ok || status_reword(status, CODE_DATA_LOSS, "Can't parse %s as %s proto", path,
                             is_text ? "text" : "binary");
}

static bool read_file(const char *dir, Arena *arena, void **message, Status *status) {
  static const char *const names[] = {"saved_model.pb", "saved_model.pbtxt"};
  for (int i = 0; i < 2; i++) {
    const char *path = arena_printf(arena, "%s/%s", dir, names[i]);
    if (!path) return status_oom(status, "a path");
    if (file_exists(path)) return parse_file(path, i == 1, arena, message, status);
  }
  return status_set(status, CODE_NOT_FOUND,
                    "Could not find SavedModel .pb or .pbtxt at supplied export directory path: %s. Check "
                    "that the directory exists and that you have the right permissions for accessing it.",
                    dir);
}

static bool has_tag(char *const *tags, size_t count, const char *tag) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(tags[i], tag) == 0) return true;
  }
  return false;
}

static bool same_tags(const MetaInfoDef *info, char *const *tags, size_t count) {
  size_t known = info ? info->n_tags : 0;
  for (size_t i = 0; i < known; i++) {
    if (!has_tag(tags, count, info->tags[i])) return false;
  }
  for (size_t i = 0; i < count; i++) {
    if (!has_tag(info ? info->tags : NULL, known, tags[i])) return false;
  }
  return true;
}

static bool no_such_tags(const char *const *tags, int count, Status *status) {
  StrBuf list = {0};
  for (int i = 0; i < count; i++) strbuf_printf(&list, "%s%s", i > 0 ? " " : "", tags[i]);
  status_set(status, CODE_NOT_FOUND,
             "Could not find meta graph def matching supplied tags: { %s }. To inspect available tag-sets in "
             "the SavedModel, please use the SavedModel CLI: `saved_model_cli`",
             strbuf_text(&list));
  strbuf_free(&list);
  return false;
}

bool saved_model_read(const char *dir, const char *const *tags, int num_tags, Arena *arena,
                      MetaGraphDef **meta, Status *status) {
  void *message;
  TRY(read_file(dir, arena, &message, status));
  const SavedModelProto *model = message;
  for (size_t i = 0; i < model->n_meta_graphs; i++) {
    *meta = model->meta_graphs[i];
    if (same_tags((*meta)->meta_info_def, (char *const *)tags, (size_t)num_tags)) return true;
  }
  return no_such_tags(tags, num_tags, status);
}
