// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Tests lines against a pattern of the user, in a worker of its own: a pattern that takes for ever is stopped with it.

interface Question {
  id: number;
  pattern: string;
  lines: string[];
}

self.onmessage = (e: MessageEvent<Question>) => {
  const { id, pattern, lines } = e.data;
  const test = new RegExp(pattern, 'i');
  const found = new Uint8Array(lines.length);
  lines.forEach((l, i) => (found[i] = test.test(l) ? 1 : 0));
  self.postMessage({ id, found });
};
