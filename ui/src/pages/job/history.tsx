// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Decision, Deployment, Evaluation, JobRestart } from '../../api/schema';
import { Card, Time } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { Empty, Failed, Loading } from '../../parts/states';
import { place, setQuery, to } from '../../shell/place';
import { useRead } from '../../store/read';
import { plural } from '../../words/count';
import { api, type JobRef } from './of';
import { kinds, timeline } from './timeline';

const most = 300;

/** History shows what the servers and people did with a job, on one time line. */
export function History({ of }: { of: JobRef }) {
  const evaluations = useRead<Evaluation[] | null>(api(of, '/evaluations'), { on: [`Evaluation:${of.id}`] });
  const deployments = useRead<Deployment[] | null>(api(of, '/deployments'), { on: [`Deployment:${of.id}`] });
  const restarts = useRead<JobRestart[] | null>(api(of, '/restarts'), { on: [`Restart:${of.id}`] });
  const decisions = useRead<Decision[] | null>(api(of, '/decisions'), { on: [`Plan:${of.id}`] });
  const reads = [evaluations, deployments, restarts, decisions];
  const only = place.value.query.get('kind') ?? '';
  const all = timeline(evaluations.data ?? [], deployments.data ?? [], restarts.data ?? [], decisions.data ?? []);
  const shown = all.filter((m) => !only || m.kind === only);
  const error = reads.find((r) => r.error && r.error.status !== 0)?.error;
  if (reads.some((r) => r.loading)) return <Loading rows={8} />;
  return (
    <>
      <div class="btns bar-line" role="group" aria-label="Kinds">
        <button type="button" class="b" aria-pressed={only === ''} onClick={() => setQuery('kind', undefined)}>
          All {all.length}
        </button>
        {kinds.map((k) => (
          <button type="button" class="b" key={k} aria-pressed={only === k} onClick={() => setQuery('kind', k)}>
            {plural(all.filter((m) => m.kind === k).length, k)}
          </button>
        ))}
      </div>
      {error && <Failed error={error} again={() => reads.forEach((r) => r.again())} />}
      <Card title="What servers and people did" sub="newest first">
        {shown.length === 0 ? (
          <Empty>The servers keep nothing of this kind about the job.</Empty>
        ) : (
          <ol class="ev timeline">
            {shown.slice(0, most).map((m) => (
              <li key={`${m.kind} ${m.key}`}>
                <Time of={m.at * 1e6} />
                <Shape of={m.of} />
                <span>
                  <span class="sub">{m.kind}</span> {m.kind === 'evaluation' ? <a href={to(['evaluations'], { evaluation: m.key })}>{m.text}</a> : m.text}
                  {m.detail && <span class="sub"> {m.detail}</span>}
                </span>
              </li>
            ))}
          </ol>
        )}
        {shown.length > most && <p class="empty">And {shown.length - most} older ones.</p>}
      </Card>
    </>
  );
}
