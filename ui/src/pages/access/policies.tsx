// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useState } from 'preact/hooks';
import type { ACLPolicy, ACLPolicyListStub } from '../../api/schema';
import { del, put } from '../../link/link';
import type { Column } from '../../parts/grid';
import { Card } from '../../parts/page';
import { ReadGrid } from '../../parts/read_grid';
import { Empty, Shown } from '../../parts/states';
import { useVerbs, type Verb } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { place, to } from '../../shell/place';
import { useRead } from '../../store/read';
import { command } from '../../words/command';

const toPolicy = (p: ACLPolicyListStub) => to(['access', 'policies'], { policy: p.Name });

const columns: Column<ACLPolicyListStub>[] = [
  { key: 'name', head: 'Name', width: 'minmax(0, 1fr)', by: (p) => p.Name ?? '', cell: (p) => <a href={toPolicy(p)}>{p.Name}</a> },
  { key: 'namespace', head: 'Namespace', width: 'minmax(0, 1fr)', wide: true, by: (p) => p.Namespace ?? '', cell: (p) => p.Namespace },
  { key: 'description', head: 'Description', width: 'minmax(0, 2fr)', cell: (p) => <span class="clip">{p.Description}</span> },
];

const policyPath = (name: string) => `/v1/acl/policy/${encodeURIComponent(name)}`;

function write(name: string, current?: ACLPolicy): Verb {
  return {
    name: current ? 'Change rules…' : 'New policy…',
    capability: 'management',
    cli: (g) => command('acl', 'policy', 'apply', name || g.values.name || 'NAME', 'FILE'),
    ask: {
      consequence: current ? 'The change counts at once for every token with this policy.' : undefined,
      fields: [
        ...(current ? [] : [{ name: 'name', label: 'Name', kind: 'text' as const, required: true }]),
        { name: 'description', label: 'Description', kind: 'text', value: current?.Description ?? '' },
        { name: 'rules', label: 'Rules', kind: 'area', required: true, value: current?.Rules ?? 'namespace "default" {\n  policy = "read"\n}\n' },
      ],
    },
    run: ({ values: v }) => put(policyPath(name || v.name || ''), { Name: name || v.name, Description: v.description, Rules: v.rules, ...(current?.JobACL ? { JobACL: current.JobACL } : {}) }),
  };
}

/** Policies lists policies, and shows the rules of the one in the address. */
export function Policies() {
  const name = place.value.query.get('policy') ?? '';
  const read = useRead<ACLPolicyListStub[]>('/v1/acl/policies', { block: true });
  const [at, setAt] = useState<ACLPolicyListStub | undefined>(undefined);
  const create = write('');
  useVerbs([create]);
  return (
    <div class="stackv">
      <div class="btns">
        <VerbButton verb={create} />
      </div>
      {(name || at?.Name) && <Rules name={name || at!.Name!} />}
      <ReadGrid
        label="Policies"
        one="policy"
        many="policies"
        read={read}
        columns={columns}
        sort="name"
        fields={['Name', 'Description']}
        id={(p) => p.Name ?? ''}
        text={(p) => `${p.Name} ${p.Description} ${p.Namespace}`}
        href={toPolicy}
        cursor={setAt}
        empty={<Empty command="reeve acl policy apply readers readers.hcl">No policy yet. Store one:</Empty>}
      />
    </div>
  );
}

function Rules({ name }: { name: string }) {
  const read = useRead<ACLPolicy>(policyPath(name), { block: true });
  const change = write(name, read.data);
  const remove: Verb = {
    name: 'Delete policy…',
    capability: 'management',
    look: 'danger',
    cli: () => command('acl', 'policy', 'delete', name),
    ask: { consequence: `Tokens and roles that name ${name} lose its rights at once.`, type: name },
    run: () => del(policyPath(name)),
  };
  useVerbs(read.data ? [change, remove] : []);
  return (
    <Card title={`Policy ${name}`} sub={read.data?.Description}>
      <Shown read={read}>
        {(p) => (
          <>
            <pre class="pad">{p.Rules}</pre>
            <div class="pad btns">
              <VerbButton verb={change} />
              <VerbButton verb={remove} />
            </div>
          </>
        )}
      </Shown>
    </Card>
  );
}
