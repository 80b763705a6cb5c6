// Debian packages: installs missing ones, and provides a private apt for packages of another suite. The
// mirror is always the machine's own.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { must, outputOf, say, SetupError, which } from './process.mjs';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** The names among `packages` that are not installed. */
export function missingPackages(packages) {
  const listed = outputOf('dpkg-query', ['-W', '-f', '${binary:Package} ${db:Status-Status}\n']);
  if (listed === undefined)
    throw new SetupError('dpkg-query does not run: this set-up needs Debian 12 or newer');
  const installed = new Set();
  for (const line of listed.split('\n')) {
    const [name, state] = line.split(' ');
    if (state === 'installed') installed.add(name.split(':')[0]);
  }
  return packages.filter((name) => !installed.has(name));
}

/** Installs packages with the machine's apt, as root or through sudo. */
export async function installPackages(packages) {
  const command = ['apt-get', '-q', '-y', '-o', 'Dpkg::Use-Pty=0', '-o', 'Acquire::Retries=3'];
  const prefix = [];
  if (process.getuid() !== 0) {
    if (!which('sudo') || outputOf('sudo', ['-n', 'true']) === undefined) {
      throw new SetupError(
        `Some Debian packages are missing. Please install them as root, then try again:\n\n` +
          `  apt-get update && apt-get install --no-install-recommends ${packages.join(' ')}`,
      );
    }
    prefix.push('sudo', '-n');
  }
  const apt = (args) => {
    const all = [...prefix, 'env', 'DEBIAN_FRONTEND=noninteractive', ...command, ...args];
    return must(all[0], all.slice(1));
  };
  say(`Debian packages: ${packages.join(' ')}`);
  await apt(['update']);
  await apt(['install', '--no-install-recommends', ...packages]);
}

/** The fields of the paragraphs of a deb822 file, without comments. */
function parseDeb822(text) {
  return text.split(/\n\s*\n/).map((paragraph) => {
    const fields = {};
    let key;
    for (const line of paragraph.split('\n')) {
      if (line.startsWith('#') || line.trim() === '') continue;
      const field = /^([A-Za-z0-9-]+):\s*(.*)$/.exec(line);
      if (field) fields[(key = field[1].toLowerCase())] = field[2];
      else if (key) fields[key] += ` ${line.trim()}`;
    }
    return fields;
  });
}

/** Entries { uri, suite } of the machine's binary package sources, in both of apt's formats. */
export function parseSources(fileName, text) {
  const words = (value) => (value ?? '').split(/\s+/).filter(Boolean);
  if (fileName.endsWith('.sources')) {
    return parseDeb822(text)
      .filter((fields) => words(fields.types).includes('deb') && fields.enabled?.toLowerCase() !== 'no')
      .flatMap((fields) =>
        words(fields.uris).flatMap((uri) => words(fields.suites).map((suite) => ({ uri, suite }))),
      );
  }
  return text.split('\n').flatMap((line) => {
    const match = /^\s*deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)/.exec(line);
    return match ? [{ uri: match[1], suite: match[2] }] : [];
  });
}

/** The mirror of Debian's main archive (not security or third-party packages), and its suite. */
export function debianMirror(etc = '/etc/apt') {
  const codename = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'stable';
  const files = [path.join(etc, 'sources.list')];
  try {
    files.push(
      ...readdirSync(path.join(etc, 'sources.list.d')).map((name) => path.join(etc, 'sources.list.d', name)),
    );
  } catch {
    // An apt without that folder only has sources.list.
  }
  for (const file of files.filter((name) => /\.(list|sources)$/.test(name))) {
    let text;
    try {
      text = readFileSync(file, 'utf8');
    } catch {
      continue;
    }
    for (const { uri, suite } of parseSources(file, text)) {
      if (suite === codename || suite === 'stable') return { uri, suite };
    }
  }
  throw new SetupError(
    `no source of Debian's ${codename} suite was found in ${etc}: which mirror should be used?`,
  );
}

/**
 * A separate apt in `folder` that sees one suite of the machine's mirror and no installed packages. Returns {
 * download(packages), source(name, version) }; both leave files in `folder`/files.
 */
export async function privateApt(folder, suite, { sources = false } = {}) {
  const { uri } = debianMirror();
  const files = path.join(folder, 'files');
  for (const name of ['state/lists/partial', 'cache/archives/partial', 'empty', 'files']) {
    mkdirSync(path.join(folder, name), { recursive: true });
  }
  writeFileSync(path.join(folder, 'status'), '');
  writeFileSync(
    path.join(folder, 'sources.list'),
    `${sources ? 'deb-src' : 'deb'} [signed-by=${KEYRING}] ${uri} ${suite} main\n`,
  );
  const config = path.join(folder, 'apt.conf');
  writeFileSync(
    config,
    [
      `Dir::State "${folder}/state";`,
      `Dir::State::status "${folder}/status";`,
      `Dir::Cache "${folder}/cache";`,
      `Dir::Log "${folder}";`,
      `Dir::Etc::SourceList "${folder}/sources.list";`,
      `Dir::Etc::SourceParts "-";`,
      `Dir::Etc::PreferencesParts "-";`,
      'APT::Sandbox::User "root";',
      'APT::Install-Recommends "false";',
      'Acquire::Languages "none";',
      'Acquire::Retries "3";',
      '',
    ].join('\n'),
  );
  const apt = (args) => must('apt-get', ['-q', '-y', ...args], { env: { APT_CONFIG: config }, cwd: files });
  await apt(['update']);
  return {
    files,
    /** Downloads packages and all their dependencies; returns the .deb files. */
    async download(packages) {
      await apt(['install', '--download-only', ...packages]);
      const archives = path.join(folder, 'cache/archives');
      return readdirSync(archives)
        .filter((name) => name.endsWith('.deb'))
        .map((name) => path.join(archives, name));
    },
    /**
     * Downloads and unpacks a source package of an upstream version, with any of Debian's revisions, of which
     * the suite has one; returns its folder.
     */
    async source(name, version) {
      await apt(['source', '--download-only', name]);
      const dsc = readdirSync(files).find((file) => file.startsWith(`${name}_`) && file.endsWith('.dsc'));
      if (!dsc?.startsWith(`${name}_${version}-`))
        throw new SetupError(`${suite} has ${dsc} instead of ${name} ${version}`);
      const unpacked = path.join(folder, 'unpacked', name);
      mkdirSync(path.dirname(unpacked), { recursive: true });
      await must('dpkg-source', ['-x', dsc, unpacked], { cwd: files });
      return unpacked;
    },
  };
}
