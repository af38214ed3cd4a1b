// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { AuditRecord, Shift, StackStatus } from '../../api/schema';
import { Card, Facts, Head, Time, when } from '../../parts/page';
import { Shape, Status } from '../../parts/shape';
import { Empty, Shown } from '../../parts/states';
import { useVerbs } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { to, toJob } from '../../shell/place';
import { useRead } from '../../store/read';
import { ofStack } from '../../words/meaning';
import { said, statusOf, versionOf } from './said';
import { ShiftCard } from './shift';
import { isRunning, shiftTo, stackVerbs } from './verbs';

/** One shows a stack: what it is, why it stays, who calls it, and what was decided about it. */
export function One({ name, namespace }: { name: string; namespace: string }) {
  const query = `?namespace=${encodeURIComponent(namespace)}`;
  const read = useRead<StackStatus>(`/v1/stack/${encodeURIComponent(name)}${query}`, { on: ['Stack', 'Shift', 'Unit'] });
  const verdicts = useRead<AuditRecord[]>(`/v1/stack/${encodeURIComponent(name)}/verdicts${query}&per_page=50`, { on: ['Stack', 'Shift', 'Unit'] });
  const shifts = useRead<Shift[]>(`/v1/shifts${query}&per_page=100`, { on: ['Shift'] });
  const s = read.data;
  const verbs = s ? [...stackVerbs(s), shiftTo(s)] : [];
  useVerbs(verbs);
  const own = (shifts.data ?? []).filter((h): h is Shift => h !== null && (h.From === name || h.To === name) && isRunning(h));
  return (
    <>
      <Head title={s ? `${s.Unit} ${versionOf(s)}` : name} crumbs={[{ name: 'Stacks', href: to(['stacks']) }]} mark={s && <Shape of={ofStack(statusOf(s))} label={statusOf(s)} />} sentence={s && (s.Standing || said(s))}>
        {verbs.map((v) => (
          <VerbButton key={v.name} verb={v} />
        ))}
      </Head>
      <Shown read={read}>
        {(s) => (
          <div class="cols">
            <div class="stackv">
              {own.map((h) => (
                <ShiftCard key={h.ID} of={h} />
              ))}
              <Card title="What was decided" sub="newest first">
                <Shown read={verdicts}>
                  {(all) =>
                    (all ?? []).length === 0 ? (
                      <Empty>Nothing was decided yet.</Empty>
                    ) : (
                      <ol class="ev">
                        {(all ?? []).map(
                          (r) =>
                            r && (
                              <li key={r.ID}>
                                <Time of={r.Time} />
                                <span />
                                <span>
                                  <b>{r.Action}</b> {r.Reason} <span class="sub">{r.By && `by ${r.By}`}</span>
                                </span>
                              </li>
                            ),
                        )}
                      </ol>
                    )
                  }
                </Shown>
              </Card>
            </div>
            <Card title="Now" sub={<Status of={ofStack(statusOf(s))} word={statusOf(s)} />}>
              <Facts
                of={[
                  ['Why it stays', s.Why],
                  ['Trouble', s.Trouble && <span class="bad">{s.Trouble}</span>],
                  ['Share', s.Share ? `${Math.round(s.Share * 100)} %` : ''],
                  ['Since', <><Time of={s.StatusSince} /> {s.StatusBy && `by ${s.StatusBy}`}</>],
                  ['Ends', when(s.Expires)],
                  ['Held', s.Hold && <>{s.Hold.Reason} {s.Hold.By && `by ${s.Hold.By}`}, since <Time of={s.Hold.Since} /></>],
                  ['Called by', (s.Callers ?? []).join(', ')],
                  ['Last call', when(s.CalledAt)],
                  ['Job', s.JobState !== undefined && <a href={toJob(s.Name ?? '', s.Namespace)}>{s.Name}</a>],
                  ['Address', s.Address && <code>{s.Address}</code>],
                  ['Policy', s.Spec?.Policy?.Name],
                  ['Deployed', when(s.DeployedAt)],
                ]}
              />
            </Card>
          </div>
        )}
      </Shown>
    </>
  );
}
