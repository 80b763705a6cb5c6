/** x[...] in a model: its indices, in the forms of Keras 2 and 3. */
import { isPlainObject } from '../../base/arguments.js';
import type { Output } from '../../graph/operation.js';
import { objectOr } from '../../base/json.js';
import type { Argument, Call, Layer } from '../layer.js';

/** The numbers and masks of StridedSlice. */
class Indices {
  readonly begin: number[] = [];
  readonly end: number[] = [];
  readonly step: number[] = [];
  readonly masks: Record<string, number> = {};

  add(item: unknown, layer: Layer): void {
    const bit = 1 << this.begin.length;
    const set = (mask: string): void => void (this.masks[mask] = (this.masks[mask] ?? 0) | bit);
    let [begin, end, step] = [0, 0, 1];
    if (typeof item === 'number') {
      [begin, end] = [item, item + 1];
      set('shrink_axis_mask');
    } else if (item === null) set('new_axis_mask');
    else if (item === 'Ellipsis' || objectOr(item).class_name === '__ellipsis__') set('ellipsis_mask');
    else if (isPlainObject(item)) {
      const bounds = objectOr(item.config, item);
      const number = (key: string, mask: string | undefined, otherwise: number): number => {
        const value = bounds[key];
        if (typeof value === 'number') return value;
        if (value !== null && value !== undefined) throw layer.refuse('an index is no number');
        if (mask) set(mask);
        return otherwise;
      };
      begin = number('start', 'begin_mask', 0);
      end = number('stop', 'end_mask', 0);
      step = number('step', undefined, 1);
    } else throw layer.refuse('an index is no number');
    this.begin.push(begin);
    this.end.push(end);
    this.step.push(step);
  }
}

export function sliced(layer: Layer, call: Call): Output {
  const spec: Argument | undefined = call.argument('slice_spec', 1) ?? call.kwargs.key;
  const indices = new Indices();
  for (const item of Array.isArray(spec) ? (spec as readonly unknown[]) : [spec]) indices.add(item, layer);
  const vectors = [indices.begin, indices.end, indices.step].map((values) => layer.constant(values, 'int32'));
  return layer.op('StridedSlice', [call.input, ...vectors], indices.masks);
}
