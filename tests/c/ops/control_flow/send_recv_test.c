/* The kernels of _Send and _Recv, on a rendezvous of their own. */
#include <string.h>

#include "harness.h"
#include "op/kernel.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "proto/proto.h"
#include "runtime/local_rendezvous.h"

#define CPU_0 "/job:localhost/replica:0/task:0/device:CPU:0"
#define CPU_1 "/job:localhost/replica:0/task:0/device:CPU:1"

typedef struct Ends {
  Arena *arena;
  LocalRendezvous *local;
  OpKernel *send, *recv;
  DeviceTransfer transfer;
  Status status;
} Ends;

static OpKernel *kernel_of(Ends *e, const char *op, const char *type_attr, const char *source) {
  StrBuf text = {0};
  void *def;
  const Op *found = op_registry_find(op_registry_global(), op);
  OpKernel *kernel = NULL;
  strbuf_printf(&text,
                "name: 'n' op: '%s' attr { key: '%s' value { type: DT_FLOAT } } "
                "attr { key: 'tensor_name' value { s: 'edge_5_x' } } "
                "attr { key: 'send_device' value { s: '%s' } } "
                "attr { key: 'send_device_incarnation' value { i: -2 } } "
                "attr { key: 'recv_device' value { s: '" CPU_1 "' } }",
                op, type_attr, source);
  bool ok = found && proto_parse_text(kNodeDef, str_of(strbuf_text(&text)), e->arena, &def, &e->status) &&
            op_kernel_new(found, def, NULL, NULL, &kernel, &e->status);
  strbuf_free(&text);
  return ok ? kernel : NULL;
}

static bool begin(Ends *e) {
  *e = (Ends){.arena = arena_new()};
  status_init(&e->status);
  e->local = local_rendezvous_new(&e->status);
  e->transfer.rendezvous = local_rendezvous_interface(e->local);
  e->send = kernel_of(e, "_Send", "T", CPU_0);
  e->recv = kernel_of(e, "_Recv", "tensor_type", CPU_0);
  return CHECK(e->send && e->recv);
}

static void end(Ends *e) {
  op_kernel_free(e->send);
  op_kernel_free(e->recv);
  local_rendezvous_free(e->local);
  arena_free(e->arena);
}

static bool send(Ends *e, float number) {
  Tensor value = {0};
  float *numbers = NULL;
  CHECK_OK(tensor_allocate_dims(&value, DT_FLOAT, 0, NULL, NULL, &e->status), e->status);
  numbers = value.data;
  *numbers = number;
  const Tensor *inputs[] = {&value};
  KernelContext context = {.inputs = inputs, .transfer = &e->transfer};
  bool ok = op_kernel_run(e->send, &context, &e->status);
  tensor_clear(&value);
  return ok;
}

/* -1: dead, -2: the kernel paused, -3: it failed. */
static float receive(Ends *e) {
  Tensor value = {0};
  e->transfer.dead = false;
  KernelContext context = {.outputs = &value, .transfer = &e->transfer};
  bool ok = op_kernel_run(e->recv, &context, &e->status);
  float number = !ok ? -3 : context.paused ? -2 : e->transfer.dead ? -1 : *(const float *)value.data;
  if (context.paused) context.paused->abandon(context.paused);
  CHECK_INT_EQ(!value.data, number < 0);
  tensor_clear(&value);
  e->transfer.dead = false;
  return number;
}

TEST(recv_pauses_until_send_has_run) {
  Ends e;
  if (begin(&e)) {
    CHECK_INT_EQ(receive(&e), -2);
    CHECK_OK(send(&e, 7), e.status);
    CHECK_INT_EQ(receive(&e), 7);
    CHECK_INT_EQ(receive(&e), -2);
  }
  end(&e);
}

TEST(a_dead_value_arrives_dead) {
  Ends e;
  if (begin(&e)) {
    e.transfer.dead = true;
    CHECK_OK(send(&e, 7), e.status);
    CHECK_INT_EQ(receive(&e), -1);
  }
  end(&e);
}

TEST(each_iteration_of_a_loop_has_a_key_of_its_own) {
  Ends e;
  if (begin(&e)) {
    e.transfer.frame = 3;
    e.transfer.iteration = 1;
    CHECK_OK(send(&e, 1), e.status);
    e.transfer.iteration = 2;
    CHECK_INT_EQ(receive(&e), -2);
    CHECK_OK(send(&e, 2), e.status);
    CHECK_INT_EQ(receive(&e), 2);
    e.transfer.iteration = 1;
    CHECK_INT_EQ(receive(&e), 1);
  }
  end(&e);
}

TEST(the_key_is_that_of_tensorflow) {
  Ends e;
  Tensor value = {0};
  bool dead;
  if (begin(&e)) {
    CHECK_OK(send(&e, 4), e.status);
    Str key = str_of(CPU_0 ";fffffffffffffffe;" CPU_1 ";edge_5_x;0:0");
    CHECK_INT_EQ(e.transfer.rendezvous->receive(e.local, key, &value, &dead, &e.status), RUN_DONE);
    tensor_clear(&value);
  }
  end(&e);
}

TEST(an_abort_fails_send_and_recv_with_its_status_and_their_node) {
  Ends e;
  Status reason;
  status_init(&reason);
  status_set(&reason, CODE_ABORTED, "stop");
  if (begin(&e)) {
    local_rendezvous_abort(e.local, &reason);
    CHECK_ERROR(send(&e, 4), e.status, CODE_ABORTED, "stop\n\t [[{{node n}}]]");
    status_init(&e.status);
    CHECK_INT_EQ(receive(&e), -3);
    CHECK_INT_EQ(e.status.code, CODE_ABORTED);
  }
  end(&e);
}

TEST(send_and_recv_need_a_rendezvous_and_devices) {
  Ends e;
  Tensor value = {0};
  if (begin(&e)) {
    KernelContext context = {.outputs = &value};
    CHECK_ERROR(op_kernel_run(e.recv, &context, &e.status), e.status, CODE_INTERNAL,
                "Op kernel context needs to provide a rendezvous.");
    status_init(&e.status);
    CHECK(!kernel_of(&e, "_Send", "T", "nowhere"));
    CHECK_INT_EQ(e.status.code, CODE_INVALID_ARGUMENT);
    CHECK_STR_CONTAINS(e.status.message, "Invalid  rendezvous key: nowhere;");
  }
  end(&e);
}
