// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Attention, Deployment, Domain, Evaluation, Instance, Orphan, Topology } from '../../api/schema';
import { Card } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { Loading } from '../../parts/states';
import { to, toAllocation, toNode } from '../../shell/place';
import { useRead } from '../../store/read';
import { troubledNodes } from '../../words/capacity';
import { plural } from '../../words/count';
import type { Meaning } from '../../words/meaning';
import { obstacles } from '../../words/placement';
import { clock, ms } from '../../words/time';
import { newestOfJob } from '../../words/waiting';

interface Item {
  key: string;
  of: Meaning;
  name: string;
  href?: string;
  text: string;
}

const shown = 25;

/** Wrong lists what does not run as it should. A part that the token may not read is left out. */
export function Wrong({ topology }: { topology: Topology | undefined }) {
  const crashed = useRead<Instance[] | null>('/v1/instances?state=CRASHED&namespace=*&per_page=50', { on: ['Instance'] });
  const blocked = useRead<Evaluation[] | null>('/v1/evaluations?status=blocked&namespace=*&per_page=50', { on: ['Evaluation'] });
  const deployments = useRead<Deployment[] | null>('/v1/deployments?namespace=*&reverse=true&per_page=200', { on: ['Deployment'] });
  const domains = useRead<Domain[] | null>('/v1/domains?all=true&per_page=200', { on: ['Domain'] });
  const orphans = useRead<Orphan[] | null>('/v1/orphans?namespace=*&per_page=50', { on: ['Job', 'Instance'] });
  const attention = useRead<Attention[] | null>('/v1/operator/attention', { every: 10_000 });
  const reads = [crashed, blocked, deployments, domains, orphans, attention];
  const items: Item[] = [
    ...(attention.data ?? []).map((a): Item => ({ key: `a ${a.Kind} ${a.Message}`, of: 'bad', name: '', text: `${a.Message}${a.Next ? `. ${a.Next}` : ''}` })),
    ...(crashed.data ?? []).map((i): Item => ({
      key: `c ${i.Allocation}`, of: 'bad', name: `${i.JobID} ${i.Name}`, href: toAllocation(i.Allocation ?? ''),
      text: `crashed${(i.CrashCount ?? 0) > 1 ? ` ${i.CrashCount} times` : ''}: ${i.CrashReason || 'no reason given'}${ms(i.NextAttempt) ? `; next attempt ${clock(ms(i.NextAttempt))}` : ''}`,
    })),
    ...(blocked.data ?? []).flatMap((e): Item[] =>
      Object.entries(e.FailedTGAllocs ?? {}).map(([group, m]) => ({
        key: `e ${e.ID} ${group}`, of: 'bad', name: `${e.JobID} ${group}`, href: to(['evaluations'], { evaluation: e.ID }),
        text: `${plural(e.QueuedAllocations?.[group] || 1, 'instance')} without a place: ${obstacles(m).join('; ')}`,
      })),
    ),
    ...newestOfJob(deployments.data ?? [])
      .filter((d) => d.Status === 'failed')
      .map((d): Item => ({ key: `d ${d.ID}`, of: 'bad', name: `${d.JobID} version ${d.JobVersion ?? 0}`, href: to(['rollouts'], { deployment: d.ID }), text: d.StatusDescription || 'its rollout failed' })),
    ...(topology ? troubledNodes(topology) : []).map((n): Item => ({ key: `n ${n.id}`, of: n.why === 'down' ? 'bad' : 'late', name: n.name, href: toNode(n.id), text: n.why === 'silent' ? 'sends no heartbeat' : `is ${n.why}` })),
    ...(domains.data ?? [])
      .filter((d) => d.Stale)
      .map((d): Item => ({ key: `f ${d.Name}`, of: 'late', name: d.Name ?? '', text: 'is stale: its jobs do not change until it is fresh' })),
    ...(orphans.data ?? []).map((o): Item => ({ key: `o ${o.Allocation?.ID}`, of: 'late', name: o.Allocation?.Name ?? '', href: toAllocation(o.Allocation?.ID ?? ''), text: `runs without a registered job${o.Domain ? `, in domain ${o.Domain}` : ''}` })),
  ];
  const refused = reads.filter((r) => r.error?.status === 403).length;
  return (
    <Card title="Problems" sub={items.length || ''}>
      {reads.some((r) => r.loading) && items.length === 0 ? (
        <Loading rows={3} />
      ) : items.length === 0 ? (
        <p class="pad sub">{refused > 0 ? 'No problem among what your token may see.' : 'No problems.'}</p>
      ) : (
        <ul class="rows">
          {items.slice(0, shown).map((i) => (
            <li key={i.key}>
              <Shape of={i.of} label={i.of === 'bad' ? 'failed' : 'delayed'} />
              <span>
                {i.href ? <a href={i.href}>{i.name}</a> : <b>{i.name}</b>} {i.text}
              </span>
            </li>
          ))}
        </ul>
      )}
      {items.length > shown && (
        <p class="pad sub">
          And {items.length - shown} more: see <a href={toJobsByState()}>Jobs</a>.
        </p>
      )}
      {refused > 0 && items.length > 0 && <p class="pad sub">Your token may not see all of it.</p>}
    </Card>
  );
}

const toJobsByState = () => to(['jobs'], { sort: 'state' });
