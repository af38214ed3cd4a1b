// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Plan } from '../../api/schema';
import { Bar } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { activeKeys, useKeys } from '../../shell/keys';
import { go, toAllocation } from '../../shell/place';
import { ofStep } from '../../words/meaning';
import { find, labelOf, rowsOf, saidOf, virtualFrom, type TreeRow } from './plan_rows';

const rowHeight = 34;
const overscan = 8;

/** PlanTree shows the phases and steps of a plan. One row has the focus; verbs act on the row that was chosen last. */
export function PlanTree(p: { plan: Plan; keys: boolean; nodeOf(allocation: string | undefined): string | undefined; at: string | undefined; choose(row: TreeRow): void }) {
  const box = useRef<HTMLDivElement>(null);
  const [choices, choosePhase] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const wanted = useRef(false);
  const held = useRef(false);
  const typed = useRef({ text: '', at: 0 });
  const rows = rowsOf(p.plan, choices);
  const virtual = rows.length > virtualFrom;
  const index = p.at === undefined ? -1 : rows.findIndex((r) => r.key === p.at);
  const roving = index < 0 ? 0 : index;

  useLayoutEffect(() => {
    const el = box.current!;
    const o = new ResizeObserver(() => setHeight(el.clientHeight));
    o.observe(el);
    return () => o.disconnect();
  }, []);
  useLayoutEffect(() => {
    // Scrolling puts the row with the focus elsewhere in the document, which takes the focus from it.
    const lost = held.current && (document.activeElement === null || document.activeElement === document.body);
    if (!wanted.current && !lost) return;
    const el = box.current!.querySelector<HTMLElement>('[data-at]');
    if (!el) return;
    wanted.current = false;
    el.focus({ preventScroll: virtual });
  });

  const move = (to: number) => {
    const i = Math.max(0, Math.min(rows.length - 1, to));
    if (!rows[i]) return;
    wanted.current = true;
    p.choose(rows[i]);
    const el = box.current!;
    if (!virtual) return;
    const y = i * rowHeight;
    if (y < el.scrollTop) el.scrollTop = y;
    else if (y + rowHeight > el.scrollTop + el.clientHeight) el.scrollTop = y + rowHeight - el.clientHeight;
  };
  const open = (r: TreeRow, on: boolean) => choosePhase(new Map(choices).set(r.key, on));
  useKeys(
    p.keys
      ? [
          { key: 'j', name: 'next step', shown: true, act: () => move(index + 1) },
          { key: 'k', name: 'previous step', shown: true, act: () => move(index < 0 ? 0 : index - 1) },
        ]
      : [],
  );

  const onKeyDown = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey || !(e.target as Element).matches('[role=treeitem]')) return;
    const r = rows[roving];
    if (!r) return;
    const now = Date.now();
    const typing = now - typed.current.at < 800 && typed.current.text !== '';
    const done = () => {
      e.preventDefault();
      e.stopPropagation();
    };
    // A key that moves ends what was typed, so that the next letter is a page's key again.
    if (e.key.length > 1) typed.current = { text: '', at: 0 };
    const to: Record<string, number> = { ArrowDown: roving + 1, ArrowUp: roving - 1, Home: 0, End: rows.length - 1, PageDown: roving + 12, PageUp: roving - 12 };
    if (e.key in to) {
      move(to[e.key]!);
      done();
    } else if (e.key === 'ArrowRight') {
      if (r.level === 1 && !r.open) open(r, true);
      else if (r.level === 1) move(roving + 1);
      done();
    } else if (e.key === 'ArrowLeft') {
      if (r.level === 1) open(r, false);
      else move(rows.findIndex((x) => x.level === 1 && x.phase === r.phase));
      done();
    } else if (e.key === 'Enter') {
      if (r.level === 1) open(r, !r.open);
      else if (r.step?.Allocation) go(toAllocation(r.step.Allocation));
      done();
    } else if (e.key.length === 1 && e.key !== ' ' && (typing || !activeKeys.value.some((k) => k.key === e.key || k.key.startsWith(`${e.key} `)))) {
      typed.current = { text: (typing ? typed.current.text : '') + e.key, at: now };
      const hit = find(rows, typed.current.text, typing ? roving : roving + 1);
      if (hit >= 0) move(hit);
      done();
    }
  };

  const first = virtual ? Math.max(0, Math.floor(top / rowHeight) - overscan) : 0;
  const last = virtual ? Math.min(rows.length, Math.ceil((top + height) / rowHeight) + overscan) : rows.length;
  // The row with the focus stays in the document, so that the focus is not lost by scrolling.
  const shown = rows.slice(first, last).map((r, i) => ({ r, i: first + i }));
  if (roving < first && rows[roving]) shown.unshift({ r: rows[roving], i: roving });
  if (roving >= last && rows[roving]) shown.push({ r: rows[roving], i: roving });
  return (
    <div
      ref={box}
      class={`tree ${virtual ? 'virtual' : ''}`}
      role="tree"
      aria-label={`Plan ${p.plan.Name}`}
      onKeyDown={onKeyDown}
      onScroll={(e) => setTop(e.currentTarget.scrollTop)}
      onFocusIn={() => (held.current = true)}
      onFocusOut={(e) => {
        if (e.relatedTarget || (e.target as Element).isConnected) held.current = false;
      }}
    >
      {virtual && <div role="presentation" style={{ height: `${rows.length * rowHeight}px` }} />}
      {shown.map(({ r, i }) => (
        <Row
          key={r.key}
          row={r}
          here={p.at === r.key}
          roving={i === roving}
          node={p.nodeOf(r.step?.Allocation)}
          top={virtual ? i * rowHeight : undefined}
          choose={(toggle) => {
            if (toggle && r.level === 1) open(r, !r.open);
            wanted.current = true;
            p.choose(r);
          }}
        />
      ))}
    </div>
  );
}

function Row({ row: r, here, roving, node, top, choose }: { row: TreeRow; here: boolean; roving: boolean; node: string | undefined; top: number | undefined; choose(toggle: boolean): void }) {
  const of = r.step ?? r.phase;
  const meaning = of.Interrupted && of.Status !== 'COMPLETE' ? 'you' : ofStep(of.Status);
  const said = saidOf(r, node);
  const bad = (of.Errors ?? []).length > 0;
  const status = `${of.Interrupted && of.Status !== 'COMPLETE' ? 'INTERRUPTED' : of.Status}`;
  return (
    <div
      role="treeitem"
      aria-level={r.level}
      aria-posinset={r.pos}
      aria-setsize={r.size}
      aria-expanded={r.level === 1 ? r.open : undefined}
      aria-selected={here}
      tabIndex={roving ? 0 : -1}
      data-at={roving ? '' : undefined}
      class={`step-row l${r.level} ${here ? 'here' : ''}`}
      style={top === undefined ? undefined : { transform: `translateY(${top}px)` }}
      onClick={(e) => choose((e.target as Element).closest('.twist') !== null || e.detail === 2)}
    >
      <Shape of={meaning} />
      <span class="n" title={said}>
        {r.level === 1 && (
          <svg class={`twist ${r.open ? 'open' : ''}`} viewBox="0 0 16 16" aria-hidden="true">
            <path d="M6 4l4 4-4 4" fill="none" stroke="currentColor" stroke-width="1.6" />
          </svg>
        )}
        {r.level === 1 ? <b>{labelOf(r)}</b> : labelOf(r)} <span class={bad ? 'bad' : 'm'}>{said}</span>
      </span>
      {r.level === 1 ? <Bar part={r.phase.Completed ?? 0} whole={r.phase.Total ?? 0} of={meaning} /> : <span />}
      <span class={`s ${meaning}`}>
        {status} {r.level === 1 && `${r.phase.Completed}/${r.phase.Total}`}
      </span>
    </div>
  );
}
