// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Logs of an allocation, of a job, and of a group.

import '../../style/logs.css';
import type { FileInfo, Job } from '../../api/schema';
import { Empty, Shown } from '../../parts/states';
import { go, setQuery, toAllocation } from '../../shell/place';
import { useRead } from '../../store/read';
import { download } from '../../store/download';
import { logQuery } from './bar';
import { JobCollector, TaskCollector } from './collect';
import { Following } from './view';
import { Around, logPath } from './window';

const kinds = { both: ['stdout', 'stderr'], stdout: ['stdout'], stderr: ['stderr'] } as const;

/** The choice of a task and a kind of output. */
function Choice({ tasks, task, kind }: { tasks: string[]; task: string; kind: string }) {
  return (
    <>
      <label class="tick">
        Task
        <select value={task} onChange={(e) => setQuery('task', e.currentTarget.value || undefined)}>
          {tasks.map((t) => (
            <option key={t} value={t}>
              {t || 'all tasks'}
            </option>
          ))}
        </select>
      </label>
      <label class="tick">
        Output
        <select value={kind} onChange={(e) => setQuery('kind', e.currentTarget.value === 'both' ? undefined : e.currentTarget.value)}>
          <option value="both">stdout and stderr</option>
          <option value="stdout">stdout</option>
          <option value="stderr">stderr</option>
        </select>
      </label>
    </>
  );
}

/** LogView shows the output of the tasks of one allocation. */
export function LogView({ alloc, tasks }: { alloc: string; tasks: string[] }) {
  const q = logQuery();
  const task = tasks.includes(q.task) ? q.task : (tasks[0] ?? '');
  const files = useRead<FileInfo[]>(`/v1/client/fs/ls/${encodeURIComponent(alloc)}?path=alloc/logs`);
  const own = (files.data ?? []).map((f) => f.Name ?? '').filter((n) => n.startsWith(`${task}.std`));
  if (!task) return <Empty>The allocation has no task.</Empty>;
  return (
    <section class="logs" aria-label="Logs">
      <div class="log-bar">
        <Choice tasks={tasks} task={task} kind={q.kind} />
        {own.length > 0 && (
          <label class="tick">
            File
            <select value={q.at?.file ?? ''} onChange={(e) => setQuery('at', e.currentTarget.value && `${e.currentTarget.value}:0`)}>
              <option value="">newest lines</option>
              {own.map((f) => (
                <option key={f} value={f}>
                  {f} from its beginning
                </option>
              ))}
            </select>
          </label>
        )}
        {own.length > 0 && (
          <button
            class="b"
            type="button"
            onClick={() => {
              const file = q.at?.file ?? own.findLast((f) => f.includes(q.kind === 'stderr' ? '.stderr.' : '.stdout.')) ?? own[0]!;
              void download(`/v1/client/fs/cat/${encodeURIComponent(alloc)}?path=${encodeURIComponent(logPath(file))}`, file);
            }}
          >
            Download file
          </button>
        )}
      </div>
      {q.at ? <Around alloc={alloc} at={q.at} q={q} /> : <Following
          label="Log"
          of={[alloc, task, q.kind].join('\n')}
          collect={() => new TaskCollector(alloc, task, kinds[q.kind])}
          q={q}
          link={(_, l) => setQuery('at', `${l.file}:${l.offset}`)}
        />}
    </section>
  );
}

/** JobLogs shows the output of the instances of a job, or of one of its groups, in one stream. */
export function JobLogs({ job, namespace = 'default', group = '' }: { job: string; namespace?: string | undefined; group?: string | undefined }) {
  const read = useRead<Job>(`/v1/job/${encodeURIComponent(job)}?namespace=${encodeURIComponent(namespace)}`, { on: [`Job:${job}`] });
  return <Shown read={read}>{(j) => <Merged job={job} namespace={namespace} group={group} tasks={tasksOf(j, group)} />}</Shown>;
}

const tasksOf = (j: Job, group: string) =>
  [...new Set((j.TaskGroups ?? []).filter((g) => !group || g?.Name === group).flatMap((g) => (g?.Tasks ?? []).map((t) => t?.Name ?? '')))].sort();

function Merged(p: { job: string; namespace: string; group: string; tasks: string[] }) {
  const q = logQuery();
  const task = p.tasks.includes(q.task) ? q.task : '';
  const type = q.kind === 'both' ? '' : q.kind;
  return (
    <section class="logs" aria-label="Logs">
      <div class="log-bar">
        <Choice tasks={p.tasks.length > 1 ? ['', ...p.tasks] : p.tasks} task={p.tasks.length > 1 ? task : (p.tasks[0] ?? '')} kind={q.kind} />
      </div>
      <Following
        label="Log"
        of={[p.job, p.namespace, p.group, task, type].join('\n')}
        collect={() => new JobCollector(p.job, p.namespace, { group: p.group, task, type })}
        q={q}
        link={(o, l) => go(toAllocation(o.alloc, 'logs', { task: o.task, kind: o.err ? 'stderr' : 'stdout', at: `${l.file}:${l.offset}` }))}
      />
    </section>
  );
}
