// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Shift } from '../../api/schema';
import { Chart } from '../../chart/chart';
import { useRing } from '../../store/events';
import { look, momentOf, valuesOf, type Moment } from './shares';

const eventsKept = 2_000;
const readsKept = 720; // an hour

/** ShareChart draws the shares of a shift since it began, and the errors since this page is open. */
export function ShareChart({ of: h, running }: { of: Shift; running: boolean }) {
  const ring = useRing([`Shift:${h.ID}`], eventsKept, 0, h.CreateIndex ?? 1);
  const version = ring.version.value;
  const complete = ring.complete.value;
  const reads = useRef<Moment[]>([]);
  useEffect(() => {
    if (!running) return;
    reads.current.push(momentOf(h, Date.now()));
    if (reads.current.length > readsKept) reads.current.shift();
  }, [h, running]);
  const values = useMemo(() => {
    const past = ring.list.flatMap(({ event }) => {
      const was = event.Payload?.Shift as Shift | undefined;
      return was && !event.Deleted ? [momentOf(was)] : [];
    });
    return valuesOf([...past, ...reads.current, running ? momentOf(h, Date.now()) : momentOf(h)]);
  }, [version, complete, h, running]);
  return <Chart look={look} values={values} />;
}
