/* Tensors in the engine's memory that JavaScript shares and writes. */
#include "wasm/wasm_tensors.h"

#include "c_api/c_api_fixture.h"
#include "shortage.h"

static float *writable(Fixture *f, TF_Tensor *tensor) { return TF_WasmWritableData(tensor, f->status); }

TEST(a_shared_tensor_has_the_same_memory_until_both_are_deleted) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_Tensor *tensor = float_vector(2, (float[]){1, 2}), *shared = TF_WasmShareTensor(tensor, f.status);
  REQUIRE(shared);
  CHECK_TF_OK(f.status);
  CHECK(TF_TensorData(shared) == TF_TensorData(tensor));
  CHECK_INT_EQ(TF_Dim(shared, 0), 2);
  TF_DeleteTensor(tensor);
  CHECK(((float *)TF_TensorData(shared))[1] == 2);
  TF_DeleteTensor(shared);
  end(&f);
}

TEST(writing_changes_no_other_tensor_of_the_memory) {
  Fixture f;
  REQUIRE(begin(&f));
  TF_Tensor *tensor = float_vector(2, (float[]){1, 2});
  float *data = TF_TensorData(tensor);
  CHECK(writable(&f, tensor) == data);
  TF_Tensor *shared = TF_WasmShareTensor(tensor, f.status);
  float *own = writable(&f, tensor);
  CHECK_TF_OK(f.status);
  REQUIRE(own && own != data);
  CHECK(own[0] == 1 && own[1] == 2);
  own[0] = 3;
  CHECK(TF_TensorData(shared) == data);
  CHECK(data[0] == 1);
  CHECK(TF_TensorData(tensor) == own);
  CHECK(writable(&f, tensor) == own);
  TF_DeleteTensor(shared);
  TF_DeleteTensor(tensor);
  end(&f);
}

TEST(sharing_and_writing_say_that_memory_ran_out) {
  Shortage shortage = {.what = "a shared tensor"};
  do {
    Fixture f;
    REQUIRE(begin(&f));
    TF_Tensor *tensor = float_vector(2, (float[]){1, 2});
    shortage_begin(&shortage);
    TF_Tensor *shared = TF_WasmShareTensor(tensor, f.status);
    const float *data = shared ? writable(&f, tensor) : NULL;
    shortage_end(&shortage, data != NULL, (Code)TF_GetCode(f.status));
    CHECK(((float *)TF_TensorData(tensor))[1] == 2);
    TF_DeleteTensor(shared);
    TF_DeleteTensor(tensor);
    end(&f);
  } while (shortage_next(&shortage));
}
