// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Deployment, JobRestart, Plan } from '../../api/schema';
import { Card } from '../../parts/page';
import { continueVerb, deploymentVerbs, promoteVerb, restartVerbs } from '../../parts/rollout_verbs';
import { Shape } from '../../parts/shape';
import { Failed, Loading } from '../../parts/states';
import { grantedIn, useVerbs, type Verb } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { to, toJob } from '../../shell/place';
import { notStarted } from '../../words/job';
import { useRead } from '../../store/read';
import { loneDeployments, readyToPromote } from '../../words/waiting';

/** An Item waits for a person. */
interface Item {
  key: string;
  name: string;
  href: string;
  text: string;
  verb: Verb | undefined;
}

const shown = 20;

/** Waits lists what goes on only when a person decides. */
export function Waits() {
  const plans = useRead<Plan[] | null>('/v1/plans?status=WAITING&namespace=*&per_page=100', { on: ['Plan', 'Deployment', 'Restart', 'Instance'] });
  const restarts = useRead<JobRestart[] | null>('/v1/restarts?status=paused&namespace=*&per_page=100', { on: ['Restart'] });
  const deployments = useRead<Deployment[] | null>(`/v1/deployments?namespace=*&per_page=200&filter=${encodeURIComponent('Status == "running" or Status == "paused"')}`, { on: ['Deployment'] });
  const waiting = (plans.data ?? []).filter((p) => !notStarted(p));
  const known = deployments.data ?? [];
  const items: Item[] = [
    ...waiting.map((p): Item => {
      const canary = p.Name === 'deploy' && known.find((d) => d.JobID === p.JobID && d.Namespace === p.Namespace && readyToPromote(d));
      return {
        key: `p ${p.ID}`, name: `${p.JobID} ${p.Name}`, href: toJob(p.JobID ?? '', p.Namespace), text: p.Message || `${p.Completed ?? 0} of ${p.Total ?? 0} steps are complete`,
        verb: canary ? promoteVerb(canary) : continueVerb(p),
      };
    }),
    ...loneDeployments(known, waiting).map((d): Item => ({ key: `d ${d.ID}`, name: `${d.JobID} version ${d.JobVersion ?? 0}`, href: to(['rollouts'], { deployment: d.ID }), text: d.StatusDescription ?? '', verb: deploymentVerbs(d)[0] })),
    ...(restarts.data ?? []).filter((r) => !waiting.some((p) => p.Name === 'restart' && p.JobID === r.JobID && p.Namespace === r.Namespace)).map((r): Item => ({
      key: `r ${r.ID}`, name: `${r.JobID} restart`, href: to(['rollouts'], { restart: r.ID }), text: `${r.StatusDescription ?? 'paused'}${r.By ? `, started by ${r.By}` : ''}`, verb: restartVerbs(r)[0],
    })),
  ];
  useVerbs(items.slice(0, shown).flatMap((i) => (i.verb ? [{ ...i.verb, key: undefined, name: `${i.verb.name}: ${i.name}` }] : [])));
  const error = plans.error ?? restarts.error ?? deployments.error;
  return (
    <Card title="Waiting for you" sub={items.length || ''}>
      {error && error.status !== 0 && <Failed error={error} />}
      {plans.loading ? (
        <Loading rows={2} />
      ) : items.length === 0 && !error ? (
        <p class="pad sub">{grantedIn('read-job') ? 'Nothing waits that your token may see.' : 'Nothing waits for a decision.'}</p>
      ) : (
        <ul class="rows">
          {items.slice(0, shown).map((i) => (
            <li key={i.key}>
              <Shape of="you" label="waits for you" />
              <span>
                <a href={i.href}>{i.name}</a> {i.text}
              </span>
              {i.verb && <VerbButton verb={{ ...i.verb, key: undefined }} small />}
            </li>
          ))}
        </ul>
      )}
      {items.length > shown && <p class="pad sub">And {items.length - shown} more.</p>}
    </Card>
  );
}
