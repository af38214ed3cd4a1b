// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Evaluations, deployments, restarts and decisions of a job on one time line.

import type { Decision, Deployment, Evaluation, JobRestart } from '../../api/schema';
import { ofDeployment, ofEvaluation, ofRestart, type Meaning } from '../../words/meaning';
import { ms } from '../../words/time';
import { nameOf } from './questions';

/** A Moment is one entry of the time line. */
export interface Moment {
  key: string;
  kind: 'evaluation' | 'deployment' | 'restart' | 'decision';
  /** Time in ms. */
  at: number;
  of: Meaning;
  text: string;
  detail: string;
}

/** The kinds of moments, as the page's filter names them. */
export const kinds: Moment['kind'][] = ['evaluation', 'deployment', 'restart', 'decision'];

const by = (who: string | undefined, why: string | undefined) => `${who ? `by ${who}` : ''}${why ? `${who ? ': ' : ''}${why}` : ''}`;

/** timeline merges the objects of a job, the newest first. */
export function timeline(evaluations: Evaluation[], deployments: Deployment[], restarts: JobRestart[], decisions: Decision[]): Moment[] {
  const out: Moment[] = [
    ...evaluations.map((v): Moment => ({
      key: v.ID ?? '',
      kind: 'evaluation',
      at: ms(v.CreateTime),
      of: ofEvaluation(v.Status),
      text: `${v.TriggeredBy}: ${v.Status}`,
      detail: [v.StatusDescription, Object.keys(v.FailedTGAllocs ?? {}).length > 0 ? `no node can take ${Object.keys(v.FailedTGAllocs!).join(', ')}` : ''].filter(Boolean).join('; '),
    })),
    ...deployments.map((d): Moment => ({
      key: d.ID ?? '',
      kind: 'deployment',
      at: ms(d.CreateTime),
      of: ofDeployment(d.Status),
      text: `rollout of version ${d.JobVersion}: ${d.Status}`,
      detail: d.StatusDescription ?? '',
    })),
    ...restarts.map((r): Moment => ({
      key: r.ID ?? '',
      kind: 'restart',
      at: ms(r.StartedAt),
      of: ofRestart(r.Status),
      text: `restart: ${r.Status}, ${(r.RestartedAllocs ?? []).length} done`,
      detail: [r.StatusDescription, by(r.By, r.Reason)].filter(Boolean).join('; '),
    })),
    ...decisions.map((d): Moment => ({
      key: d.ID ?? '',
      kind: 'decision',
      at: ms(d.Time),
      of: 'you',
      text: `${d.Verb} ${[d.Plan, d.Phase, d.Step].filter(Boolean).join(' ') || `${d.Group}-${d.Index ?? 0}`}`,
      detail: by(nameOf(d.By), d.Reason),
    })),
  ];
  return out.sort((a, b) => b.at - a.at);
}
