// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hexDump, isBinary, textPage } from '../../src/pages/allocation/pages';
import { Cutter, lineLimit, Ring, timeIn, type Line } from '../../src/pages/logs/lines';
import { columnsOf, plain } from '../../src/words/plain';

const bytes = (s: string) => new TextEncoder().encode(s);
const line = (seq: number, text: string): Line => ({ seq, source: 0, err: false, file: 'f', offset: 0, text, cut: 0, time: 0 });

test('escape sequences vanish, and control characters and bidi overrides become visible', () => {
  const cases: [string, string][] = [
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u001b]0;title\u0007x', 'x'],
    ['\u001b]8;;javascript:alert(1)\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['\u001b[2J\u001b[Hgone?', 'gone?'],
    ['a\u0000b\u0007c\u007fd', 'a␀b␇c␡d'],
    ['over\u202Eright\u2066x', 'over⟨202E⟩right⟨2066⟩x'],
    ['line\r', 'line'],
    ['50%\r100%', '50%␍100%'],
    ['a\tb', 'a    b'],
    ['\u001b', ''],
    ['\u009b31mc1', 'c1'],
    ['<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
  ];
  for (const [raw, want] of cases) assert.equal(plain(raw), want, JSON.stringify(raw));
});

test('removing escapes takes linear time also for crafted text', () => {
  const before = performance.now();
  plain('\u001b]'.repeat(100_000));
  plain('\u001b[' + '1;'.repeat(100_000));
  plain('\u001bP' + 'x'.repeat(200_000));
  assert.ok(performance.now() - before < 2_000);
});

test('a cutter returns lines with their offsets, however the bytes arrive', () => {
  const text = 'one\ntwo \u{1f600}\n\nthree\nrest';
  const all = bytes(text);
  for (let size = 1; size <= all.length; size++) {
    const c = new Cutter();
    const found = [];
    for (let at = 0; at < all.length; at += size) found.push(...c.take('f', at, all.subarray(at, at + size)));
    const rest = c.rest();
    if (rest) found.push(rest);
    assert.deepEqual(found.map((l) => l.text), ['one', 'two \u{1f600}', '', 'three', 'rest'], `${size}`);
    assert.deepEqual(found.map((l) => l.offset), [0, 4, 13, 14, 20], `${size}`);
  }
});

test('a line without an end is kept up to a limit, and says how much was left out', () => {
  const c = new Cutter();
  for (let i = 0; i < 16; i++) assert.deepEqual(c.take('f', i * 65_536, new Uint8Array(65_536).fill(97)), []);
  const [l] = c.take('f', 16 * 65_536, bytes('\nnext\n'));
  assert.equal(l!.text.length, lineLimit);
  assert.equal(l!.cut, 16 * 65_536 - lineLimit);
});

test('lines go on in the next file, and a line that began before the first bytes is marked', () => {
  const c = new Cutter();
  assert.deepEqual(c.take('a.0', 100, bytes('half\nwhole\n')).map((l) => l.text), ['… half', 'whole']);
  assert.deepEqual(c.take('a.1', 0, bytes('new\n')).map((l) => [l.file, l.offset, l.text]), [['a.1', 0, 'new']]);
});

test('a ring keeps the newest lines, and counts the dropped ones', () => {
  const r = new Ring(100);
  for (let i = 0; i < 250; i++) r.add([line(i, 'x')]);
  assert.equal(r.lines.length, 100);
  assert.equal(r.dropped, 150);
  assert.equal(r.lines[0]!.seq, 150);
  const huge = new Ring();
  const text = 'y'.repeat(lineLimit);
  huge.add(Array.from({ length: 6_000 }, (_, i) => line(i, text)));
  assert.ok(huge.lines.length * lineLimit <= 64 << 20, 'memory is bounded too');
});

test('times that lines name are found', () => {
  assert.equal(timeIn('2026-11-24T14:03:51.5Z hello'), Date.UTC(2026, 10, 24, 14, 3, 51, 500));
  assert.equal(timeIn('{"ts":"2026-11-24T15:03:51+01:00"}'), Date.UTC(2026, 10, 24, 14, 3, 51));
  assert.equal(timeIn('99:99 no time 2026-99-99T99:99:99Z'), 0);
});

test('bytes and text are told apart, and wide characters counted', () => {
  assert.equal(isBinary(new Uint8Array([127, 69, 76, 70, 0])), true);
  assert.equal(isBinary(bytes('plain text\n')), false);
  assert.equal(hexDump(bytes('AB\u0000'), 16), `00000010  41 42 00${' '.repeat(39)}  AB.`);
  assert.equal(Math.max(...textPage(new Uint8Array(1 << 20).fill(97)).split('\n').map((l) => l.length)), 4_000);
  assert.equal(columnsOf('a漢'), 3);
});
