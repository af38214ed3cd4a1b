// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useKeys } from '../shell/keys';
import { go, setQuery } from '../shell/place';
import type { Column } from './column';

export type { Column };
export { order, sortOf, useOrder } from './order';

const rowHeight = 34;
const overscan = 8;

/** Grid shows many rows: only those in view are in the document. Rows have one height. */
export function Grid<T>(p: {
  label: string;
  columns: Column<T>[];
  keys: string[];
  row(key: string): T | undefined;
  sort?: string;
  /** Address of a row's page. */
  href?(row: T): string;
  /** Marks the rows that are chosen, and reports a change; without it rows cannot be chosen. */
  chosen?: ReadonlySet<string>;
  choose?(keys: Set<string>): void;
  /** Called with the row under the cursor, for verbs. */
  cursor?(row: NoInfer<T> | undefined): void;
  /** Called with the keys of the rows in the document, to load what only they need. */
  shown?(keys: string[]): void;
  empty?: ComponentChildren;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const [at, setAt] = useState<string | undefined>(undefined);
  const index = at === undefined ? -1 : p.keys.indexOf(at);
  const focusWanted = useRef(false);

  useLayoutEffect(() => {
    const el = box.current!;
    const o = new ResizeObserver(() => setHeight(el.clientHeight));
    o.observe(el);
    return () => o.disconnect();
  }, [p.keys.length === 0]);
  useEffect(() => p.cursor?.(at === undefined ? undefined : p.row(at)), [at]);

  const first = Math.max(0, Math.floor(top / rowHeight) - overscan);
  const last = Math.min(p.keys.length, Math.ceil((top + height) / rowHeight) + overscan);
  const inDocument = p.keys.slice(first, last);
  useEffect(() => p.shown?.(inDocument), [inDocument.join('\n')]);
  const tracks = p.columns.map((c) => c.width).join(' ');
  const narrow = p.columns.filter((c) => !c.wide).map((c) => c.narrow ?? c.width).join(' ');
  const tablet = p.columns.filter((c) => c.wide !== 'tablet').map((c) => c.width).join(' ');
  const style = useMemo(() => ({ '--tracks': tracks, '--tablet': tablet, '--narrow': narrow }), [tracks, tablet, narrow]);

  const move = (to: number) => {
    if (p.keys.length === 0) return;
    const i = Math.max(0, Math.min(p.keys.length - 1, to));
    focusWanted.current = true;
    setAt(p.keys[i]);
    const el = box.current!;
    const y = i * rowHeight;
    if (y < el.scrollTop) el.scrollTop = y;
    else if (y + rowHeight * 2 > el.scrollTop + el.clientHeight) el.scrollTop = y + rowHeight * 2 - el.clientHeight;
  };
  useLayoutEffect(() => {
    if (!focusWanted.current) return;
    const el = box.current!.querySelector<HTMLElement>('[data-at]');
    if (el) {
      focusWanted.current = false;
      el.focus({ preventScroll: true });
    }
  });
  const open = () => {
    const row = at === undefined ? undefined : p.row(at);
    if (row !== undefined && p.href) go(p.href(row));
  };
  const page = Math.max(1, Math.floor(height / rowHeight) - 2);
  useKeys([
    { key: 'j', name: 'next row', shown: true, act: () => move(index + 1) },
    { key: 'k', name: 'previous row', shown: true, act: () => move(index < 0 ? 0 : index - 1) },
    ...(p.href ? [{ key: 'Enter', name: 'open', shown: true, act: open }] : []),
  ]);
  const onKeyDown = (e: KeyboardEvent) => {
    const to: Record<string, number> = { ArrowDown: index + 1, ArrowUp: Math.max(0, index - 1), Home: 0, End: p.keys.length - 1, PageDown: index + page, PageUp: index - page };
    if (e.key in to) {
      e.preventDefault();
      move(to[e.key]!);
    } else if (e.key === 'Enter' && e.target === box.current!.querySelector('[data-at]')) open();
    else if (e.key === 'x' && p.choose && at !== undefined && e.shiftKey) toggle(at);
  };
  const toggle = (key: string) => {
    const next = new Set(p.chosen);
    if (!next.delete(key)) next.add(key);
    p.choose!(next);
  };
  const sortBy = (c: Column<T>) => {
    setQuery('sort', p.sort === c.key ? `-${c.key}` : c.key);
  };

  if (p.keys.length === 0 && p.empty) {
    return (
      <div class="grid-box" ref={box}>
        <div class="pad">{p.empty}</div>
      </div>
    );
  }
  return (
    <div class="grid-box" role="grid" aria-label={p.label} aria-rowcount={p.keys.length + 1} aria-colcount={p.columns.length} style={{ maxHeight: `${p.keys.length * rowHeight + 38}px` }}>
      <div class="grid-head" role="row" aria-rowindex={1} style={style}>
        {p.columns.map((c) => {
          const dir = p.sort === c.key ? 'ascending' : p.sort === `-${c.key}` ? 'descending' : undefined;
          return (
            <span key={c.key} role="columnheader" class={`${c.end ? 'end' : ''} ${c.wide ? 'wide' : ''} ${c.wide === 'tablet' ? 'widest' : ''}`} aria-sort={dir}>
              {c.by ? (
                <button type="button" onClick={() => sortBy(c)}>
                  {c.head}
                  <span aria-hidden="true">{dir === 'ascending' ? ' ↑' : dir === 'descending' ? ' ↓' : ''}</span>
                </button>
              ) : (
                c.head
              )}
            </span>
          );
        })}
      </div>
      <div class="grid-rows" role="rowgroup" ref={box} tabIndex={p.keys.length > 0 && index < 0 ? 0 : -1} onScroll={(e) => setTop(e.currentTarget.scrollTop)} onKeyDown={onKeyDown} onFocus={(e) => e.target === box.current && index < 0 && move(first === 0 ? 0 : first + overscan)}>
        <div class="grid-all" role="presentation" style={{ height: `${p.keys.length * rowHeight}px` }}>
          {inDocument.map((key, i) => {
            const row = p.row(key);
            if (row === undefined) return null;
            const here = key === at;
            return (
              <div
                key={key}
                role="row"
                aria-rowindex={first + i + 2}
                aria-selected={p.choose ? p.chosen!.has(key) : undefined}
                data-at={here ? '' : undefined}
                tabIndex={here ? 0 : -1}
                class={`grid-row ${here ? 'here' : ''} ${p.chosen?.has(key) ? 'chosen' : ''}`}
                style={{ ...style, transform: `translateY(${(first + i) * rowHeight}px)` }}
                onClick={(e) => {
                  if ((e.target as Element).closest('a, button, input')) return;
                  if (p.choose && (e.ctrlKey || e.metaKey)) toggle(key);
                  setAt(key);
                }}
                onDblClick={() => p.href && go(p.href(row))}
              >
                {p.columns.map((c, n) => (
                  <span key={c.key} role="gridcell" class={`${c.end ? 'end' : ''} ${c.wide ? 'wide' : ''} ${c.wide === 'tablet' ? 'widest' : ''}`}>
                    {n === 0 && p.choose && (
                      <input type="checkbox" class="choose" aria-label="Choose" checked={p.chosen!.has(key)} onChange={() => toggle(key)} tabIndex={-1} />
                    )}
                    {c.cell(row)}
                  </span>
                ))}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
