import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ARROWS, checkIncludes } from '../../tools/check-includes.mjs';
import { root } from '../../tools/process.mjs';

describe('the check of include directions', () => {
  let src;
  beforeEach(() => {
    src = mkdtempSync(path.join(tmpdir(), 'includes-'));
    write('base/status.h', '');
    write('graph/graph.h', '#include "base/status.h"\n#include <stdint.h>\n');
    write('graph/graph_internal.h', '');
    write('ops/op_table.h', '');
    write('ops/op_table.c', '#include "ops/op_table.h"\n#include "op_table.inc"\n');
    write('ops/support/broadcast.h', '#include "base/status.h"\n');
    write('ops/math/product.h', '#include "ops/support/broadcast.h"\n');
    write('ops/math/matmul.c', '#include "base/status.h"\n#include "ops/math/product.h"\n');
  });
  afterEach(() => rmSync(src, { recursive: true }));

  function write(file, text) {
    mkdirSync(path.join(src, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(src, file), text);
  }

  it('accepts includes that follow the arrows, however far down', () => {
    assert.deepEqual(checkIncludes(src), []);
  });

  it('names file and line of an include against the arrow', () => {
    write('base/vec.c', '\n  #  include "graph/graph.h"\n');
    assert.deepEqual(checkIncludes(src), [
      'base/vec.c:2: base/ may not include from graph/ ("graph/graph.h")',
    ]);
  });

  it('sees .inc files, and siblings that no arrow joins', () => {
    write('ops/nn/conv.inc', '#include "graph/graph.h"\n');
    assert.deepEqual(checkIncludes(src), [
      'ops/nn/conv.inc:1: ops/ may not include from graph/ ("graph/graph.h")',
    ]);
  });

  it('lets a wing include from itself and from support/ only', () => {
    write('ops/nn/dense.c', '#include "ops/support/broadcast.h"\n#include "ops/math/product.h"\n');
    write('ops/nn/softmax.inc', '#include "ops/op_table.h"\n');
    write('ops/support/windows.c', '#include "ops/math/product.h"\n');
    write('ops/op_list.c', '#include "ops/math/product.h"\n');
    const only = 'a wing may include from itself and from ops/support/ only';
    assert.deepEqual(checkIncludes(src), [
      `ops/nn/dense.c:2: ${only} ("ops/math/product.h")`,
      `ops/nn/softmax.inc:1: ${only} ("ops/op_table.h")`,
      `ops/op_list.c:1: ${only} ("ops/math/product.h")`,
      `ops/support/windows.c:1: ${only} ("ops/math/product.h")`,
    ]);
  });

  it('keeps generated and system headers where they belong', () => {
    write('graph/bad.c', '#include "tensorflow/core/framework/node_def.pb-c.h"\n#include <emscripten.h>\n');
    assert.deepEqual(checkIncludes(src), [
      'graph/bad.c:1: only proto may include tensorflow/core/framework/node_def.pb-c.h',
      'graph/bad.c:2: only c_api and wasm may include emscripten.h',
    ]);
  });

  it('refuses bare names, headers that are not there, private headers, second files of one name, unknown folders', () => {
    write('graph/other.c', '#include "graph.h"\n#include "base/none.h"\n');
    write('function/text.c', '#include "graph/graph_internal.h"\n');
    write('runtime/text.c', '');
    write('extra/x.c', '');
    assert.deepEqual(checkIncludes(src), [
      'extra: no arrow is known for this folder',
      'function/text.c:1: "graph/graph_internal.h" is private to graph/',
      'graph/other.c:1: "graph.h" does not name a folder of src/',
      'graph/other.c:2: "base/none.h" does not exist',
      'runtime/text.c: the name is taken by function/text.c',
    ]);
  });

  it('has the table that CMake links by', () => {
    const linked = {};
    for (const [, words] of readFileSync(path.join(root, 'CMakeLists.txt'), 'utf8').matchAll(
      /tfcore_module\(([\w ]+)\)/g,
    )) {
      const [name, ...below] = words.split(' ').filter((word) => word !== 'proto_messages');
      linked[name] = below;
    }
    assert.deepEqual(linked, ARROWS);
  });
});
