// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { versionOf, versionOrder } from '../../src/pages/stacks/said';

test('stacks are sorted by their versions, which the API writes as text', () => {
  const stacks = ['1.10.0', '1.9.2', '0.0.1', '10.0.0'].map((Version) => ({ Version }));
  assert.deepEqual(stacks.toSorted((a, b) => (versionOrder(a) < versionOrder(b) ? -1 : 1)).map(versionOf), ['0.0.1', '1.9.2', '1.10.0', '10.0.0']);
});
