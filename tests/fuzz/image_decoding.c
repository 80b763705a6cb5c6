#include "fuzz/image_decoding.h"

#include <string.h>

#include "op/kernel.h"
#include "op/node_def.h"
#include "op/op_registry.h"

static void decode(const NodeDef *node, Str file, Status *status) {
  Tensor contents = {0}, window = {0}, image = {0};
  const Tensor *const inputs[] = {&contents, &window};
  const Op *op;
  FUZZ_CHECK(op_registry_look_up(op_registry_global(), node->op, &op, status), "%s", status->message);
  if (tensor_allocate_dims(&contents, DT_STRING, 0, NULL, NULL, status) &&
      tensor_allocate_dims(&window, DT_INT32, 1, (const int64_t[]){4}, NULL, status) &&
      tstring_set(tensor_strings(&contents), file.data, file.length, status)) {
    memcpy(window.data, (const int32_t[]){1, 2, 3, 4}, 16);
    if (op_evaluate(op, node, inputs, &image, status)) {
      int64_t sum = 0;
      for (int64_t i = 0; i < tensor_num_elements(&image) * (int64_t)dtype_size(image.dtype); i++)
        sum += ((const uint8_t *)image.data)[i];
      FUZZ_CHECK(sum >= 0, "a sum of bytes");
    }
  }
  tensor_clear(&contents);
  tensor_clear(&window);
  tensor_clear(&image);
}

void fuzz_decode(const char *const *nodes, int count, int choice, Str file) {
  Arena *arena = arena_new();
  Status status;
  void *node;
  status_init(&status);
  if (!arena) return;
  FUZZ_CHECK(proto_parse_text(kNodeDef, str_of(nodes[choice % count]), arena, &node, &status), "%s",
             status.message);
  decode(node, file, &status);
  fuzz_check_code(status.code, status.message);
  arena_free(arena);
}
