// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useState } from 'preact/hooks';
import { FilterBar } from '../../parts/filter';
import { setQuery } from '../../shell/place';

/** Bar filters events by topic and words, and begins at an index. */
export function Bar({ topics, topic, from, count }: { topics: string[]; topic: string; from: number | undefined; count: string }) {
  const [index, set] = useState(from ? String(from) : '');
  useEffect(() => set(from ? String(from) : ''), [from]);
  const all = topic && !topics.includes(topic) ? [...topics, topic].sort() : topics;
  return (
    <div class="events-bar">
      <FilterBar label="Filter events" fields={[]} count={count} />
      <label>
        Topic{' '}
        <select value={topic} onChange={(e) => setQuery('topic', e.currentTarget.value || undefined)}>
          <option value="">all</option>
          {all.map((t) => (
            <option key={t} value={t}>
              {t}
            </option>
          ))}
        </select>
      </label>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          setQuery('index', /^[1-9]\d{0,14}$/.test(index.trim()) ? index.trim() : undefined);
        }}
      >
        <label>
          From index <input inputMode="numeric" value={index} size={9} placeholder="newest" onInput={(e) => set(e.currentTarget.value)} />
        </label>{' '}
        <button class="b" type="submit">
          Read
        </button>
      </form>
    </div>
  );
}
