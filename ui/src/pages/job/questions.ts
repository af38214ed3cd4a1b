// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// What a job asks its operators: canaries and interrupted plans that wait, and restarts that are paused.

import type { Decision, Deployment, JobRestart, Phase, Plan } from '../../api/schema';
import { put, del } from '../../link/link';
import type { Verb } from '../../parts/verb';
import { command, inNS } from '../../words/command';
import { plural } from '../../words/count';
import { ms } from '../../words/time';
import { deploymentVerbs } from './deployment_verbs';
import { api, type JobRef } from './of';
import { notStarted } from '../../words/job';
import { continueVerb, type PlanPart } from './plan_verbs';

/** A JobQuestion waits for a person, who answers with one of its verbs. */
export interface JobQuestion {
  key: string;
  title: string;
  detail: string;
  /** Time in ms since which it waits; 0 if that is not known. */
  since: number;
  verbs: Verb[];
}

const canary = (p: Phase) => /canary/.test(p.Strategy ?? '');

function phaseTitle(plan: Plan, phase: Phase): string {
  const steps = (phase.Steps ?? []).filter((s) => s !== null);
  const done = steps.filter((s) => s.Status === 'COMPLETE').map((s) => s.Name?.replace(/:\[.*/, ''));
  const names = [...new Set(done)];
  if (names.length === 0) {
    const first = steps.find((s) => s.Status === 'WAITING')?.Name?.replace(/:\[.*/, '') ?? 'the first instance';
    return `Version ${plan.JobVersion} of ${phase.Name} is ready to start. Let ${first} go first?`;
  }
  const who = names.length > 2 ? plural(names.length, 'instance') : names.join(' and ');
  return `${who} of version ${plan.JobVersion} ${names.length === 1 ? 'is' : 'are'} up and healthy. Let the rest of ${phase.Name} go?`;
}

/** interrupter is the newest decision that interrupted a part of a plan. */
function interrupter(decisions: Decision[], plan: Plan, part: string | undefined): Decision | undefined {
  return decisions.findLast((d) => d.Verb === 'interrupt' && d.Plan === plan.Name && (!part || d.Phase === part || d.Step === part));
}

/** nameOf names who decided; without access control nobody is known. */
export const nameOf = (by: string | undefined): string => (by && by !== 'unknown' ? by : 'an operator');

function whoWhy(d: Decision | undefined): string {
  if (!d) return '';
  return `By ${nameOf(d.By)}${d.Reason ? `: ${d.Reason}` : ''}. `;
}

/** planQuestions returns the questions of a plan with its phases. */
export function planQuestions(job: JobRef, plan: Plan, deployment: Deployment | undefined, decisions: Decision[]): JobQuestion[] {
  if (notStarted(plan) || plan.Status === 'COMPLETE') return [];
  const out: JobQuestion[] = [];
  const ask = (part: PlanPart, title: string, detail: string, since: number) => {
    const fail = plan.Name === 'deploy' && deployment ? deploymentVerbs(job, deployment).filter((v) => v.name.startsWith('Fail')) : [];
    out.push({ key: `${plan.ID} ${part.phase?.ID ?? ''} ${part.step?.ID ?? ''}`, title, detail, since, verbs: [continueVerb(job, part), ...fail] });
  };
  if (plan.Interrupted) {
    const d = interrupter(decisions, plan, undefined);
    ask({ plan }, `Plan ${plan.Name} is interrupted. Continue?`, `${whoWhy(d)}${plural((plan.Total ?? 0) - (plan.Completed ?? 0), 'step')} ${(plan.Total ?? 0) - (plan.Completed ?? 0) === 1 ? 'is' : 'are'} left.`, ms(d?.Time));
    return out;
  }
  for (const phase of plan.Phases ?? []) {
    if (!phase) continue;
    if (phase.Interrupted) {
      const d = interrupter(decisions, plan, phase.Name);
      ask({ plan, phase }, `Phase ${phase.Name} of plan ${plan.Name} is interrupted. Continue?`, `${whoWhy(d)}${phase.Completed} of ${plural(phase.Total ?? 0, 'step')} done.`, ms(d?.Time));
    } else if (phase.Status === 'WAITING' && canary(phase)) {
      const waits = (phase.Total ?? 0) - (phase.Completed ?? 0);
      ask({ plan, phase }, phaseTitle(plan, phase), `Canary of phase ${phase.Name}: ${phase.Completed} of ${phase.Total} done, ${waits} ${waits === 1 ? 'waits' : 'wait'}.`, ms(phase.Since));
    } else {
      const steps = (phase.Steps ?? []).filter((s) => s?.Interrupted);
      for (const step of steps.slice(0, 3)) {
        const d = interrupter(decisions, plan, step!.Name);
        ask({ plan, phase, step: step! }, `Step ${step!.Name} is interrupted. Continue?`, whoWhy(d), ms(d?.Time));
      }
      if (steps.length === 0 && phase.Status === 'WAITING') ask({ plan, phase }, `Phase ${phase.Name} of plan ${plan.Name} waits. Continue?`, `${phase.Message ?? ''}.`, ms(phase.Since));
    }
  }
  return out;
}

const upper = (s: string) => s.slice(0, 1).toUpperCase() + s.slice(1);

/** restartQuestion asks about a restart that is paused. */
export function restartQuestion(job: JobRef, r: JobRestart): JobQuestion | undefined {
  if (r.Status !== 'paused') return undefined;
  const id = r.ID ?? '';
  const path = `/restart/${encodeURIComponent(id)}`;
  const verb = (name: string, word: string, more: Partial<Verb>): Verb => ({
    name,
    capability: 'restart-job',
    namespace: job.namespace,
    cli: (g) => command('job', 'restart', ...inNS(job.namespace), `-${word}`, id, ...(g.reason ? ['-reason', g.reason] : [])),
    run: (g) => put(api(job, `${path}/${word}`), { Reason: g.reason }),
    ...more,
  });
  return {
    key: id,
    title: 'The restart of this job is paused. Resume it?',
    detail: `${upper(r.StatusDescription ?? 'paused')}. ${plural((r.RestartedAllocs ?? []).length, 'instance')} restarted so far${r.By ? `, by ${r.By}` : ''}${r.Reason ? `: ${r.Reason}` : ''}.`,
    since: ms(r.UpdatedAt),
    verbs: [
      verb('Resume', 'resume', { key: 'c', look: 'primary' }),
      verb('Cancel the restart', 'cancel', {
        ask: { consequence: 'The instances that were not restarted yet keep running as they are.', reason: 'optional' },
        look: 'danger',
        run: (g) => del(api(job, path, g.reason ? { reason: g.reason } : {})),
      }),
    ],
  };
}
