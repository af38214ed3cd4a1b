// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Places the boxes of the graph of stacks. It runs in a worker of its own: 300 boxes take longer than a frame.

import dagre from '@dagrejs/dagre';

/** A graph to place: boxes by id with their size in px, and arrows between them. */
export interface LayoutRequest {
  boxes: { id: string; width: number; height: number }[];
  arrows: { from: string; to: string }[];
}

/** Where each box is, by the middle of it, and the points of each arrow. */
export interface LayoutAnswer {
  width: number;
  height: number;
  boxes: Record<string, Point>;
  arrows: { from: string; to: string; points: Point[] }[];
}

interface Point {
  x: number;
  y: number;
}

const gap = 14;

/** A Pile is boxes with the same callers and the same callees, one below the other. It is placed as one. */
interface Pile {
  id: string;
  boxes: LayoutRequest['boxes'];
  width: number;
  height: number;
}

/** piles joins the boxes with the same arrows: a layout of half as many takes less than half as long. */
function piles(q: LayoutRequest): Map<string, Pile> {
  const ends = new Map<string, { from: string[]; to: string[] }>(q.boxes.map((b) => [b.id, { from: [], to: [] }]));
  for (const a of q.arrows) {
    ends.get(a.to)?.from.push(a.from);
    ends.get(a.from)?.to.push(a.to);
  }
  const byArrows = new Map<string, Pile>();
  const of = new Map<string, Pile>();
  for (const b of q.boxes) {
    const { from, to } = ends.get(b.id)!;
    const alone = from.length + to.length === 0;
    const key = alone ? `box ${b.id}` : JSON.stringify([[...new Set(from)].sort(), [...new Set(to)].sort()]);
    const pile = byArrows.get(key);
    if (pile) {
      pile.boxes.push(b);
      pile.width = Math.max(pile.width, b.width);
      pile.height += gap + b.height;
    } else byArrows.set(key, { id: b.id, boxes: [b], width: b.width, height: b.height });
    of.set(b.id, byArrows.get(key)!);
  }
  return of;
}

/** place computes the positions of a graph, from left to right. */
export function place(q: LayoutRequest): LayoutAnswer {
  const of = piles(q);
  const g = new dagre.graphlib.Graph({ multigraph: false });
  g.setGraph({ rankdir: 'LR', nodesep: gap, ranksep: 90, marginx: 10, marginy: 10 });
  g.setDefaultEdgeLabel(() => ({}));
  for (const p of new Set(of.values())) g.setNode(p.id, { width: p.width, height: p.height });
  const arrows = q.arrows.filter((a) => of.has(a.from) && of.has(a.to));
  for (const a of arrows) g.setEdge(of.get(a.from)!.id, of.get(a.to)!.id);
  dagre.layout(g);
  const { width = 0, height = 0 } = g.graph();
  const boxes: LayoutAnswer['boxes'] = {};
  for (const p of new Set(of.values())) {
    const { x, y } = g.node(p.id);
    let top = y - p.height / 2;
    for (const b of p.boxes) {
      boxes[b.id] = { x, y: top + b.height / 2 };
      top += b.height + gap;
    }
  }
  // The way of an arrow is that between the piles. It begins and ends at the sides of the boxes.
  const points = (from: string, to: string): Point[] => {
    const way = (g.edge(of.get(from)!.id, of.get(to)!.id).points ?? []).map((p: Point) => ({ ...p }));
    if (way.length < 2) return way;
    for (const [id, end, next] of [[from, way[0], way[1]], [to, way.at(-1), way.at(-2)]] as const) {
      const pile = of.get(id)!;
      if (pile.boxes.length === 1) continue;
      end.x = boxes[id]!.x + (next.x < boxes[id]!.x ? -0.5 : 0.5) * pile.width;
      end.y = boxes[id]!.y;
    }
    return way;
  };
  return { width, height, boxes, arrows: arrows.map(({ from, to }) => ({ from, to, points: points(from, to) })) };
}

if (typeof self !== 'undefined' && typeof (self as { document?: unknown }).document === 'undefined' && 'onmessage' in self) {
  self.onmessage = (e: MessageEvent<LayoutRequest>) => self.postMessage(place(e.data));
}
