#include "ops/data/seed_generator.h"

#include <unistd.h>

#include "base/alloc.h"
#include "op/op_registry.h"
#include "ops/data/dataset.h"

static const char kSeedGenerator[] = "tensorflow::data::SeedGeneratorManager";
static const char kDummy[] = "tensorflow::data::DummyResource";

static void destroy_generator(TensorObject *object) {
  SeedGenerator *generator = (SeedGenerator *)object;
  mutex_destroy(&generator->mutex);
  mem_free(generator);
}

SeedGenerator *seed_generator_new(int64_t seed, int64_t seed2, bool reshuffle, Status *status) {
  SeedGenerator *made = mem_calloc(1, sizeof *made);
  if (!made || !mutex_init(&made->mutex)) {
    mem_free(made);
    status_oom(status, "a seed generator");
    return NULL;
  }
  made->resource.type_name = kSeedGenerator;
  made->resource.object.destroy = destroy_generator;
  atomic_init(&made->resource.object.references, 1);
  made->seeds[0] = (uint64_t)seed;
  made->seeds[1] = (uint64_t)seed2;
  made->fixed = !reshuffle;
  if (seed == 0 && seed2 == 0 && getentropy(made->seeds, sizeof made->seeds) != 0) {
    status_set(status, CODE_UNAVAILABLE, "No entropy for a random seed");
    tensor_object_unref(&made->resource.object);
    return NULL;
  }
  made->random = (PhiloxStream){.generator = philox_seed(made->seeds[0], made->seeds[1])};
  return made;
}

void seed_generator_next(SeedGenerator *generator, uint64_t seeds[2]) {
  mutex_lock(&generator->mutex);
  for (int i = 0; i < 2; i++)
    seeds[i] = generator->fixed ? generator->seeds[i] : philox_stream_next(&generator->random);
  mutex_unlock(&generator->mutex);
}

bool seed_generator_of_input(const KernelContext *context, int input, SeedGenerator **generator,
                             Status *status) {
  Resource *found;
  Status ignored;
  const Tensor *handle = context->inputs[input];
  *generator = NULL;
  status_init(&ignored);
  if (!tensor_is_scalar(handle)) return status_invalid(status, "resource_handle must be a scalar");
  if (tensor_resource(handle, kDummy, &found, &ignored)) return true;
  TRY(tensor_resource(handle, kSeedGenerator, &found, status));
  *generator = (SeedGenerator *)found;
  return true;
}

/* --- ops --- */

/* Output 0 is a handle that owns the resource. Takes over the reference. */
static bool set_handle(KernelContext *context, Resource *resource, Status *status) {
  Tensor handle = {0}, *deleter;
  bool ok = resource_handle_tensor(str_of(""), str_of(context->node_name), resource, &handle, status) &&
            kernel_set_output(context, 0, &handle, NULL, status) &&
            (context->num_outputs == 1 || kernel_allocate_output_dims(context, 1, 0, NULL, &deleter, status));
  tensor_clear(&handle);
  tensor_object_unref(&resource->object);
  return ok;
}

static void destroy_dummy(TensorObject *object) { mem_free(object); }

static bool dummy(KernelContext *context, Status *status) {
  Resource *made = mem_calloc(1, sizeof *made);
  if (!made) return status_oom(status, "a resource");
  made->type_name = kDummy;
  made->object.destroy = destroy_dummy;
  atomic_init(&made->object.references, 1);
  return set_handle(context, made, status);
}

static bool anonymous_generator(KernelContext *context, Status *status) {
  int64_t seed, seed2;
  bool reshuffle = true;
  TRY(dataset_int(context, 0, "seed", &seed, status));
  TRY(dataset_int(context, 1, "seed2", &seed2, status));
  if (context->num_inputs > 2) TRY(dataset_bool(context, 2, "reshuffle", &reshuffle, status));
  SeedGenerator *made = seed_generator_new(seed, seed2, reshuffle, status);
  return made && set_handle(context, &made->resource, status);
}

#define HANDLE_OP .is_stateful = true, .shape = shape_scalar_output, .gradient = NO_GRADIENT

const OpRegistration kOpDummySeedGenerator = {
    .name = "DummySeedGenerator",
    .outputs = {"handle: resource"},
    HANDLE_OP,
    .kernels = {{DT_INVALID, dummy}},
};

const OpRegistration kOpDummyMemoryCache = {
    .name = "DummyMemoryCache",
    .outputs = {"handle: resource"},
    HANDLE_OP,
    .kernels = {{DT_INVALID, dummy}},
};

/* The dataset keeps what is cached; the handle only says that it is one. */
const OpRegistration kOpAnonymousMemoryCache = {
    .name = "AnonymousMemoryCache",
    .outputs = {"handle: resource", "deleter: variant"},
    HANDLE_OP,
    .kernels = {{DT_INVALID, dummy}},
};

const OpRegistration kOpAnonymousSeedGenerator = {
    .name = "AnonymousSeedGenerator",
    .inputs = {"seed: int64", "seed2: int64", "reshuffle: bool"},
    .outputs = {"handle: resource", "deleter: variant"},
    HANDLE_OP,
    .kernels = {{DT_INVALID, anonymous_generator}},
};

const OpRegistration kOpAnonymousRandomSeedGenerator = {
    .name = "AnonymousRandomSeedGenerator",
    .inputs = {"seed: int64", "seed2: int64"},
    .outputs = {"handle: resource", "deleter: variant"},
    HANDLE_OP,
    .kernels = {{DT_INVALID, anonymous_generator}},
};
