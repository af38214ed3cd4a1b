// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place, type LayoutRequest } from '../../src/layout/main';

/** graphOf makes boxes, some of them higher, and arrows such as "a>b". */
function graphOf(names: string, ...arrows: string[]): LayoutRequest {
  return {
    boxes: names.split(' ').map((id, i) => ({ id, width: 190, height: 54 + 20 * (i % 3) })),
    arrows: arrows.map((a) => ({ from: a.split('>')[0]!, to: a.split('>')[1]! })),
  };
}

/** check fails if boxes overlap, lie outside of the graph, or an arrow does not end at its boxes. */
function check(q: LayoutRequest) {
  const l = place(q);
  const sides = q.boxes.map((b) => {
    const { x, y } = l.boxes[b.id]!;
    return { id: b.id, left: x - b.width / 2, right: x + b.width / 2, top: y - b.height / 2, bottom: y + b.height / 2 };
  });
  for (const a of sides) {
    assert.ok(a.left >= 0 && a.top >= 0 && a.right <= l.width && a.bottom <= l.height, `${a.id} lies in the graph`);
    for (const b of sides) {
      if (a.id < b.id) assert.ok(a.right < b.left || b.right < a.left || a.bottom < b.top || b.bottom < a.top, `${a.id} and ${b.id} do not overlap`);
    }
  }
  assert.equal(l.arrows.length, q.arrows.length);
  for (const arrow of l.arrows) {
    for (const [id, p] of [[arrow.from, arrow.points[0]!], [arrow.to, arrow.points.at(-1)!]] as const) {
      const s = sides.find((side) => side.id === id)!;
      const near = (v: number, edge: number) => Math.abs(v - edge) < 0.01;
      const within = p.x > s.left - 0.01 && p.x < s.right + 0.01 && p.y > s.top - 0.01 && p.y < s.bottom + 0.01;
      assert.ok(within && [near(p.x, s.left), near(p.x, s.right), near(p.y, s.top), near(p.y, s.bottom)].includes(true), `${arrow.from}>${arrow.to} ends at the side of ${id}`);
    }
  }
  return l;
}

test('boxes with the same arrows are one below the other', () => {
  const l = check(graphOf('shop cart v1 v2 v3 db', 'shop>cart', 'cart>v1', 'cart>v2', 'cart>v3', 'v1>db', 'v2>db', 'v3>db'));
  assert.equal(new Set(['v1', 'v2', 'v3'].map((id) => l.boxes[id]!.x)).size, 1);
  const gaps = [l.boxes['v2']!.y - l.boxes['v1']!.y, l.boxes['v3']!.y - l.boxes['v2']!.y];
  assert.ok(gaps.every((d) => d > 60 && d < 100), String(gaps));
  assert.ok(l.boxes['shop']!.x < l.boxes['cart']!.x && l.boxes['v1']!.x < l.boxes['db']!.x);
});

test('cycles, boxes alone, and arrows from both sides are placed', () => {
  check(graphOf('a b c d e f', 'a>b', 'b>c', 'c>a', 'd>a', 'e>a'));
  check(graphOf('a b', 'a>b', 'b>a'));
  check(graphOf('lonely'));
  const names = Array.from({ length: 60 }, (_, i) => `n${i}`);
  check(graphOf(names.join(' '), ...names.slice(1).map((n, i) => `${n}>n${Math.floor((i + 1) / 3)}`)));
});

test('an arrow to nothing is left out', () => {
  const l = place(graphOf('a', 'a>gone', 'gone>a'));
  assert.deepEqual(l.arrows, []);
});
