/** The layers that can be built, by the names of their classes. */
import { LayerFunction, withoutMasks } from './layer.js';
import { ATTENTION } from './layers/attention.js';
import { CONVOLUTION } from './layers/convolution.js';
import { DENSE } from './layers/dense.js';
import { EINSUM } from './layers/einsum.js';
import { LOOKUP } from './layers/lookup.js';
import { MERGING } from './layers/merging.js';
import { NORMALIZATION } from './layers/normalization.js';
import { OPERATION_LAYERS } from './layers/operations.js';
import { POOLING } from './layers/pooling.js';
import { RECURRENT } from './layers/recurrent.js';
import { SHAPING } from './layers/shaping.js';

export const LAYERS: ReadonlyMap<string, LayerFunction> = new Map(
  Object.entries({
    ...ATTENTION,
    ...withoutMasks(CONVOLUTION),
    ...DENSE,
    ...withoutMasks(EINSUM),
    ...LOOKUP,
    ...MERGING,
    ...NORMALIZATION,
    ...OPERATION_LAYERS,
    ...withoutMasks(POOLING),
    ...RECURRENT,
    ...SHAPING,
  }),
);
