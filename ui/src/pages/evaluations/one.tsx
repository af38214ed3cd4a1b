// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { AllocationListStub, Evaluation } from '../../api/schema';
import { Card, Facts, Head, Time } from '../../parts/page';
import { Shape, Status } from '../../parts/shape';
import { Shown } from '../../parts/states';
import { useVerbs } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { useKeys } from '../../shell/keys';
import { go, to, toAllocation, toJob, toNode } from '../../shell/place';
import { useRead } from '../../store/read';
import { plural, short } from '../../words/count';
import { ofAllocation, ofEvaluation } from '../../words/meaning';
import { obstacles } from '../../words/placement';
import { ms } from '../../words/time';
import { unblockVerb } from './verbs';

/** OneEvaluation shows why an evaluation placed instances or not, what it made, and what came before and after it. */
export function OneEvaluation({ id }: { id: string }) {
  const at = `/v1/evaluation/${encodeURIComponent(id)}`;
  // A related evaluation may be new: the events of the job tell.
  const read = useRead<Evaluation>(`${at}?related=true`, { on: ['Evaluation'] });
  useKeys([{ key: 'u', name: 'up to all evaluations', shown: true, act: () => go(to(['evaluations'])) }]);
  return (
    <>
      {read.data === undefined && <Head title={`Evaluation ${short(id)}`} crumbs={[{ name: 'Evaluations', href: to(['evaluations']) }]} />}
      <Shown read={read}>{(e) => <Found evaluation={e} path={at} />}</Shown>
    </>
  );
}

function Found({ evaluation: e, path }: { evaluation: Evaluation; path: string }) {
  const made = useRead<AllocationListStub[] | null>(`${path}/allocations`, { on: [`Allocation:${e.JobID}`] });
  const verb = e.Status === 'blocked' ? unblockVerb(e) : undefined;
  useVerbs(verb ? [verb] : []);
  const failed = Object.entries(e.FailedTGAllocs ?? {});
  const leads = (id: string | undefined) => id && <a href={to(['evaluations'], { evaluation: id })}>{short(id)}</a>;
  return (
    <>
      <Head title={`Evaluation ${short(e.ID)}`} crumbs={[{ name: 'Evaluations', href: to(['evaluations']) }]} mark={<Status of={ofEvaluation(e.Status)} word={e.Status ?? ''} />} sentence={e.StatusDescription}>
        {verb && <VerbButton verb={verb} />}
      </Head>
      <div class="cols">
        <div class="stackv">
          <Card title="Without a place" sub={failed.length || ''}>
            {failed.length === 0 ? (
              <p class="pad sub">Every instance that it looked for has a place.</p>
            ) : (
              failed.map(([group, m]) => (
                <div key={group} class="pad">
                  <h3>
                    {group}: {plural(e.QueuedAllocations?.[group] || 1 + (m?.CoalescedFailures ?? 0), 'instance')}
                  </h3>
                  <ul class="rows">
                    {obstacles(m).map((o) => (
                      <li key={o}>
                        <Shape of="bad" />
                        <span>{o}</span>
                      </li>
                    ))}
                  </ul>
                  <p class="sub">
                    {plural(m?.NodesEvaluated ?? 0, 'node')} of {m?.NodesInPool ?? 0} in pool {m?.NodePool || 'default'} looked at
                  </p>
                </div>
              ))
            )}
          </Card>
          <Card title="Allocations that it made or changed">
            <Shown read={made}>
              {(list) =>
                (list ?? []).length === 0 ? (
                  <p class="pad sub">None.</p>
                ) : (
                  <ul class="rows">
                    {(list ?? []).map((a) => (
                      <li key={a.ID}>
                        <Shape of={ofAllocation(a)} />
                        <span>
                          <a href={toAllocation(a.ID ?? '')}>{a.Name}</a> {a.ClientStatus}
                          {a.DesiredStatus !== 'run' && `, to ${a.DesiredStatus}`}
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
        <div class="stackv">
          <Card title="Facts">
            <Facts
              of={[
                ['Job', <a href={toJob(e.JobID ?? '', e.Namespace)}>{e.JobID}</a>],
                ['Namespace', e.Namespace],
                ['Because of', e.TriggeredBy],
                ['Priority', e.Priority],
                ['Node', e.NodeID && <a href={toNode(e.NodeID)}>{short(e.NodeID)}</a>],
                ['Deployment', e.DeploymentID && <a href={to(['rollouts'], { deployment: e.DeploymentID })}>{short(e.DeploymentID)}</a>],
                ['Held', e.Held],
                ['Quota used up', e.QuotaLimitReached],
                ['Waits until', ms(e.WaitUntil) ? <Time of={e.WaitUntil} /> : ''],
                ['Follows', leads(e.PreviousEval)],
                ['Followed by', leads(e.NextEval)],
                ['Blocked one', leads(e.BlockedEval)],
                ['Created', <Time of={e.CreateTime} />],
                ['Changed', <Time of={e.ModifyTime} />],
                ['Id', <code>{e.ID}</code>],
              ]}
            />
          </Card>
          <Card title="Related" sub={(e.RelatedEvals ?? []).length || ''}>
            {(e.RelatedEvals ?? []).length === 0 ? (
              <p class="pad sub">None is kept.</p>
            ) : (
              <ul class="rows">
                {(e.RelatedEvals ?? []).map((r) => (
                  <li key={r?.ID}>
                    <Shape of={ofEvaluation(r?.Status)} />
                    <span>
                      {leads(r?.ID)} {r?.Status}, {r?.TriggeredBy}
                      {r?.StatusDescription && `: ${r.StatusDescription}`}
                    </span>
                  </li>
                ))}
              </ul>
            )}
          </Card>
        </div>
      </div>
    </>
  );
}
