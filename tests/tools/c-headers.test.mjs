import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { exportedFunctions, readHeaders } from '../../tools/c-headers.mjs';
import { abiOf, exportListOf, usedOf } from '../../tools/generate-abi.mjs';

const HEADER = `
typedef struct TF_Thing TF_Thing;
typedef struct TF_Status TF_Status;
typedef struct TF_Pair {
  TF_Thing *thing; /* not TF_CAPI_EXPORT */
  union { int a; int b; } u;
} TF_Pair;
typedef enum TF_Kind { TF_ONE = 1 } TF_Kind;
#define TF_Flag unsigned char
/* TF_CAPI_EXPORT extern void TF_Commented(void); */
TF_CAPI_EXPORT extern TF_Thing *TF_NewThing(const char *name, const int64_t *const *dims, size_t count,
                                            int64_t id, TF_Status *status);
TF_CAPI_EXPORT extern TF_Pair TF_Other(TF_Pair pair, TF_Flag *flags, TF_Kind kind);
TF_CAPI_EXPORT extern void TF_Visit(void (*visit)(TF_Thing *thing, void *, double), const TF_Thing *const things[]);
extern void not_exported(int a);
`;

describe('the reader of C headers', () => {
  it('finds the exported functions, with the types of their parameters', () => {
    const show = (parameter) => `${parameter.name}: ${JSON.stringify(parameter.type)}`;
    const found = exportedFunctions(HEADER).map(({ name, returns, parameters }) => [
      name,
      returns,
      ...parameters.map(show),
    ]);
    const visit =
      '{"returns":"void","parameters":[{"name":"thing","type":"TF_Thing*"},{"type":"void*"},{"type":"double"}]}';
    assert.deepEqual(found, [
      [
        'TF_NewThing',
        'TF_Thing*',
        'name: "char*"',
        'dims: "int64_t**"',
        'count: "size_t"',
        'id: "int64_t"',
        'status: "TF_Status*"',
      ],
      ['TF_Other', 'TF_Pair', 'pair: "TF_Pair"', 'flags: "TF_Flag*"', 'kind: "TF_Kind"'],
      ['TF_Visit', 'void', `visit: ${visit}`, 'things: "TF_Thing**"'],
    ]);
  });

  it('gives types: branded pointers, bigint for 64 bits, structs by address, callbacks with their signature', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'headers-'));
    try {
      writeFileSync(path.join(folder, 'thing.h'), HEADER);
      const abi = abiOf(readHeaders([path.join(folder, 'thing.h')]));
      for (const line of [
        "export type PairPtr = Ptr<'TF_Pair'>;",
        "export type ThingPtr = Handle<'TF_Thing'>;",
        "  TF_NewThing(name: TextPtr | Null, dims: Ptr<Ptr<'int64_t'>> | Null, count: number, id: bigint, status: StatusPtr): ThingPtr;",
        "  TF_Other(result: PairPtr, pair: PairPtr, flags: Ptr<'unsigned char'> | Null, kind: number): void;",
        '  TF_Visit(visit: CallbackPtr<(thing: ThingPtr, arg1: Ptr<unknown>, arg2: number) => void> | Null, things: Ptr<ThingPtr> | Null): void;',
      ])
        assert.ok(abi.includes(`${line}\n`), `${line}\n is not in\n${abi}`);
      writeFileSync(path.join(folder, 'thing.h'), 'TF_CAPI_EXPORT extern void TF_Use(TF_Unheard *what);');
      assert.throws(() => abiOf(readHeaders([path.join(folder, 'thing.h')])), /TF_Unheard is unknown/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('leaves out the functions that the bindings do not name', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'headers-'));
    try {
      writeFileSync(path.join(folder, 'thing.h'), HEADER);
      const headers = usedOf(readHeaders([path.join(folder, 'thing.h')]), [
        'call.TF_Visit(0, 0); call.TF_VisitOthers();',
        'wasm.checked((status) => call.TF_NewThing(0, 0, 0, 0n, status))',
      ]);
      assert.equal(exportListOf(headers), '_malloc\n_free\n_TF_NewThing\n_TF_Visit\n');
      assert.ok(!abiOf(headers).includes('TF_Other('));
      const computed = usedOf(readHeaders([path.join(folder, 'thing.h')]), ['call[`TF_Ot${name}`]()']);
      assert.equal(exportListOf(computed), '_malloc\n_free\n_TF_Other\n');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
