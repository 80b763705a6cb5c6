import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { packData } from '../../tools/pack-data.mjs';
import { must, root } from '../../tools/process.mjs';
import { setUp } from '../../tools/setup.mjs';
import { dataSegments, replaceData } from '../../tools/wasm-object.mjs';

/** A module with room for data, which says where that and the stack are. */
const SOURCE = `
static volatile unsigned char room[40000];
static unsigned char seen;
extern unsigned char __stack_low[], __stack_high[];
/* As early as the constructors of the C library. */
#pragma clang diagnostic ignored "-Wprio-ctor-dtor"
__attribute__((constructor(100))) static void look(void) { seen = room[0]; }
__attribute__((export_name("seen"))) int seen_by_constructor(void) { return seen; }
__attribute__((export_name("room"))) volatile unsigned char *room_begins(void) { return room; }
__attribute__((export_name("low"))) unsigned char *low(void) { return __stack_low; }
__attribute__((export_name("high"))) unsigned char *high(void) { return __stack_high; }
`;

describe('packed data', function () {
  this.timeout(60_000);
  let module;
  let room;
  let stack;
  const instance = (bytes) => new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;

  before(async () => {
    const tools = await setUp();
    const folder = mkdtempSync(path.join(tmpdir(), 'packed-'));
    try {
      const [source, wasm] = [path.join(folder, 'room.c'), path.join(folder, 'room.wasm')];
      writeFileSync(source, SOURCE);
      const unpacker = path.join(root, 'src/wasm/packed_data.c');
      const emcc = path.join(path.dirname(tools.emcmake), 'emcc');
      const flags = ['-Oz', '--no-entry', '-sSTACK_SIZE=128KB', '-sMALLOC=none'];
      await must(emcc, [...flags, source, unpacker, '-o', wasm], { env: tools.env });
      module = readFileSync(wasm);
    } finally {
      rmSync(folder, { recursive: true });
    }
    const { low, high, room: roomBegins } = instance(module);
    stack = { low: low(), high: high() };
    room = roomBegins();
  });

  /** What the data is in a module in which it was packed. `bytes` begin where the room does. */
  function unpacked(bytes, literals) {
    const places = literals.map(({ start, end }) => ({ start: room + start, end: room + end }));
    const packed = packData(replaceData(module, [{ address: room, bytes }]), places, stack);
    assert.deepEqual(
      dataSegments(packed).map(({ address }) => address),
      [stack.low],
    );
    const { memory, seen, _initialize: initialize } = instance(packed);
    initialize();
    assert.equal(seen(), bytes[0]);
    const made = Buffer.from(memory.buffer.slice(room, room + bytes.length));
    const behind = new Uint8Array(memory.buffer, room + bytes.length, 40_000 - bytes.length);
    assert.ok(behind.every((byte) => byte === 0));
    return made;
  }

  it('is what it was', () => {
    /* Literals at all alignments, of which some are equal, and one is empty. */
    const texts = ['one', 'T: type', '', 'one', 'T: type', 'four', 'Grüße', 'one'];
    const literals = [];
    const bytes = Buffer.alloc(30_001);
    bytes[0] = 7;
    let at = 3;
    texts.forEach((text, i) => {
      const start = at + i * 5;
      at = start + bytes.write(`${text}\0`, start);
      literals.push({ start, end: at });
    });
    /* Addresses of literals in both directions, of functions, of data, small numbers, and others. */
    const words = [
      ...[0, 1, 2, 5, 3, 7, 7, 0].map((i) => room + literals[i].start),
      ...[1, 2, 3, 70, 71, 60, 72, 8000, 8191, 8192],
      ...[room, room + 29_000, room + 4, 55, 56, 57, 63, 64, 127, 128, 255, 256],
      ...[0xffff_ffff, 0x8000_0000, 0x3f80_0000, 0xff, 0xff00, 0xff_0000, 0xff00_0000],
    ];
    at = 1000;
    for (const word of words) at = bytes.writeUInt32LE(word, at);
    for (const zeros of [1, 2, 191, 192, 193, 194, 1000, 4000])
      at = bytes.writeUInt32LE(zeros, at + 4 * zeros);
    bytes[30_000] = 9;
    assert.ok(at < 30_000);
    assert.deepEqual(unpacked(bytes, literals), bytes);
  });

  it('may be without literals, and of any numbers', () => {
    const bytes = Buffer.alloc(20_000);
    let state = 1;
    for (let i = 0; i < bytes.length; i++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      bytes[i] = (state >>> 16) % 3 ? 0 : state >>> 24;
    }
    assert.deepEqual(unpacked(bytes, []), bytes);
  });

  it('may have literals that were moved away', () => {
    const bytes = Buffer.from('stays\0\0\0\0\0\0\0stays\0');
    const literals = [
      { start: 0, end: 6 },
      { start: 6, end: 12 },
      { start: 12, end: 18 },
    ];
    assert.deepEqual(unpacked(bytes, literals), bytes);
  });

  it('has to fit into the stack', () => {
    const bytes = Buffer.from(Array.from({ length: 40_000 }, (_, i) => (i * 7919) & 255 || 1));
    const small = { low: stack.low, high: stack.low + 30_000 };
    assert.throws(() => packData(replaceData(module, [{ address: room, bytes }]), [], small), /stack/);
  });

  it('is not needed', () => {
    const { _initialize: initialize, memory } = instance(
      replaceData(module, [{ address: room, bytes: Buffer.from('abc') }]),
    );
    initialize();
    assert.equal(Buffer.from(memory.buffer, room, 4).toString('latin1'), 'abc\0');
  });
});
