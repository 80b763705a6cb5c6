/* CTCBeamSearchDecoder: the most probable label sequences, found by keeping the best `beam_width` prefixes.
 *
 * A prefix is a node of a tree. Its probability is the sum of those of alignments that end in a blank and in
 * its last label. A step extends each prefix of the beam by each label; a new prefix enters the beam if it is
 * better than the worst one in it. */
#include <stdlib.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/ctc/ctc_decoded.h"
#include "ops/ctc/ctc_shared.h"

typedef struct BeamState {
  int64_t width, paths;
  bool merge_repeated;
} BeamState;

static bool beam_construct(const KernelConstruction *construction, void *memory, Status *status) {
  BeamState *state = memory;
  TRY(node_attr_int(construction->node, "beam_width", &state->width, status));
  TRY(node_attr_int(construction->node, "top_paths", &state->paths, status));
  return node_attr_bool(construction->node, "merge_repeated", &state->merge_repeated, status);
}

typedef struct Probability {
  double total, blank, label; /* logarithms */
} Probability;

static const Probability kImpossible = {-INFINITY, -INFINITY, -INFINITY};

typedef struct Prefix {
  int64_t parent, first_child, sibling; /* nodes; -1: none */
  int64_t label;                        /* -1: the empty prefix */
  Probability before, now;
} Prefix;

typedef struct Beam {
  Prefix *nodes;
  int64_t num_nodes, nodes_capacity;
  int64_t *leaves, *old; /* nodes from the best to the worst: of this step, and of the one before */
  int64_t num_leaves, width;
} Beam;

static bool is_active(const Prefix *prefix) { return prefix->now.total != -INFINITY; }

/* Enters a node into the beam, from which the worst one drops out. */
static void enter(Beam *beam, int64_t node) {
  double total = beam->nodes[node].now.total;
  int64_t at = beam->num_leaves;
  if (at == beam->width) at--;
  else beam->num_leaves++;
  for (; at > 0 && beam->nodes[beam->leaves[at - 1]].now.total < total; at--)
    beam->leaves[at] = beam->leaves[at - 1];
  beam->leaves[at] = node;
}

static bool add_node(Beam *beam, int64_t parent, int64_t label, int64_t *node, Status *status) {
  if (!mem_grow((void **)&beam->nodes, &beam->nodes_capacity, beam->num_nodes + 1, sizeof *beam->nodes))
    return status_oom(status, "prefixes of a beam search");
  *node = beam->num_nodes++;
  beam->nodes[*node] = (Prefix){.parent = parent,
                                .first_child = -1,
                                .sibling = parent < 0 ? -1 : beam->nodes[parent].first_child,
                                .label = label,
                                .before = kImpossible,
                                .now = kImpossible};
  if (parent >= 0) beam->nodes[parent].first_child = *node;
  return true;
}

static int64_t find_child(const Beam *beam, int64_t parent, int64_t label) {
  int64_t child = beam->nodes[parent].first_child;
  while (child >= 0 && beam->nodes[child].label != label) child = beam->nodes[child].sibling;
  return child;
}

/* The log-softmax of a row of inputs. */
static void log_softmax(const Tensor *inputs, int64_t row, int64_t classes, double *to) {
  double largest = -INFINITY, sum = 0;
  for (int64_t c = 0; c < classes; c++) {
    to[c] = ctc_at(inputs, row + c);
    largest = to[c] > largest ? to[c] : largest;
  }
  for (int64_t c = 0; c < classes; c++) sum += exp(to[c] - largest);
  for (int64_t c = 0; c < classes; c++) to[c] -= largest + log(sum);
}

/* The prefixes of the beam stay as they are: by a blank, or by their last label. */
static void stay(Beam *beam, const double *y, int64_t blank) {
  int64_t count = beam->num_leaves;
  for (int64_t i = 0; i < count; i++) {
    beam->old[i] = beam->leaves[i];
    Prefix *prefix = &beam->nodes[beam->old[i]];
    prefix->before = prefix->now;
  }
  beam->num_leaves = 0;
  for (int64_t i = 0; i < count; i++) {
    Prefix *prefix = &beam->nodes[beam->old[i]];
    if (prefix->parent >= 0) {
      const Prefix *parent = &beam->nodes[prefix->parent];
      if (is_active(parent)) {
        double from = prefix->label == parent->label ? parent->before.blank : parent->before.total;
        prefix->now.label = ctc_log_sum(prefix->now.label, from);
      }
      prefix->now.label += y[prefix->label];
    }
    prefix->now.blank = prefix->before.total + y[blank];
    prefix->now.total = ctc_log_sum(prefix->now.blank, prefix->now.label);
    enter(beam, beam->old[i]);
  }
}

static bool is_candidate(const Beam *beam, double total) {
  return total > -INFINITY && (beam->num_leaves < beam->width ||
                               total > beam->nodes[beam->leaves[beam->num_leaves - 1]].now.total);
}

static bool extend(Beam *beam, int64_t parent, int64_t label, double y, Status *status) {
  int64_t child = find_child(beam, parent, label);
  if (child >= 0 && is_active(&beam->nodes[child])) return true;
  const Prefix *p = &beam->nodes[parent];
  double total = y + (label == p->label ? p->before.blank : p->before.total);
  if (!is_candidate(beam, total)) {
    if (child >= 0) beam->nodes[child].before = beam->nodes[child].now = kImpossible;
    return true;
  }
  if (child < 0) TRY(add_node(beam, parent, label, &child, status));
  beam->nodes[child].now = (Probability){total, -INFINITY, total};
  if (beam->num_leaves == beam->width) beam->nodes[beam->leaves[beam->width - 1]].now = kImpossible;
  enter(beam, child);
  return true;
}

static bool step(Beam *beam, const double *y, int64_t classes, Status *status) {
  int64_t count = beam->num_leaves;
  stay(beam, y, classes - 1);
  for (int64_t i = 0; i < count; i++) {
    if (!is_candidate(beam, beam->nodes[beam->old[i]].before.total)) continue;
    for (int64_t label = 0; label < classes - 1; label++)
      TRY(extend(beam, beam->old[i], label, y[label], status));
  }
  return true;
}

static bool add_paths(const Beam *beam, const BeamState *state, int64_t b, Tensor *scores,
                      CtcDecoded *decoded, Status *status) {
  if (state->paths > state->width) return status_invalid(status, "requested more paths than the beam width.");
  if (state->paths > beam->num_leaves)
    return status_invalid(status, "Less leaves in the beam search than requested.");
  for (int64_t p = 0; p < state->paths; p++) {
    const Prefix *prefix = &beam->nodes[beam->leaves[p]];
    int64_t after = -1;
    ctc_put(scores, b * state->paths + p, prefix->now.total);
    for (; prefix->parent >= 0; prefix = &beam->nodes[prefix->parent]) {
      bool repeated = state->merge_repeated && prefix->label == after;
      if (!repeated) TRY(ctc_decoded_add_label(decoded, prefix->label, status));
      after = prefix->label;
    }
    ctc_decoded_reverse(decoded);
    TRY(ctc_decoded_end_sequence(decoded, status));
  }
  return true;
}

/* `y` has room for one row of classes. */
static bool search(KernelContext *context, Beam *beam, double *y, Tensor *scores, CtcDecoded *decoded,
                   Status *status) {
  const Tensor *inputs = context->inputs[0];
  int64_t batch = shape_dim(&inputs->shape, 1), classes = shape_dim(&inputs->shape, 2), root = 0;
  for (int64_t b = 0; b < batch; b++) {
    beam->num_nodes = 0;
    beam->num_leaves = 0;
    TRY(add_node(beam, -1, -1, &root, status));
    beam->nodes[root].now = (Probability){0, 0, -INFINITY};
    enter(beam, root);
    for (int64_t t = 0; t < tensor_i32(context->inputs[1])[b]; t++) {
      log_softmax(inputs, (t * batch + b) * classes, classes, y);
      TRY(step(beam, y, classes, status));
    }
    TRY(add_paths(beam, context->state, b, scores, decoded, status));
  }
  return true;
}

static bool ctc_beam_search(KernelContext *context, Status *status) {
  const BeamState *state = context->state;
  Tensor *scores;
  CtcDecoded decoded = {0};
  TRY(ctc_decoder_begin(context, state->paths, &scores, status));
  int64_t classes = shape_dim(&context->inputs[0]->shape, 2), size;
  if (__builtin_mul_overflow(state->width, (int64_t)sizeof(int64_t), &size))
    return status_oom(status, "prefixes of a beam search");
  Beam beam = {.width = state->width, .leaves = mem_alloc(size), .old = mem_alloc(size)};
  double *y = mem_alloc(classes * (int64_t)sizeof(double));
  bool ok = beam.leaves && beam.old && y;
  if (!ok) status_oom(status, "prefixes of a beam search");
  ok = ok && search(context, &beam, y, scores, &decoded, status) &&
       ctc_decoder_finish(context, &decoded, state->paths, status);
  mem_free(beam.leaves);
  mem_free(beam.old);
  mem_free(beam.nodes);
  mem_free(y);
  ctc_decoded_free(&decoded);
  return ok;
}

static bool beam_shape(InferenceContext *c, Status *status) {
  int64_t paths;
  TRY(node_attr_int(c->node, "top_paths", &paths, status));
  return ctc_decoder_shape(c, paths, status);
}

const OpRegistration kOpCTCBeamSearchDecoder = {
    .name = "CTCBeamSearchDecoder",
    .inputs = {"inputs: T", "sequence_length: int32"},
    .outputs = {"decoded_indices: top_paths * int64", "decoded_values: top_paths * int64",
                "decoded_shape: top_paths * int64", "log_probability: T"},
    .attrs = {"beam_width: int >= 1", "top_paths: int >= 1", "merge_repeated: bool = true",
              "T: {float, double} = DT_FLOAT"},
    .shape = beam_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(BeamState),
    .construct = beam_construct,
    .kernels = {{DT_FLOAT, ctc_beam_search}, {DT_DOUBLE, ctc_beam_search}},
};
