// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useState } from 'preact/hooks';
import { login } from '../../link/link';
import { Card, Time } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { to, toAllocation } from '../../shell/place';
import { whenReleased } from '../../store/watch';
import { limitOf, objectOf, type Past } from './happened';
import type { JobRef } from './of';
import { followPast } from './past';

/** With many instances, of whose events a page shows the newest, fewer changes of the cluster are replayed. */
const depthOf = (many: boolean) => (many ? 300 : 20_000);

/** useHappened follows the past of a job. A frozen page learns of it when it is released. */
function useHappened(job: JobRef, read: number, many: boolean): Past {
  const [past, set] = useState<Past>({ lines: [], depth: 0, missed: false });
  useEffect(() => {
    let cancel = () => {};
    const end = followPast(job, read, depthOf(many), (p) => {
      cancel();
      cancel = whenReleased(() => set(p));
    });
    return () => {
      cancel();
      end();
    };
  }, [job.id, job.namespace, login.value.accessor]);
  return past;
}

/** WhatHappened lists the events of a job, the newest first. */
export function WhatHappened({ job, index, many }: { job: JobRef; index: number; many: boolean }) {
  const [read] = useState(index);
  const past = useHappened(job, read, many);
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
