// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Variable, VariableMetadata } from '../../api/schema';
import { put } from '../../link/link';
import type { Column } from '../../parts/grid';
import { Head, Time } from '../../parts/page';
import { ReadGrid } from '../../parts/read_grid';
import { Empty } from '../../parts/states';
import { useVerbs, type Verb } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { inNamespace, place, to } from '../../shell/place';
import { useRead } from '../../store/read';
import { command, inNS } from '../../words/command';
import { itemsOf, rejected } from '../../words/items';
import { ms } from '../../words/time';
import { One } from './one';

const toVariable = (v: VariableMetadata) => to(['variables'], { path: v.Path, ...inNamespace(v.Namespace) });

const columns: Column<VariableMetadata>[] = [
  { key: 'path', head: 'Path', width: 'minmax(0, 2fr)', by: (v) => v.Path ?? '', cell: (v) => <a href={toVariable(v)}>{v.Path}</a> },
  { key: 'namespace', head: 'Namespace', width: 'minmax(0, 1fr)', narrow: '88px', by: (v) => v.Namespace ?? '', cell: (v) => v.Namespace },
  { key: 'lock', head: 'Lock', width: '80px', wide: true, cell: (v) => (v.Lock ? 'locked' : '') },
  { key: 'created', head: 'Created', width: '152px', wide: true, by: (v) => ms(v.CreateTime), cell: (v) => <Time of={v.CreateTime} /> },
  { key: 'changed', head: 'Changed', width: '152px', narrow: '76px', by: (v) => ms(v.ModifyTime), cell: (v) => <Time of={v.ModifyTime} /> },
];

/** variablePath is the route of a variable. Its path may have slashes. */
export const variablePath = (path: string, namespace: string) => `/v1/var/${path.split('/').map(encodeURIComponent).join('/')}?namespace=${encodeURIComponent(namespace)}`;

/** Variables lists variables without their values, and shows the one whose path is in the address. */
export default function Variables() {
  const path = place.value.query.get('path');
  const namespace = place.value.query.get('namespace') ?? 'default';
  return path ? <One key={`${namespace} ${path}`} path={path} namespace={namespace} /> : <List />;
}

function List() {
  const read = useRead<VariableMetadata[]>('/v1/vars?namespace=*', { block: true });
  const create: Verb = {
    name: 'New variable…',
    capability: 'variables:write',
    cli: (g) => command('var', 'put', ...inNS(g.values.namespace), g.values.path || 'PATH', 'KEY=VALUE'),
    ask: {
      fields: [
        { name: 'namespace', label: 'Namespace', kind: 'text', value: 'default', required: true },
        { name: 'path', label: 'Path', kind: 'text', required: true, hint: 'Such as nomad/jobs/web, which the tasks of job web may read.' },
        { name: 'items', label: 'Items', kind: 'area', required: true, hint: 'One KEY=VALUE per line.' },
      ],
    },
    run: ({ values }) => {
      const items = itemsOf(values.items ?? '');
      if (typeof items === 'string') return Promise.resolve(rejected(items));
      const { path = '', namespace = 'default' } = values;
      return put<Variable>(`${variablePath(path, namespace)}&cas=0`, { Path: path, Namespace: namespace, Items: items });
    },
  };
  useVerbs([create]);
  return (
    <>
      <Head title="Variables" sentence="Settings and secrets by path. The list has no values: open a variable to reveal them.">
        <VerbButton verb={create} />
      </Head>
      <ReadGrid
        label="Variables"
        one="variable"
        read={read}
        columns={columns}
        sort="path"
        fields={['Path', 'Namespace']}
        id={(v) => `${v.Namespace} ${v.Path}`}
        text={(v) => `${v.Path} ${v.Namespace}`}
        href={toVariable}
        empty={<Empty command="reeve var put nomad/jobs/web greeting=hello">No variable that you may see. Store one:</Empty>}
      />
    </>
  );
}
