# The modules of src/ as static libraries, the messages of proto/, and the table of ops.

set(TFCORE_GENERATED ${CMAKE_BINARY_DIR}/generated)
set(TFCORE_MODULES "" CACHE INTERNAL "")
# What runs while graphs are made and steps are prepared, and the wings and files of src/ops/ that have no loops over numbers,
# need not be fast, but are downloaded: they are compiled for size (-Oz), except the files that run for each kernel. Where loops
# matter, but unrolled and inlined copies of them do not, -Os is as fast as -O3: in these files of src/ops/, src/blas/ and
# src/base/.
set(TFCORE_COMPACT_MODULES
  proto op device graph function placement gradient optimizer runtime checkpoint c_api wasm)
set(TFCORE_FAST_FILES op/kernel.c op/resource.c op/step.c runtime/program_flow.c runtime/program_run.c)
set(TFCORE_COMPACT_OPS
  codecs control_flow data io math/batch_matmul math/einsum parsing strings support/fused_emit support/fused_formula
  support/fused_groups support/fused_plan support/fused_program tables)
set(TFCORE_SMALL_OPS
  array/broadcast_args array/concat array/dynamic_partition array/gather array/gather_nd array/nd_index array/one_hot
  array/pack array/reshape array/reverse array/shape_ops array/slice array/source array/space_depth array/split
  array/strided_slice array/transpose_op array/where lists math/batch_product math/fused_elementwise
  math/matrix_product math/reduction_ops math/select nn/batch_norm nn/fused_ops nn/fused_recurrence random support/fused_run
  support/kernel_chain support/product_epilogue support/reduction support/reshape_sizes support/window_attrs)
set(TFCORE_SMALL_BLAS byte_moves channel_norm gemm_int reduce_int softmax)
set(TFCORE_SMALL_BASE copy decimal file_draft file_memory file_store log status str string_map team text_format)
# The builds that are split have no unrolled loops in src/ops/, whose templates have vectors already, and in these files of
# src/blas/; but in these files of src/ops/, where unrolled loops are faster.
set(TFCORE_ROLLED_BLAS transpose)
set(TFCORE_UNROLLED_OPS math/cast nn/pooling)
# The side ops, which most programs never use: wings of src/ops/, and files of other wings. Builds without threads have them in
# a module of their own, which is fetched when such an op is looked up (tools/split-wasm.mjs), as are the kernels for rarer
# types. Gradients of other ops do not need them, so that training does not fetch it.
set(TFCORE_SIDE_OPS
  array/bitcast array/check_numerics array/diag array/empty array/gather_nd array/matrix_diagonals
  array/mirror_pad array/reverse_sequence array/roll array/scatter_nd array/search_sorted
  array/unique codecs control_flow/abort control_flow/map_accumulate control_flow/ref_select ctc
  data image/colours image/combined_non_max_suppression image/crop_and_resize image/draw_boxes
  image/extract_glimpse image/projective_transform image/quantized_resize image/resize_bicubic
  image/resize_bilinear image/resize_nearest image/scale_and_translate io/image_summary
  io/save_restore_v1 io/summary io/tensor_summary linalg lists/accumulator_ops lists/optional_ops
  lists/queue_join lists/queue_makers lists/queue_ops lists/tensor_array_joins
  lists/tensor_list_joins lists/tensor_list_parts lists/tensor_list_rows math/approximate_equal
  math/bincount math/bitwise math/complex_parts math/cumulative math/gamma_ops math/histogram
  math/incomplete_ops math/lin_space math/next_after math/segment math/sparse_matmul
  math/sparse_segment math/special math/special_functions math/trigonometry math/truncated_division
  math/zero_products nn/block_lstm nn/conv3d nn/dilation nn/gru_block_cell nn/lrn nn/lstm_block_cell
  nn/max_pool_argmax nn/patches nn/pooling3d nn/top_k parsing quant random/accidental_hits
  random/candidate_samplers random/distorted_box random/fractional_pool random/random_binomial
  random/random_gamma random/random_index_shuffle random/random_poisson random/random_shuffle
  random/stateful_random signal sparse state/count_up_to state/scatter_update strings tables
  training/sparsity_training)
# Files of which only the kernels for int32, int64 and bool are in that module: such numbers are mostly sizes and indices.
set(TFCORE_INTEGERS_ASIDE
  math/arg_reduce math/batch_matmul math/clip math/einsum math/matmul math/matrix_product math/power math/segment_rows
  math/unsorted_segment nn/pooling)
# What training needs is in a third module: sources of src/, other ops, and all ops whose names say that they compute gradients or
# apply them; and partial runs, which are as rare. It is fetched when one of these is asked for. Transposed convolutions are
# Conv2DBackpropInput also where nothing is trained.
set(TFCORE_TRAINING_SOURCES
  gradient function/text/function_parse function/text/function_print checkpoint c_api/c_api_function_of_graph
  c_api/c_api_gradients c_api/c_api_gradient_check runtime/partial_run runtime/partial_units)
set(TFCORE_TRAINING_OPS
  array/broadcast_args array/dynamic_partition io/save_restore lists/stack math/unsorted_segment nn/l2_loss random
  state/assign_add state/reference_variable training)
set(TFCORE_TRAINING_NAMES "Grad(Grad|WithShape)?(V2|V3)?$|BackpropFilter$|NativeBackpropInput$|Apply|CrossEntropyWithLogits$|^(ConcatOffset|EuclideanNorm|TensorListPopBack|InvertPermutation)$")

# tfcore_proto_messages: what protoc-c makes of proto/, plus protobuf-c's own runtime.
function(tfcore_proto_messages)
  find_program(TFCORE_PROTOC_C protoc-c REQUIRED)
  file(GLOB_RECURSE protos RELATIVE ${CMAKE_SOURCE_DIR}/proto CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/proto/*.proto)
  list(TRANSFORM protos PREPEND ${CMAKE_SOURCE_DIR}/proto/ OUTPUT_VARIABLE proto_paths)
  set(generated "")
  foreach(proto IN LISTS protos)
    string(REGEX REPLACE "\\.proto$" ".pb-c" stem ${TFCORE_GENERATED}/${proto})
    add_custom_command(
      OUTPUT ${stem}.c ${stem}.h
      COMMAND ${CMAKE_COMMAND} -E make_directory ${TFCORE_GENERATED}
      COMMAND ${TFCORE_PROTOC_C} -I ${CMAKE_SOURCE_DIR}/proto --c_out=${TFCORE_GENERATED} ${CMAKE_SOURCE_DIR}/proto/${proto}
      DEPENDS ${proto_paths}
      COMMENT "protoc-c ${proto}"
      VERBATIM)
    list(APPEND generated ${stem}.c ${stem}.h)
  endforeach()

  add_library(tfcore_proto_messages STATIC ${generated})
  # The generated code is not ours: its warnings are nobody's business.
  target_compile_options(tfcore_proto_messages PRIVATE -w)
  target_include_directories(tfcore_proto_messages SYSTEM PUBLIC ${TFCORE_GENERATED})
  if(EMSCRIPTEN)
    if(NOT EXISTS ${TFCORE_PROTOBUF_C_SOURCE}/protobuf-c/protobuf-c.c)
      message(FATAL_ERROR "TFCORE_PROTOBUF_C_SOURCE must name the unpacked sources of protobuf-c; `node tools/setup.mjs` fetches them")
    endif()
    target_sources(tfcore_proto_messages PRIVATE ${TFCORE_PROTOBUF_C_SOURCE}/protobuf-c/protobuf-c.c)
    target_include_directories(tfcore_proto_messages SYSTEM PUBLIC ${TFCORE_PROTOBUF_C_SOURCE})
  else()
    find_library(TFCORE_PROTOBUF_C protobuf-c REQUIRED)
    target_link_libraries(tfcore_proto_messages PUBLIC ${TFCORE_PROTOBUF_C})
  endif()
  set(TFCORE_MODULES proto_messages CACHE INTERNAL "")
endfunction()

# tfcore_module(<folder> <module>...): the static library tfcore_<folder> of the .c files below src/<folder>/, using the
# modules named. A folder without .c files becomes an interface library, so that what stands above it can be configured.
function(tfcore_module name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.c)
  if(name STREQUAL ops)
    tfcore_op_table(sources "${sources}")
    tfcore_options(-Oz ops "${TFCORE_COMPACT_OPS}" "${sources}")
    tfcore_options(-Os ops "${TFCORE_SMALL_OPS}" "${sources}")
    tfcore_options(-funroll-loops ops "${TFCORE_UNROLLED_OPS}" "${sources}")
  elseif(name STREQUAL base)
    tfcore_options(-Os base "${TFCORE_SMALL_BASE}" "${sources}")
  elseif(name STREQUAL blas)
    tfcore_options(-Os blas "${TFCORE_SMALL_BLAS}" "${sources}")
    if(NOT TFCORE_THREADS)
      tfcore_options(-fno-unroll-loops blas "${TFCORE_ROLLED_BLAS}" "${sources}")
    endif()
  endif()
  list(TRANSFORM ARGN PREPEND tfcore_ OUTPUT_VARIABLE below)
  if(sources)
    add_library(tfcore_${name} STATIC ${sources})
    target_compile_options(tfcore_${name} PRIVATE ${TFCORE_WARNINGS})
    if(EMSCRIPTEN AND name IN_LIST TFCORE_COMPACT_MODULES)
      target_compile_options(tfcore_${name} PRIVATE -Oz)
      list(TRANSFORM TFCORE_FAST_FILES PREPEND ${CMAKE_SOURCE_DIR}/src/ OUTPUT_VARIABLE fast)
      set_property(SOURCE ${fast} APPEND PROPERTY COMPILE_OPTIONS -O3)
    endif()
    if(name STREQUAL ops AND EMSCRIPTEN AND NOT TFCORE_THREADS)
      target_compile_options(tfcore_ops PRIVATE -fno-unroll-loops)
    endif()
    if(name STREQUAL ops)
      tfcore_codecs("${sources}")
    endif()
    set(scope PUBLIC)
    set(TFCORE_MODULES ${TFCORE_MODULES} ${name} CACHE INTERNAL "")
  else()
    add_library(tfcore_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(tfcore_${name} ${scope} ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(tfcore_${name} ${scope} ${below} m)
endfunction()

# The option for the sources of these folders and files of src/<folder>/.
function(tfcore_options option folder places sources)
  if(EMSCRIPTEN)
    list(JOIN places "|" pattern)
    list(FILTER sources INCLUDE REGEX "/src/${folder}/(${pattern})(/|\\.c)")
    set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS ${option})
  endif()
endfunction()

# The folder of a source of ops/.
function(tfcore_wing_of result source)
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(wing ${folder} NAME)
  set(${result} ${wing} PARENT_SCOPE)
endfunction()

# Writes generated/op_table.inc: one line for each `const OpRegistration kOpName = {` in the chosen families, sorted.
# TFCORE_OP_FAMILIES names a family (a file of a wing) or a whole wing. Sets `result` to the sources to compile: the chosen
# families, the files that register no op (helpers) of their wings, and wings without any op.
function(tfcore_op_table result sources)
  set(families "")
  set(helpers "")
  set(wings_with_ops "")
  set(wings_chosen "")
  foreach(source IN LISTS sources)
    get_filename_component(family ${source} NAME_WE)
    tfcore_wing_of(wing ${source})
    file(STRINGS ${source} registers REGEX "^const OpRegistration kOp" LIMIT_COUNT 1)
    if(NOT registers)
      list(APPEND helpers ${source})
      continue()
    endif()
    list(APPEND wings_with_ops ${wing})
    if(NOT TFCORE_OP_FAMILIES OR family IN_LIST TFCORE_OP_FAMILIES OR wing IN_LIST TFCORE_OP_FAMILIES)
      list(APPEND families ${source})
      list(APPEND wings_chosen ${wing})
    endif()
  endforeach()
  set(compiled ${families})
  foreach(source IN LISTS helpers)
    tfcore_wing_of(wing ${source})
    if(wing IN_LIST wings_chosen OR NOT wing IN_LIST wings_with_ops)
      list(APPEND compiled ${source})
    endif()
  endforeach()
  if(compiled)
    set(table ${TFCORE_GENERATED}/op_table.inc)
    string(JOIN "," joined ${families})
    string(JOIN "," side_ops ${TFCORE_SIDE_OPS})
    string(JOIN "," training_ops ${TFCORE_TRAINING_OPS})
    string(JOIN "," integers_aside ${TFCORE_INTEGERS_ASIDE})
    add_custom_command(
      OUTPUT ${table}
      COMMAND ${CMAKE_COMMAND} -DTABLE=${table} -DSOURCES=${joined} -DSIDE_OPS=${side_ops} -DINTEGERS_ASIDE=${integers_aside} -DTRAINING_OPS=${training_ops} "-DTRAINING_NAMES=${TFCORE_TRAINING_NAMES}" -P ${CMAKE_SOURCE_DIR}/cmake/WriteOpTable.cmake
      DEPENDS ${families} ${CMAKE_SOURCE_DIR}/cmake/WriteOpTable.cmake
      COMMENT "op_table.inc"
      VERBATIM)
    list(APPEND compiled ${table})
  endif()
  set(${result} ${compiled} PARENT_SCOPE)
endfunction()
