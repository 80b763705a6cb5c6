import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { debianMirror, parseSources } from '../../tools/debian.mjs';

describe("the machine's Debian mirror", () => {
  it('is read from one-line sources', () => {
    const text =
      '# deb http://old.example/debian buster main\ndeb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian bookworm main contrib\n' +
      'deb-src http://mirror.example/debian bookworm main\n';
    assert.deepEqual(parseSources('sources.list', text), [
      { uri: 'http://mirror.example/debian', suite: 'bookworm' },
    ]);
  });

  it('is read from deb822 sources', () => {
    const text =
      'Types: deb deb-src\n# a comment\nURIs: http://a.example/debian http://b.example/debian\nSuites: bookworm\n bookworm-updates\nComponents: main\n\n' +
      'Types: deb-src\nURIs: http://c.example/\nSuites: bookworm\n\nEnabled: no\nTypes: deb\nURIs: http://d.example/\nSuites: bookworm\n';
    assert.deepEqual(
      parseSources('debian.sources', text).map(({ uri, suite }) => `${uri} ${suite}`),
      [
        'http://a.example/debian bookworm',
        'http://a.example/debian bookworm-updates',
        'http://b.example/debian bookworm',
        'http://b.example/debian bookworm-updates',
      ],
    );
  });

  it('is the source of the suite itself, not of its security updates nor of another vendor', () => {
    const codename = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8'))[1];
    const etc = mkdtempSync(path.join(tmpdir(), 'apt-'));
    try {
      mkdirSync(path.join(etc, 'sources.list.d'));
      writeFileSync(
        path.join(etc, 'sources.list'),
        `deb http://security.example/ ${codename}-security main\n`,
      );
      writeFileSync(path.join(etc, 'sources.list.d/a.list'), 'deb http://vendor.example/ nodistro main\n');
      assert.throws(() => debianMirror(etc), /which mirror should be used/);
      writeFileSync(
        path.join(etc, 'sources.list.d/b.list'),
        `deb http://mirror.example/debian ${codename} main\n`,
      );
      assert.deepEqual(debianMirror(etc), { uri: 'http://mirror.example/debian', suite: codename });
    } finally {
      rmSync(etc, { recursive: true });
    }
  });
});
