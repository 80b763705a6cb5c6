/* Shapes and handle data that change between two inferences. */
#include "shape_fixture.h"
#include "shortage.h"

TEST(relaxing_keeps_what_both_say) {
  Fixture f;
  fixture_begin(&f, "[2,?];[?,2];[2,2];[3,2];[1,2,3];?;[2,2]");
  ShapeHandle out, *in = f.inputs;
  CHECK_OK(shape_relax(&f.c, in[0], in[1], &out, &f.status), f.status);
  check_shape(out, "[?,?]");
  CHECK_OK(shape_relax(&f.c, in[2], in[3], &out, &f.status), f.status);
  check_shape(out, "[?,2]");
  CHECK(out->dims[1] == in[2]->dims[1]);
  CHECK(out->dims[0] != in[2]->dims[0] && out->dims[0] != in[3]->dims[0]);
  CHECK_OK(shape_relax(&f.c, in[2], in[4], &out, &f.status), f.status);
  check_shape(out, "?");
  CHECK_OK(shape_relax(&f.c, in[2], in[5], &out, &f.status), f.status);
  CHECK(out == in[5]);
  CHECK_OK(shape_relax(&f.c, in[5], in[2], &out, &f.status), f.status);
  check_shape(out, "?");
  CHECK(out != in[5]);
  CHECK_OK(shape_relax(&f.c, in[2], in[6], &out, &f.status), f.status);
  CHECK(out == in[2]);
  CHECK_OK(shape_relax(&f.c, in[0], in[0], &out, &f.status), f.status);
  CHECK(out == in[0]);
  fixture_end(&f);
}

TEST(an_unknown_size_is_passed_on_when_it_changes) {
  Fixture f;
  fixture_begin(&f, "[?,?,4];[?,3,?]");
  DimHandle out;
  const DimHandle *a = f.inputs[0]->dims, *b = f.inputs[1]->dims;
  CHECK_OK(dim_relax(&f.c, a[0], a[0], &out, &f.status), f.status);
  CHECK(out == a[0]);
  CHECK_OK(dim_relax(&f.c, a[0], b[0], &out, &f.status), f.status);
  CHECK(out == b[0]);
  CHECK_OK(dim_relax(&f.c, a[2], b[2], &out, &f.status), f.status);
  CHECK(out == b[2]);
  CHECK_OK(dim_relax(&f.c, a[1], b[1], &out, &f.status), f.status);
  CHECK(!dim_known(out) && out != a[1]);
  CHECK(!dim_relax(&f.c, NULL, a[0], &out, &f.status));
  CHECK_INT_EQ(f.status.code, CODE_RESOURCE_EXHAUSTED);
  fixture_end(&f);
}

static HandleData one(const ShapeAndType *entry) { return (HandleData){.count = 1, .entries = entry}; }

TEST(handle_data_is_merged_entry_by_entry) {
  Fixture f;
  fixture_begin(&f, "[2,?];[?,3];[4,4];[2,?]");
  ShapeAndType entries[] = {{f.inputs[0], DT_INVALID},
                            {f.inputs[1], DT_FLOAT},
                            {f.inputs[2], DT_FLOAT},
                            {f.inputs[3], DT_INVALID}};
  HandleData first = one(&entries[0]), second = one(&entries[1]), other = one(&entries[2]),
             same = one(&entries[3]);
  HandleData two = {.count = 2, .entries = entries};
  const HandleData *out;
  CHECK_OK(handle_data_merge(&f.c, &first, &second, &out, &f.status), f.status);
  if (CHECK(out != &first && out->count == 1)) {
    check_shape(out->entries[0].shape, "[2,3]");
    CHECK_INT_EQ(out->entries[0].dtype, DT_FLOAT);
  }
  check_shape(first.entries[0].shape, "[2,?]");
  /* The type is learnt although the shapes contradict each other. */
  CHECK_OK(handle_data_merge(&f.c, &first, &other, &out, &f.status), f.status);
  if (CHECK(out != &first)) {
    CHECK(out->entries[0].shape == f.inputs[0]);
    CHECK_INT_EQ(out->entries[0].dtype, DT_FLOAT);
  }
  CHECK_OK(handle_data_merge(&f.c, &first, &same, &out, &f.status), f.status);
  CHECK(out == &first);
  CHECK_OK(handle_data_merge(&f.c, &second, &first, &out, &f.status), f.status);
  CHECK(out == &second);
  CHECK_OK(handle_data_merge(&f.c, &first, &two, &out, &f.status), f.status);
  CHECK(out == &first);
  CHECK_OK(handle_data_merge(&f.c, NULL, &two, &out, &f.status), f.status);
  CHECK(out == &two);
  CHECK_OK(handle_data_merge(&f.c, &two, NULL, &out, &f.status), f.status);
  CHECK(out == &two);
  fixture_end(&f);
}

TEST(handle_data_is_relaxed_entry_by_entry) {
  Fixture f;
  fixture_begin(&f, "[2,3];[2,4];[2,3]");
  ShapeAndType entries[] = {{f.inputs[0], DT_FLOAT}, {f.inputs[1], DT_FLOAT}, {f.inputs[2], DT_FLOAT}};
  HandleData first = one(&entries[0]), second = one(&entries[1]), same = one(&entries[2]);
  const HandleData *out;
  CHECK_OK(handle_data_relax(&f.c, &first, &second, &out, &f.status), f.status);
  if (CHECK(out != &first)) check_shape(out->entries[0].shape, "[2,?]");
  CHECK_OK(handle_data_relax(&f.c, &first, &same, &out, &f.status), f.status);
  CHECK(out == &first);
  fixture_end(&f);
}

TEST(a_scalar_may_stand_for_an_unknown_shape) {
  Fixture f;
  ShapeHandle out;
  fixture_begin(&f, "[];[];?;[3];[2];[1,1]");
  fixture_scalar(&f, 0, DT_INT32, -1);
  fixture_scalar(&f, 1, DT_INT64, 1);
  fixture_vector(&f, 4, DT_INT32, 2, (int64_t[]){7, -1});
  CHECK_OK(shape_from_input_tensor_or_scalar(&f.c, 0, &out, &f.status), f.status);
  check_shape(out, "?");
  CHECK(!shape_from_input_tensor_or_scalar(&f.c, 1, &out, &f.status));
  CHECK_STR_EQ(f.status.message,
               "Input tensor must be rank 1, or if its rank 0 it must have value -1 (representing an unknown "
               "shape).  Saw value: 1");
  CHECK_OK(shape_from_input_tensor_or_scalar(&f.c, 2, &out, &f.status), f.status);
  check_shape(out, "?");
  CHECK(f.requested[2] && f.requested_as_shape[2]);
  CHECK_OK(shape_from_input_tensor_or_scalar(&f.c, 3, &out, &f.status), f.status);
  check_shape(out, "[?,?,?]");
  CHECK_OK(shape_from_input_tensor_or_scalar(&f.c, 4, &out, &f.status), f.status);
  check_shape(out, "[7,?]");
  CHECK(!shape_from_input_tensor_or_scalar(&f.c, 5, &out, &f.status));
  CHECK_STR_EQ(f.status.message, "Shape must be at most rank 1 but is rank 2");
  fixture_end(&f);
}

static bool walk(Fixture *f) {
  ShapeAndType entries[] = {{f->inputs[0], DT_INVALID}, {f->inputs[1], DT_FLOAT}, {f->inputs[2], DT_FLOAT}};
  HandleData first = one(&entries[0]), second = one(&entries[1]), third = one(&entries[2]);
  const HandleData *data;
  ShapeHandle out;
  return shape_relax(&f->c, f->inputs[0], f->inputs[1], &out, &f->status) &&
         handle_data_merge(&f->c, &first, &third, &data, &f->status) &&
         handle_data_relax(&f->c, &first, &second, &data, &f->status);
}

TEST(relaxing_survives_want_of_memory) {
  Shortage shortage = {.what = "relaxing"};
  do {
    Fixture f;
    fixture_begin(&f, "[2,3,?,5];[2,4,7,5];[?,3,7,5]");
    shortage_begin(&shortage);
    bool ok = walk(&f);
    shortage_end(&shortage, ok, f.status.code);
    fixture_end(&f);
  } while (shortage_next(&shortage));
}
