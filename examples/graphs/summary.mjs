// A summary of a graph.

/**
 * Returns `nodes` and `edges` (data inputs) as numbers, `ops` as [type, count] with the most frequent first,
 * `functions` by name, the GraphDef version of its `producer`, and the names of its `inputs` (placeholders)
 * and `results` (unused operations).
 */
export function summarize(graph) {
  const operations = graph.operations();
  const counts = new Map();
  const used = new Set();
  let edges = 0;
  for (const operation of operations) {
    const { type } = operation;
    counts.set(type, (counts.get(type) ?? 0) + 1);
    for (const input of operation.inputs) {
      used.add(input.operation);
      edges++;
    }
    for (const control of operation.controlInputs) used.add(control);
  }
  const named = (wanted) => operations.filter(wanted).map(({ name }) => name);
  return {
    nodes: operations.length,
    edges,
    ops: [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)),
    functions: graph.functions().map(({ name }) => name),
    producer: graph.versions.producer,
    inputs: counts.has('Placeholder') ? named((operation) => operation.type === 'Placeholder') : [],
    results: named((operation) => !used.has(operation)),
  };
}

/** 'float32 [?, 64]' for an output; '?' if nothing is known. */
export function describeOutput(output) {
  const { dtype, shape } = output;
  return `${dtype} ${shape ? `[${shape.map((size) => size ?? '?').join(', ')}]` : '?'}`;
}
