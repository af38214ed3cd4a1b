// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useState } from 'preact/hooks';
import type { Job, JobDiff, JobVersionsResponse } from '../../api/schema';
import { Card, Time } from '../../parts/page';
import { Status } from '../../parts/shape';
import { Shown } from '../../parts/states';
import { useVerbs } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { useRead } from '../../store/read';
import { plural, short } from '../../words/count';
import { diffLines, type DiffLine } from './diff';
import { revertVerb } from './job_verbs';
import { api, type JobRef } from './of';

/** Versions lists the versions of a job, the newest first, each with its changes. */
export function Versions({ of, job }: { of: JobRef; job: Job }) {
  const read = useRead<JobVersionsResponse>(api(of, '/versions', { diffs: 'true' }), { on: [`Job:${of.id}`] });
  return (
    <Shown read={read}>
      {(r) => (
        <div class="stackv">
          {(r.Versions ?? []).map((v, i) => v && <Version key={v.Version} of={of} job={job} version={v} diff={r.Diffs?.[i] ?? undefined} />)}
          <p class="sub">Older versions are not kept, unless they have a tag.</p>
        </div>
      )}
    </Shown>
  );
}

const folded = 12;

function Version({ of, job, version: v, diff }: { of: JobRef; job: Job; version: Job; diff: JobDiff | undefined }) {
  const [all, showAll] = useState(false);
  const current = v.Version === job.Version;
  const lines = diff ? diffLines(diff) : [];
  const shown = all ? lines.slice(0, 1_000) : lines.slice(0, folded);
  const verbs = current || v.Stop ? [] : [revertVerb(of, job, v.Version ?? 0)];
  useVerbs(verbs);
  return (
    <Card
      title={
        <>
          Version {v.Version} {v.VersionTag?.Name && <span class="sub">tag {v.VersionTag.Name}</span>}
        </>
      }
      sub={
        <>
          {v.NomadTokenID && `by token ${short(v.NomadTokenID)}, `}
          <Time of={v.SubmitTime} />
        </>
      }
    >
      <div class="version">
        <div class="btns">
          {current && <Status of={v.Stop ? 'gone' : 'go'} word={v.Stop ? 'current, stopped' : 'current'} />}
          {v.Stable && <Status of="ok" word="stable" />}
          {v.Stop && !current && <Status of="gone" word="stopped" />}
          {v.VersionTag?.Description && <span>{v.VersionTag.Description}</span>}
          {v.Annotation && <span>{v.Annotation}</span>}
          {verbs.map((x) => (
            <VerbButton key={x.name} verb={x} small />
          ))}
        </div>
        {!diff ? (
          <p class="sub">The oldest version that is kept.</p>
        ) : lines.length === 0 ? (
          <p class="sub">Nothing changed that a task can see.</p>
        ) : (
          <ul class="diff" aria-label={`Changes of version ${v.Version}`}>
            {shown.map((l, i) => (
              <Line key={i} of={l} />
            ))}
          </ul>
        )}
        {lines.length > folded && (
          <button type="button" class="b small" aria-expanded={all} onClick={() => showAll(!all)}>
            {all ? 'Show fewer' : `Show all ${plural(lines.length, 'line')}`}
          </button>
        )}
      </div>
    </Card>
  );
}

const marks: Record<DiffLine['kind'], string> = { part: ' ', added: '+', deleted: '-', edited: '~' };
const words: Record<DiffLine['kind'], string> = { part: '', added: 'added: ', deleted: 'deleted: ', edited: 'changed: ' };

function Line({ of: l }: { of: DiffLine }) {
  return (
    <li class={l.kind} style={{ paddingLeft: `${Math.min(l.depth, 8) * 16}px` }}>
      <span class="mark" aria-hidden="true">
        {marks[l.kind]}
      </span>
      <span class="unseen">{words[l.kind]}</span>
      {l.kind === 'part' ? (
        <b>{l.name}</b>
      ) : (
        <>
          {l.name}
          {l.from !== undefined && <del>{l.from === '' ? '""' : l.from}</del>}
          {l.to !== undefined && <ins>{l.to === '' ? '""' : l.to}</ins>}
        </>
      )}
    </li>
  );
}
