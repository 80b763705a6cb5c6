/* The outputs of an operation that takes several elements: their components, joined along a new first axis.
 */
#include "ops/support/elements.h"
#include "ops/lists/queue.h"
#include "ops/support/array_box.h"

/* The sizes of component `i` in the output: those of its shape, and for an unknown size that of the largest
 * element. Returns whether elements differ, so that some must be padded. */
static bool joined_dims(const QueueShape *shape, const QueueElements *elements, int i, int64_t *dims) {
  bool differ = false;
  for (int d = 0; d < shape->rank; d++) {
    dims[d] = shape->dims[d] < 0 ? 0 : shape->dims[d];
    if (shape->dims[d] >= 0) continue;
    for (const QueueElement *element = elements->first; element; element = element->next) {
      int64_t size = shape_dim(&element->components[i].shape, d);
      differ |= element != elements->first && size != dims[d];
      if (size > dims[d]) dims[d] = size;
    }
  }
  return differ;
}

/* Copies a smaller tensor into row `row` of `out`. */
static bool embed(const Tensor *component, int64_t row, Tensor *out, const Parallel *parallel,
                  Status *status) {
  int rank = component->shape.rank;
  int64_t from[SHAPE_MAX_RANK], to[SHAPE_MAX_RANK];
  ArrayBox box = {0};
  array_strides(&component->shape, from);
  array_strides(&out->shape, to);
  for (int d = 0; d < rank; d++) array_box_add(&box, shape_dim(&component->shape, d), from[d], to[d + 1]);
  box.to_offset = row * to[0];
  return array_box_copy(&box, component, out, parallel, status);
}

static bool join_component(const Queue *queue, const QueueElements *elements, int i, KernelContext *context,
                           Status *status) {
  const QueueShape *shape = &queue->spec.shapes[i];
  int64_t dims[SHAPE_MAX_RANK], row = 0;
  Tensor *out;
  if (shape->rank + 1 > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  dims[0] = elements->count;
  bool pads = joined_dims(shape, elements, i, dims + 1);
  TRY(kernel_allocate_output_dims(context, i, shape->rank + 1, dims, &out, status));
  if (pads) array_clear(out);
  for (const QueueElement *element = elements->first; element; element = element->next, row++) {
    const Tensor *component = &element->components[i];
    int64_t size = tensor_num_elements(component);
    TRY(pads ? embed(component, row, out, context->parallel, status)
             : tensor_copy_elements(component, 0, out, row * size, size, status));
  }
  return true;
}

bool queue_join(const Queue *queue, const QueueElements *elements, KernelContext *context, Status *status) {
  for (int i = 0; i < queue->spec.num_components; i++)
    TRY(join_component(queue, elements, i, context, status));
  return true;
}
