/* Restores and initialises a SavedModel that was imported. */
#include <string.h>

#include "base/file_store.h"
#include "saved_model/saved_model.h"

static const char kInitSignature[] = "__saved_model_init_op";
static const char kAssetCollection[] = "saved_model_assets";
static const char *const kInitCollections[] = {"saved_model_main_op", "legacy_init_op"};

typedef struct Start {
  Session *session;
  Graph *graph;
  const MetaGraphDef *meta;
  const SavedModelPart *part;
  const char *dir;
  const SessionRunOptions *options;
  Arena *arena;
  /* the assets, preceded by space for the prefix of the checkpoint */
  NodeOutput *feeds;
  Tensor *values;
  int num_feeds;
  Status *status;
} Start;

static Str node_of(const char *tensor) {
  const char *colon = strrchr(tensor, ':');
  return (Str){tensor, colon ? (size_t)(colon - tensor) : strlen(tensor)};
}

/* The op that prevented a node from being imported, as the import would report it. */
static bool check_known(const Start *start, Str node) {
  const char *op = string_map_find_bytes(&start->part->omitted, node.data, node.length);
  const Op *found;
  return !op || op_registry_look_up(graph_ops(start->graph), op, &found, start->status);
}

static bool find_feed(const Start *start, const char *tensor, NodeOutput *output) {
  TRY(check_known(start, node_of(tensor)));
  return graph_find_output(start->graph, tensor, output, start->status) ||
         status_reword(start->status, CODE_INVALID_ARGUMENT,
                       "Tensor %s, specified in either feed_devices or fetch_devices was not found in the "
                       "Graph",
                       tensor);
}

static bool set_feed(Start *start, int i, const char *tensor, const char *text) {
  TRY(find_feed(start, tensor, &start->feeds[i]));
  return tensor_allocate_dims(&start->values[i], DT_STRING, 0, NULL, NULL, start->status) &&
         tstring_set(tensor_strings(&start->values[i]), text, strlen(text), start->status);
}

static const char *tensor_name(const TensorInfo *info) {
  return info && info->encoding_case == TENSORFLOW__TENSOR_INFO__ENCODING_NAME ? info->name : NULL;
}

static const CollectionDef *find_collection(const MetaGraphDef *meta, const char *name) {
  for (size_t i = 0; i < meta->n_collection_def; i++) {
    if (strcmp(meta->collection_def[i]->key, name) == 0) return meta->collection_def[i]->value;
  }
  return NULL;
}

/* Models of TensorFlow 1 have their assets in a collection. */
static bool find_assets(const Start *start, AssetFileDef ***assets, size_t *count) {
  *assets = start->meta->asset_file_def;
  *count = start->meta->n_asset_file_def;
  const CollectionDef *collection = find_collection(start->meta, kAssetCollection);
  if (*count > 0 || !collection || collection->kind_case != TENSORFLOW__COLLECTION_DEF__KIND_ANY_LIST)
    return true;
  size_t known = collection->any_list->n_value;
  *assets = arena_calloc(start->arena, (int64_t)known, sizeof **assets);
  if (!*assets) return status_oom(start->status, "assets");
  for (*count = 0; *count < known; (*count)++) {
    const ProtobufCBinaryData *bytes = &collection->any_list->value[*count]->value;
    void *asset;
    TRY(proto_parse(kAssetFileDef, bytes->data, bytes->len, start->arena, &asset, start->status));
    (*assets)[*count] = asset;
  }
  return true;
}

static bool feed_assets(Start *start) {
  AssetFileDef **assets;
  size_t count;
  TRY(find_assets(start, &assets, &count));
  start->feeds = arena_calloc(start->arena, (int64_t)count + 1, sizeof *start->feeds);
  start->values = arena_calloc(start->arena, (int64_t)count + 1, sizeof *start->values);
  if (!start->feeds || !start->values) return status_oom(start->status, "assets");
  start->num_feeds = (int)count + 1;
  for (size_t i = 0; i < count; i++) {
    const char *path = arena_printf(start->arena, "%s/assets/%s", start->dir, assets[i]->filename);
    const char *tensor = tensor_name(assets[i]->tensor_info);
    if (!path) return status_oom(start->status, "assets");
    TRY(set_feed(start, (int)i + 1, tensor ? tensor : "", path));
  }
  return true;
}

/* Runs the node that `name` names, "n", "n:0" or "^n", with the feeds from `first` on. */
static bool run_node(Start *start, const char *name, int first) {
  const Tensor **values = arena_calloc(start->arena, start->num_feeds, sizeof *values);
  Str text = node_of(name[0] == '^' ? name + 1 : name);
  const char *node_name = arena_strndup(start->arena, text.data, text.length);
  SessionStep *step;
  if (!values || !node_name) return status_oom(start->status, "a step");
  for (int i = 0; i < start->num_feeds; i++) values[i] = &start->values[i];
  TRY(check_known(start, text));
  Node *node = graph_find_node(start->graph, node_name);
  if (!node)
    return status_set(start->status, CODE_NOT_FOUND, "PruneForTargets: Some target nodes not found: %s ",
                      node_name);
  StepSignature signature = {.feeds = start->feeds + first,
                             .num_feeds = start->num_feeds - first,
                             .targets = &node,
                             .num_targets = 1};
  return session_begin(start->session, start->options, &signature, values + first, &step, start->status) &&
         session_finish(step, NULL, start->status);
}

/* A model without a checkpoint has no variables. */
static bool restore(Start *start) {
  const SaverDef *saver = start->meta->saver_def;
  const char *prefix = arena_printf(start->arena, "%s/variables/variables", start->dir);
  const char *index = prefix ? arena_printf(start->arena, "%s.index", prefix) : NULL;
  Status missing;
  int64_t size;
  status_init(&missing);
  if (!index) return status_oom(start->status, "a path");
  if (!file_store_of(index)->size(index, &size, &missing)) return true;
  TRY(set_feed(start, 0, saver ? saver->filename_tensor_name : "", prefix));
  return run_node(start, saver ? saver->restore_op_name : "", 0);
}

static const char *init_of_signature(const MetaGraphDef *meta) {
  const SignatureDef *signature = NULL;
  for (size_t i = 0; i < meta->n_signature_def; i++) {
    if (strcmp(meta->signature_def[i]->key, kInitSignature) == 0) signature = meta->signature_def[i]->value;
  }
  for (size_t i = 0; signature && i < signature->n_outputs; i++) {
    if (strcmp(signature->outputs[i]->key, kInitSignature) == 0)
      return tensor_name(signature->outputs[i]->value);
  }
  return NULL;
}

/* *name is NULL if the model has no such operation. */
static bool find_init(const Start *start, const char **name) {
  *name = init_of_signature(start->meta);
  for (int i = 0; !*name && i < 2; i++) {
    const CollectionDef *collection = find_collection(start->meta, kInitCollections[i]);
    if (!collection) continue;
    bool has_one = collection->kind_case == TENSORFLOW__COLLECTION_DEF__KIND_NODE_LIST &&
                   collection->node_list->n_value == 1;
    if (!has_one)
      return status_set(start->status, CODE_FAILED_PRECONDITION, "Expected exactly one main op in : %s",
                        start->dir);
    *name = collection->node_list->value[0];
  }
  return true;
}

static bool restore_and_initialize(Start *start) {
  const char *init;
  TRY(feed_assets(start));
  TRY(restore(start));
  TRY(find_init(start, &init));
  return !init || run_node(start, init, 1);
}

bool saved_model_start(Session *session, Graph *graph, const MetaGraphDef *meta, const SavedModelPart *part,
                       const char *dir, const SessionRunOptions *options, Status *status) {
  Start start = {.session = session,
                 .graph = graph,
                 .meta = meta,
                 .part = part,
                 .dir = dir,
                 .options = options,
                 .arena = arena_new(),
                 .status = status};
  if (!start.arena) return status_oom(status, "a SavedModel");
  bool ok = restore_and_initialize(&start);
  for (int i = 0; i < start.num_feeds; i++) tensor_clear(&start.values[i]);
  arena_free(start.arena);
  return ok;
}
