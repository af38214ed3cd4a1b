// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { ask } from '../link/link';
import { failedVerb } from '../parts/verb';

/** safeName is the name of a downloaded file without what acts in a path or in a terminal. */
export const safeName = (name: string): string => name.replace(/[^\w.@+-]+/g, '_').replace(/^\.+/, '').slice(-120) || 'file';

/** download saves the answer to a request as a file. The worker fetches it, so that the address has no token. */
export async function download(path: string, name: string): Promise<void> {
  const answer = await ask<Blob>({ method: 'GET', path, want: 'blob' });
  if (!answer.ok) {
    failedVerb.value = { verb: { name: 'Download', capability: '', cli: () => 'reeve alloc fs', run: () => ask({ method: 'GET', path, want: 'blob' }) }, answer };
    return;
  }
  const url = URL.createObjectURL(answer.body);
  const a = document.createElement('a');
  a.href = url;
  a.download = safeName(name);
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
