/* What clients of the C API use besides graphs, sessions and eager ops. See c_api/transcript_lines.h. */
#include <unistd.h>

#include "c_api/transcript_lines.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/env.h"

static void say_bytes(const char *name, TF_Buffer *buffer) {
  Text text = {0};
  char piece[4];
  text_print(&text, "");
  for (size_t i = 0; i < buffer->length; i++) {
    snprintf(piece, sizeof piece, "%02x ", ((const uint8_t *)buffer->data)[i]);
    text_print(&text, piece);
  }
  say(name, text.data);
  free(text.data);
  TF_DeleteBuffer(buffer);
}

static void options(void) {
  say_bytes("a config", TF_CreateConfig(0, 0, 3));
  say_bytes("another config", TF_CreateConfig(1, 1, 1));
  say_bytes("run options", TF_CreateRunOptions(0));
  say_bytes("traced run options", TF_CreateRunOptions(1));
  TF_SessionOptions *session = TF_NewSessionOptions();
  TF_EnableXLACompilation(session, 0);
  TF_DeleteSessionOptions(session);
}

static void texts(void) {
  TF_Graph *graph = TF_NewGraph();
  TF_OperationDescription *desc = TF_NewOperation(graph, "Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_Output x = {TF_FinishOperation(desc, status), 0};
  desc = TF_NewOperation(graph, "Neg", "y");
  TF_AddInput(desc, x);
  TF_Output y = {TF_FinishOperation(desc, status), 0};
  size_t length;
  char *text = (char *)TF_GraphDebugString(graph, &length);
  say_number("a graph's text", length == strlen(text));
  /* The nodes: the versions differ, and TensorFlow begins with a word that nobody shall rely on. */
  const char *nodes = strstr(text, "node {");
  char *end = strstr(text, "\n}\nversions {");
  char *library = strstr(text, "\n}\nlibrary {");
  if (library && (!end || library < end)) end = library;
  if (end) *end = '\0';
  say("a graph's text", nodes ? nodes : text);
  free(text);
  TF_Function *function =
      TF_GraphToFunction(graph, "Negative", 0, -1, NULL, 1, &x, 1, &y, NULL, NULL, NULL, status);
  text = TF_FunctionDebugString(function, &length);
  say_number("a function's text", length == strlen(text));
  say("a function's text", text);
  free(text);
  TF_DeleteFunction(function);
  TF_DeleteGraph(graph);
}

static void libraries(void) {
  say_number("no library", TF_LoadLibrary("/no/such/library.so", status) != NULL);
  say_status("no library");
}

/* ---- checkpoints ---- */

static void checkpoint(void) {
  static const char prefix[] = TFCORE_SOURCE_DIR "/tests/data/models/saved_models/module/variables/variables";
  TF_CheckpointReader *reader = TF_NewCheckpointReader(prefix, status);
  say_status("a checkpoint");
  int count = TF_CheckpointReaderSize(reader);
  say_number("tensors", count);
  for (int i = 0; i < count; i++) {
    const char *name = TF_CheckpointReaderGetVariable(reader, i);
    say_number(name, TF_CheckpointReaderGetVariableDataType(reader, name));
    say_number(name, TF_CheckpointReaderGetVariableNumDims(reader, name));
  }
  static const char weights[] = "weights/.ATTRIBUTES/VARIABLE_VALUE";
  int64_t dims[2] = {0};
  TF_CheckpointReaderGetVariableShape(reader, weights, dims, 2, status);
  say_status("a shape");
  say_number("rows", dims[0]);
  TF_CheckpointReaderGetVariableShape(reader, weights, dims, 1, status);
  say_status("a wrong rank");
  TF_Tensor *tensor = TF_CheckpointReaderGetTensor(reader, weights, status);
  say_status("a tensor");
  say_number("its last value", (long long)((const float *)TF_TensorData(tensor))[3]);
  TF_DeleteTensor(tensor);
  say_number("has it", TF_CheckpointReaderHasTensor(reader, weights));
  say_number("has no such one", TF_CheckpointReaderHasTensor(reader, "none"));
  say_number("no such tensor", TF_CheckpointReaderGetTensor(reader, "none", status) != NULL);
  say_status("no such tensor");
  TF_DeleteCheckpointReader(reader);
  say_number("no checkpoint", TF_NewCheckpointReader("/no/such/checkpoint", status) != NULL);
  say_status("no checkpoint");
}

/* ---- sessions without a graph ---- */

static TF_Buffer *graph_def(void) {
  TF_Graph *graph = TF_NewGraph();
  TF_Buffer *buffer = TF_NewBuffer();
  TF_OperationDescription *desc = TF_NewOperation(graph, "Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_Output x = {TF_FinishOperation(desc, status), 0};
  desc = TF_NewOperation(graph, "Square", "y");
  TF_AddInput(desc, x);
  TF_FinishOperation(desc, status);
  TF_GraphToGraphDef(graph, buffer, status);
  TF_DeleteGraph(graph);
  return buffer;
}

static TF_Tensor *number(float value) {
  TF_Tensor *tensor = TF_AllocateTensor(TF_FLOAT, NULL, 0, sizeof value);
  *(float *)TF_TensorData(tensor) = value;
  return tensor;
}

static void run(TF_DeprecatedSession *session, const char *x, const char *y, const char *target) {
  TF_Tensor *input = number(3), *result = NULL;
  TF_Run(session, NULL, &x, &input, 1, &y, &result, y ? 1 : 0, &target, target ? 1 : 0, NULL, status);
  say_status(y ? y : target);
  if (result) say_number(y, (long long)*(const float *)TF_TensorData(result));
  TF_DeleteTensor(result);
}

static void sessions(void) {
  TF_SessionOptions *session_options = TF_NewSessionOptions();
  TF_DeprecatedSession *session = TF_NewDeprecatedSession(session_options, status);
  say_status("a session");
  TF_Buffer *def = graph_def();
  TF_ExtendGraph(session, def->data, def->length, status);
  say_status("extending");
  TF_ExtendGraph(session, def->data, def->length, status);
  say_number("extending again", TF_GetCode(status) != TF_OK);
  TF_ExtendGraph(session, "\377", 1, status);
  say_status_part("extending by nonsense", strlen("Invalid GraphDef"));
  run(session, "x:0", "y:0", NULL);
  run(session, "x", "y", NULL);
  run(session, "x:0", NULL, "y");
  run(session, "none:0", "y:0", NULL);
  run(session, "x:0", "none:0", NULL);
  run(session, "x:0", NULL, "none");
  TF_DeviceList *devices = TF_DeprecatedSessionListDevices(session, status);
  say_number("devices", TF_DeviceListCount(devices));
  TF_DeleteDeviceList(devices);

  const char *x = "x:0", *y = "y:0", *handle;
  TF_PRunSetup(session, &x, 1, &y, 1, NULL, 0, &handle, status);
  say_status("beginning a partial run");
  TF_Tensor *input = number(5), *result = NULL;
  TF_PRun(session, handle, &x, &input, 1, &y, &result, 1, NULL, 0, status);
  say_status("a partial run");
  if (result) say_number("a partial run", (long long)*(const float *)TF_TensorData(result));
  TF_DeleteTensor(result);
  TF_DeletePRunHandle(handle);
  TF_CloseDeprecatedSession(session, status);
  say_status("closing");
  TF_DeleteDeprecatedSession(session, status);
  TF_DeleteBuffer(def);
  TF_DeleteSessionOptions(session_options);
}

/* ---- files ---- */

static void file_stat(const char *path) {
  TF_FileStatistics stats;
  TF_FileStat(path, &stats, status);
  bool ok = TF_GetCode(status) == TF_OK;
  say_status(path);
  if (ok) say_number(path, stats.is_directory);
  if (ok && !stats.is_directory) say_number(path, stats.length);
}

static void files(void) {
  char folder[] = "/tmp/clients_XXXXXX", before[1024];
  if (!getcwd(before, sizeof before) || !mkdtemp(folder) || chdir(folder) != 0) abort();
  TF_CreateDir("made", status);
  say_status("making a folder");
  TF_CreateDir("made", status);
  say_status("making it again");
  TF_CreateDir("none/made", status);
  say_status("making a folder in none");
  TF_WritableFileHandle *file;
  TF_NewWritableFile("made/file", &file, status);
  say_status("a file");
  TF_AppendWritableFile(file, "twelve", 6, status);
  TF_FlushWritableFile(file, status);
  TF_AppendWritableFile(file, " bytes", 6, status);
  TF_SyncWritableFile(file, status);
  say_status("syncing");
  TF_CloseWritableFile(file, status);
  say_status("closing");
  TF_NewWritableFile("none/file", &file, status);
  say_status("a file in none");
  file_stat("made");
  file_stat("made/file");
  file_stat("none");
  TF_StringStream *children = TF_GetChildren("made", status);
  say_status("children");
  const char *name;
  while (TF_StringStreamNext(children, &name)) say("a child", name);
  TF_StringStreamDone(children);
  children = TF_GetChildren("none", status);
  say_status("no children");
  TF_StringStreamDone(children);
  TF_DeleteDir("made", status);
  say_status("deleting a folder with a file");
  TF_DeleteFile("made/none", status);
  say_status("deleting no file");
  int64_t undeleted_files, undeleted_folders;
  TF_CreateDir("made/inner", status);
  TF_DeleteRecursively("made", &undeleted_files, &undeleted_folders, status);
  say_status("deleting all");
  say_number("files left", undeleted_files);
  say_number("folders left", undeleted_folders);
  TF_DeleteRecursively("made", &undeleted_files, &undeleted_folders, status);
  say_status("deleting nothing");
  say_number("folders that are not there", undeleted_folders);
  TF_DeleteDir("made", status);
  say_status("deleting no folder");
  if (chdir(before) != 0 || rmdir(folder) != 0) abort();
  uint64_t seconds = TF_NowSeconds();
  say_number("nanoseconds", TF_NowNanos() / 1000000000 - seconds <= 1);
  say_number("microseconds", TF_NowMicros() / 1000000 - seconds <= 1);
  char *temporary = TF_GetTempFileName("txt");
  say("an extension", strrchr(temporary, '.'));
  free(temporary);
}

int main(int argc, char **argv) {
  status = TF_NewStatus();
  options();
  texts();
  libraries();
  checkpoint();
  sessions();
  files();
  return finish_transcript(argc, argv, "clients_transcript.txt");
}
