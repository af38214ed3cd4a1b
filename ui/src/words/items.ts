// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Answer } from '../worker/protocol';

/** itemsOf reads lines of KEY=VALUE. It returns the sentence about the first line that is wrong. */
export function itemsOf(text: string): Record<string, string> | string {
  const items: Record<string, string> = {};
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const at = line.indexOf('=');
    if (at < 1) return `Line ${i + 1} has no key: write KEY=VALUE.`;
    const key = line.slice(0, at).trim();
    if (key in items) return `Line ${i + 1} repeats the key ${key}: each key has one value.`;
    items[key] = line.slice(at + 1);
  }
  if (Object.keys(items).length === 0) return 'A variable needs an item: write KEY=VALUE.';
  return items;
}

/** rejected is the answer to a request that was not sent, because its input is wrong. */
export const rejected = (message: string): Answer => ({
  ok: false, status: 400, body: undefined, index: 0, next: '', warnings: '', error: { status: 400, code: 'invalid', message, detail: [] },
});
