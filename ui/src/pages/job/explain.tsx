// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { GroupExplanation, JobExplanation } from '../../api/schema';
import { CopyLine } from '../../parts/copy';
import { Card } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { Shown } from '../../parts/states';
import { toNode } from '../../shell/place';
import { useRead } from '../../store/read';
import { command, inNS } from '../../words/command';
import { count, plural } from '../../words/count';
import { api, type JobRef } from './of';

/** Explain shows which nodes can take another instance of each group, and why others cannot. It is read once: the answer costs the leader work. */
export function Explain({ of }: { of: JobRef }) {
  const read = useRead<JobExplanation>(api(of, '/explain'));
  return (
    <>
      <div class="bar-line">
        <p class="sub">
          What the servers answered when this was read. The same as <CopyLine text={command('job', 'explain', ...inNS(of.namespace), of.id)} />
        </p>
        <button type="button" class="b" onClick={read.again}>
          Ask again
        </button>
      </div>
      <Shown read={read}>
        {(x) => (
          <div class="stackv">
            {(x.Unblock ?? []).length > 0 && (
              <section class="err">
                <p>
                  <b>Any of this would give it a place:</b>
                </p>
                <ul>
                  {(x.Unblock ?? []).slice(0, 20).map((u) => (
                    <li key={u}>{u}</li>
                  ))}
                </ul>
              </section>
            )}
            {(x.Groups ?? []).map((g) => g && <Group key={g.Group} of={g} />)}
          </div>
        )}
      </Shown>
    </>
  );
}

function Group({ of: g }: { of: GroupExplanation }) {
  const waiting = g.Waiting ?? 0;
  const fits = g.Fitting ?? 0;
  return (
    <Card
      title={
        <>
          <Shape of={waiting > 0 ? 'bad' : 'ok'} /> {g.Group}
        </>
      }
      sub={`${count(g.Placed)} of ${count(g.Count)} placed${waiting ? `, ${count(waiting)} without a place` : ''}`}
    >
      <p class="pad-x">
        {fits > 0 ? `${count(fits)} of ${plural(g.Nodes ?? 0, 'node')} can take another instance.` : `None of ${plural(g.Nodes ?? 0, 'node')} can take another instance.`}
      </p>
      {(g.Quota ?? []).map((q) => (
        <div class="err" key={q}>
          <p>Quota: {q}</p>
        </div>
      ))}
      {(g.Obstacles ?? []).length > 0 && (
        <div class="scroll-x">
          <table class="plain">
            <thead>
              <tr>
                <th scope="col">Obstacle</th>
                <th scope="col">What is missing</th>
                <th scope="col" class="end">
                  Nodes
                </th>
              </tr>
            </thead>
            <tbody>
              {(g.Obstacles ?? []).map((o) => (
                <tr key={`${o.Filter} ${o.Reason}`}>
                  <td>{o.Filter}</td>
                  <td>{o.Reason}</td>
                  <td class="end">{count(o.Nodes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {(g.Nearest ?? []).length > 0 && (
        <div class="scroll-x">
          <table class="plain">
            <thead>
              <tr>
                <th scope="col">Nearest node</th>
                <th scope="col">Datacenter</th>
                <th scope="col">Obstacles</th>
              </tr>
            </thead>
            <tbody>
              {(g.Nearest ?? []).map(
                (n) =>
                  n && (
                    <tr key={n.NodeID}>
                      <td>
                        <a href={toNode(n.NodeID ?? '')}>{n.NodeName}</a>
                      </td>
                      <td>{n.Datacenter}</td>
                      <td>{n.Fits ? 'fits' : (n.Obstacles ?? []).map((o) => `${o.Reason}${o.Needed ? ` (${count(o.Needed)} wanted, ${count(o.Free)} free)` : ''}`).join('; ')}</td>
                    </tr>
                  ),
              )}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}
