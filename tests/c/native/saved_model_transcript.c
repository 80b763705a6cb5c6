/* TF_LoadSessionFromSavedModel: the models of tests/data/models/saved_models, and broken copies of one. See
 * c_api/transcript_lines.h. */
#include <sys/stat.h>
#include <unistd.h>

#include "c_api/transcript_lines.h"
#include "tensorflow/c/tf_tstring.h"

#define MODELS TFCORE_SOURCE_DIR "/tests/data/models/saved_models/"

static const char *const kServe[] = {"serve", "serve"};
static const char *const kBoth[] = {"train", "serve"};

typedef struct Model {
  TF_Graph *graph;
  TF_Session *session;
  TF_Buffer *meta;
} Model;

static Model load(const char *dir, const char *const *tags, int num_tags) {
  TF_SessionOptions *options = TF_NewSessionOptions();
  Model model = {TF_NewGraph(), NULL, TF_NewBuffer()};
  model.session =
      TF_LoadSessionFromSavedModel(options, NULL, dir, tags, num_tags, model.graph, model.meta, status);
  TF_DeleteSessionOptions(options);
  return model;
}

static void unload(Model model) {
  if (model.session) TF_DeleteSession(model.session, status);
  TF_DeleteGraph(model.graph);
  TF_DeleteBuffer(model.meta);
}

static TF_Output output_of(const Model *model, const char *node, int index) {
  return (TF_Output){TF_GraphOperationByName(model->graph, node), index};
}

/* A string without the folder in which the models are. */
static void say_string(const char *name, TF_Tensor *tensor) {
  const TF_TString *string = (const TF_TString *)TF_TensorData(tensor);
  size_t root = strlen(MODELS), length = TF_StringGetSize(string);
  const char *bytes = TF_StringGetDataPointer(string);
  bool inside = length >= root && memcmp(bytes, MODELS, root) == 0;
  Text text = {0};
  text_add(&text, inside ? bytes + root : bytes, inside ? length - root : length);
  say(name, text.data);
  free(text.data);
}

static void say_floats(const char *name, TF_Tensor *tensor) {
  Text text = {0};
  text_print(&text, "");
  for (int64_t i = 0; i < TF_TensorElementCount(tensor); i++) {
    char number[32];
    snprintf(number, sizeof number, "%s%.9g", i > 0 ? " " : "", ((const float *)TF_TensorData(tensor))[i]);
    text_print(&text, number);
  }
  say(name, text.data);
  free(text.data);
}

static void run(const char *name, const Model *model, TF_Output x, int num_x, const int64_t *dims,
                TF_Output y) {
  int64_t count = 1;
  for (int i = 0; i < num_x; i++) count *= dims[i];
  TF_Tensor *value = TF_AllocateTensor(TF_FLOAT, dims, num_x, (size_t)count * sizeof(float)), *result = NULL;
  for (int64_t i = 0; i < count; i++) ((float *)TF_TensorData(value))[i] = (float)i - 1;
  TF_SessionRun(model->session, NULL, &x, &value, x.oper ? 1 : 0, &y, &result, 1, NULL, 0, NULL, status);
  say_status(name);
  if (result && TF_TensorType(result) == TF_STRING) say_string(name, result);
  else if (result) say_floats(name, result);
  TF_DeleteTensor(value);
  TF_DeleteTensor(result);
}

static void lines_of(const char *name, const char *dir, const char *const *tags, int num_tags) {
  const int64_t four = 4;
  Model model = load(dir, tags, num_tags);
  say_status(name);
  if (model.session) {
    run(name, &model, output_of(&model, "x", 0), 1, &four, output_of(&model, "y", 0));
    say_number(name, (long long)model.meta->length);
  }
  unload(model);
}

static void models(void) {
  lines_of("main op", MODELS "main_op", kServe, 1);
  lines_of("a tag twice", MODELS "main_op", kServe, 2);
  lines_of("two tags", MODELS "main_op", kBoth, 2);
  lines_of("legacy init op", MODELS "legacy_init_op", kServe, 1);
  lines_of("text", MODELS "text", kServe, 1);
  lines_of("without variables", MODELS "without_variables", kServe, 1);

  Model model = load(MODELS "main_op", kServe, 1);
  run("asset", &model, (TF_Output){NULL, 0}, 0, NULL, output_of(&model, "path", 0));
  unload(model);

  const int64_t dims[] = {2, 2};
  model = load(MODELS "module", kServe, 1);
  say_status("module");
  TF_Output x = output_of(&model, "serving_default_x", 0);
  run("output of a module", &model, x, 2, dims, output_of(&model, "StatefulPartitionedCall", 1));
  run("asset of a module", &model, x, 2, dims, output_of(&model, "StatefulPartitionedCall", 0));
  unload(model);
}

static void refusals(void) {
  lines_of("no tags", MODELS "main_op", kServe, 0);
  lines_of("other tags", MODELS "main_op", kBoth, 1);
  lines_of("no such folder", "/no/such/folder", kServe, 1);

  Model model = load(MODELS "main_op", kServe, 1);
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_Buffer *nonsense = TF_NewBufferFromString("\377\377\377", 3);
  TF_Session *none =
      TF_LoadSessionFromSavedModel(options, NULL, MODELS "main_op", kServe, 1, model.graph, NULL, status);
  say_status("a graph with nodes");
  say_number("a graph with nodes", none != NULL);
  TF_Graph *graph = TF_NewGraph();
  none = TF_LoadSessionFromSavedModel(options, nonsense, MODELS "main_op", kServe, 1, graph, NULL, status);
  say_status_part("options that are none", strlen("Unparseable RunOptions proto")); /* ours says why */
  TF_DeleteGraph(graph);
  TF_DeleteBuffer(nonsense);
  TF_DeleteSessionOptions(options);
  unload(model);
}

/* ---- broken copies ---- */

static void copy_file(const char *from, const char *to) {
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  char bytes[4096];
  if (!in || !out) abort();
  for (size_t length; (length = fread(bytes, 1, sizeof bytes, in)) > 0;) fwrite(bytes, 1, length, out);
  fclose(in);
  fclose(out);
}

static const char *const kFiles[] = {"saved_model.pb", "variables/variables.index",
                                     "variables/variables.data-00000-of-00001"};

/* Makes a copy in the current folder without the file `missing`. */
static void copy_model(int missing) {
  mkdir("copy", 0777);
  mkdir("copy/variables", 0777);
  for (int i = 0; i < 3; i++) {
    char from[1024], to[256];
    snprintf(from, sizeof from, MODELS "legacy_init_op/%s", kFiles[i]);
    snprintf(to, sizeof to, "copy/%s", kFiles[i]);
    if (i == missing) remove(to);
    else copy_file(from, to);
  }
}

static void broken_copies(void) {
  char folder[] = "/tmp/saved_model_XXXXXX";
  char before[1024];
  if (!getcwd(before, sizeof before) || !mkdtemp(folder) || chdir(folder) != 0) abort();
  copy_model(0);
  lines_of("without a graph", "copy", kServe, 1);
  copy_model(2);
  lines_of("without values", "copy", kServe, 1);
  copy_model(1);
  Model model = load("copy", kServe, 1);
  say_status("without an index");
  unload(model);
  copy_file(MODELS "module/variables/variables.index", "copy/variables/variables.index");
  lines_of("with another index", "copy", kServe, 1);
  for (int i = 0; i < 3; i++) {
    char path[256];
    snprintf(path, sizeof path, "copy/%s", kFiles[i]);
    remove(path);
  }
  mkdir("empty", 0777);
  lines_of("an empty folder", "empty", kServe, 1);
  if (rmdir("copy/variables") != 0 || rmdir("copy") != 0 || rmdir("empty") != 0) abort();
  if (chdir(before) != 0 || rmdir(folder) != 0) abort();
}

int main(int argc, char **argv) {
  status = TF_NewStatus();
  models();
  refusals();
  broken_copies();
  return finish_transcript(argc, argv, "saved_model_transcript.txt");
}
