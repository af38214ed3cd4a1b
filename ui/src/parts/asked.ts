// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Verbs that were sent. The button of such a verb says "Asked" until the tab has received the change that the verb
// made: an event of its index, or a later one, or a read that contains it.

import { effect, signal } from '@preact/signals';
import { seen } from '../link/link';
import type { Answer } from '../worker/protocol';

/** asked are the ids of verbs that were sent, until the page shows their effect. */
export const asked = signal<ReadonlySet<string>>(new Set());

/** Pages read what an event changed within this time. */
const settle = 600;
/** An answer without an index, as of a signal to a task, changes nothing that an event tells. */
const acknowledged = 1_500;
/** The longest wait: the stream may be away, or have no topic of the change. */
const limit = 15_000;

/** markAsked marks a verb as sent. */
export function markAsked(id: string): void {
  asked.value = new Set([...asked.peek(), id]);
}

/** endAsked removes the mark when the tab has received the change of the answer, and at once if the verb failed. */
export function endAsked(id: string, answer: Answer): void {
  const end = () => {
    const left = new Set(asked.peek());
    left.delete(id);
    asked.value = left;
  };
  if (!answer.ok) return end();
  if (answer.index === 0) {
    setTimeout(end, acknowledged);
    return;
  }
  let pending = true;
  const arrived = (after: number) => {
    if (!pending) return;
    pending = false;
    clearTimeout(late);
    queueMicrotask(() => stop());
    setTimeout(end, after);
  };
  const late = setTimeout(() => arrived(0), limit);
  const stop = effect(() => {
    if (seen.value >= answer.index) arrived(settle);
  });
}
