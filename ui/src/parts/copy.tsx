// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useState } from 'preact/hooks';
import { announce } from './announce';

/** copy puts a text on the clipboard, and says so. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    announce('Copied');
    return true;
  } catch {
    announce('The browser refused to copy');
    return false;
  }
}

/** CopyLine is a command line with a button that copies it. */
export function CopyLine({ text }: { text: string }) {
  const [done, set] = useState(false);
  return (
    <span class="copyline">
      <code>{text}</code>
      <button
        class="b small"
        type="button"
        aria-label={`Copy ${text}`}
        onClick={() => {
          void copy(text).then(set);
        }}
      >
        {done ? 'Copied' : 'Copy'}
      </button>
    </span>
  );
}
