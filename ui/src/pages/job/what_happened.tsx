// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useState } from 'preact/hooks';
import type { Allocation, Event, EventBatch } from '../../api/schema';
import { login, seen, stream } from '../../link/link';
import { Card, Time } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { to, toAllocation } from '../../shell/place';
import { watch, whenReleased } from '../../store/watch';
import { ms } from '../../words/time';
import { addLine, limitOf, lineOf, objectOf, type Line, type Past } from './happened';
import type { JobRef } from './of';

/** Allocations come along for their times: an event has none, and within an index the allocation precedes its instance. */
const topics = ['Job', 'Plan', 'Deployment', 'Restart', 'Evaluation', 'Allocation', 'Instance'];
/** The servers replay what they keep at once, from their first answer on: a slow network or a busy server delays that. */
const replayFor = 2_500;

/** useHappened replays the newest events of a job up to an index, and continues with those that the page receives. */
function useHappened({ id, namespace }: JobRef, goal: number, many: boolean): Past {
  const [past, set] = useState<Past>({ lines: [], depth: 0, missed: false });
  const [restores, setRestores] = useState(0);
  useEffect(() => {
    // What the stream has sent before now comes from the replay.
    let to = Math.max(restores ? 0 : goal, seen.peek());
    const depth = many ? 300 : 20_000;
    const from = Math.max(1, to - depth);
    let all: Line[] = [];
    const said = new Map<string, string>();
    let last = 0;
    let stop: (() => void) | undefined;
    let live = false;
    let missed = false;
    let time = { index: 0, at: 0 };
    const early: Event[] = [];
    const take = (events: Event[], now: number) => {
      for (const e of events) {
        if ((e.Namespace ?? 'default') !== namespace || (e.Index ?? 0) < last) continue;
        last = e.Index ?? 0;
        if (e.Topic === 'Allocation') time = { index: last, at: ms((e.Payload?.Allocation as Allocation | undefined)?.ModifyTime) };
        const line = lineOf(e);
        if (line) all = addLine(all, { ...line, at: line.at || (time.index === last && time.at) || now, key: `${e.Topic}:${e.Key} ${e.Index} ${e.Type}` }, said);
      }
    };
    const show = () => whenReleased(() => set({ lines: all, depth: from > 1 ? depth : 0, missed }));
    const end = watch({
      topics: topics.map((t) => `${t}:${id}`),
      every: true,
      events: (events) => {
        if (!live) early.push(...events);
        else {
          take(events, Date.now());
          show();
        }
      },
      // The stream goes on after this index: the replay must reach it.
      ready: (after) => (to = Math.max(to, after)),
      // After a restore, what was shown did not happen.
      reset: () => {
        set({ lines: [], depth: 0, missed: false });
        setRestores((n) => n + 1);
      },
    });
    const goLive = () => {
      if (live) return;
      live = true;
      stop?.();
      take(early.splice(0).filter((e) => (e.Index ?? 0) > last), Date.now()); // the replay has all events of an index, or none
      show();
    };
    let rest = '';
    let timer: ReturnType<typeof setTimeout> | undefined;
    const query = new URLSearchParams({ namespace, index: String(from), progress: '' });
    topics.forEach((t) => query.append('topic', `${t}:${id}`));
    stop = stream(`/v1/event/stream?${query}`, {
      text: (chunk) => {
        timer ??= setTimeout(goLive, replayFor);
        const parts = (rest + chunk).split('\n');
        rest = parts.pop() ?? '';
        let at = 0;
        for (const part of parts) {
          const batch = part.trim() === '' ? {} : (JSON.parse(part) as EventBatch);
          at = batch.Index ?? at;
          missed ||= batch.Missed !== undefined;
          take((batch.Events ?? []).filter((e) => e !== null), 0);
        }
        show();
        if (at >= to) goLive();
      },
      end: goLive,
    });
    return () => {
      live = true;
      clearTimeout(timer);
      stop?.();
      end();
    };
  }, [id, namespace, login.value.accessor, restores]);
  return past;
}

/** WhatHappened lists the events of a job, the newest first. */
export function WhatHappened({ job, index, many }: { job: JobRef; index: number; many: boolean }) {
  const [goal] = useState(index);
  const past = useHappened(job, goal, many);
  const limit = limitOf(past);
  return (
    <Card title="What happened" sub={<a href={to(['events'], { filter: job.id })}>All events</a>}>
      {past.lines.length === 0 ? (
        <p class="empty">Nothing happened to this job. {limit}</p>
      ) : (
        <ol class="ev bounded" tabIndex={0} aria-label="Events of this job">
          {past.lines.map((l) => (
            <li key={l.key} data-object={objectOf(l)}>
              <Time of={l.at * 1e6} />
              <Shape of={l.of} />
              <span>
                {l.text}
                {l.of === 'bad' && l.allocation && (
                  <>
                    {' '}
                    <a href={toAllocation(l.allocation, 'logs')}>Log</a>
                  </>
                )}
              </span>
            </li>
          ))}
          {limit && <li class="limit">{limit}</li>}
        </ol>
      )}
    </Card>
  );
}
