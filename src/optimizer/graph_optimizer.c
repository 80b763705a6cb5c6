#include "optimizer/graph_optimizer.h"

#include "base/sync.h"
#include "optimizer/constant_folding.h"
#include "optimizer/cse.h"
#include "optimizer/dilate_convolutions.h"
#include "optimizer/equal_variables.h"
#include "optimizer/find_gelu.h"
#include "optimizer/flatten_products.h"
#include "optimizer/fuse_epilogues.h"
#include "optimizer/fuse_parts.h"
#include "optimizer/fuse_products.h"
#include "optimizer/fuse_recurrences.h"
#include "optimizer/graph_cleanup.h"
#include "optimizer/hoist_products.h"
#include "optimizer/item_shapes.h"
#include "optimizer/join_recurrences.h"
#include "optimizer/leading_ones.h"
#include "optimizer/list_arrays.h"
#include "optimizer/loop_values.h"
#include "optimizer/loop_variables.h"
#include "optimizer/needless_waits.h"
#include "optimizer/neutral_operands.h"
#include "optimizer/reciprocal_factors.h"
#include "optimizer/split_products.h"

OptimizerOptions optimizer_options_all(const FunctionBodySource *source) {
  return (OptimizerOptions){.do_common_subexpression_elimination = true,
                            .do_constant_folding = true,
                            .do_function_inlining = true,
                            .trust_shapes = true,
                            .source = source};
}

static bool clean_up(Graph *graph, const OptimizerOptions *options, bool *changed, Status *status) {
  bool step;
  TRY(graph_remove_list_array_converters(graph, options->keep, &step, status));
  *changed |= step;
  if (!options->do_function_inlining) return true;
  TRY(graph_remove_dead_nodes(graph, options->keep, &step, status));
  *changed |= step;
  TRY(graph_remove_identity_nodes(graph, options->keep, &step, status));
  *changed |= step;
  return true;
}

static bool fold(Graph *graph, const OptimizerOptions *options, bool *changed, Status *status) {
  if (options->opt_level < OPTIMIZER_L1 && !options->do_constant_folding) return true;
  const FoldOptions how = {.max_constant_size_in_bytes = options->max_folded_constant_in_bytes,
                           .trust_shapes = options->trust_shapes,
                           .keep = options->keep,
                           .consider = options->consider_folding};
  bool step, removed;
  TRY(graph_fold_constants(graph, &how, &step, status));
  *changed |= step;
  return !step || graph_remove_dead_nodes(graph, options->keep, &removed, status);
}

static bool inline_calls(Graph *graph, const OptimizerOptions *options, bool *changed, Status *status) {
  ExpandOptions how = options->expand ? *options->expand : expand_options_default();
  how.keep = options->keep;
  bool step;
  TRY(graph_expand_inline_functions(graph, options->source, &how, &step, status));
  *changed |= step;
  return true;
}

static bool run_round(Graph *graph, const OptimizerOptions *options, bool *changed, Status *status) {
  bool step;
  TRY(clean_up(graph, options, changed, status));
  TRY(fold(graph, options, changed, status));
  /* Otherwise common subexpressions would miss the added nodes. */
  TRY(graph_fixup_source_and_sink_edges(graph, &step, status));
  if (options->do_function_inlining) *changed |= step;
  if (options->opt_level >= OPTIMIZER_L1 || options->do_common_subexpression_elimination) {
    TRY(graph_merge_common(graph, options->keep, options->consider_merging, &step, status));
    *changed |= step;
  }
  if (options->do_function_inlining && options->source) TRY(inline_calls(graph, options, changed, status));
  return true;
}

typedef bool GraphPass(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

/* What a product can be fused with is found in the order of these passes. */
static GraphPass *const kProductPasses[] = {graph_dilate_convolutions,
                                            graph_drop_leading_ones,
                                            graph_hoist_products,
                                            graph_enter_weights,
                                            graph_drop_loop_variables,
                                            graph_join_equal_variables,
                                            graph_remove_neutral_operands,
                                            graph_multiply_by_reciprocals,
                                            graph_find_gelu,
                                            graph_flatten_products,
                                            graph_fuse_products};

/* Makes one form of loops that are written in several ways. The parts of constant weights become constants.
 */
static bool prepare_loops(Graph *graph, const OptimizerOptions *options, bool *changed, Status *status) {
  const NodeSet *keep = options->keep;
  bool stated, written, waits, split;
  TRY(graph_list_read_arrays(graph, keep, changed, status));
  TRY(graph_state_item_shapes(graph, keep, &stated, status));
  TRY(graph_infer_loops(graph, status));
  TRY(graph_list_written_arrays(graph, keep, &written, status));
  TRY(graph_drop_needless_waits(graph, keep, &waits, status));
  TRY(graph_split_products(graph, keep, &split, status));
  *changed |= stated || written || waits || split;
  return !split || fold(graph, options, changed, status);
}

static bool fuse(Graph *graph, const OptimizerOptions *options, bool *changed, Status *status) {
  bool step, any, removed;
  TRY(prepare_loops(graph, options, &any, status));
  for (size_t i = 0; i < sizeof kProductPasses / sizeof *kProductPasses; i++) {
    TRY(kProductPasses[i](graph, options->keep, &step, status));
    any |= step;
  }
  if (any) TRY(graph_remove_dead_nodes(graph, options->keep, &removed, status));
  TRY(graph_fuse_elementwise(graph, options->keep, options->fuse, &step, status));
  any |= step;
  TRY(graph_fuse_epilogues(graph, options->keep, &step, status));
  any |= step;
  TRY(graph_fuse_parts(graph, options->keep, &step, status));
  any |= step;
  int64_t first_loop = graph_num_node_ids(graph);
  TRY(graph_fuse_recurrences(graph, options->keep, &step, status));
  *changed |= any || step;
  if (!step) return true;
  TRY(graph_remove_dead_nodes(graph, options->keep, &removed, status));
  return !SYNC_HAS_THREADS || graph_join_recurrences(graph, first_loop, &step, status);
}

bool graph_optimize(Graph *graph, const OptimizerOptions *options, bool *changed, Status *status) {
  bool any = false, ok = true, step = true;
  int max_rounds = options->max_rounds > 0 ? options->max_rounds : OPTIMIZER_MAX_ROUNDS;
  for (int round = 0; ok && step && round < max_rounds; round++) {
    step = false;
    ok = run_round(graph, options, &step, status);
    any |= step;
  }
  if (ok && options->fuse) ok = fuse(graph, options, &any, status);
  if (changed) *changed = any;
  return ok && graph_fixup_source_and_sink_edges(graph, NULL, status);
}
