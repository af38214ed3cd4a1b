// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Event, Plan } from '../../api/schema';
import { useRead, type Read } from '../../store/read';
import { watch, whenReleased } from '../../store/watch';
import { api, type JobRef } from './of';
import { followSteps, unqueued } from './plan_steps';

/** usePlan reads a plan, and follows the events of its steps. It reads the plan again only when they do not tell all. */
export function usePlan(job: JobRef, name: string): Read<Plan> {
  const path = api(job, `/plan/${encodeURIComponent(name)}`);
  const read = useRead<Plan>(path, { on: ['Job', 'Plan', 'Restart'].map((t) => `${t}:${job.id}`) });
  const [tick, next] = useState(0);
  const newest = useRef(read);
  newest.current = read;
  /** The newest event of each part, with the time of its arrival. */
  const events = useMemo(() => new Map<string, { event: Event; at: number }>(), [path]);
  useEffect(() => {
    let release = () => {};
    const end = watch({
      topics: [`Step:${job.id}/${name}`],
      events: (all) => {
        for (const event of all) if (event.Namespace === job.namespace) events.set(event.Key ?? '', { event, at: performance.now() });
        release();
        release = whenReleased(() => next((n) => n + 1));
      },
      ready: (after) => newest.current.index > 0 && after > newest.current.index && newest.current.again(),
      reset: () => {
        events.clear();
        newest.current.again();
      },
    });
    return () => {
      end();
      release();
    };
  }, [events]);

  const shown = useRef<Plan | undefined>(undefined);
  const followed = useMemo(() => {
    if (!read.data) return undefined;
    // A read contains what arrived before it began, whatever the index of an event is: that index may be one at which
    // something else changed.
    for (const [key, { at }] of events) if (at < read.began) events.delete(key);
    return followSteps(unqueued(read.data), [...events.values()].map((e) => e.event).filter((e) => (e.Index ?? 0) > read.index));
  }, [read.data, events, tick]);
  const unknown = read.data !== undefined && followed === undefined;
  useEffect(() => {
    if (unknown) read.again();
  }, [unknown, tick, read.data]);
  if (followed || !read.data) shown.current = followed;
  return { ...read, data: read.data && (shown.current ?? unqueued(read.data)) };
}
