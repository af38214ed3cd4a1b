// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { JSX } from 'preact';
import { wordOf, type Meaning } from '../words/meaning';

// Functions, because Preact keeps in an element where it was drawn: one that is shared would hold on to rows that are gone.
const shapes: Record<Meaning, () => JSX.Element> = {
  ok: () => (
    <>
      <circle cx="8" cy="8" r="7" fill="currentColor" />
      <path d="M4.6 8.2l2.3 2.3 4.4-4.8" fill="none" stroke="var(--bg)" stroke-width="1.8" />
    </>
  ),
  up: () => <circle cx="8" cy="8" r="5.8" fill="none" stroke="currentColor" stroke-width="2.4" />,
  go: () => (
    <>
      <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-opacity=".35" stroke-width="2.4" />
      <path class="spin" d="M8 2a6 6 0 0 1 6 6" fill="none" stroke="currentColor" stroke-width="2.6" />
    </>
  ),
  you: () => (
    <>
      <rect x="1" y="1" width="14" height="14" rx="3" fill="currentColor" />
      <path d="M6 4.6v6.8M10 4.6v6.8" stroke="var(--bg)" stroke-width="2" />
    </>
  ),
  wait: () => <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="1.4" />,
  late: () => (
    <>
      <path d="M8 1.2 15.2 14H.8z" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linejoin="round" />
      <path d="M8 6v3.4l2 1.2" fill="none" stroke="currentColor" stroke-width="1.5" />
    </>
  ),
  bad: () => (
    <>
      <path d="M5 1h6l4 4v6l-4 4H5l-4-4V5z" fill="currentColor" />
      <path d="M5.4 5.4l5.2 5.2m0-5.2l-5.2 5.2" stroke="var(--bg)" stroke-width="1.8" />
    </>
  ),
  gone: () => <rect x="2" y="2" width="12" height="12" rx="1" fill="none" stroke="currentColor" stroke-width="1.6" stroke-dasharray="3 2" />,
};

/** Shape shows a meaning. With a label it speaks for itself; without one a word stands beside it. */
export function Shape({ of, label }: { of: Meaning; label?: string }) {
  const named = label === undefined ? { 'aria-hidden': true as const } : { role: 'img' as const, 'aria-label': label || wordOf[of] };
  return (
    <svg class={`i ${of}`} viewBox="0 0 16 16" {...named}>
      {label !== undefined && <title>{label || wordOf[of]}</title>}
      {shapes[of]()}
    </svg>
  );
}

/** Status is a shape with its word. */
export function Status({ of, word }: { of: Meaning; word?: string }) {
  return (
    <span class={`status ${of}`}>
      <Shape of={of} />
      <span>{word ?? wordOf[of]}</span>
    </span>
  );
}
