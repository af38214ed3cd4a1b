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
  boxes: Record<string, { x: number; y: number }>;
  arrows: { from: string; to: string; points: { x: number; y: number }[] }[];
}

/** place computes the positions of a graph, from left to right. */
export function place(q: LayoutRequest): LayoutAnswer {
  const g = new dagre.graphlib.Graph({ multigraph: false });
  g.setGraph({ rankdir: 'LR', nodesep: 14, ranksep: 90, marginx: 10, marginy: 10 });
  g.setDefaultEdgeLabel(() => ({}));
  for (const b of q.boxes) g.setNode(b.id, { width: b.width, height: b.height });
  for (const a of q.arrows) if (g.hasNode(a.from) && g.hasNode(a.to)) g.setEdge(a.from, a.to);
  dagre.layout(g);
  const { width = 0, height = 0 } = g.graph();
  const boxes: LayoutAnswer['boxes'] = {};
  for (const b of q.boxes) {
    const n = g.node(b.id);
    boxes[b.id] = { x: n.x, y: n.y };
  }
  return { width, height, boxes, arrows: g.edges().map((e) => ({ from: e.v, to: e.w, points: g.edge(e).points ?? [] })) };
}

if (typeof self !== 'undefined' && typeof (self as { document?: unknown }).document === 'undefined' && 'onmessage' in self) {
  self.onmessage = (e: MessageEvent<LayoutRequest>) => self.postMessage(place(e.data));
}
