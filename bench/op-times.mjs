// Adds up the times of the nodes in traced steps.
import { median } from './measure.mjs';

/**
 * The mean of a node's times in milliseconds. What is far above the median was interrupted; below 0.01 ms that cannot be
 * told, because the clock has steps of 0.005 ms.
 */
function typicalTime(times) {
  const most = 1.5 * median(times) + 0.01;
  return times.reduce((sum, time) => sum + Math.min(time, most), 0) / times.length;
}

/**
 * [{ op, count, time }] of the records of several steps (Trace.records): the sum of the times of each op's nodes in a step,
 * the longest first.
 */
export function timesByOp(steps) {
  const nodes = new Map(); // by name and turn, because loops run a node again
  for (const records of steps) {
    const turns = new Map();
    for (const { node, op, duration } of records) {
      const turn = turns.get(node) ?? 0;
      turns.set(node, turn + 1);
      const key = `${node} ${turn}`;
      if (!nodes.has(key)) nodes.set(key, { op, times: [] });
      nodes.get(key).times.push(duration / 1000);
    }
  }
  const ops = new Map();
  for (const { op, times } of nodes.values()) {
    const sum = ops.get(op) ?? { op, count: 0, time: 0 };
    ops.set(op, { op, count: sum.count + 1, time: sum.time + typicalTime(times) });
  }
  return [...ops.values()].sort((a, b) => b.time - a.time);
}
