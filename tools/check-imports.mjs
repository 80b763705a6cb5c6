// Holds bindings/js/ to its rooms: a file imports only from the rooms behind the arrow of its own room and
// those below them, and imports, those of types too, form no circle. `node tools/check-imports.mjs [folder]`
// prints each violation; tests/tools runs it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isMain, root } from './process.mjs';

/** What each room may use directly; what those may use is allowed too. '.' means the entry points. */
export const ROOMS = {
  base: [],
  tensor: ['base'],
  messages: ['tensor'],
  engine: ['messages'],
  graph: ['engine'],
  session: ['graph'],
  ops: ['graph'],
  models: ['session', 'ops'],
  '.': ['models'],
  cli: ['.'],
};

/** Written by the build, for the rooms that want it: only circles are looked for there. */
const GENERATED = 'generated';

/** Handles name the graph that they belong to in their declarations: `import type { Graph }` may point up. */
function isFace(statement, target) {
  return target === 'graph/graph.ts' && /^import type \{ Graph \} from/.test(statement);
}

function reachable(room, seen = new Set([room])) {
  for (const below of ROOMS[room]) if (!seen.has(below)) reachable(below, seen.add(below));
  return seen;
}

/** The imports of a file: { line, target }, relative to the folder of all sources. */
function importsOf(folder, file) {
  const text = readFileSync(path.join(folder, file), 'utf8');
  return Array.from(text.matchAll(/^(?:import|export)\s[^;]*?\sfrom\s'(\.{1,2}\/[^']+)\.js'/gm), (match) => ({
    statement: match[0],
    line: text.slice(0, match.index).split('\n').length,
    target: path.posix.join(path.posix.dirname(file), `${match[1]}.ts`),
  })).filter(({ statement, target }) => !isFace(statement, target));
}

/** The first way from a file back to itself, as a list of files; undefined: there is none. */
function findCircle(imports) {
  const done = new Set();
  const visit = (file, way) => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const { target } of imports.get(file) ?? []) {
      const circle = visit(target, [...way, file]);
      if (circle) return circle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of imports.keys()) {
    const circle = visit(file, []);
    if (circle) return circle;
  }
  return undefined;
}

/** All violations below a folder. */
export function checkImports(folder) {
  const problems = [];
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.ts'));
  const files = names.map((name) => name.split(path.sep).join('/')).sort();
  const imports = new Map(files.map((file) => [file, importsOf(folder, file)]));
  const roomOf = (file) => (file.includes('/') ? file.split('/')[0] : '.');
  for (const [file, list] of imports) {
    const room = roomOf(file);
    if (room === GENERATED) continue;
    if (!(room in ROOMS)) {
      problems.push(`${file}: no arrow is known for this room`);
      continue;
    }
    const allowed = reachable(room);
    for (const { line, target } of list) {
      const other = roomOf(target);
      if (other === GENERATED) continue;
      const complain = (what) => problems.push(`${file}:${line}: ${what}`);
      if (!existsSync(path.join(folder, target))) complain(`${target} does not exist`);
      else if (!allowed.has(other)) complain(`${room}/ may not import from ${other}/ (${target})`);
    }
  }
  const circle = findCircle(imports);
  if (circle) problems.push(`a circle: ${circle.join(' -> ')}`);
  return problems;
}

if (isMain(import.meta.url)) {
  const problems = checkImports(process.argv[2] ?? path.join(root, 'bindings/js'));
  problems.forEach((problem) => console.log(problem));
  process.exitCode = problems.length === 0 ? 0 : 1;
}
