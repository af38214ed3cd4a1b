// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The UI's own code, which pages load when they are first shown.

import { effect } from '@preact/signals';
import { health } from './link';

const retryPause = 1_000;

/**
 * code loads a module. When no server gives it, code says so once, and tries again while servers answer, until the
 * module comes or nobody wants it any more: then the result is undefined.
 */
export async function code<T>(load: () => Promise<T>, wanted: () => boolean, failed: () => void = () => {}): Promise<T | undefined> {
  for (let first = true; wanted(); first = false) {
    try {
      return await load();
    } catch {
      if (first && wanted()) failed();
    }
    await new Promise((after) => setTimeout(after, retryPause));
    await live();
  }
  return undefined;
}

/** live waits until the event stream is open. */
function live(): Promise<void> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (health.value.state !== 'live') return;
      resolve();
      queueMicrotask(() => stop());
    });
  });
}
