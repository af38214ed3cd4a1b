// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { momentOf, valuesOf } from '../../src/pages/stacks/shares';

const at = (s: number) => new Date(s * 1000).toISOString();

test('the chart of a shift has its events and what was read, in the order of time', () => {
  const traffic = { From: { Requests: 200, Errors: 2 }, To: { Requests: 0, Errors: 0 } };
  const begun = momentOf({ Share: 0, StartedAt: at(100) });
  const moved = momentOf({ Share: 0.25, StartedAt: at(100), AdvancedAt: at(110), Traffic: traffic });
  const read = momentOf({ Share: 0.25, AdvancedAt: at(110), Traffic: traffic }, 115_000);
  const ended = momentOf({ Share: 1, AdvancedAt: at(119), EndedAt: at(120) });
  assert.deepEqual(valuesOf([read, ended, moved, begun, momentOf({})]), [
    [100, 110, 115, 120],
    [100, 75, 75, 0],
    [0, 25, 25, 100],
    [null, null, 1, null],
    [null, null, null, null],
  ]);
});
