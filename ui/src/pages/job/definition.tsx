// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Job, JobSubmission } from '../../api/schema';
import { copy, CopyLine } from '../../parts/copy';
import { Card, Facts } from '../../parts/page';
import { Failed, Loading } from '../../parts/states';
import { place, setQuery } from '../../shell/place';
import { useRead } from '../../store/read';
import { command, inNS } from '../../words/command';
import { api, type JobRef } from './of';

/** Definition shows the text that somebody submitted, or the job as the API returns it. */
export function Definition({ of, job }: { of: JobRef; job: Job }) {
  const json = place.value.query.get('view') === 'json';
  const read = useRead<JobSubmission>(api(of, '/submission', { version: String(job.Version ?? 0) }));
  const missing = read.error?.status === 404;
  const text = json || missing ? JSON.stringify(job, null, 2) : (read.data?.Source ?? '');
  const title = json ? 'Job as JSON' : missing ? 'Job as JSON: no text was submitted with this version' : `Submitted text, ${read.data?.Format ?? ''}`;
  return (
    <>
      <div class="bar-line">
        <div class="btns" role="group" aria-label="View">
          <button type="button" class="b" aria-pressed={!json} onClick={() => setQuery('view', undefined)}>
            Submitted text
          </button>
          <button type="button" class="b" aria-pressed={json} onClick={() => setQuery('view', 'json')}>
            JSON
          </button>
          <button type="button" class="b" onClick={() => void copy(text)}>
            Copy all
          </button>
        </div>
        <CopyLine text={command('job', 'inspect', ...inNS(of.namespace), of.id)} />
      </div>
      {!json && read.error && !missing && <Failed error={read.error} again={read.again} />}
      {!json && read.loading ? (
        <Loading rows={8} />
      ) : (
        <Card title={title} sub={`version ${job.Version}`}>
          {!json && (read.data?.Variables || Object.keys(read.data?.VariableFlags ?? {}).length > 0) && (
            <Facts of={[...Object.entries(read.data?.VariableFlags ?? {}).map(([k, v]): [string, string] => [`var ${k}`, v]), ['Variables file', read.data?.Variables && <pre>{read.data.Variables}</pre>]]} />
          )}
          <pre class="text" tabIndex={0} aria-label={title}>
            {text}
          </pre>
        </Card>
      )}
    </>
  );
}
