#include "ops/parsing/feature_table.h"

#include "base/alloc.h"

bool feature_table_init(FeatureTable *table, const FeatureSpecs *group, const Tensor *serialized,
                        Status *status) {
  int count = feature_specs_count(group);
  *table =
      (FeatureTable){.is_batch = serialized->shape.rank > 0, .num_examples = tensor_num_elements(serialized)};
  TRY(feature_specs_copy(group, &table->group, status));
  table->found = mem_calloc(count * table->num_examples, sizeof *table->found);
  table->next_equal = mem_calloc(count, sizeof *table->next_equal);
  return (table->found && table->next_equal) || status_oom(status, "the features of Examples");
}

bool feature_table_index(FeatureTable *table, Status *status) {
  for (int i = feature_specs_count(&table->group) - 1; i >= 0; i--) {
    Str key = table->group.specs[i].key;
    table->next_equal[i] = feature_table_find(table, key);
    TRY(string_map_set_bytes(&table->keys, key.data, key.length, table->group.specs + i, status));
  }
  return true;
}

void feature_table_free(FeatureTable *table) {
  string_map_free(&table->keys);
  mem_free(table->next_equal);
  mem_free(table->found);
  mem_free(table->group.specs);
}

int feature_table_find(const FeatureTable *table, Str key) {
  const FeatureSpec *spec = string_map_find_bytes(&table->keys, key.data, key.length);
  return spec ? (int)(spec - table->group.specs) : -1;
}

Str example_name(const Tensor *names, int64_t i) {
  return tensor_num_elements(names) > 0 ? example_text(names, i) : str_of("<unknown>");
}
