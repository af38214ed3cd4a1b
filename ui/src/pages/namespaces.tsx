// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useState } from 'preact/hooks';
import type { Namespace, Quota, QuotaLimit, QuotaUsage } from '../api/schema';
import { del, put } from '../link/link';
import type { Column } from '../parts/grid';
import { Bar, Card, Facts, Head } from '../parts/page';
import { ReadGrid } from '../parts/read_grid';
import { Empty, Shown } from '../parts/states';
import { useVerbs, type Verb } from '../parts/verb';
import { VerbButton } from '../parts/verbs';
import { place, to } from '../shell/place';
import { useRead } from '../store/read';
import { command } from '../words/command';
import { count, mib, percent, plural } from '../words/count';

const toNamespace = (n: Namespace) => to(['namespaces'], { name: n.Name });

const columns: Column<Namespace>[] = [
  { key: 'name', head: 'Name', width: 'minmax(0, 1fr)', by: (n) => n.Name ?? '', cell: (n) => <a href={toNamespace(n)}>{n.Name}</a> },
  { key: 'quota', head: 'Quota', width: 'minmax(0, 1fr)', by: (n) => n.Quota ?? '', cell: (n) => n.Quota },
  { key: 'description', head: 'Description', width: 'minmax(0, 2fr)', cell: (n) => <span class="clip">{n.Description}</span> },
];

/** Namespaces lists namespaces with their quotas; the one in the address shows its rules and its use. */
export default function Namespaces() {
  const name = place.value.query.get('name') ?? '';
  const read = useRead<Namespace[]>('/v1/namespaces', { on: ['Namespace'] });
  const [at, setAt] = useState<Namespace | undefined>(undefined);
  const create = write(undefined);
  const here = (read.data ?? []).find((n) => n?.Name === (name || at?.Name)) ?? undefined;
  const change = here ? [write(here), remove(here)] : [];
  useVerbs([create, ...change]);
  return (
    <>
      <Head title="Namespaces" sentence="A namespace isolates names, access and quotas. Names may nest: dev/sandbox.">
        <VerbButton verb={create} />
      </Head>
      <div class="stackv">
        {here && <One of={here} verbs={change} />}
        {name && read.data && !here && <Empty command={command('namespace', 'apply', name)}>No namespace {name}, or you may not see it. Create it:</Empty>}
        <ReadGrid
          label="Namespaces"
          one="namespace"
          read={read}
          columns={columns}
          sort="name"
          fields={['Name', 'Quota']}
          id={(n) => n.Name ?? ''}
          text={(n) => `${n.Name} ${n.Quota} ${n.Description}`}
          href={toNamespace}
          cursor={setAt}
          empty={<Empty command="reeve namespace apply dev">No namespace that you may see.</Empty>}
        />
        <Quotas />
      </div>
    </>
  );
}

function write(n: Namespace | undefined): Verb {
  const name = n?.Name ?? '';
  return {
    name: n ? 'Change…' : 'New namespace…',
    capability: 'management',
    cli: ({ values: v }) => command('namespace', 'apply', ...(v.description ? ['-description', v.description] : []), ...(v.quota ? ['-quota', v.quota] : []), name || v.name || 'NAME'),
    ask: {
      fields: [
        ...(n ? [] : [{ name: 'name', label: 'Name', kind: 'text' as const, required: true }]),
        { name: 'description', label: 'Description', kind: 'text', value: n?.Description ?? '' },
        { name: 'quota', label: 'Quota (optional)', kind: 'text', value: n?.Quota ?? '' },
      ],
    },
    run: ({ values: v }) => put('/v1/namespace', { ...n, Name: name || v.name, Description: v.description, Quota: v.quota }),
  };
}

const remove = (n: Namespace): Verb => ({
  name: 'Delete namespace…',
  capability: 'management',
  look: 'danger',
  blocked: n.Name === 'default' ? 'The namespace default cannot be deleted.' : '',
  cli: () => command('namespace', 'delete', n.Name),
  ask: { consequence: `The namespace ${n.Name} is deleted. The servers refuse while it has jobs, children, policies or tokens.`, type: n.Name },
  run: () => del(`/v1/namespace/${encodeURIComponent(n.Name ?? '')}`),
});

function One({ of: n, verbs }: { of: Namespace; verbs: Verb[] }) {
  const pools = n.NodePoolConfiguration;
  return (
    <Card title={`Namespace ${n.Name}`} sub={n.Description}>
      <Facts
        of={[
          ['Quota', n.Quota],
          ['Node pool of jobs that name none', pools?.Default],
          ['Allowed node pools', pools?.Allowed?.join(', ')],
          ['Denied node pools', pools?.Denied?.join(', ')],
          ['Priorities', n.Priorities && `${n.Priorities.Min ?? 1} to ${n.Priorities.Max ?? 100}`],
          ['Drivers', n.Capabilities?.EnabledTaskDrivers?.join(', ')],
          ['Jobs', <a href={to(['jobs'], { filter: `Namespace == "${n.Name}"` })}>those of this namespace</a>],
        ]}
      />
      <div class="pad btns">
        {verbs.map((v) => (
          <VerbButton key={v.name} verb={v} />
        ))}
      </div>
    </Card>
  );
}

/** Quotas shows what counts against each quota, beside its limits. */
function Quotas() {
  const quotas = useRead<Quota[]>('/v1/quotas', { block: true });
  const usages = useRead<QuotaUsage[]>('/v1/quota-usages', { on: ['Allocation', 'Namespace'] });
  return (
    <Card title="Quotas" sub={quotas.data ? plural(quotas.data.length, 'quota') : undefined}>
      <Shown read={quotas}>
        {(all) =>
          (all ?? []).length === 0 ? (
            <Empty command="reeve quota init && reeve quota apply quota.hcl">No quota limits a namespace. Create one:</Empty>
          ) : (
            <div class="scroll-x">
              <table class="plain">
                <thead>
                  <tr>
                    <th scope="col">Quota</th>
                    <th scope="col">Limit</th>
                    <th scope="col" class="end">Used</th>
                    <th scope="col" class="end">Of</th>
                    <th scope="col">Share</th>
                  </tr>
                </thead>
                <tbody>{(all ?? []).flatMap((q) => (q ? rowsOf(q, (usages.data ?? []).find((u) => u?.Name === q.Name) ?? undefined) : []))}</tbody>
              </table>
            </div>
          )
        }
      </Shown>
    </Card>
  );
}

const limits: { key: 'CPU' | 'Cores' | 'MemoryMB' | 'DiskMB' | 'Allocations'; name: string; text(n: number): string }[] = [
  { key: 'CPU', name: 'CPU', text: (n) => `${count(n)} MHz` },
  { key: 'Cores', name: 'cores', text: count },
  { key: 'MemoryMB', name: 'memory', text: mib },
  { key: 'DiskMB', name: 'disk', text: mib },
  { key: 'Allocations', name: 'allocations', text: count },
];

function rowsOf(q: Quota, u: QuotaUsage | undefined) {
  const used: QuotaLimit | undefined = Object.values(u?.Used ?? {}).find((x) => x !== null) ?? undefined;
  return (q.Limits ?? []).flatMap((l) =>
    limits
      .filter(({ key }) => (l?.RegionLimit?.[key] ?? 0) !== 0)
      .map(({ key, name, text }) => {
        const limit = l!.RegionLimit![key] ?? 0;
        const now = used?.RegionLimit?.[key] ?? 0;
        const share = limit > 0 ? percent(now, limit) : '';
        return (
          <tr key={`${q.Name} ${key}`}>
            <th scope="row">{q.Name}</th>
            <td>{name}</td>
            <td class="end">{text(now)}</td>
            <td class="end">{limit < 0 ? 'none allowed' : text(limit)}</td>
            <td>
              <span class="status">
                <Bar part={now} whole={limit} of={now >= limit ? 'bad' : 'go'} label={`${share} of ${name} of quota ${q.Name}`} /> {share}
              </span>
            </td>
          </tr>
        );
      }),
  );
}
