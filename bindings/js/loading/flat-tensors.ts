/** The tensors of a signature. */
import { TensorInfo } from '../messages/meta-graph.js';
import { DType, dtypeFromNumber } from '../tensor/dtypes.js';

/** A tensor of a signature; a sparse or composite one is several tensors. */
export interface FlatTensor {
  /** The name in the signature. */
  readonly key: string;
  /** The name in the graph: 'node:0'. */
  readonly tensor: string;
  readonly dtype?: DType;
  readonly shape?: (number | null)[] | null;
}

export function flatten(infos: ReadonlyMap<string, TensorInfo>): FlatTensor[] {
  return [...infos].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([key, info]) => flatTensors(key, info));
}

function flatTensors(key: string, { name, dtype, sparse, composite, shape }: TensorInfo): FlatTensor[] {
  if (sparse) {
    const { values = '', indices = '', denseShape = '' } = sparse;
    return [
      { key: `${key}/values`, tensor: values },
      { key: `${key}/indices`, tensor: indices },
      { key: `${key}/dense_shape`, tensor: denseShape },
    ];
  }
  if (composite)
    return (composite.components ?? []).flatMap((bytes, i) =>
      flatTensors(`${key}/${i}`, TensorInfo.decode(bytes)),
    );
  return [
    {
      key,
      tensor: name ?? '',
      ...(dtype && { dtype: dtypeFromNumber(dtype) }),
      ...(shape !== undefined && { shape: shape as (number | null)[] | null }),
    },
  ];
}
