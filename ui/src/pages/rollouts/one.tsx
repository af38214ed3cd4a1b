// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { AllocationListStub, Deployment, JobRestart } from '../../api/schema';
import { Bar, Card, Facts, Head, Time } from '../../parts/page';
import { deploymentVerbs, restartVerbs } from '../../parts/rollout_verbs';
import { Shape, Status } from '../../parts/shape';
import { Shown } from '../../parts/states';
import { useVerbs } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { useKeys } from '../../shell/keys';
import { go, to, toAllocation, toJob } from '../../shell/place';
import { useRead } from '../../store/read';
import { short } from '../../words/count';
import { ofAllocation } from '../../words/meaning';
import { rolloutOfDeployment, rolloutOfRestart } from '../../words/rollout';
import { ms } from '../../words/time';

const crumbs = [{ name: 'Rollouts', href: to(['rollouts']) }];
const useUp = () => useKeys([{ key: 'u', name: 'up to all rollouts', shown: true, act: () => go(to(['rollouts'])) }]);

/** OneDeployment shows a deployment: its groups, what holds it, and its allocations. */
export function OneDeployment({ id }: { id: string }) {
  const read = useRead<Deployment>(`/v1/deployment/${encodeURIComponent(id)}`, { on: [`Deployment:${id}`] });
  useUp();
  return (
    <>
      {read.data === undefined && <Head title={`Deployment ${short(id)}`} crumbs={crumbs} />}
      <Shown read={read}>{(d) => <Found deployment={d} />}</Shown>
    </>
  );
}

function Found({ deployment: d }: { deployment: Deployment }) {
  const allocations = useRead<AllocationListStub[] | null>(`/v1/deployment/allocations/${encodeURIComponent(d.ID ?? '')}`, { on: [`Allocation:${d.ID}`] });
  const verbs = deploymentVerbs(d);
  useVerbs(verbs);
  const r = rolloutOfDeployment(d);
  return (
    <>
      <Head title={r.name} crumbs={crumbs} mark={<Status of={r.of} word={r.of === 'you' && d.Status === 'running' ? 'waits for you' : r.status} />} sentence={r.text}>
        {verbs.map((v) => (
          <VerbButton key={v.name} verb={v} />
        ))}
      </Head>
      <div class="cols">
        <div class="stackv">
          <Card title="Groups">
            <div class="scroll-x" role="region" aria-label="Groups" tabIndex={0}>
              <table class="plain groups">
                <thead>
                  <tr>
                    <th scope="col">Group</th>
                    <th scope="col">Healthy</th>
                    <th scope="col">Placed</th>
                    <th scope="col">Unhealthy</th>
                    <th scope="col">Canaries</th>
                    <th scope="col">Progress by</th>
                  </tr>
                </thead>
                <tbody>
                  {Object.entries(d.TaskGroups ?? {}).map(([name, g]) => (
                    <tr key={name}>
                      <td>{name}</td>
                      <td>
                        <Bar part={g?.HealthyAllocs ?? 0} whole={g?.DesiredTotal ?? 0} of="ok" /> {g?.HealthyAllocs ?? 0} of {g?.DesiredTotal ?? 0}
                      </td>
                      <td>{g?.PlacedAllocs ?? 0}</td>
                      <td>{g?.UnhealthyAllocs || ''}</td>
                      <td>{(g?.DesiredCanaries ?? 0) > 0 && `${g?.PlacedCanaries?.length ?? 0} of ${g?.DesiredCanaries}${g?.Promoted ? ', promoted' : g?.AutoPromote ? ', promote themselves' : ''}`}</td>
                      <td>
                        <Time of={d.Status === 'running' ? g?.RequireProgressBy : undefined} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </Card>
          <Card title="Allocations">
            <Shown read={allocations}>
              {(list) =>
                (list ?? []).length === 0 ? (
                  <p class="pad sub">None was placed yet.</p>
                ) : (
                  <ul class="rows">
                    {(list ?? []).slice(0, 100).map((a) => (
                      <li key={a.ID}>
                        <Shape of={ofAllocation(a)} />
                        <span>
                          <a href={toAllocation(a.ID ?? '')}>{a.Name}</a> {a.ClientStatus}
                          {a.DeploymentStatus?.Canary && ', canary'}
                          {a.DeploymentStatus?.Healthy === true && ', healthy'}
                          {a.DeploymentStatus?.Healthy === false && ', unhealthy'}
                          {a.NodeName && ` on ${a.NodeName}`}
                        </span>
                      </li>
                    ))}
                  </ul>
                )
              }
            </Shown>
          </Card>
        </div>
        <Card title="Facts">
          <Facts
            of={[
              ['Job', <a href={toJob(d.JobID ?? '', d.Namespace)}>{d.JobID}</a>],
              ['Namespace', d.Namespace],
              ['Version', String(d.JobVersion ?? 0)],
              ['Created', <Time of={d.CreateTime} />],
              ['Changed', <Time of={d.ModifyTime} />],
              ['Id', <code>{d.ID}</code>],
            ]}
          />
        </Card>
      </div>
    </>
  );
}

/** OneRestart shows a restart, and what holds it. */
export function OneRestart({ id }: { id: string }) {
  const read = useRead<JobRestart>(`/v1/restart/${encodeURIComponent(id)}`, { on: [`Restart:${id}`] });
  useUp();
  return (
    <>
      {read.data === undefined && <Head title={`Restart ${short(id)}`} crumbs={crumbs} />}
      <Shown read={read}>{(r) => <FoundRestart restart={r} />}</Shown>
    </>
  );
}

function FoundRestart({ restart }: { restart: JobRestart }) {
  const verbs = restartVerbs(restart);
  useVerbs(verbs);
  const r = rolloutOfRestart(restart);
  const links = (ids: string[] | null | undefined) => (ids ?? []).length > 0 && <ul class="ids">{ids!.slice(0, 100).map((i) => <li key={i}><a href={toAllocation(i)}>{short(i)}</a></li>)}</ul>;
  return (
    <>
      <Head title={r.name} crumbs={crumbs} mark={<Status of={r.of} word={r.status} />} sentence={r.text}>
        {verbs.map((v) => (
          <VerbButton key={v.name} verb={v} />
        ))}
      </Head>
      <Card title="Facts">
        <Facts
          of={[
            ['Job', <a href={toJob(restart.JobID ?? '', restart.Namespace)}>{restart.JobID}</a>],
            ['Namespace', restart.Namespace],
            ['Groups', (restart.Groups ?? []).join(', ')],
            ['Tasks', (restart.Tasks ?? []).join(', ')],
            ['Batch', `${restart.BatchSize ?? 1} at a time${restart.HealthGate ? ', each healthy before the next' : ''}`],
            ['Next batch', restart.Status === 'running' && ms(restart.NextBatch) ? <Time of={restart.NextBatch} /> : ''],
            ['Restarted', links(restart.RestartedAllocs)],
            ['Unhealthy', links(restart.UnhealthyAllocs)],
            ['Declined', links(restart.Declined)],
            ['Started', <Time of={restart.StartedAt} />],
            ['By', restart.By],
            ['Reason', restart.Reason],
            ['Id', <code>{restart.ID}</code>],
          ]}
        />
      </Card>
    </>
  );
}
