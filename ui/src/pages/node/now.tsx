// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { AllocationListStub, HostStats, Node, NodeDrainStatus } from '../../api/schema';
import { Bar, Card, Facts, Time } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { Shown } from '../../parts/states';
import { toAllocation, toJob, toNode } from '../../shell/place';
import { useRead } from '../../store/read';
import { bytes, mib, percent, plural, short } from '../../words/count';
import { ofAllocation } from '../../words/meaning';
import { ofDraining } from '../../words/node';
import { ms, span } from '../../words/time';

/** Now shows what a node does: its drain, its use and its events. */
export function Now({ n }: { n: Node }) {
  const id = n.ID ?? '';
  const events = (n.Events ?? []).filter((e) => e !== null).toReversed();
  const r = n.NodeResources;
  return (
    <div class="cols">
      <div class="stackv">
        {(n.Drain || n.LastDrain) && <Draining id={id} active={n.Drain ?? false} />}
        <Allocations id={id} />
        <Card title="Events">
          {events.length === 0 && <p class="empty">Nothing has happened to it yet.</p>}
          <ol class="ev task-ev">
            {events.map((e, i) => (
              <li key={i}>
                <Time of={e.Timestamp} />
                <Shape of="wait" />
                <span>
                  <b>{e.Subsystem}</b> {e.Message}
                  {Object.entries(e.Details ?? {}).map(([k, v]) => (
                    <span key={k} class="sub">
                      {' '}
                      {k}: {v}
                    </span>
                  ))}
                </span>
              </li>
            ))}
          </ol>
        </Card>
      </div>
      <div class="stackv">
        {n.Status === 'ready' && n.HTTPAddr && <Machine id={id} />}
        <Card title="Facts">
          <Facts
            of={[
              ['Datacenter', n.Datacenter],
              ['Pool', n.NodePool],
              ['Class', n.NodeClass],
              ['Eligible', n.SchedulingEligibility === 'eligible' ? 'yes' : 'no: nothing new is placed here'],
              ['Processor', `${r?.Cpu?.CpuShares ?? 0} MHz, ${plural(r?.Cpu?.TotalCpuCores ?? 0, 'core')}`],
              ['Memory', mib(r?.Memory?.MemoryMB)],
              ['Disk', mib(r?.Disk?.DiskMB)],
              ['Address', n.HTTPAddr || 'none: simulated nodes have none'],
              ['Version', n.Attributes?.['reeve.version']],
              ['System', [n.Attributes?.['os.name'], n.Attributes?.['os.version'], n.Attributes?.['kernel.version']].filter(Boolean).join(', ')],
              ['Silent since', n.SilentSince ? <Time of={n.SilentSince} /> : ''],
              ['State since', <Time of={(n.StatusUpdatedAt ?? 0) * 1e9} />],
              ['Id', <code>{id}</code>],
            ]}
          />
        </Card>
        <Drivers n={n} />
      </div>
    </div>
  );
}

function Draining({ id, active }: { id: string; active: boolean }) {
  const read = useRead<NodeDrainStatus>(`/v1/node/${encodeURIComponent(id)}/drain`, { block: true });
  return (
    <Card
      title={active ? 'Drain' : 'Last drain'}
      sub={
        read.data?.DrainStrategy && ms(read.data.DrainStrategy.ForceDeadline) > 0 ? (
          <>
            everything stops at <Time of={read.data.DrainStrategy.ForceDeadline} />
          </>
        ) : active ? (
          'no deadline'
        ) : undefined
      }
    >
      <Shown read={read}>
        {(d) => (
          <>
            <Facts
              of={[
                ['State', d.LastDrain?.Status],
                ['Began', <Time of={d.LastDrain?.StartedAt} />],
                ['By', d.LastDrain?.AccessorID && short(d.LastDrain.AccessorID)],
                ['Reason', d.LastDrain?.Meta?.['message']],
                ['Left', active && `${plural(d.Allocations?.length ?? 0, 'allocation')} still here, ${d.Gone ?? 0} gone`],
                ['Ignored', d.Ignored ? plural(d.Ignored, 'allocation') : ''],
              ]}
            />
            <ul class="rows">
              {(d.Allocations ?? []).map(
                (a) =>
                  a && (
                    <li key={a.ID}>
                      <Shape of={ofDraining(a.State)} label={a.State ?? ''} />
                      <span>
                        <a href={toAllocation(a.ID ?? '')}>{a.Name}</a>: {a.State}
                        {a.Description && <span class="sub"> {a.Description}</span>}
                      </span>
                      <span class="sub">
                        {a.Replacement && (
                          <>
                            replaced by <a href={toAllocation(a.Replacement.ID ?? '')}>{short(a.Replacement.ID)}</a> on <a href={toNode(a.Replacement.NodeID ?? '')}>{a.Replacement.NodeName}</a>
                          </>
                        )}
                      </span>
                    </li>
                  ),
              )}
            </ul>
          </>
        )}
      </Shown>
    </Card>
  );
}

const shown = 50;

/** Allocations are the newest of the node, also those that have ended. */
function Allocations({ id }: { id: string }) {
  const filter = encodeURIComponent(`NodeID == "${id}"`);
  const read = useRead<AllocationListStub[] | null>(`/v1/allocations?namespace=*&task_states=false&reverse=true&per_page=${shown}&filter=${filter}`, { on: [`Instance:${id}`] });
  return (
    <Card title="Allocations" sub={`the newest ${shown}, also ended ones`}>
      <Shown read={read}>
        {(all) =>
          (all ?? []).length === 0 ? (
            <p class="empty">Nothing has been placed here.</p>
          ) : (
            <ul class="rows">
              {all!.map((a) => (
                <li key={a.ID}>
                  <Shape of={ofAllocation(a)} label={a.ClientStatus ?? ''} />
                  <span>
                    <a href={toAllocation(a.ID ?? '')}>{a.Name?.startsWith(`${a.JobID}.`) ? a.Name.slice((a.JobID ?? '').length + 1) : a.Name}</a> of <a href={toJob(a.JobID ?? '', a.Namespace)}>{a.JobID}</a>, {a.ClientStatus}
                  </span>
                  <Time of={a.ModifyTime} />
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Card>
  );
}

/** Machine is what the whole machine uses, also outside of tasks. */
function Machine({ id }: { id: string }) {
  const read = useRead<HostStats>(`/v1/client/stats?node_id=${encodeURIComponent(id)}`, { every: 3_000 });
  return (
    <Card title="Use of the machine" sub="by tasks and everything else">
      <Shown read={read}>
        {(s) => {
          const cpus = (s.CPU ?? []).filter((c) => c !== null);
          const busy = cpus.reduce((n, c) => n + (c.TotalPercent ?? 0), 0) / Math.max(1, cpus.length);
          const line = (part: number, whole: number, text: string) => (
            <span class="status">
              <Bar part={part} whole={whole} of={part > whole * 0.9 ? 'late' : 'go'} /> {text}
            </span>
          );
          return (
            <Facts
              of={[
                ['Processor', line(busy, 100, percent(busy, 100))],
                ['Memory', line(s.Memory?.Used ?? 0, s.Memory?.Total ?? 0, `${bytes(s.Memory?.Used)} of ${bytes(s.Memory?.Total)}`)],
                ['Disk', line(s.AllocDirStats?.Used ?? 0, s.AllocDirStats?.Size ?? 0, `${bytes(s.AllocDirStats?.Available)} free of ${bytes(s.AllocDirStats?.Size)}`)],
                ['Up for', span((s.Uptime ?? 0) * 1_000)],
              ]}
            />
          );
        }}
      </Shown>
    </Card>
  );
}

function Drivers({ n }: { n: Node }) {
  const all = Object.entries(n.Drivers ?? {}).filter(([, d]) => d?.Detected);
  if (all.length === 0) return null;
  return (
    <Card title="Drivers">
      <ul class="rows">
        {all.map(([name, d]) => (
          <li key={name}>
            <Shape of={d?.Healthy ? 'ok' : 'bad'} label={d?.Healthy ? 'healthy' : 'not healthy'} />
            <span>
              {name} <span class="sub">{d?.HealthDescription}</span>
            </span>
            <span />
          </li>
        ))}
      </ul>
    </Card>
  );
}
