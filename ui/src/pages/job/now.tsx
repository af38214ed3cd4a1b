// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useState } from 'preact/hooks';
import type { Decision, Deployment, Instance, Job, JobListStub, JobRestart, Plan, RouteListStub, Trouble } from '../../api/schema';
import { Card } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { Empty, Shown } from '../../parts/states';
import { useVerbs } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { place, setQuery, toJob } from '../../shell/place';
import { useRead, type Read } from '../../store/read';
import { ofJobStatus, notStarted } from '../../words/job';
import { ofStep } from '../../words/meaning';
import { Ask } from './ask';
import { api, topicsOf, type JobRef } from './of';
import { PlanCard, type NodeName } from './plan_card';
import { isActive, planVerbs } from './plan_verbs';
import { planQuestions, restartQuestion, type JobQuestion } from './questions';
import { Strip, Traffic } from './strip';
import { Troubles } from './troubles';
import { WhatHappened } from './what_happened';

/** Now shows what a job does, what it asks its operators, and what is wrong. */
export function Now({ of, job, index, plans, instances }: { of: JobRef; job: Job; index: number; plans: Read<Plan[] | null>; instances: Instance[] }) {
  const on = topicsOf(of.id);
  const troubles = useRead<Trouble[] | null>(api(of, '/troubles'), { on });
  const decisions = useRead<Decision[] | null>(api(of, '/decisions'), { on: [`Plan:${of.id}`] });
  const deployment = useRead<Deployment | null>(api(of, '/deployment'), { on: [`Deployment:${of.id}`] });
  const restarts = useRead<JobRestart[] | null>(api(of, '/restarts'), { on: [`Restart:${of.id}`] });
  const routes = useRead<RouteListStub[] | null>(`/v1/routes?${new URLSearchParams({ namespace: of.namespace, job: of.id })}`, { on: [`Job:${of.id}`, `Instance:${of.id}`] });
  const [details, setDetails] = useState<ReadonlyMap<string, Plan>>(new Map());
  const all = plans.data ?? [];
  const shownPlan = place.value.query.get('plan') ?? '';
  const active = all.filter((p) => isActive(p) || p.Name === shownPlan);
  const others = all.filter((p) => !active.includes(p));
  const live = deployment.data && ['running', 'paused'].includes(deployment.data.Status ?? '') ? deployment.data : undefined;
  const paused = (restarts.data ?? []).some((r) => r.Status === 'paused');
  const questions: JobQuestion[] = [
    ...active.flatMap((p) => {
      const detail = details.get(p.Name ?? '');
      // A paused restart interrupts its plan: the question of the restart stands for both.
      return detail && !(paused && p.Name === 'restart') ? planQuestions(of, detail, live, decisions.data ?? []) : [];
    }),
    ...(restarts.data ?? []).flatMap((r) => restartQuestion(of, r) ?? []),
  ];
  const nodes = new Map(instances.map((i) => [i.Allocation ?? '', { id: i.NodeID ?? '', name: i.NodeName ?? '' }]));
  const nodeOf = (a: string | undefined): NodeName | undefined => (a ? nodes.get(a) : undefined);
  const serves = job.Type === 'service' || job.Type === 'system';
  const starts = (job.Periodic && !job.ParentID) || (job.ParameterizedJob && !job.Dispatched);
  return (
    <>
      {questions.slice(0, 5).map((q, i) => (
        <Ask key={q.key} question={q} first={i === 0} id={`ask-${i}`} />
      ))}
      {questions.length > 5 && <p class="sub">And {questions.length - 5} more questions: the plans below show them.</p>}
      <div class="cols">
        <div class="stackv">
          <Troubles job={of} of={troubles.data ?? []} />
          <Shown read={plans}>
            {() => (
              <>
                {active.map((p, i) => (
                  <PlanCard
                    key={p.Name}
                    job={of}
                    name={p.Name ?? ''}
                    deployment={live}
                    keys={i === 0}
                    nodeOf={nodeOf}
                    read={(plan) => setDetails((d) => (d.get(p.Name ?? '') === plan ? d : new Map(d).set(p.Name ?? '', plan)))}
                  />
                ))}
                {others.some((p) => (p.Total ?? 0) > 0 || notStarted(p)) && <OtherPlans job={of} plans={others.filter((p) => (p.Total ?? 0) > 0 || notStarted(p))} />}
                {starts && <Children job={of} />}
                {all.length === 0 && !starts && <Empty>This job has no plan with work.</Empty>}
              </>
            )}
          </Shown>
        </div>
        <div class="stackv">
          {!starts && <Strip job={of} all={instances} serves={serves} />}
          <Traffic routes={routes.data ?? []} all={instances} version={job.Version ?? 0} />
          {index > 0 && <WhatHappened job={of} index={index} many={instances.length > 200} />}
        </div>
      </div>
    </>
  );
}

/** OtherPlans lists plans that are complete, or that nobody has started. */
function OtherPlans({ job, plans }: { job: JobRef; plans: Plan[] }) {
  return (
    <Card title="Other plans" sub={`${plans.length}`}>
      <ul class="rows">
        {plans.map((p) => (
          <OtherPlan key={p.Name} job={job} plan={p} />
        ))}
      </ul>
    </Card>
  );
}

function OtherPlan({ job, plan: p }: { job: JobRef; plan: Plan }) {
  const waits = notStarted(p);
  const verbs = planVerbs(job, { plan: p }).filter((v) => v.name === 'Start').map((v) => ({ ...v, key: undefined }));
  useVerbs(verbs);
  return (
    <li>
      <Shape of={waits ? 'wait' : ofStep(p.Status)} />
      <span>
        <b>{p.Name}</b> <span class="sub">{waits ? 'not started' : `${(p.Status ?? '').toLowerCase()}, ${p.Completed} of ${p.Total} steps`}</span>
      </span>
      <span class="btns">
        {verbs.map((v) => (
          <VerbButton key={v.name} verb={v} small />
        ))}
        <button type="button" class="b small" aria-label={`Show plan ${p.Name}`} onClick={() => setQuery('plan', p.Name)}>
          Show
        </button>
      </span>
    </li>
  );
}

/** Children lists the newest jobs that a periodic or parameterized job started. */
function Children({ job }: { job: JobRef }) {
  const query = new URLSearchParams({ namespace: job.namespace, prefix: `${job.id}/`, per_page: '20', reverse: 'true' });
  const read = useRead<JobListStub[] | null>(`/v1/jobs?${query}`, { on: [`Job:${job.id}`] });
  return (
    <Card title="Newest children">
      <Shown read={read}>
        {(all) =>
          (all ?? []).length === 0 ? (
            <p class="empty">This job has started no child yet, or none is kept.</p>
          ) : (
            <ul class="rows">
              {(all ?? []).map((j) => (
                <li key={j.ID}>
                  <Shape of={ofJobStatus(j.Status, j.Stop)} />
                  <a href={toJob(j.ID ?? '', j.Namespace)}>{j.ID}</a>
                  <span class="sub">{j.Status}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Card>
  );
}
