// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useState } from 'preact/hooks';
import { copy } from '../../parts/copy';
import { Card } from '../../parts/page';
import { setQuery, to } from '../../shell/place';
import type { Kept } from '../../store/events';
import { visible } from '../../words/plain';

/** A longer text would block the tab; the copy has all of it. */
const longest = 200_000;

/** Detail shows one event as the servers sent it. */
export function Detail({ kept }: { kept: Kept }) {
  const e = kept.event;
  const text = JSON.stringify(e, null, 2);
  const [done, set] = useState(false);
  return (
    <Card title={`${e.Type} ${e.Key}`} class="event-detail" sub={<a href={to(['events'], { index: String(e.Index ?? ''), event: kept.key })}>Link to index {e.Index}</a>}>
      <pre tabIndex={0} aria-label="The event as JSON">
        {text.slice(0, longest).split('\n').map(visible).join('\n')}
        {text.length > longest && '\n… the copy has all of it'}
      </pre>
      <div class="pad btns">
        <button class="b" type="button" onClick={() => void copy(text).then(set)}>
          {done ? 'Copied' : 'Copy the JSON'}
        </button>
        <button class="b" type="button" onClick={() => setQuery('event', undefined)}>
          Close
        </button>
      </div>
    </Card>
  );
}
