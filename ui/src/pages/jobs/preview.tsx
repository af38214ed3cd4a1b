// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Job, PlanJobResponse } from '../../api/schema';
import { Card, Time } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { list, plural } from '../../words/count';
import { diffLines } from '../../words/diff';
import { obstacles, updates } from '../../words/placement';
import { ms } from '../../words/time';

const look: Record<string, string> = { '+': 'added', '-': 'deleted', '~': 'edited' };

/** Preview shows what a registration would do: warnings, instances and nodes, obstacles, and the differences. */
export function Preview({ job, plan }: { job: Job; plan: PlanJobResponse }) {
  const lines = plan.Diff ? diffLines(plan.Diff) : [];
  const fresh = plan.Diff?.Type === 'Added';
  const groups = Object.entries(plan.Annotations?.DesiredTGUpdates ?? {});
  const blocked = Object.entries(plan.FailedTGAllocs ?? {});
  return (
    <>
      <h2 class="unseen">Plan</h2>
      {plan.Warnings && (
        <Card title="Warnings">
          <pre class="pad">{plan.Warnings}</pre>
        </Card>
      )}
      <Card title={`What happens to ${job.ID}`} sub={fresh ? 'a new job' : `changes version at index ${plan.JobModifyIndex}`}>
        <ul class="rows">
          {groups.map(([group, u]) => (
            <li key={group}>
              <Shape of={blocked.some(([g]) => g === group) ? 'bad' : 'go'} />
              <span>
                <b>{group}</b>: {updates(u) || 'nothing changes'}
                {plan.Nodes?.[group] && `, on ${list(Object.entries(plan.Nodes[group]!).map(([n, k]) => (k > 1 ? `${n} (${k})` : n)), 6)}`}
              </span>
            </li>
          ))}
          {blocked.map(([group, m]) => (
            <li key={`no ${group}`}>
              <Shape of="bad" />
              <span>
                <b>{group}</b>: {plural(1 + (m?.CoalescedFailures ?? 0), 'instance')} would have no place, and wait for one: {obstacles(m).join('; ')}
              </span>
            </li>
          ))}
          {groups.length === 0 && blocked.length === 0 && (
            <li>
              <Shape of="ok" />
              <span>{ms(plan.NextPeriodicLaunch) ? <>The next start is at <Time of={plan.NextPeriodicLaunch} />.</> : 'No instance starts or stops.'}</span>
            </li>
          )}
        </ul>
      </Card>
      <Card title="Differences" sub={lines.length === 0 ? 'none' : plural(lines.length, 'line')}>
        {lines.length === 0 ? (
          <p class="pad">The registered job is equal.</p>
        ) : (
          <ul class="diff" tabIndex={0} aria-label="Differences">
            {lines.map((l, i) => (
              <li key={i} class={look[l.sign]}>
                <span>{l.sign}</span>
                <span style={{ paddingLeft: `${l.depth * 16}px` }}>
                  {l.text} {l.note && <span class="sub">({l.note})</span>}
                </span>
              </li>
            ))}
          </ul>
        )}
      </Card>
    </>
  );
}
