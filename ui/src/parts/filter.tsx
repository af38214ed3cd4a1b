// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useRef, useState } from 'preact/hooks';
import { useKeys } from '../shell/keys';
import { place, setQuery } from '../shell/place';
import type { Failure } from '../worker/protocol';

/** isExpression reports whether a text is a filter expression of the API, and not just words to find. */
export const isExpression = (s: string): boolean => /(==|!=|\bmatches\b|\bcontains\b|\bis (not )?(empty|nil)\b|\b(not )?in\b)/.test(s);

/** words returns a test that finds rows which contain every word; "-word" finds rows without it. */
export function words(text: string): (haystack: string) => boolean {
  const parts = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (haystack) => {
    const h = haystack.toLowerCase();
    return parts.every((p) => (p.length > 1 && p.startsWith('-') ? !h.includes(p.slice(1)) : h.includes(p)));
  };
}

/** filterText is the filter in the page's address. */
export const filterText = () => place.value.query.get('filter') ?? '';

/** apiFilter is the parameter for the API; empty if the filter is only words. */
export const apiFilter = () => (isExpression(filterText()) ? filterText() : '');

/**
 * FilterBar is the filter of a list. Words filter what is loaded; an expression such as `Status == "running"` goes to
 * the servers. The filter is in the address. Fields are suggested while an expression is typed.
 */
export function FilterBar(p: { label: string; fields: string[]; error?: Failure | undefined; count?: string }) {
  const text = filterText();
  const [draft, set] = useState(text);
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => set(text), [text]);
  useKeys([
    { key: '/', name: 'filter', shown: true, act: () => input.current?.focus() },
    { key: 'Escape', name: 'clear the filter', act: () => (text ? setQuery('filter', undefined) : history.back()) },
  ]);
  const type = (v: string) => {
    set(v);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setQuery('filter', v.trim()), isExpression(v) ? 500 : 80);
  };
  return (
    <div class="filter">
      <input
        ref={input}
        type="search"
        aria-label={p.label}
        placeholder={p.fields.length > 0 ? `Filter: words, -without, or ${p.fields[0]} == "…"` : 'Filter: words, -without'}
        list={`fields-${p.label.replaceAll(/\W/g, '')}`}
        value={draft}
        spellcheck={false}
        onInput={(e) => type(e.currentTarget.value)}
        onKeyDown={(e) => {
          if (e.key === 'Escape') {
            setQuery('filter', undefined);
            e.currentTarget.blur();
          }
        }}
      />
      <datalist id={`fields-${p.label.replaceAll(/\W/g, '')}`}>
        {p.fields.map((f) => (
          <option key={f} value={`${f} == ""`} />
        ))}
      </datalist>
      {p.count && <span class="sub">{p.count}</span>}
      {p.error && p.error.status === 400 && isExpression(text) && (
        <p class="bad" role="alert">
          {p.error.message}
        </p>
      )}
    </div>
  );
}
