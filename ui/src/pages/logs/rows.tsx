// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { count } from '../../words/count';
import { columnsOf, plain } from '../../words/plain';
import { clock } from '../../words/time';
import type { Line } from './lines';

const unit = 18;
const overscan = 12;
const drawn = 2_000;

interface Drawn {
  text: string;
  columns: number;
  more: number;
}

const cache = new WeakMap<Line, Drawn>();

/** drawnOf is the part of a line that a row shows; the rest is in the file. */
function drawnOf(l: Line): Drawn {
  let d = cache.get(l);
  if (!d) {
    const all = plain(l.text);
    const text = all.slice(0, drawn);
    d = { text, columns: columnsOf(text), more: all.length - text.length + l.cut };
    cache.set(l, d);
  }
  return d;
}

const moreText = (n: number) => (n > 0 ? ` … ${count(n)} more characters` : '');

/** The place of each line: line i begins at unit tops[i]. */
function layout(lines: Line[], wrap: boolean, columns: number): Float64Array | undefined {
  if (!wrap) return undefined;
  const tops = new Float64Array(lines.length + 1);
  lines.forEach((l, i) => {
    const d = drawnOf(l);
    tops[i + 1] = tops[i]! + Math.max(1, Math.ceil((d.columns + moreText(d.more).length) / columns));
  });
  return tops;
}

function lineAt(tops: Float64Array | undefined, n: number, at: number): number {
  if (!tops) return Math.min(n, Math.max(0, Math.floor(at)));
  let low = 0;
  let high = n;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (tops[mid + 1]! <= at) low = mid + 1;
    else high = mid;
  }
  return low;
}

/** What a view of lines is asked to do. */
export interface RowsProps {
  label: string;
  lines: Line[];
  /** Changes with the lines. */
  version: number;
  wrap: boolean;
  /** Names of the sources; shown when there is more than one. */
  names: string[];
  follow: boolean;
  setFollow(on: boolean): void;
  /** Line to bring into view, with a count that makes a repeated wish a new one. */
  wish?: { seq: number; n: number } | undefined;
  cursor: number | undefined;
  setCursor(seq: number): void;
}

/** Rows shows lines of logs; only those in view are in the document. Their text can be selected. */
export function Rows(p: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const probe = useRef<HTMLSpanElement>(null);
  const [view, setView] = useState({ top: 0, height: 400, columns: 80 });
  const gutter = p.names.length > 1 ? Math.min(24, Math.max(...p.names.map((n) => n.length))) : 0;
  const tops = useMemo(() => layout(p.lines, p.wrap, view.columns), [p.version, p.wrap, view.columns, p.lines]);
  const n = p.lines.length;
  const total = (tops ? tops[n]! : n) * unit;

  useLayoutEffect(() => {
    const el = box.current!;
    const measure = () => {
      const char = probe.current!.getBoundingClientRect().width / 100 || 7;
      const free = el.clientWidth - 24 - (14 + gutter) * char;
      setView((v) => ({ ...v, height: el.clientHeight, columns: Math.max(20, Math.floor(free / char) - 1) }));
    };
    const o = new ResizeObserver(measure);
    o.observe(el);
    return () => o.disconnect();
  }, [gutter]);

  // Text that a person is selecting does not move away.
  const selecting = () => {
    const s = getSelection();
    return s !== null && !s.isCollapsed && box.current!.contains(s.anchorNode);
  };
  useLayoutEffect(() => {
    if (p.follow && !selecting()) box.current!.scrollTop = total;
  }, [p.version, p.follow, total]);
  useEffect(() => {
    if (!p.wish) return;
    const i = p.lines.findIndex((l) => l.seq >= p.wish!.seq);
    if (i >= 0) box.current!.scrollTop = (tops ? tops[i]! : i) * unit - view.height / 3;
  }, [p.wish, n > 0]);

  const first = Math.max(0, lineAt(tops, n, view.top / unit) - overscan);
  const last = Math.min(n, lineAt(tops, n, (view.top + view.height) / unit) + overscan);
  const onScroll = () => {
    const el = box.current!;
    const bottom = el.scrollTop + el.clientHeight >= el.scrollHeight - unit * 2;
    if (el.scrollTop < view.top - 2 && !bottom && p.follow) p.setFollow(false);
    setView((v) => ({ ...v, top: el.scrollTop }));
  };
  const move = (by: number) => {
    const at = p.lines.findIndex((l) => l.seq === p.cursor);
    const i = Math.max(0, Math.min(n - 1, at < 0 ? lineAt(tops, n, view.top / unit) : at + by));
    if (!p.lines[i]) return;
    p.setCursor(p.lines[i]!.seq);
    p.setFollow(false);
    const y = (tops ? tops[i]! : i) * unit;
    const el = box.current!;
    if (y < el.scrollTop) el.scrollTop = y;
    else if (y + 2 * unit > el.scrollTop + el.clientHeight) el.scrollTop = y + 3 * unit - el.clientHeight;
  };
  const onKeyDown = (e: KeyboardEvent) => {
    const el = box.current!;
    if (e.key === 'ArrowDown') move(1);
    else if (e.key === 'ArrowUp') move(-1);
    else if (e.key === 'Home') {
      p.setFollow(false);
      el.scrollTop = 0;
    } else if (e.key === 'End') el.scrollTop = total;
    else return;
    e.preventDefault();
  };
  return (
    <div class={`log-rows ${p.wrap ? 'wrap' : ''}`} ref={box} role="region" aria-label={p.label} tabIndex={0} onScroll={onScroll} onKeyDown={onKeyDown}>
      <span class="log-probe" ref={probe} aria-hidden="true">
        {'0'.repeat(100)}
      </span>
      <div class="log-all" style={{ height: `${total}px` }}>
        {p.lines.slice(first, last).map((l, i) => {
          const d = drawnOf(l);
          const top = (tops ? tops[first + i]! : first + i) * unit;
          const height = (tops ? tops[first + i + 1]! - tops[first + i]! : 1) * unit;
          return (
            <div
              key={l.seq}
              class={`log-row ${l.err ? 'err-line' : ''} ${l.seq === p.cursor ? 'here' : ''}`}
              style={{ transform: `translateY(${top}px)`, height: `${height}px` }}
              onClick={() => p.setCursor(l.seq)}
            >
              <span class="log-gutter" title={l.time ? new Date(l.time).toISOString() : undefined}>
                {gutter > 0 && <b class={`s${l.source % 6}`}>{(p.names[l.source] ?? '').slice(0, 24).padEnd(gutter)}</b>}{' '}
                {l.time ? clock(l.time).slice(-8) : '        '} {l.err ? 'err' : 'out'}
              </span>
              <span class="log-text" dir="ltr">
                {d.text}
                {d.more > 0 && <i>{moreText(d.more)}</i>}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
