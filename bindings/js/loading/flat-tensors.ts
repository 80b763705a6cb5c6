/** The tensors of a signature. */
import { SignatureDef, TensorInfo } from '../messages/meta-graph.js';
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

type Infos = ReadonlyMap<string, TensorInfo>;

export function flatten(infos: Infos): FlatTensor[] {
  return [...infos].flatMap(([key, info]) => flatTensors(key, info));
}

const sortedByKey = (infos: Infos): Map<string, TensorInfo> =>
  new Map([...infos].sort(([a], [b]) => (a < b ? -1 : 1)));

/** A signature of protobuf, whose maps have no order: TensorFlow sorts the tensors by their keys. */
export const sortedSignature = ({ inputs, outputs, ...rest }: SignatureDef): SignatureDef => ({
  ...rest,
  ...(inputs && { inputs: sortedByKey(inputs) }),
  ...(outputs && { outputs: sortedByKey(outputs) }),
});

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
