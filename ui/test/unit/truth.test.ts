// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The comparison that the truth run makes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
// @ts-expect-error: it has no types
import { sameText } from '../truth/pages.mjs';

const page = (lines: string, limited: boolean) => ({ text: 'shop', limited, happened: lines.split(' ').map((l) => ({ object: l[0], text: l })) });

test('a fresh page differs from an open one only in what it cannot know', () => {
  assert.ok(sameText(page('a2 b1 a1', false), page('a2 b1 a1', false)));
  assert.ok(!sameText(page('a2 b1 a1', false), page('a2 b1', false)), 'an old line is missing');
  assert.ok(sameText(page('a2 b1 a1', false), page('a2 b1', true)), 'the servers keep the oldest no more');
  assert.ok(sameText(page('a2 c1 b1', false), page('a2 b1 c1', true)), 'the fresh page does not know that b1 was said before');
  assert.ok(!sameText(page('a3 a1', true), page('a3 a2 a1', true)), 'the open page lost a line in the middle');
  assert.ok(!sameText(page('a2 b2 b1', true), page('a2 b1', true)), 'the open page has a line too many');
  assert.ok(!sameText({ ...page('a1', true), text: 'web' }, page('a1', true)), 'the rest differs');
});
