/* _Send and _Recv: an edge of the graph from one device to another. */
#include "device/rendezvous_key.h"
#include "op/kernel.h"
#include "op/node_def.h"
#include "op/op_registry.h"

/* The key of a value outside of loops, of frame and iteration 0, is made once. */
typedef struct EdgeState {
  const char *key;
  const char *source, *destination, *name;
  uint64_t incarnation;
} EdgeState;

static bool text_attr(const KernelConstruction *construction, const char *attr, const char **text,
                      Status *status) {
  Str value;
  TRY(node_attr_string(construction->node, attr, &value, status));
  *text = arena_strndup(construction->arena, value.data, value.length);
  return *text || status_oom(status, "an edge between devices");
}

static bool construct_edge(const KernelConstruction *construction, void *state, Status *status) {
  EdgeState *edge = state;
  int64_t incarnation;
  TRY(text_attr(construction, "send_device", &edge->source, status));
  TRY(text_attr(construction, "recv_device", &edge->destination, status));
  TRY(text_attr(construction, "tensor_name", &edge->name, status));
  TRY(node_attr_int(construction->node, "send_device_incarnation", &incarnation, status));
  edge->incarnation = (uint64_t)incarnation;
  StrBuf key = {0};
  RendezvousKey parsed;
  rendezvous_key_print(edge->source, edge->incarnation, edge->destination, edge->name, 0, 0, &key);
  bool ok = strbuf_ok(&key, status) && rendezvous_key_parse(str_of(strbuf_text(&key)), &parsed, status);
  if (ok) {
    edge->key = arena_strdup(construction->arena, strbuf_text(&key));
    ok = edge->key || status_oom(status, "an edge between devices");
  }
  strbuf_free(&key);
  return ok;
}

/* The key in the iteration that the kernel runs in: that of the state, or in `text`. */
static Str key_of(const EdgeState *edge, const DeviceTransfer *transfer, StrBuf *text) {
  if (transfer->frame == 0 && transfer->iteration == 0) return str_of(edge->key);
  rendezvous_key_print(edge->source, edge->incarnation, edge->destination, edge->name, transfer->frame,
                       transfer->iteration, text);
  return str_of(strbuf_text(text));
}

static bool check_transfer(const KernelContext *context, Status *status) {
  return context->transfer ||
         status_set(status, CODE_INTERNAL, "Op kernel context needs to provide a rendezvous.");
}

static bool send_kernel(KernelContext *context, Status *status) {
  TRY(check_transfer(context, status));
  const DeviceTransfer *transfer = context->transfer;
  const Rendezvous *rendezvous = transfer->rendezvous;
  StrBuf text = {0};
  Str key = key_of(context->state, transfer, &text);
  bool ok = strbuf_ok(&text, status) &&
            rendezvous->send(rendezvous->owner, key, transfer->dead ? NULL : context->inputs[0],
                             transfer->dead, status);
  strbuf_free(&text);
  return ok;
}

/* There is nothing to free: the kernel starts anew. */
static void leave(PausedKernel *paused) { (void)paused; }
static PausedKernel waiting = {leave};

static bool recv_kernel(KernelContext *context, Status *status) {
  TRY(check_transfer(context, status));
  DeviceTransfer *transfer = context->transfer;
  const Rendezvous *rendezvous = transfer->rendezvous;
  StrBuf text = {0};
  Str key = key_of(context->state, transfer, &text);
  RunState state = RUN_FAILED;
  if (strbuf_ok(&text, status))
    state = rendezvous->receive(rendezvous->owner, key, &context->outputs[0], &transfer->dead, status);
  strbuf_free(&text);
  context->paused = state == RUN_WAITING ? &waiting : NULL;
  return state != RUN_FAILED;
}

/* Attrs of both, behind the type. */
#define EDGE_ATTRS                                                                                     \
  "tensor_name: string", "send_device: string", "send_device_incarnation: int", "recv_device: string", \
      "client_terminated: bool = false"

/* _HostSend and _HostRecv are what other masters write for values in the memory of the host: all are here. */
#define SEND_FIELDS                                                                                          \
  .inputs = {"tensor: T"}, .attrs = {"T: type", EDGE_ATTRS}, .is_stateful = true, .shape = shape_no_outputs, \
  .gradient = NO_GRADIENT, .state_size = sizeof(EdgeState), .construct = construct_edge,                     \
  .kernels = {{DT_INVALID, send_kernel}}
#define RECV_FIELDS                                                                                    \
  .outputs = {"tensor: tensor_type"}, .attrs = {"tensor_type: type", EDGE_ATTRS}, .is_stateful = true, \
  .is_distributed_communication = true, .shape = shape_unknown_outputs, .gradient = NO_GRADIENT,       \
  .state_size = sizeof(EdgeState), .construct = construct_edge, .kernels = {{DT_INVALID, recv_kernel}}

const OpRegistration kOp_Send = {
    .name = "_Send",
    SEND_FIELDS,
};

const OpRegistration kOp_Recv = {
    .name = "_Recv",
    RECV_FIELDS,
};

const OpRegistration kOp_HostSend = {
    .name = "_HostSend",
    SEND_FIELDS,
};

const OpRegistration kOp_HostRecv = {
    .name = "_HostRecv",
    RECV_FIELDS,
};
