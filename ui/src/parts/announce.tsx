// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { signal } from '@preact/signals';

const sentence = signal('');
let last = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** announce tells people who use a screen reader about a change: one sentence per 5 s at most, the newest wins. */
export function announce(text: string): void {
  clearTimeout(timer);
  const wait = Math.max(0, last + 5_000 - Date.now());
  timer = setTimeout(() => {
    last = Date.now();
    sentence.value = text;
  }, wait);
}

/** Announcer is the live region. */
export function Announcer() {
  return (
    <div class="unseen" role="status" aria-live="polite">
      {sentence.value}
    </div>
  );
}
