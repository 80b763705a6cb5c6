/* Strings that a program writes into tensors, and frees, without the library, with malloc(), realloc() and
 * free(), as the inline functions of TensorFlow's headers do. The layout is written by hand here; with
 * -DTFCORE_TENSORFLOW_HEADERS and TensorFlow's include folder, these functions write it. Under
 * AddressSanitizer, freeing memory with the wrong allocator, or not at all, is an error. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/tf_tstring.h"

static int checks, failures;

static void check(int holds, const char *what, int line) {
  checks++;
  if (holds) return;
  failures++;
  printf("string_layout.c:%d: %s\n", line, what);
}

#define CHECK(condition) check((condition) ? 1 : 0, #condition, __LINE__)

static TF_Status *status;
#define CHECK_OK() check(TF_GetCode(status) == TF_OK, TF_Message(status), __LINE__)

/* ---- the program's own functions ---- */

#ifdef TFCORE_TENSORFLOW_HEADERS

static void own_init(TF_TString *s) { TF_TString_Init(s); }
static void own_copy(TF_TString *s, const char *text, size_t size) { TF_TString_Copy(s, text, size); }
static void own_append(TF_TString *s, const char *text, size_t size) { TF_TString_AppendN(s, text, size); }
static void own_view(TF_TString *s, const char *text, size_t size) { TF_TString_AssignView(s, text, size); }
static void own_free(TF_TString *s) { TF_TString_Dealloc(s); }
static size_t own_size(const TF_TString *s) { return TF_TString_GetSize(s); }
static size_t own_capacity(const TF_TString *s) { return TF_TString_GetCapacity(s); }
static const char *own_data(const TF_TString *s) { return TF_TString_GetDataPointer(s); }

#else

enum { SMALL = 0, LARGE = 1, OFFSET = 2, VIEW = 3, KIND = 3, SMALL_CAPACITY = 22 };

typedef union Layout {
  struct {
    uint8_t size;
    char text[SMALL_CAPACITY + 1];
  } small;
  struct {
    size_t size, capacity;
    char *text;
  } large;
  struct {
    uint32_t size, offset, count;
  } offset;
  struct {
    size_t size;
    const char *text;
    void *owner;
  } view;
} Layout;

static int kind(const TF_TString *s) { return *(const uint8_t *)s & KIND; }
static void own_init(TF_TString *s) { memset(s, 0, sizeof *s); }

static size_t own_size(const TF_TString *s) {
  const Layout *layout = (const Layout *)s;
  if (kind(s) == SMALL) return layout->small.size >> 2;
  return kind(s) == OFFSET ? layout->offset.size >> 2 : layout->large.size >> 2;
}

static size_t own_capacity(const TF_TString *s) {
  if (kind(s) == SMALL) return SMALL_CAPACITY;
  return kind(s) == LARGE ? ((const Layout *)s)->large.capacity : 0;
}

static const char *own_data(const TF_TString *s) {
  const Layout *layout = (const Layout *)s;
  switch (kind(s)) {
    case SMALL: return layout->small.text;
    case LARGE: return layout->large.text;
    case OFFSET: return (const char *)s + layout->offset.offset;
    default: return layout->view.text;
  }
}

static void own_free(TF_TString *s) {
  if (kind(s) == LARGE) free(((Layout *)s)->large.text);
  own_init(s);
}

/* Allocates `size` bytes after `kept` ones that are preserved. */
static char *resize(TF_TString *s, size_t kept, size_t size) {
  Layout *layout = (Layout *)s, old = *layout;
  int was = kind(s);
  const char *bytes = was == SMALL ? old.small.text : own_data(s);
  if (size <= SMALL_CAPACITY) {
    own_init(s);
    layout->small.size = (uint8_t)(size << 2);
    memcpy(layout->small.text, bytes, kept);
    if (was == LARGE) free(old.large.text);
    return layout->small.text;
  }
  size_t capacity = size > own_capacity(s) ? size / 16 * 16 + 15 : own_capacity(s);
  char *text = was == LARGE ? (char *)realloc(old.large.text, capacity + 1) : (char *)malloc(capacity + 1);
  if (!text) abort();
  if (was != LARGE) memcpy(text, bytes, kept);
  text[size] = 0;
  layout->large.size = size << 2 | LARGE;
  layout->large.capacity = capacity;
  layout->large.text = text;
  return text;
}

static void own_copy(TF_TString *s, const char *text, size_t size) { memcpy(resize(s, 0, size), text, size); }

static void own_append(TF_TString *s, const char *text, size_t size) {
  size_t old = own_size(s);
  memcpy(resize(s, old, old + size) + old, text, size);
}

static void own_view(TF_TString *s, const char *text, size_t size) {
  Layout *layout = (Layout *)s;
  own_free(s);
  layout->view.size = size << 2 | VIEW;
  layout->view.text = text;
}

#endif

/* ---- the tests ---- */

enum { LONGEST = 5000 };
static const size_t kSizes[] = {0, 1, 22, 23, 31, 32, 100, LONGEST};
enum { NUM_SIZES = sizeof kSizes / sizeof *kSizes };
static char text[2 * LONGEST];

static int holds(const TF_TString *s, const char *wanted, size_t size) {
  return own_size(s) == size && memcmp(own_data(s), wanted, size) == 0 && TF_StringGetSize(s) == size &&
         memcmp(TF_StringGetDataPointer(s), wanted, size) == 0;
}

static void strings_of_either_side(void) {
  for (int i = 0; i < NUM_SIZES; i++) {
    size_t size = kSizes[i];
    TF_TString s;
    TF_StringInit(&s);
    TF_StringCopy(&s, text, size); /* the library writes, the program frees */
    CHECK(holds(&s, text, size));
    CHECK(own_capacity(&s) == (size <= 22 ? 22 : size / 16 * 16 + 15));
    own_free(&s);
    own_init(&s);
    own_copy(&s, text, size); /* the other way round */
    CHECK(holds(&s, text, size));
    CHECK(own_capacity(&s) == TF_StringGetCapacity(&s));
    TF_StringDealloc(&s);
    CHECK(holds(&s, "", 0));
    for (int k = 0; k < NUM_SIZES; k++) { /* each overwrites and extends the other's string */
      TF_StringCopy(&s, text, size);
      own_copy(&s, text + 1, kSizes[k]);
      CHECK(holds(&s, text + 1, kSizes[k]));
      TF_StringCopy(&s, text, size);
      own_append(&s, text + size, kSizes[k]);
      CHECK(holds(&s, text, size + kSizes[k]));
      TF_StringCopy(&s, text + 2, size);
      CHECK(holds(&s, text + 2, size));
    }
    own_view(&s, text, size);
    CHECK(holds(&s, text, size));
    TF_StringCopy(&s, text, size);
    TF_StringAssignView(&s, text, size);
    CHECK(holds(&s, text, size));
    own_append(&s, text + size, 30);
    CHECK(holds(&s, text, size + 30));
    TF_StringDealloc(&s);
  }
}

static TF_Tensor *new_strings(void) {
  int64_t dims[] = {NUM_SIZES};
  return TF_AllocateTensor(TF_STRING, dims, 1, NUM_SIZES * sizeof(TF_TString));
}

static void fill(TF_TString *strings) {
  for (int i = 0; i < NUM_SIZES; i++) {
    own_init(&strings[i]);
    own_copy(&strings[i], text, kSizes[i]);
  }
}

static void check_tensor(const TF_Tensor *tensor, int repeats) {
  const TF_TString *strings = (const TF_TString *)TF_TensorData(tensor);
  CHECK(TF_TensorByteSize(tensor) == NUM_SIZES * sizeof(TF_TString));
  for (int i = 0; i < NUM_SIZES; i++) {
    CHECK(own_size(&strings[i]) == kSizes[i] * (size_t)repeats);
    for (int k = 0; k < repeats; k++)
      CHECK(memcmp(own_data(&strings[i]) + kSizes[i] * (size_t)k, text, kSizes[i]) == 0);
  }
}

static void tensors_of_either_side(void) {
  TF_Tensor *tensor = new_strings();
  fill((TF_TString *)TF_TensorData(tensor));
  check_tensor(tensor, 1);
  TF_DeleteTensor(tensor); /* frees the program's strings */
  tensor = new_strings();
  for (int i = 0; i < NUM_SIZES; i++) TF_StringCopy((TF_TString *)TF_TensorData(tensor) + i, text, kSizes[i]);
  for (int i = 0; i < NUM_SIZES; i++) own_free((TF_TString *)TF_TensorData(tensor) + i);
  TF_DeleteTensor(tensor);
}

static void free_strings(void *data, size_t size, void *count) {
  TF_TString *strings = (TF_TString *)data;
  for (size_t i = 0; i < size / sizeof *strings; i++) own_free(&strings[i]);
  free(data);
  ++*(int *)count;
}

static TF_Output finish(TF_OperationDescription *desc) {
  TF_Output output = {TF_FinishOperation(desc, status), 0};
  CHECK_OK();
  return output;
}

/* Join(x, x) and Identity(x) of strings in the program's own memory. */
static void steps_with_strings(void) {
  int freed = 0;
  int64_t dims[] = {NUM_SIZES};
  TF_TString *strings = (TF_TString *)malloc(NUM_SIZES * sizeof *strings);
  fill(strings);
  TF_Tensor *value =
      TF_NewTensor(TF_STRING, dims, 1, strings, NUM_SIZES * sizeof *strings, free_strings, &freed);
  TF_Graph *graph = TF_NewGraph();
  TF_OperationDescription *desc = TF_NewOperation(graph, "Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_STRING);
  TF_Output x = finish(desc), twice[] = {x, x}, fetches[2];
  desc = TF_NewOperation(graph, "StringJoin", "joined");
  TF_AddInputList(desc, twice, 2);
  fetches[0] = finish(desc);
  desc = TF_NewOperation(graph, "Identity", "same");
  TF_AddInput(desc, x);
  fetches[1] = finish(desc);
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_Session *session = TF_NewSession(graph, options, status);
  TF_DeleteSessionOptions(options);
  TF_Tensor *results[2] = {NULL, NULL};
  TF_SessionRun(session, NULL, &x, &value, 1, fetches, results, 2, NULL, 0, NULL, status);
  CHECK_OK();
  TF_DeleteTensor(value);
  if (results[0] && results[1]) {
    check_tensor(results[1], 1); /* holds the memory that was fed */
    check_tensor(results[0], 2);
    for (int i = 0; i < NUM_SIZES; i++) own_free((TF_TString *)TF_TensorData(results[0]) + i);
  }
  CHECK(freed == 0);
  TF_DeleteTensor(results[0]);
  TF_DeleteTensor(results[1]);
  TF_DeleteSession(session, status);
  TF_DeleteGraph(graph);
  CHECK(freed == 1);
}

/* A constant's value is stored in the graph and read back. */
static void attrs_with_strings(void) {
  TF_Tensor *value = new_strings(), *back = NULL;
  fill((TF_TString *)TF_TensorData(value));
  TF_Graph *graph = TF_NewGraph();
  TF_OperationDescription *desc = TF_NewOperation(graph, "Const", "c");
  TF_SetAttrTensor(desc, "value", value, status);
  CHECK_OK();
  TF_SetAttrType(desc, "dtype", TF_STRING);
  TF_Output c = finish(desc);
  TF_DeleteTensor(value);
  TF_OperationGetAttrTensor(c.oper, "value", &back, status);
  CHECK_OK();
  if (back) {
    check_tensor(back, 1);
    for (int i = 0; i < NUM_SIZES; i++) own_free((TF_TString *)TF_TensorData(back) + i);
  }
  TF_DeleteTensor(back);
  TF_DeleteGraph(graph);
}

/* An element whose bytes are after it in the same block. */
static void offsets(void) {
  char block[sizeof(TF_TString) + 40];
  const uint32_t head[] = {40 << 2 | 2, (uint32_t)sizeof(TF_TString), 1};
  TF_TString *element = (TF_TString *)malloc(sizeof block), copy;
  if (!element) abort();
  own_init(element);
  memcpy(element, head, sizeof head);
  memcpy((char *)element + sizeof(TF_TString), text, 40);
  CHECK(holds(element, text, 40));
  own_init(&copy);
  TF_StringCopy(&copy, TF_StringGetDataPointer(element), TF_StringGetSize(element));
  own_append(&copy, text + 40, 10);
  CHECK(holds(&copy, text, 50));
  TF_StringDealloc(&copy);
  TF_StringDealloc(element); /* owns nothing */
  free(element);
}

/* The bytes of a buffer are freed by the function in the buffer, whoever filled it. */
static void free_bytes(void *data, size_t size) {
  CHECK(size == 5);
  free(data);
}

static void buffers(void) {
  TF_Buffer *buffer = TF_NewBufferFromString("bytes", 5);
  CHECK(buffer->length == 5 && memcmp(buffer->data, "bytes", 5) == 0 && buffer->data_deallocator);
  TF_DeleteBuffer(buffer);
  buffer = TF_NewBuffer();
  char *own = (char *)malloc(5);
  memcpy(own, "mine!", 5);
  buffer->data = own;
  buffer->length = 5;
  buffer->data_deallocator = free_bytes;
  TF_DeleteBuffer(buffer);
  buffer = TF_NewBuffer();
  buffer->data = text; /* nobody frees it */
  buffer->length = 5;
  TF_DeleteBuffer(buffer);
}

int main(void) {
  for (int i = 0; i < 2 * LONGEST; i++) text[i] = (char)('a' + i % 23);
  status = TF_NewStatus();
  strings_of_either_side();
  tensors_of_either_side();
  steps_with_strings();
  attrs_with_strings();
  offsets();
  buffers();
  TF_DeleteStatus(status);
  printf("%d checks, %d failed\n", checks, failures);
  return failures > 0;
}
