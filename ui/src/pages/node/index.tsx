// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Node } from '../../api/schema';
import { useEffect } from 'preact/hooks';
import { nameOf, nodeVerbs } from '../../parts/node_verbs';
import { Head, Tabs } from '../../parts/page';
import { Shape } from '../../parts/shape';
import { Empty, Failed, Shown } from '../../parts/states';
import { useVerbs } from '../../parts/verb';
import { VerbButton } from '../../parts/verbs';
import { useKeys } from '../../shell/keys';
import { go, place, to } from '../../shell/place';
import { useRead } from '../../store/read';
import { short } from '../../words/count';
import { ofNode } from '../../words/meaning';
import { saidOfNode } from '../../words/node';
import { InstanceGrid, keepInstance, takeInstance } from '../instances';
import { jobGroups } from '../../store/job_groups';
import { Attributes } from './attributes';
import { Explain } from './explain';
import { Images } from './images';
import { Now } from './now';

const tabs = [
  { key: '', name: 'Now' },
  { key: 'instances', name: 'Instances' },
  { key: 'attributes', name: 'Attributes' },
  { key: 'images', name: 'Images' },
  { key: 'explain', name: 'Explain' },
];

/** NodePage shows one node. The beginning of an id leads to the whole. */
export default function NodePage({ path }: { path: string[] }) {
  const [id = '', tab = ''] = path;
  const whole = id.length === 36;
  const read = useRead<Node>(id ? `/v1/node/${encodeURIComponent(id)}` : undefined, whole ? { on: [`Node:${id}`] } : {});
  const found = read.data?.ID;
  useEffect(() => {
    if (found && !whole) go(to(tab ? ['node', found, tab] : ['node', found]) + location.search, true);
  }, [found]);
  if (read.data) {
    const gone = read.error?.status === 404;
    return <Shown read={{ ...read, error: gone ? undefined : read.error }}>{(n) => <One n={n} tab={tab} gone={gone} />}</Shown>;
  }
  return (
    <>
      <Head title={`Node ${short(id)}`} crumbs={[{ name: 'Nodes', href: to(['nodes']) }]} />
      {read.error?.status === 404 ? <Failed error={read.error} /> : id ? <Shown read={read}>{() => null}</Shown> : <Empty command="reeve node status">The address names no node. This command lists them:</Empty>}
    </>
  );
}

function One({ n, tab, gone }: { n: Node; tab: string; gone: boolean }) {
  const id = n.ID ?? '';
  const verbs = gone ? [] : nodeVerbs(nameOf(n));
  useVerbs(verbs);
  const href = (key: string, query: Record<string, string | undefined> = {}) => to(key ? ['node', id, key] : ['node', id], query);
  const at = Math.max(0, tabs.findIndex((t) => t.key === tab));
  const move = (by: number) => go(href(tabs[(at + by + tabs.length) % tabs.length]!.key));
  useKeys([
    { key: 'e', name: 'explain', shown: true, act: () => go(href('explain', { job: place.value.query.get('job') ?? undefined })) },
    { key: '[', name: 'tab before', act: () => move(-1) },
    { key: ']', name: 'next tab', act: () => move(1) },
  ]);
  const said = saidOfNode(n);
  const filter = encodeURIComponent(`NodeID == "${id}"`);
  return (
    <div class={gone ? 'gone-object' : ''}>
      <Head
        title={n.Name || short(id)}
        crumbs={[{ name: 'Nodes', href: to(['nodes']) }]}
        mark={<Shape of={ofNode(n)} label={said} />}
        sentence={gone ? 'The servers have deleted this node. The page shows what they knew last.' : `The node is ${said}${n.StatusDescription ? `: ${n.StatusDescription}` : ''}.`}
      >
        {verbs.map((v) => (
          <VerbButton key={v.name} verb={v} />
        ))}
      </Head>
      <Tabs label="Views of the node" current={tab} tabs={tabs.map((t) => ({ ...t, href: href(t.key) }))} />
      {tab === '' && <Now n={n} />}
      {tab === 'instances' && (
        <InstanceGrid
          source={{ path: `/v1/instances?namespace=*&filter=${filter}`, topics: [`Instance:${id}`], key: (i) => i.Allocation ?? '', take: takeInstance, keep: keepInstance, groups: { ...jobGroups(undefined, { filter: `NodeID == "${id}"` }), topics: [`Instance:${id}`, 'Plan'] } }}
          empty={<Empty>No instance runs on this node.</Empty>}
        />
      )}
      {tab === 'attributes' && <Attributes n={n} />}
      {tab === 'images' && <Images n={n} />}
      {tab === 'explain' && <Explain id={id} />}
      {!tabs.some((t) => t.key === tab) && <Empty>The node has no view of this name.</Empty>}
    </div>
  );
}
