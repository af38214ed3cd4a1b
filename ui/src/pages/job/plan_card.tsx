// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useState } from 'preact/hooks';
import type { Deployment, Plan } from '../../api/schema';
import { Card, Facts, Time } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { Shown } from '../../parts/states';
import { useVerbs } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { toAllocation, toNode } from '../../shell/place';
import { ofStep } from '../../words/meaning';
import { deploymentVerbs } from './deployment_verbs';
import type { JobRef } from './of';
import { usePlan } from './plan_read';
import { PlanTree } from './plan_tree';
import { labelOf, rowsOf, type TreeRow } from './plan_rows';
import { planVerbs } from './plan_verbs';

/** Where an allocation runs. */
export interface NodeName {
  id: string;
  name: string;
}

/** PlanCard shows a plan as a tree, and what a person may do with the part that is chosen. */
export function PlanCard(p: { job: JobRef; name: string; deployment: Deployment | undefined; keys: boolean; nodeOf(allocation: string | undefined): NodeName | undefined; read(plan: Plan): void }) {
  const read = usePlan(p.job, p.name);
  const plan = read.data;
  const [at, setAt] = useState<string | undefined>(undefined);
  useEffect(() => {
    if (plan) p.read(plan);
  }, [plan]);
  const row = plan && at !== undefined ? rowOf(plan, at) : undefined;
  const meaning = plan?.Interrupted ? 'you' : ofStep(plan?.Status);
  return (
    <Card
      title={
        <>
          <Shape of={meaning} /> Plan: {p.name}
        </>
      }
      class="plan"
      sub={plan && `${plan.Strategy}, ${plan.Completed} of ${plan.Total} steps${plan.Interrupted ? ', interrupted' : ''}`}
    >
      <Shown read={read}>
        {(plan) => (
          <>
            <PlanErrors plan={plan} />
            <PlanTree plan={plan} keys={p.keys} at={at} choose={(r) => setAt(r.key)} nodeOf={(a) => p.nodeOf(a)?.name} />
            <Chosen job={p.job} plan={plan} row={row} deployment={p.deployment} nodeOf={p.nodeOf} keys={p.keys} />
          </>
        )}
      </Shown>
    </Card>
  );
}

function rowOf(plan: Plan, key: string): TreeRow | undefined {
  const all = new Map((plan.Phases ?? []).map((x) => [x?.ID ?? '', true]));
  return rowsOf(plan, all).find((r) => r.key === key);
}

function PlanErrors({ plan }: { plan: Plan }) {
  const errors = plan.Errors ?? [];
  if (errors.length === 0) return null;
  return (
    <div class="err">
      {errors.slice(0, 5).map((e) => (
        <p key={e} class="said">
          {e}
        </p>
      ))}
      {errors.length > 5 && <p>And {errors.length - 5} more: the steps below have them.</p>}
    </div>
  );
}

/** Chosen says everything about the chosen row, and offers its verbs; without a row it is about the plan. */
function Chosen(p: { job: JobRef; plan: Plan; row: TreeRow | undefined; deployment: Deployment | undefined; keys: boolean; nodeOf(allocation: string | undefined): NodeName | undefined }) {
  const { plan, row } = p;
  const part = row ? { plan, phase: row.phase, step: row.step } : { plan };
  const verbs = planVerbs(p.job, part);
  if (!row && plan.Name === 'deploy' && p.deployment) verbs.push(...deploymentVerbs(p.job, p.deployment).filter((v) => v.name !== 'Pause' && v.name !== 'Resume'));
  // The key acts on the chosen row; without one, "continue" belongs to the question above.
  const offered = verbs.map((v) => (p.keys && (row || v.key !== 'c') ? v : { ...v, key: undefined }));
  useVerbs(offered);
  const step = row?.step;
  const node = p.nodeOf(step?.Allocation);
  const errors = (step ?? row?.phase)?.Errors ?? [];
  return (
    <div class="chosen">
      <h3>{row ? labelOf(row) : `All of plan ${plan.Name}`}</h3>
      {row && (
        <Facts
          of={[
            ['State', (step ?? row.phase).Status],
            ['Why', errors.length === 0 && (step ?? row.phase).Message],
            ['Errors', errors.length > 0 && <span class="bad">{errors.join('\n')}</span>],
            ['After', row && list((step ?? row.phase).After)],
            ['Next attempt', step?.Until && <Time of={step.Until} />],
            ['Recovery', step?.Recovery],
            ['Since', (step ?? row.phase).Since && <Time of={(step ?? row.phase).Since} />],
            ['Allocation', step?.Allocation && <a href={toAllocation(step.Allocation)}>{step.Allocation.slice(0, 8)}</a>],
            ['Node', node && <a href={toNode(node.id)}>{node.name}</a>],
          ]}
        />
      )}
      <div class="btns">
        {offered.map((v) => (
          <VerbButton key={v.name} verb={v.name === 'Continue' ? { ...v, look: undefined } : v} small />
        ))}
      </div>
    </div>
  );
}

const list = (names: string[] | null | undefined): string => (names ?? []).slice(0, 8).join(', ');
