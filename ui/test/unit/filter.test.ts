// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expressionOf } from '../../src/words/expression';

test('words become an expression that the servers evaluate, and cannot break out of it', () => {
  assert.equal(expressionOf('web -db', ['Name', 'JobID']), '(Name matches "(?i)web" or JobID matches "(?i)web") and not (Name matches "(?i)db" or JobID matches "(?i)db")');
  assert.equal(expressionOf('a.b"', ['Name']), String.raw`(Name matches "(?i)a\\.b\"")`);
  assert.equal(expressionOf('-', ['Name']), '(Name matches "(?i)-")');
});
