// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useState } from 'preact/hooks';
import type { ACLToken, ACLTokenListStub } from '../../api/schema';
import { del, put } from '../../link/link';
import type { Column } from '../../parts/grid';
import { CopyLine } from '../../parts/copy';
import { Time } from '../../parts/page';
import { ReadGrid } from '../../parts/read_grid';
import { Empty } from '../../parts/states';
import { useVerbs, type Verb } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { useRead } from '../../store/read';
import { command } from '../../words/command';
import { list } from '../../words/count';
import { ms } from '../../words/time';

const policiesOf = (t: ACLTokenListStub) =>
  t.Type === 'management' ? 'everything' : list([...(t.Policies ?? []), ...(t.Roles ?? []).map((r) => `role ${r?.Name}`)]) || 'nothing';

const columns: Column<ACLTokenListStub>[] = [
  { key: 'name', head: 'Name', width: 'minmax(0, 1.4fr)', by: (t) => t.Name ?? '', cell: (t) => <span class="clip">{t.Name || '(no name)'}</span> },
  { key: 'type', head: 'Type', width: '110px', narrow: '84px', by: (t) => t.Type ?? '', cell: (t) => t.Type },
  { key: 'policies', head: 'Policies', width: 'minmax(0, 1.6fr)', by: policiesOf, cell: (t) => <span class="clip">{policiesOf(t)}</span> },
  { key: 'namespace', head: 'Namespace', width: '120px', wide: true, by: (t) => t.Namespace ?? '', cell: (t) => t.Namespace },
  { key: 'accessor', head: 'Accessor', width: '100px', wide: true, cell: (t) => <code title={t.AccessorID}>{t.AccessorID?.slice(0, 8)}</code> },
  { key: 'ends', head: 'Ends', width: '152px', narrow: '76px', by: (t) => ms(t.ExpirationTime), cell: (t) => <Time of={t.ExpirationTime} /> },
];

/** Tokens lists tokens without their secrets. The secret of a new token is shown once. */
export function Tokens() {
  const read = useRead<ACLTokenListStub[]>('/v1/acl/tokens?namespace=*', { block: true });
  const [at, setAt] = useState<ACLTokenListStub | undefined>(undefined);
  const [made, setMade] = useState<ACLToken | undefined>(undefined);
  const create: Verb = {
    name: 'New token…',
    capability: 'management',
    cli: ({ values: v }) => command('acl', 'token', 'create', '-name', v.name || 'NAME', ...(v.type === 'management' ? ['-type', 'management'] : (v.policies ?? '').split(/[\s,]+/).filter(Boolean).flatMap((p) => ['-policy', p])), ...(v.ttl ? ['-ttl', v.ttl] : [])),
    ask: {
      fields: [
        { name: 'name', label: 'Name', kind: 'text', required: true, hint: 'The person or the program that uses it.' },
        { name: 'type', label: 'Type', kind: 'select', value: 'client', options: [{ value: 'client', label: 'What its policies permit' }, { value: 'management', label: 'Everything' }] },
        { name: 'policies', label: 'Policies', kind: 'text', hint: 'Names, separated by commas.' },
        { name: 'ttl', label: 'Ends after (optional)', kind: 'text', hint: 'Such as 8h; empty: never.' },
      ],
    },
    run: async ({ values: v }) => {
      const answer = await put<ACLToken>('/v1/acl/token', {
        Name: v.name, Type: v.type, Policies: v.type === 'management' ? [] : (v.policies ?? '').split(/[\s,]+/).filter(Boolean), ...(v.ttl ? { ExpirationTTL: v.ttl } : {}),
      });
      if (answer.ok) setMade(answer.body);
      return answer;
    },
  };
  const here = at && (read.data ?? []).find((t) => t?.AccessorID === at.AccessorID);
  const remove: Verb | undefined = here
    ? {
        name: 'Delete token…',
        capability: here.Namespace ? 'delegate' : 'management',
        namespace: here.Namespace || undefined,
        look: 'danger',
        cli: () => command('acl', 'token', 'delete', here.AccessorID),
        ask: { consequence: `Whoever uses the token ${here.Name || here.AccessorID} loses all rights at once.` },
        run: () => del(`/v1/acl/token/${encodeURIComponent(here.AccessorID ?? '')}`),
      }
    : undefined;
  useVerbs(remove ? [create, remove] : [create]);
  return (
    <>
      <div class="btns">
        <VerbButton verb={create} />
        {remove && <VerbButton verb={remove} />}
      </div>
      {made && (
        <div class="question" role="status">
          <p>
            <b>The secret of {made.Name} is shown once.</b>
            <br />
            <CopyLine text={made.SecretID ?? ''} />
          </p>
          <button type="button" class="b" onClick={() => setMade(undefined)}>
            I have stored it
          </button>
        </div>
      )}
      <ReadGrid
        label="Tokens"
        one="token"
        read={read}
        columns={columns}
        sort="name"
        fields={['Name', 'Type', 'Namespace']}
        id={(t) => t.AccessorID ?? ''}
        text={(t) => `${t.Name} ${t.Type} ${t.AccessorID} ${policiesOf(t)} ${t.Namespace}`}
        cursor={setAt}
        empty={<Empty command="reeve acl token create -name ana -policy readers">No token yet. Create one:</Empty>}
      />
    </>
  );
}
