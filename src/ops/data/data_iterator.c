#include "ops/data/data_iterator.h"

#include "base/alloc.h"

/* --- arrays of tensors --- */

Tensor *data_tensors_new(int64_t count, Status *status) {
  Tensor *tensors = mem_calloc(count > 0 ? count : 1, sizeof *tensors);
  if (!tensors) status_oom(status, "an element of a dataset");
  return tensors;
}

void data_tensors_clear(Tensor *tensors, int64_t count) {
  for (int64_t i = 0; i < count; i++) tensor_clear(&tensors[i]);
}

void data_tensors_free(Tensor *tensors, int64_t count) {
  if (tensors) data_tensors_clear(tensors, count);
  mem_free(tensors);
}

bool data_tensors_share(Tensor *to, const Tensor *from, int64_t count, Status *status) {
  for (int64_t i = 0; i < count; i++) {
    if (tensor_assign(&to[i], &from[i], status)) continue;
    data_tensors_clear(to, i);
    return false;
  }
  return true;
}

/* --- iterators --- */

bool data_iterator_new(Dataset *dataset, DataIterator *parent, KernelContext *context,
                       DataIterator **iterator, Status *status) {
  DataIterator *made = mem_calloc(1, dataset->kind->iterator_size);
  if (!made) return status_oom(status, "an iterator");
  made->dataset = dataset;
  tensor_object_ref(&dataset->variant.object);
  if (parent) {
    made->sibling = parent->children;
    made->owner = &parent->children;
    if (made->sibling) made->sibling->owner = &made->sibling;
    parent->children = made;
  }
  if (dataset->kind->begin && !dataset->kind->begin(made, context, status)) {
    data_iterator_free(made);
    return false;
  }
  *iterator = made;
  return true;
}

bool data_begin_input(DataIterator *iterator, KernelContext *context, Status *status) {
  return data_iterator_new(iterator->dataset->inputs[0], iterator, context, &iterator->input, status);
}

static void abandon_call(DataIterator *iterator) {
  if (iterator->call) iterator->caller->abandon(iterator->caller->owner, iterator->call);
  iterator->call = NULL;
}

void data_iterator_abandon(DataIterator *iterator) {
  abandon_call(iterator);
  for (DataIterator *child = iterator->children; child; child = child->sibling) data_iterator_abandon(child);
}

void data_iterator_free(DataIterator *iterator) {
  if (!iterator) return;
  abandon_call(iterator);
  while (iterator->children) data_iterator_free(iterator->children);
  if (iterator->dataset->kind->finish) iterator->dataset->kind->finish(iterator);
  if (iterator->owner) *iterator->owner = iterator->sibling;
  if (iterator->sibling) iterator->sibling->owner = iterator->owner;
  tensor_object_unref(&iterator->dataset->variant.object);
  mem_free(iterator);
}

RunState data_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end, Status *status) {
  *end = false;
  RunState state = step_checkpoint(context->step, status);
  if (state != RUN_DONE) return state;
  state = iterator->dataset->kind->next(iterator, context, out, end, status);
  if (state == RUN_FAILED) data_tensors_clear(out, iterator->dataset->num_components);
  return state;
}

/* --- functions --- */

/* The arguments of a call; consumes `args`. NULL with status on error. */
static Tensor *join_args(const DataFunction *function, Tensor *args, int num_args, Status *status) {
  Tensor *all = data_tensors_new((int64_t)num_args + function->num_captured, status);
  if (!all || !data_tensors_share(all + num_args, function->captured, function->num_captured, status)) {
    data_tensors_clear(args, num_args);
    mem_free(all);
    return NULL;
  }
  for (int i = 0; i < num_args; i++) tensor_move(&all[i], &args[i]);
  return all;
}

RunState data_call(DataIterator *iterator, KernelContext *context, const DataFunction *function, Tensor *args,
                   int num_args, Tensor *rets, int num_rets, Status *status) {
  const FunctionCaller *caller = function->caller;
  Tensor *all = NULL;
  int total = num_args + function->num_captured;
  if (caller != context->functions) {
    status_set(status, CODE_UNIMPLEMENTED,
               "The functions of a dataset are called on the device that made the dataset");
    return RUN_FAILED;
  }
  if (!iterator->call) {
    all = join_args(function, args, num_args, status);
    if (!all) return RUN_FAILED;
  }
  iterator->caller = caller;
  RunState state = caller->run(caller->owner, function->function.handle, &iterator->call, context->step, all,
                               total, rets, num_rets, status);
  data_tensors_free(all, all ? total : 0);
  return state;
}
