// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { Card, Time } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { Loading } from '../../parts/states';
import { leadOf } from '../../shell/lead';
import { to } from '../../shell/place';
import { useRing } from '../../store/events';
import { inRuns, timesOf } from '../../words/event';

/** What changes of a cluster is told by these; allocations and evaluations would hide it. */
const topics = ['Job', 'Deployment', 'Plan', 'Restart', 'Node', 'Domain', 'Stack', 'Shift'];

/** The events that are read; equal ones of one object in a row are one line. */
const kept = 100;
const shown = 20;

/** Recent shows the last changes. */
export function Recent() {
  const ring = useRing(topics, kept, 300);
  void ring.version.value;
  const times = timesOf(ring.list);
  const list = inRuns(ring.list).toReversed().slice(0, shown);
  return (
    <Card title="Last changes" sub={<a href={to(['events'])}>All events</a>}>
      {list.length === 0 && !ring.complete.value ? (
        <Loading />
      ) : list.length === 0 ? (
        <p class="pad sub">Nothing has changed of late.</p>
      ) : (
        <ol class="ev">
          {list.map(({ key, event, said: s, times: n }) => {
            const lead = leadOf(event);
            const t = times.get(event.Index ?? 0);
            return (
              <li key={key}>
                {t ? <Time of={t * 1e6} /> : <span />}
                <Shape of={s.of} />
                <span>
                  {event.Topic} {lead && !event.Deleted ? <a href={lead}>{s.name}</a> : <b>{s.name}</b>} {s.text}
                  {n > 1 && <span class="sub">, {n} times</span>}
                </span>
              </li>
            );
          })}
        </ol>
      )}
    </Card>
  );
}
