// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useMemo, useState } from 'preact/hooks';
import type { StackGraph, StackStatus } from '../../api/schema';
import type { LayoutAnswer, LayoutRequest } from '../../layout/main';
import { workerURL } from '../../link/link';
import { Empty } from '../../parts/states';
import { to } from '../../shell/place';
import { plural } from '../../words/count';
import { ofStack } from '../../words/meaning';
import { linesOf, statusOf, versionOf } from './said';

const width = 190;
/** heightOf is that of a box with a title and its lines. */
const heightOf = (b: Box | undefined) => 34 + 20 * Math.max(1, b?.lines.length ?? 1);
/** A graph of so many stacks shows one box per unit. */
const collapseFrom = 300;

interface Box {
  id: string;
  title: string;
  lines: string[];
  meaning: string;
  href: string;
}

export const toStack = (s: StackStatus) => to(['stacks'], { stack: s.Name, namespace: s.Namespace === 'default' ? undefined : s.Namespace });
const idOf = (namespace: string | undefined, name: string | undefined) => `${namespace ?? 'default'} ${name}`;

/** boxesOf turns the graph of the API into boxes and arrows; a large one is collapsed to units. */
export function boxesOf(g: StackGraph): { boxes: Box[]; arrows: { from: string; to: string; label: string }[]; collapsed: boolean } {
  const stacks = (g.Nodes ?? []).filter((s) => s !== null);
  const collapsed = stacks.length >= collapseFrom;
  const boxOf = new Map<string, string>();
  const boxes = new Map<string, Box>();
  for (const s of stacks) {
    const id = collapsed ? idOf(s.Namespace, s.Unit) : idOf(s.Namespace, s.Name);
    boxOf.set(idOf(s.Namespace, s.Name), id);
    const known = boxes.get(id);
    if (known) known.lines = [plural(Number(known.lines[0]!.split(' ')[0]) + 1, 'stack')];
    else if (collapsed) boxes.set(id, { id, title: s.Unit ?? '', lines: ['1 stack'], meaning: ofStack(statusOf(s)), href: to(['stacks'], { view: 'list', filter: s.Unit }) });
    else boxes.set(id, { id, title: `${s.Unit} ${versionOf(s)}`, lines: linesOf(s), meaning: ofStack(statusOf(s)), href: toStack(s) });
  }
  const arrows = new Map<string, { from: string; to: string; label: string }>();
  for (const e of g.Edges ?? []) {
    const from = boxOf.get(idOf(e.Namespace, e.From)) ?? idOf(e.Namespace, e.From);
    const end = boxOf.get(idOf(e.Namespace, e.To));
    if (!end || from === end) continue;
    if (!boxes.has(from)) boxes.set(from, { id: from, title: e.From ?? '', lines: [e.Kind ?? ''], meaning: 'wait', href: to(['services'], {}) });
    arrows.set(`${from}>${end}`, { from, to: end, label: e.Share ? `${Math.round(e.Share * 100)} %` : (e.Want ?? '') });
  }
  return { boxes: [...boxes.values()], arrows: [...arrows.values()], collapsed };
}

/** Graph draws stacks and who calls them. The list shows the same as text. */
export function Graph({ of: g }: { of: StackGraph }) {
  const { boxes, arrows, collapsed } = useMemo(() => boxesOf(g), [g]);
  const [layout, set] = useState<LayoutAnswer | undefined>(undefined);
  const shape = boxes.map((b) => `${b.id} ${b.lines.length}`).join('|') + arrows.map((a) => `${a.from}>${a.to}`).join('|');
  useEffect(() => {
    const w = new Worker(workerURL('layout.js'), { type: 'module' });
    const request: LayoutRequest = { boxes: boxes.map((b) => ({ id: b.id, width, height: heightOf(b) })), arrows: arrows.map(({ from, to: end }) => ({ from, to: end })) };
    w.onmessage = (e: MessageEvent<LayoutAnswer>) => {
      set(e.data);
      w.terminate();
    };
    w.postMessage(request);
    return () => w.terminate();
  }, [shape]);
  if (boxes.length === 0) return <Empty command="reeve stack deploy examples/stacks/shop.hcl">No stack is deployed. Deploy one:</Empty>;
  if (!layout) return <div class="loading" aria-busy="true" />;
  return (
    <div class="graph" role="group" aria-label="Stacks and who calls them">
      {collapsed && <p class="sub">{boxes.length} units: with {collapseFrom} stacks or more the graph shows one box per unit.</p>}
      <svg width={layout.width} height={layout.height} viewBox={`0 0 ${layout.width} ${layout.height}`}>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0 8 4 0 8z" fill="var(--muted)" />
          </marker>
        </defs>
        {layout.arrows.map((a) => (
          <path key={`${a.from}>${a.to}`} d={`M${a.points.map((p) => `${p.x.toFixed(1)} ${p.y.toFixed(1)}`).join('L')}`} fill="none" stroke="var(--muted)" stroke-width="1.2" marker-end="url(#arrow)" />
        ))}
        {boxes.map((b) => {
          const at = layout.boxes[b.id];
          if (!at) return null;
          return (
            <a key={b.id} href={b.href}>
              <title>{[b.title, ...b.lines].join(' ')}</title>
              <g class={b.meaning} transform={`translate(${at.x - width / 2} ${at.y - heightOf(b) / 2})`}>
                <rect width={width} height={heightOf(b)} rx="6" fill="var(--raise)" stroke="currentColor" stroke-width="1.6" stroke-dasharray={b.meaning === 'gone' ? '4 3' : undefined} />
                <text x="10" y="22" class="box-title">
                  {cut(b.title, 24)}
                </text>
                {b.lines.map((l, i) => (
                  <text key={i} x="10" y={42 + 18 * i} class="box-line">
                    {cut(l, 29)}
                  </text>
                ))}
              </g>
            </a>
          );
        })}
      </svg>
    </div>
  );
}

const cut = (s: string, n: number) => (s.length > n ? `${s.slice(0, n - 1)}…` : s);
