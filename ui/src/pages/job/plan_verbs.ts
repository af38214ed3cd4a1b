// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The verbs on a plan of a job, on its phases and on its steps.

import type { Phase, Plan, PlanResponse, Step } from '../../api/schema';
import { put } from '../../link/link';
import type { Field, Given, Verb } from '../../parts/verb';
import { command, inNS } from '../../words/command';
import { isCustom, notStarted } from '../../words/job';
import { api, type JobRef } from './of';

/** Where a verb acts: on a plan, on a phase of it, or on a step. */
export interface PlanPart {
  plan: Plan;
  phase?: Phase;
  step?: Step;
}

/** isActive reports whether a plan has work left that has begun. */
export const isActive = (p: Plan): boolean => p.Status !== 'COMPLETE' && (p.Total ?? 0) > 0 && !notStarted(p);

/** partName is a part as a person calls it. */
export const partName = ({ plan, phase, step }: PlanPart): string =>
  step ? `step ${step.Name}` : phase ? `phase ${phase.Name}` : `plan ${plan.Name}`;

/** parameters reads NAME=VALUE lines. */
export function parameters(text: string): Record<string, string> {
  const out: Record<string, string> = {};
  for (const line of text.split('\n')) {
    const at = line.indexOf('=');
    if (at > 0) out[line.slice(0, at).trim()] = line.slice(at + 1);
  }
  return out;
}

type Word = 'continue' | 'interrupt' | 'restart' | 'force-complete' | 'start' | 'stop';

function verb(job: JobRef, part: PlanPart, word: Word, name: string, more: Partial<Verb>): Verb {
  const { plan, phase, step } = part;
  const sure = word === 'restart' || word === 'force-complete' || word === 'stop';
  return {
    name,
    capability: 'operate-plan',
    namespace: job.namespace,
    cli: (g: Given) =>
      command(
        'plan', word, ...inNS(job.namespace), ...(sure ? ['-y'] : []), ...Object.entries(parameters(g.values.parameters ?? '')).flatMap(([k, v]) => ['-p', `${k}=${v}`]),
        ...(g.reason ? ['-reason', g.reason] : []), job.id, plan.Name, phase?.Name, step?.Name,
      ),
    run: (g) =>
      put<PlanResponse>(api(job, `/plan/${encodeURIComponent(plan.Name ?? '')}/${word}`), {
        Phase: phase?.ID ?? '',
        Step: step?.ID ?? '',
        Reason: g.reason,
        ...(word === 'start' && { Parameters: parameters(g.values.parameters ?? '') }),
      }),
    ...more,
  };
}

/** continueVerb releases what waits: of a canary one step first, and then all others. */
export const continueVerb = (job: JobRef, part: PlanPart): Verb => verb(job, part, 'continue', 'Continue', { key: 'c', look: 'primary' });

const parameterField: Field = { name: 'parameters', label: 'Parameters', kind: 'area', hint: 'One NAME=VALUE per line. The tasks of the plan find them in their environment.' };

/** planVerbs returns what a person may do with a part of a plan in its present state. */
export function planVerbs(job: JobRef, part: PlanPart): Verb[] {
  const { plan, phase, step } = part;
  const of = step ?? phase ?? plan;
  const what = partName(part);
  const whole = !phase && !step;
  if (whole && isCustom(plan) && (notStarted(plan) || plan.Status === 'COMPLETE')) {
    return [verb(job, part, 'start', 'Start', { ask: { consequence: `The steps of plan ${plan.Name} run their tasks in the instances of job ${job.id}.`, reason: 'optional', fields: [parameterField] } })];
  }
  const verbs: Verb[] = [];
  if (of.Status === 'WAITING' || of.Interrupted) verbs.push(continueVerb(job, part));
  if (!of.Interrupted && of.Status !== 'COMPLETE') {
    verbs.push(
      verb(job, part, 'interrupt', 'Interrupt', {
        key: 'i',
        ask: { consequence: `Started steps of ${what} complete. No further step starts until somebody continues it.`, reason: 'optional' },
      }),
    );
  }
  const stops = step ? `Step ${step.Name} runs again: its tasks stop, and start from the beginning.` : `All steps of ${what} run again, also complete ones: their tasks stop, and start from the beginning.`;
  if (of.Status !== 'PENDING' || isCustom(plan)) verbs.push(verb(job, part, 'restart', 'Run again', { look: 'danger', ask: { consequence: stops, reason: 'optional' } }));
  if (of.Status !== 'COMPLETE') {
    verbs.push(
      verb(job, part, 'force-complete', 'Force complete', {
        ask: { consequence: `${step ? 'The step counts' : 'All steps count'} as complete, whatever state ${step ? 'it has' : 'they have'}. Running tasks continue to run.`, reason: 'required' },
      }),
    );
    if (whole && isCustom(plan)) verbs.push(verb(job, part, 'stop', 'Stop', { look: 'danger', ask: { consequence: `The tasks of plan ${plan.Name} stop. A later start runs it from the beginning.`, reason: 'optional' } }));
  }
  return verbs;
}
