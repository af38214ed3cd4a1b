// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import '../../style/jobs.css';
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { Job, PlanJobResponse, RegisterJobResponse } from '../../api/schema';
import { put } from '../../link/link';
import { Head } from '../../parts/page';
import { Failed } from '../../parts/states';
import { readOnly, refusal, useVerbs, type Verb } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { go, to, toJob } from '../../shell/place';
import { command, inNS } from '../../words/command';
import { bytes } from '../../words/count';
import { sourceFormat, stops } from '../../words/submission';
import type { Failure } from '../../worker/protocol';
import { Preview } from './preview';

/** A file that is longer is no job file, and would block the tab. */
const longest = 4 * 1024 * 1024;

/** The text outlives errors and visits to other pages, but not the tab. */
const draft = signal({ name: '', source: '', variables: '' });

/** Planned is a job of the text, with what its registration would change. */
interface Planned {
  job: Job;
  plan: PlanJobResponse;
}

const local = (message: string): Failure => ({ status: 400, code: 'invalid', message, detail: [] });

/** RunJob turns a text into a job, shows what its registration changes, and registers exactly that. */
export function RunJob() {
  const { name, source, variables } = draft.value;
  const [busy, setBusy] = useState(false);
  const [error, fail] = useState<Failure | undefined>(undefined);
  const [planned, setPlanned] = useState<Planned | undefined>(undefined);
  const edit = (more: Partial<typeof draft.value>) => {
    draft.value = { ...draft.value, ...more };
    setPlanned(undefined);
  };

  const plan = async (e: Event) => {
    e.preventDefault();
    if (busy) return;
    if (source.trim() === '') return fail(local('The text is empty: paste a job, or choose a file.'));
    setBusy(true);
    setPlanned(undefined);
    const parsed = await put<Job>('/v1/jobs/parse', { JobHCL: source, Variables: variables, Canonicalize: true });
    let failure = parsed.error;
    if (parsed.ok) {
      const job = parsed.body;
      const answer = await put<PlanJobResponse>(`/v1/job/${encodeURIComponent(job.ID ?? '')}/plan?namespace=${encodeURIComponent(job.Namespace || 'default')}`, { Job: job, Diff: true });
      failure = answer.error;
      // The text may have changed meanwhile; what is shown must be what would be registered.
      if (answer.ok && draft.peek().source === source && draft.peek().variables === variables) setPlanned({ job, plan: answer.body });
    }
    fail(failure);
    setBusy(false);
  };

  const choose = async (file: File | undefined) => {
    if (!file) return;
    if (file.size > longest) return fail(local(`${file.name} has ${bytes(file.size)}: a job file has ${bytes(longest)} at most.`));
    const text = await file.text();
    fail(text.includes('\0') ? local(`${file.name} is not a text file.`) : undefined);
    if (!text.includes('\0')) edit({ name: file.name, source: text });
  };

  const why = refusal('submit-job', planned?.job.Namespace ?? 'default');
  return (
    <div class="run">
      <Head
        title="Run a job"
        crumbs={[{ name: 'Jobs', href: to(['jobs']) }]}
        sentence="Nothing changes before you have seen the plan. The command line does the same: reeve job plan FILE, then reeve job run FILE."
      />
      {readOnly.value ? (
        <p>This UI is read-only: its agent has ui.read_only.</p>
      ) : (
        <form onSubmit={(e) => void plan(e)}>
          <label class="field">
            <span>File (HCL, JSON or YAML)</span>
            <input type="file" onChange={(e) => void choose(e.currentTarget.files?.[0])} />
          </label>
          <label class="field">
            <span>Job {name && `from ${name}`}</span>
            <textarea value={source} spellcheck={false} autocomplete="off" placeholder={'job "web" {\n  group "web" {\n    …'} onInput={(e) => edit({ source: e.currentTarget.value })} />
          </label>
          <label class="field">
            <span>Variables (optional)</span>
            <textarea class="less" rows={2} value={variables} spellcheck={false} placeholder={'version = "2"'} onInput={(e) => edit({ variables: e.currentTarget.value })} />
            <small>As in a file for -var-file: one NAME = VALUE in each line.</small>
          </label>
          {error && <Failed error={error} />}
          {why && <p class="sub">{why} You may still plan.</p>}
          <div class="btns">
            <button type="submit" class="b" aria-disabled={busy ? 'true' : undefined}>
              {busy ? 'Planning' : 'Plan'}
            </button>
          </div>
        </form>
      )}
      {planned && <Result planned={planned} again={() => setPlanned(undefined)} />}
    </div>
  );
}

function Result({ planned: { job, plan } }: { planned: Planned; again(): void }) {
  const { name, source, variables } = draft.value;
  const verb: Verb = {
    name: 'Run',
    capability: 'submit-job',
    namespace: job.Namespace,
    look: 'primary',
    cli: () => command('job', 'run', ...inNS(job.Namespace), '-check-index', String(plan.JobModifyIndex ?? 0), name || 'FILE'),
    ask: stops(plan) ? { consequence: stops(plan) } : undefined,
    run: async () => {
      const answer = await put<RegisterJobResponse>('/v1/jobs', {
        Job: job, EnforceIndex: true, JobModifyIndex: plan.JobModifyIndex ?? 0, Submission: { Source: source, Format: sourceFormat(source), Variables: variables },
      });
      if (answer.ok) {
        draft.value = { name: '', source: '', variables: '' };
        go(toJob(job.ID ?? '', job.Namespace));
      }
      return answer;
    },
  };
  useVerbs([verb]);
  return (
    <>
      <Preview job={job} plan={plan} />
      <div class="btns">
        <VerbButton verb={verb} />
        <span class="sub">It runs only if the job is still as it was for this plan.</span>
      </div>
    </>
  );
}
