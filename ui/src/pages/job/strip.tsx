// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Instance, RouteListStub } from '../../api/schema';
import { Bar, Card } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { toAllocation, toJob } from '../../shell/place';
import { count, percent, plural } from '../../words/count';
import { ofInstance, type Meaning } from '../../words/meaning';
import { keyOf, said } from '../instances';
import type { JobRef } from './of';

const word: Record<Meaning, string> = { ok: 'with traffic', up: 'without traffic', go: 'being placed', you: 'waiting', wait: 'pending', late: 'delayed', bad: 'crashed or without a place', gone: 'paused' };
const order: Meaning[] = ['ok', 'up', 'go', 'wait', 'late', 'bad', 'gone', 'you'];

/** More instances than this are counted, and not drawn one by one. */
export const stripLimit = 200;

/** tally counts instances by meaning, in the order of the legend. */
export function tally(all: Instance[]): [Meaning, number][] {
  const n = new Map<Meaning, number>();
  for (const i of all) n.set(ofInstance(i), (n.get(ofInstance(i)) ?? 0) + 1);
  return order.filter((m) => n.has(m)).map((m) => [m, n.get(m)!]);
}

/** Strip shows every instance as a shape, or their counts if there are many. */
export function Strip({ job, all, serves }: { job: JobRef; all: Instance[]; serves: boolean }) {
  const counts = tally(all);
  const good = counts.find(([m]) => m === 'ok')?.[1] ?? 0;
  const running = all.filter((i) => i.State === 'RUNNING').length;
  return (
    <Card title="Instances" sub={serves ? `${count(good)} of ${count(all.length)} ${good === 1 ? 'gets' : 'get'} traffic` : `${count(running)} of ${count(all.length)} ${running === 1 ? 'runs' : 'run'}`}>
      {all.length === 0 ? (
        <p class="empty">This job has no instance now.</p>
      ) : all.length > stripLimit ? (
        <ul class="tally">
          {counts.map(([m, n]) => (
            <li key={m}>
              <Shape of={m} /> <a href={toJob(job.id, job.namespace, 'instances')}>{plural(n, 'instance')}</a> <span class="sub">{word[m]}</span> <Bar part={n} whole={all.length} of={m} />
            </li>
          ))}
        </ul>
      ) : (
        <>
          <div class="strip">
            {all.map((i) => {
              const label = `${i.Name}, ${i.Canary ? 'canary, ' : ''}version ${i.JobVersion}: ${said(i)}`;
              const shape = <Shape of={ofInstance(i)} />;
              return (
                <a key={keyOf(i)} href={i.Allocation ? toAllocation(i.Allocation) : toJob(job.id, job.namespace, 'explain')} aria-label={label} title={label}>
                  {shape}
                </a>
              );
            })}
          </div>
          <div class="legend">
            {counts.map(([m, n]) => (
              <span key={m}>
                <Shape of={m} /> {n} {word[m]}
              </span>
            ))}
          </div>
        </>
      )}
    </Card>
  );
}

/** sharesOf is the share of each version among the instances of a group that get traffic, in whole parts of one. */
export function sharesOf(all: Instance[], group?: string): { version: number; share: number }[] {
  const n = new Map<number, number>();
  let sum = 0;
  for (const i of all) {
    if (!i.Routable || i.State !== 'RUNNING' || (group && i.Group !== group)) continue;
    n.set(i.JobVersion ?? 0, (n.get(i.JobVersion ?? 0) ?? 0) + 1);
    sum++;
  }
  return [...n].sort(([a], [b]) => a - b).map(([version, k]) => ({ version, share: k / sum }));
}

/** Traffic shows which version gets which share of each route. */
export function Traffic({ routes, all, version }: { routes: RouteListStub[]; all: Instance[]; version: number }) {
  if (routes.length === 0) {
    const shares = sharesOf(all);
    if (shares.length < 2) return null;
    return (
      <Card title="Versions that get traffic" sub={plural(all.filter((i) => i.Routable).length, 'instance')}>
        <ShareBar shares={shares} version={version} />
      </Card>
    );
  }
  return (
    <>
      {routes.slice(0, 8).map((r) => {
        const shares = sharesOf(all, r.Group);
        const share = r.Share ?? 0;
        return (
          <Card key={`${r.Claim} ${r.Group}`} title={<>Traffic of {r.Claim}</>} sub={`${r.Routable} of ${r.Total} instances`}>
            <ShareBar shares={shares} version={version} />
            <p class="pad-x sub">
              Group {r.Group}, weight {r.Weight}
              {share < 1 && `, ${percent(share, 1)} of the route; other jobs get the rest`}
              {shares.length === 0 && '. No instance gets traffic: the router answers 503'}
            </p>
          </Card>
        );
      })}
      {routes.length > 8 && <p class="sub">And {routes.length - 8} more routes.</p>}
    </>
  );
}

function ShareBar({ shares, version }: { shares: { version: number; share: number }[]; version: number }) {
  if (shares.length === 0) return <div class="traffic none" role="img" aria-label="no version gets traffic" />;
  const label = shares.map((s) => `version ${s.version} gets ${percent(s.share, 1)}`).join(', ');
  return (
    <div class="traffic" role="img" aria-label={label}>
      {shares.map((s) => (
        <div key={s.version} class={s.version === version ? 'new' : 'old'} style={{ flexGrow: s.share }}>
          v{s.version} {percent(s.share, 1)}
        </div>
      ))}
    </div>
  );
}
