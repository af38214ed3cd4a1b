// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Allocation, CheckStatus, TaskState } from '../../api/schema';
import { Card, Facts, Time } from '../../parts/page';
import { Shape, Status } from '../../parts/shape';
import { toAllocation, toJob, toNode } from '../../shell/place';
import { useRead } from '../../store/read';
import { plural, short } from '../../words/count';
import type { Meaning } from '../../words/meaning';
import { visible } from '../../words/plain';
import { ms } from '../../words/time';
import { Use } from './use';
import { ofTask, ofTaskEvent, wordOfTask } from './words';

const isLive = (a: Allocation) => a.ClientStatus === 'running' || a.ClientStatus === 'pending';

/** Now shows what an allocation does, and what its tasks did. */
export function Now({ a }: { a: Allocation }) {
  const states = Object.entries(a.TaskStates ?? {}).filter((e): e is [string, TaskState] => e[1] !== null);
  const r = a.AllocatedResources;
  const cpu = Object.values(r?.Tasks ?? {}).reduce((n, t) => n + (t?.Cpu?.CpuShares ?? 0), 0);
  const memory = Object.values(r?.Tasks ?? {}).reduce((n, t) => n + (t?.Memory?.MemoryMB ?? 0), 0);
  return (
    <div class="cols">
      <div class="stackv">
        {states.length === 0 && (
          <Card title="Tasks">
            <p class="empty">Its node has not reported its tasks yet.</p>
          </Card>
        )}
        {states.map(([name, t]) => (
          <TaskCard key={name} name={name} t={t} />
        ))}
      </div>
      <div class="stackv">
        <Card title="Facts">
          <Facts
            of={[
              ['Job', <a href={toJob(a.JobID ?? '', a.Namespace)}>{a.JobID}</a>],
              ['Version', a.Job?.Version],
              ['Group', a.TaskGroup],
              ['Node', a.NodeID && <a href={toNode(a.NodeID)}>{a.NodeName || short(a.NodeID)}</a>],
              ['Placed', <Time of={a.CreateTime} />],
              ['Changed', <Time of={a.ModifyTime} />],
              ['Address', a.NetworkStatus?.Address],
              ['Replaces', a.PreviousAllocation && <a href={toAllocation(a.PreviousAllocation)}>{short(a.PreviousAllocation)}</a>],
              ['Replaced by', a.NextAllocation && <a href={toAllocation(a.NextAllocation)}>{short(a.NextAllocation)}</a>],
              ['Preempted by', a.PreemptedByAllocation && <a href={toAllocation(a.PreemptedByAllocation)}>{short(a.PreemptedByAllocation)}</a>],
              ['Id', <code>{a.ID}</code>],
            ]}
          />
        </Card>
        <Ports a={a} />
        {isLive(a) && <Checks id={a.ID ?? ''} />}
        {a.ClientStatus === 'running' && <Use id={a.ID ?? ''} cpu={cpu} memory={memory} />}
        <Made a={a} states={states} />
      </div>
    </div>
  );
}

function TaskCard({ name, t }: { name: string; t: TaskState }) {
  const events = (t.Events ?? []).filter((e) => e !== null).toReversed();
  return (
    <Card
      title={
        <span class="status">
          {name} <Status of={ofTask(t)} word={wordOfTask(t)} />
        </span>
      }
      sub={
        <>
          {t.Restarts ? `${plural(t.Restarts, 'restart')}, ` : ''}
          {ms(t.FinishedAt) ? (
            <>
              ended <Time of={t.FinishedAt} />
            </>
          ) : (
            ms(t.StartedAt) > 0 && (
              <>
                since <Time of={t.StartedAt} />
              </>
            )
          )}
        </>
      }
    >
      {t.Waiting && <p class="pad">Waits: {visible(t.Waiting)}</p>}
      {events.length === 0 ? (
        <p class="empty">Nothing has happened to it yet.</p>
      ) : (
        <ol class="ev task-ev">
          {events.map((e, i) => (
            <li key={`${e.Time} ${i}`}>
              <Time of={e.Time} />
              <Shape of={ofTaskEvent(e.Type, e.ExitCode, e.FailsTask)} />
              <span>
                <b>{e.Type}</b> <span class="said">{visible(e.DisplayMessage || e.Message || '')}</span>
              </span>
            </li>
          ))}
        </ol>
      )}
      {t.Result && (
        <div class="pad">
          <h3>Result</h3>
          <pre>{visible(t.Result).slice(0, 4_000)}</pre>
        </div>
      )}
    </Card>
  );
}

function Ports({ a }: { a: Allocation }) {
  const ports = a.AllocatedResources?.Shared?.Ports ?? [];
  if (ports.length === 0) return null;
  return (
    <Card title="Ports">
      <div class="scroll-x">
        <table class="plain">
          <thead>
            <tr>
              <th>Name</th>
              <th>Address on the node</th>
              <th class="end">Port of the task</th>
            </tr>
          </thead>
          <tbody>
            {ports.map((p) => (
              <tr key={`${p.Label} ${p.Value}`}>
                <td>{p.Label}</td>
                <td>
                  <code>
                    {p.HostIP}:{p.Value}
                  </code>
                </td>
                <td class="end">{p.To && p.To > 0 ? p.To : p.Value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

const ofCheck: Record<string, Meaning> = { success: 'ok', failure: 'bad', pending: 'go' };

function Checks({ id }: { id: string }) {
  const read = useRead<Record<string, CheckStatus>>(`/v1/client/allocation/${encodeURIComponent(id)}/checks`, { every: 2_000 });
  const all = Object.values(read.data ?? {});
  if (all.length === 0) return null;
  return (
    <Card title="Checks">
      <ul class="rows">
        {all.map((c) => (
          <li key={c.ID}>
            <Shape of={ofCheck[c.Status ?? ''] ?? 'wait'} label={c.Status ?? ''} />
            <span>
              {c.Check || c.Service} <span class="sub">{c.Mode}</span>
              <br />
              <span class="sub">
                {c.Status}
                {c.StatusCode ? ` ${c.StatusCode}` : ''}
                {c.Output ? `: ${visible(c.Output).slice(0, 300)}` : ''}
              </span>
            </span>
            <Time of={(c.Timestamp ?? 0) * 1e9} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Made shows what the tasks were made from: templates and images. */
function Made({ a, states }: { a: Allocation; states: [string, TaskState][] }) {
  const group = a.Job?.TaskGroups?.find((g) => g?.Name === a.TaskGroup);
  const templates = (group?.Tasks ?? []).flatMap((t) =>
    (t?.Templates ?? []).map((x) => ({ task: t?.Name ?? '', path: x?.DestPath ?? '', mode: x?.ChangeMode ?? '', state: states.find(([n]) => n === t?.Name)?.[1].Templates?.find((s) => s?.Destination === x?.DestPath) })),
  );
  const images = (a.Images ?? []).filter((i) => i !== null);
  if (templates.length + images.length === 0) return null;
  return (
    <Card title="Templates and images">
      <ul class="rows">
        {templates.map((t) => (
          <li key={`${t.task} ${t.path}`}>
            <Shape of={t.state?.Waiting ? 'late' : 'ok'} label="template" />
            <span>
              <code>{t.path}</code> of {t.task}
              {t.state?.Waiting && <span class="sub"> waits: {visible(t.state.Waiting)}</span>}
              {ms(t.state?.Rendered) > 0 && (
                <span class="sub">
                  , written <Time of={t.state?.Rendered} />
                </span>
              )}
            </span>
            <span class="sub">{t.mode}</span>
          </li>
        ))}
        {images.map((i) => (
          <li key={`${i.Task} ${i.Digest}`}>
            <Shape of="ok" label="image" />
            <span>
              <code>{i.Image}</code> of {i.Task}
              <br />
              <code class="sub">{i.Digest}</code>
            </span>
            <span />
          </li>
        ))}
      </ul>
    </Card>
  );
}
