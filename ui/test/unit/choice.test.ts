// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chosenOf, textOf } from '../../src/pages/topology/choice';

test('a choice of nodes survives the address', () => {
  const all = ['aaaaaaaa-1111', 'aaaaaaaa-1122', 'bbbbbbbb-0000'];
  const text = textOf(new Set([all[1]!, all[2]!]), all);
  assert.equal(text, 'aaaaaaaa-112 bbbbbbbb-000');
  assert.deepEqual([...chosenOf(text!, all)], [all[1], all[2]]);
  assert.deepEqual([...chosenOf('', all)], []);
});

test('a beginning of several nodes, or of none, chooses nothing', () => {
  assert.deepEqual([...chosenOf('aaaaaaaa cccccccc', ['aaaaaaaa-1', 'aaaaaaaa-2'])], []);
});

test('a choice that is too long for an address has no text', () => {
  const all = Array.from({ length: 2_000 }, (_, i) => `${String(i).padStart(8, '0')}-0000`);
  assert.equal(textOf(new Set(all), all), undefined);
  assert.equal(textOf(new Set(all.slice(0, 800)), all)?.length, 800 * 9 - 1);
});
