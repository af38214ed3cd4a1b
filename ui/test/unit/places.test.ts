// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Places } from '../../src/worker/places';

const settle = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve();
};

/** Waits is a request that waits for changes, again and again, as blocking queries do. */
class Waits {
  held = 0;
  #release: (() => void) | undefined;
  constructor(readonly places: Places) {
    void this.again();
  }
  async again(): Promise<void> {
    const release = await this.places.take(() => {
      this.#release?.();
      void this.again();
    });
    this.#release = release;
    this.held++;
  }
}

test('all who wait get a turn, and those who keep a place are not sent away', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const places = new Places(4, 3);
  const kept = [await places.keep(), await places.keep(), await places.keep()];
  assert.ok(kept.every((k) => k));
  assert.equal(await places.keep(), undefined, 'a fourth is refused, and does not wait');
  const all = [1, 2, 3, 4, 5].map(() => new Waits(places));
  await settle();
  assert.deepEqual(all.map((w) => w.held), [1, 0, 0, 0, 0]);
  for (let i = 0; i < 10; i++) {
    t.mock.timers.tick(2_000);
    await settle();
  }
  assert.ok(all.every((w) => w.held >= 2), `${all.map((w) => w.held)}`);
  kept[0]!();
  assert.ok(await Promise.race([places.keep(), settle().then(() => 'waits')]) !== undefined, 'a place that was given back is kept by another');
  mock.reset();
});

test('without others a holder stays', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const places = new Places(2, 1);
  let asked = 0;
  const release = await places.take(() => {
    asked++;
    release();
  });
  await places.take(() => asked++);
  t.mock.timers.tick(60_000);
  await settle();
  assert.equal(asked, 0);
  void places.take(() => {});
  await settle();
  t.mock.timers.tick(1);
  assert.equal(asked, 1, 'the longest holder leaves at once: its turn is long over');
  mock.reset();
});
