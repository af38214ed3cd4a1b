// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { effect } from '@preact/signals';
import { clock, turnDay } from '../../src/words/time';

test('a page that is open at midnight gives the times of yesterday their date', () => {
  const at = (d: number, h: number, mi: number) => new Date(2026, 10, d, h, mi).getTime();
  mock.timers.enable({ apis: ['Date'], now: at(27, 23, 59) });
  turnDay();
  const shown: string[] = [];
  const end = effect(() => void shown.push(clock(at(27, 23, 58))));
  mock.timers.setTime(at(27, 23, 59) + 10_000);
  turnDay();
  assert.deepEqual(shown, ['23:58:00'], 'nothing is drawn again on the same day');
  mock.timers.setTime(at(28, 0, 1));
  turnDay();
  assert.deepEqual(shown, ['23:58:00', '2026-11-27 23:58:00']);
  assert.equal(clock(at(28, 0, 0)), '00:00:00');
  end();
  mock.timers.reset();
});
