// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { go, toNode } from '../../shell/place';
import { colours, draw, prepare, type Fill } from './draw';
import { cellAt, cellsIn, layout, type Cells } from './layout';

/** What the canvas shows, and whom it tells. */
export interface CanvasProps {
  cells: Cells;
  fill: Fill;
  chosen: ReadonlySet<string>;
  choose(ids: Set<string>): void;
  /** The cell under the pointer or the cursor; -1 for none. */
  at: number;
  setAt(i: number): void;
}

/** Cluster draws all nodes as cells. A rectangle drawn with the pointer chooses those in it. */
export function Cluster(p: CanvasProps) {
  const box = useRef<HTMLDivElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [theme, setTheme] = useState(0);
  const [brush, setBrush] = useState<{ x0: number; y0: number; x1: number; y1: number } | undefined>(undefined);
  const { cells } = p;
  const places = useMemo(() => (width > 0 ? layout(cells, width) : undefined), [cells, width]);
  const rank = useMemo(() => {
    const r = new Int32Array(cells.n);
    places?.order.forEach((i, k) => (r[i] = k));
    return r;
  }, [places]);

  useLayoutEffect(() => {
    const o = new ResizeObserver(() => setWidth(Math.floor(box.current!.clientWidth)));
    o.observe(box.current!);
    setWidth(Math.floor(box.current!.clientWidth));
    return () => o.disconnect();
  }, []);
  useEffect(() => {
    const again = () => setTheme((n) => n + 1);
    const o = new MutationObserver(again);
    o.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', again);
    return () => {
      o.disconnect();
      scheme.removeEventListener('change', again);
    };
  }, []);
  useLayoutEffect(() => {
    if (!places) return;
    const start = performance.now();
    draw(prepare(base.current!, width, places.height), cells, places, p.fill, width, colours());
    performance.measure('topology draw', { start, end: performance.now() });
  }, [places, p.fill, theme]);
  useLayoutEffect(() => {
    if (!places) return;
    const g = prepare(over.current!, width, places.height);
    g.clearRect(0, 0, width, places.height);
    const k = colours();
    g.strokeStyle = k.text;
    g.lineWidth = 2;
    if (p.chosen.size > 0) {
      g.beginPath();
      for (let i = 0; i < cells.n; i++) if (p.chosen.has(cells.ids[i]!)) g.rect(places.x[i]! - 0.5, places.y[i]! - 0.5, places.size + 1, places.size + 1);
      g.stroke();
    }
    if (p.at >= 0 && p.at < cells.n) {
      g.lineWidth = 3;
      g.strokeRect(places.x[p.at]! - 1, places.y[p.at]! - 1, places.size + 2, places.size + 2);
    }
    if (brush) {
      g.strokeStyle = k.accent;
      g.lineWidth = 1;
      g.setLineDash([4, 3]);
      g.strokeRect(brush.x0, brush.y0, brush.x1 - brush.x0, brush.y1 - brush.y0);
      g.setLineDash([]);
    }
  }, [places, p.at, p.chosen, brush, theme]);

  const point = (e: PointerEvent) => {
    const r = over.current!.getBoundingClientRect();
    return { x: e.clientX - r.left, y: e.clientY - r.top };
  };
  const toggle = (i: number) => {
    const next = new Set(p.chosen);
    const id = cells.ids[i]!;
    if (!next.delete(id)) next.add(id);
    p.choose(next);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (!places || cells.n === 0) return;
    const k = p.at < 0 ? -1 : rank[p.at]!;
    const perRow = Math.max(1, Math.floor((width - 16 + 3) / (places.size + 3)));
    const to: Record<string, number> = { ArrowRight: k + 1, ArrowLeft: k - 1, ArrowDown: k + perRow, ArrowUp: k - perRow, Home: 0, End: cells.n - 1 };
    if (e.key in to) {
      const i = places.order[Math.max(0, Math.min(cells.n - 1, to[e.key]!))]!;
      p.setAt(i);
      box.current!.scrollTo({ top: Math.max(0, places.y[i]! - box.current!.clientHeight / 2) });
    } else if (e.key === 'Enter' && p.at >= 0) go(toNode(cells.ids[p.at]!));
    else if (e.key === ' ' && p.at >= 0) toggle(p.at);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div
      class="topology"
      ref={box}
      tabIndex={0}
      role="application"
      aria-label={`${cells.n} nodes as cells. Arrows move, Enter opens a node, Space chooses it. The table has the same nodes.`}
      aria-describedby="topology-here"
      onKeyDown={onKeyDown}
    >
      <canvas ref={base} aria-hidden="true" />
      <canvas
        ref={over}
        aria-hidden="true"
        onPointerDown={(e) => {
          if (e.button !== 0) return;
          const { x, y } = point(e);
          over.current!.setPointerCapture(e.pointerId);
          setBrush({ x0: x, y0: y, x1: x, y1: y });
        }}
        onPointerMove={(e) => {
          const { x, y } = point(e);
          if (brush) setBrush({ ...brush, x1: x, y1: y });
          else if (places) p.setAt(cellAt(places, x, y));
        }}
        onPointerUp={(e) => {
          if (!brush || !places) return;
          setBrush(undefined);
          const { x, y } = point(e);
          const moved = Math.abs(x - brush.x0) + Math.abs(y - brush.y0) > 6;
          if (!moved) {
            const i = cellAt(places, x, y);
            if (i >= 0 && (e.ctrlKey || e.metaKey)) toggle(i);
            else if (i >= 0) go(toNode(cells.ids[i]!));
            else p.choose(new Set());
            return;
          }
          const ids = cellsIn(places, brush.x0, brush.y0, x, y).map((i) => cells.ids[i]!);
          p.choose(new Set(e.shiftKey ? [...p.chosen, ...ids] : ids));
        }}
        onPointerLeave={() => brush || p.setAt(-1)}
      />
    </div>
  );
}
