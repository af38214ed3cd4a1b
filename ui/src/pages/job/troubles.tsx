// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Trouble } from '../../api/schema';
import { CopyLine } from '../../parts/copy';
import { Time } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { toAllocation, toJob } from '../../shell/place';
import { command, inNS } from '../../words/command';
import { plural } from '../../words/count';
import type { JobRef } from './of';

/** headOf is who has a trouble: one instance, or several with the same. */
export function headOf(t: Trouble): string {
  const others = (t.Instances ?? 1) - 1;
  return `${t.Instance}${others === 1 ? ' and another' : others > 1 ? ` and ${others} others` : ''}`;
}

/** nextOf is the command that tells more about a trouble. */
export function nextOf({ id, namespace }: JobRef, t: Trouble): string {
  if (t.Kind === 'no_room' || (t.Obstacles ?? []).length > 0) return command('job', 'explain', ...inNS(namespace), id);
  if (t.Log && t.Allocation) return command('alloc', 'logs', ...inNS(namespace), ...(t.Log === 'stderr' ? ['-stderr'] : []), ...(t.Task ? ['-task', t.Task] : []), t.Allocation.slice(0, 8));
  return command('instance', 'show', ...inNS(namespace), id, t.Instance);
}

/** more are the obstacles that the message does not name yet. */
const more = (t: Trouble) => (t.Obstacles ?? []).filter((o) => !(t.Message ?? '').includes(o.Reason ?? ''));

/** Troubles says what is wrong with the instances of a job, and what to do next. */
export function Troubles({ job, of }: { job: JobRef; of: Trouble[] }) {
  if (of.length === 0) return null;
  return (
    <section class="troubles" aria-label="What is wrong">
      {of.slice(0, 10).map((t) => (
        <div class="err" key={`${t.Instance} ${t.Message}`}>
          <p>
            <Shape of="bad" /> <b>{headOf(t)}:</b> <span class="said">{t.Message}</span>
          </p>
          {more(t).length > 0 && (
            <p class="said">
              {more(t).map((o) => (
                <span key={`${o.Filter} ${o.Reason}`}>
                  {plural(o.Nodes ?? 0, 'node')}: {o.Reason}.{' '}
                </span>
              ))}
            </p>
          )}
          <p class="more">
            <span>
              {t.Count ? `${plural(t.Count, 'failed attempt')}, the last at ` : t.At ? 'Since ' : ''}
              <Time of={t.At} />
              {t.NextAttempt && <>; the next attempt is at <Time of={t.NextAttempt} /></>}
              {t.Final && <b>; no further attempt</b>}
            </span>
            {t.Answer && <code class="answer">{t.Answer}</code>}
          </p>
          <p class="more">
            {t.Log && t.Allocation ? <a href={toAllocation(t.Allocation, 'logs', { task: t.Task, kind: t.Log })}>Log of {t.Task}</a> : (t.Obstacles ?? []).length > 0 && <a href={toJob(job.id, job.namespace, 'explain')}>Explain {t.Group}</a>}
            <CopyLine text={nextOf(job, t)} />
          </p>
        </div>
      ))}
      {of.length > 10 && <p class="sub">And {of.length - 10} more kinds of trouble.</p>}
    </section>
  );
}
