// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useKeys } from '../../shell/keys';
import { place, setQuery } from '../../shell/place';
import { wrongIn } from './sieve';

/** What the address says about a view of logs. */
export interface LogQuery {
  task: string;
  kind: 'both' | 'stdout' | 'stderr';
  find: string;
  hide: boolean;
  wrap: boolean;
  /** File and offset of the line around which a part of a file is shown. */
  at: { file: string; offset: number } | undefined;
}

/** logQuery reads the address. */
export function logQuery(): LogQuery {
  const q = place.value.query;
  const kind = q.get('kind');
  const m = /^([^/]{1,300}):(\d{1,15})$/.exec(q.get('at') ?? '');
  return {
    task: q.get('task') ?? '',
    kind: kind === 'stdout' || kind === 'stderr' ? kind : 'both',
    find: q.get('find') ?? '',
    hide: q.get('mode') === 'hide',
    wrap: q.get('wrap') !== 'off',
    at: m ? { file: m[1]!, offset: Number(m[2]) } : undefined,
  };
}

/** LogBar has the pattern, and how lines are shown. */
export function LogBar(p: { q: LogQuery; slow: string; children?: ComponentChildren }) {
  const { q } = p;
  const input = useRef<HTMLInputElement>(null);
  const [draft, set] = useState(q.find);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => set(q.find), [q.find]);
  useKeys([
    { key: '/', name: 'pattern', shown: true, act: () => input.current?.focus() },
    { key: 'w', name: q.wrap ? 'do not wrap' : 'wrap', shown: true, act: () => setQuery('wrap', q.wrap ? 'off' : undefined) },
  ]);
  const wrong = draft ? wrongIn(draft) : '';
  return (
    <div class="log-bar" role="group" aria-label="Lines">
      <input
        ref={input}
        type="search"
        aria-label="Pattern"
        placeholder="Pattern, such as error|warn"
        value={draft}
        spellcheck={false}
        maxLength={500}
        aria-invalid={wrong ? 'true' : undefined}
        onInput={(e) => {
          const v = e.currentTarget.value;
          set(v);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => (v === '' || !wrongIn(v)) && setQuery('find', v), 150);
        }}
      />
      <select aria-label="Lines with the pattern" value={q.hide ? 'hide' : 'keep'} onChange={(e) => setQuery('mode', e.currentTarget.value === 'hide' ? 'hide' : undefined)}>
        <option value="keep">keep</option>
        <option value="hide">hide</option>
      </select>
      <label class="tick">
        <input type="checkbox" checked={q.wrap} onChange={(e) => setQuery('wrap', e.currentTarget.checked ? undefined : 'off')} /> Wrap
      </label>
      {p.children}
      {(wrong || p.slow) && (
        <p class="bad" role="alert">
          {wrong || p.slow}
        </p>
      )}
    </div>
  );
}
