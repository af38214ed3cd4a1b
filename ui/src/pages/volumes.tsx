// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { useMemo, useState } from 'preact/hooks';
import type { HostVolume, HostVolumeStub, VolumeClaim } from '../api/schema';
import { del, put } from '../link/link';
import type { Column } from '../parts/grid';
import { Card, Facts, Head, when } from '../parts/page';
import { ReadGrid } from '../parts/read_grid';
import { Shape } from '../parts/shape';
import { Empty, Shown } from '../parts/states';
import { useVerbs, type Verb } from '../parts/verb';
import { VerbButton } from '../parts/verbs';
import { place, to, toAllocation, toJob, toNode } from '../shell/place';
import { useNodeNames, type NodeNames } from '../store/node_names';
import { useRead } from '../store/read';
import { command, inNS } from '../words/command';
import { bytes, short } from '../words/count';
import type { Meaning } from '../words/meaning';

const states: Record<string, Meaning> = { ready: 'ok', pending: 'go', unavailable: 'late', deleting: 'gone' };
const toVolume = (v: HostVolumeStub) => to(['volumes'], { id: v.ID });
const all = encodeURIComponent('*');

const node = (id: string | undefined, names: NodeNames) => id && <a href={toNode(id)} title={id}>{names.get(id) || short(id)}</a>;

const columnsOf = (names: NodeNames): Column<HostVolumeStub>[] => [
  {
    key: 'name', head: 'Name', width: 'minmax(0, 1.3fr)', by: (v) => v.Name ?? '',
    cell: (v) => (
      <>
        <Shape of={states[v.State ?? ''] ?? 'wait'} label={v.State ?? ''} />
        <a href={toVolume(v)}>{v.Name}</a>
      </>
    ),
  },
  { key: 'state', head: 'State', width: '110px', by: (v) => v.State ?? '', cell: (v) => v.State },
  { key: 'namespace', head: 'Namespace', width: 'minmax(0, 1fr)', wide: true, by: (v) => v.Namespace ?? '', cell: (v) => v.Namespace },
  { key: 'node', head: 'Node', width: 'minmax(110px, 1fr)', by: (v) => names.get(v.NodeID ?? '') ?? '', cell: (v) => <span class="clip">{node(v.NodeID, names)}</span> },
  { key: 'plugin', head: 'Plugin', width: '110px', wide: true, by: (v) => v.PluginID ?? '', cell: (v) => v.PluginID },
  { key: 'capacity', head: 'Capacity', width: '100px', end: true, wide: true, by: (v) => v.CapacityBytes ?? 0, cell: (v) => (v.CapacityBytes ? bytes(v.CapacityBytes) : '') },
];

/** Volumes lists host volumes and the claims of instances; the one in the address shows who uses it. */
export default function Volumes() {
  const id = place.value.query.get('id') ?? '';
  const read = useRead<HostVolumeStub[]>(`/v1/volumes?type=host&namespace=${all}`, { block: true });
  const names = useNodeNames((read.data ?? []).flatMap((v) => v?.NodeID || []));
  const columns = useMemo(() => columnsOf(names), [names]);
  const [at, setAt] = useState<HostVolumeStub | undefined>(undefined);
  const here = (read.data ?? []).find((v) => v?.ID === (id || at?.ID)) ?? undefined;
  const create: Verb = {
    name: 'New volume…',
    capability: 'host-volume-create',
    cli: () => command('volume', 'create', 'FILE'),
    ask: {
      consequence: 'A plugin makes the directory on a node that has it. The volume is ready when its node says so.',
      fields: [
        { name: 'namespace', label: 'Namespace', kind: 'text', value: 'default', required: true },
        { name: 'name', label: 'Name', kind: 'text', required: true, hint: 'The source in volume blocks of job files.' },
        { name: 'plugin', label: 'Plugin', kind: 'text', value: 'mkdir', required: true },
        { name: 'pool', label: 'Node pool (optional)', kind: 'text' },
        { name: 'mode', label: 'Used by', kind: 'select', value: 'single-node-writer', options: [{ value: 'single-node-writer', label: 'instances of one node, which write' }, { value: 'single-node-single-writer', label: 'one instance, which writes' }, { value: 'single-node-reader-only', label: 'instances that only read' }] },
      ],
    },
    run: ({ values: v }) =>
      put(`/v1/volume/host/create?namespace=${encodeURIComponent(v.namespace ?? 'default')}`, {
        Volume: { Name: v.name, Namespace: v.namespace, PluginID: v.plugin, NodePool: v.pool, RequestedCapabilities: [{ AccessMode: v.mode, AttachmentMode: 'file-system' }] },
      }),
  };
  const remove: Verb | undefined = here && {
    name: 'Delete volume…',
    capability: 'host-volume-delete',
    namespace: here.Namespace,
    look: 'danger',
    cli: () => command('volume', 'delete', ...inNS(here.Namespace), here.ID),
    ask: { consequence: `The volume ${here.Name} is deleted with its data. The servers refuse while allocations use it.`, type: here.Name },
    run: () => del(`/v1/volume/host/${encodeURIComponent(here.ID ?? '')}?namespace=${encodeURIComponent(here.Namespace ?? 'default')}`),
  };
  useVerbs(remove ? [create, remove] : [create]);
  return (
    <>
      <Head title="Volumes" sentence="Directories of nodes that outlive allocations. The images of a node are on its page.">
        <VerbButton verb={create} />
        {remove && <VerbButton verb={remove} />}
      </Head>
      <div class="stackv">
        {here && <One of={here} names={names} />}
        {id && read.data && !here && <Empty>The volume {short(id)} is gone: it was deleted, or you may not see it.</Empty>}
        <ReadGrid
          label="Volumes"
          one="volume"
          read={read}
          columns={columns}
          sort="name"
          fields={['Name', 'State', 'NodeID', 'PluginID']}
          id={(v) => v.ID ?? ''}
          text={(v) => `${v.Name} ${v.State} ${v.Namespace} ${names.get(v.NodeID ?? '') ?? ''} ${v.NodeID} ${v.PluginID} ${v.ID}`}
          href={toVolume}
          cursor={setAt}
          empty={<Empty command="reeve volume init && reeve volume create volume.hcl">No host volume that you may see. Create one:</Empty>}
        />
        <Claims />
      </div>
    </>
  );
}

function One({ of: stub, names }: { of: HostVolumeStub; names: NodeNames }) {
  const read = useRead<HostVolume>(`/v1/volume/host/${encodeURIComponent(stub.ID ?? '')}?namespace=${encodeURIComponent(stub.Namespace ?? 'default')}`, { block: true });
  return (
    <Card title={`Volume ${stub.Name}`} sub={stub.State}>
      <Shown read={read}>
        {(v) => (
          <Facts
            of={[
              ['Message', v.Message],
              ['Id', <code>{v.ID}</code>],
              ['Node', node(v.NodeID, names)],
              ['Path', v.HostPath && <code>{v.HostPath}</code>],
              ['Access', (v.RequestedCapabilities ?? []).map((c) => c?.AccessMode).join(', ')],
              ['Created', when(v.CreateTime)],
              [
                'Used by',
                (v.Allocations ?? []).length > 0 &&
                  (v.Allocations ?? []).map((a) => (
                    <div key={a?.ID}>
                      <a href={toAllocation(a?.ID ?? '')}>{a?.Name}</a> {a?.ClientStatus}
                    </div>
                  )),
              ],
            ]}
          />
        )}
      </Shown>
    </Card>
  );
}

/** Claims are the volumes that instances of sticky groups keep. */
function Claims() {
  const read = useRead<VolumeClaim[]>(`/v1/volumes/claims?namespace=${all}`, { block: true });
  return (
    <Card title="Claims" sub="volumes that instances keep">
      <Shown read={read}>
        {(claims) =>
          (claims ?? []).length === 0 ? (
            <Empty>
              No instance keeps a volume. Groups with <code>sticky = true</code> in their volume block do.
            </Empty>
          ) : (
            <div class="scroll-x">
              <table class="plain">
                <thead>
                  <tr>
                    <th scope="col">Job</th>
                    <th scope="col">Instance</th>
                    <th scope="col">Volume</th>
                    <th scope="col">End the claim</th>
                  </tr>
                </thead>
                <tbody>
                  {(claims ?? []).map(
                    (c) =>
                      c && (
                        <tr key={c.ID}>
                          <td>
                            <a href={toJob(c.JobID ?? '', c.Namespace)}>{c.JobID}</a>
                          </td>
                          <td>
                            {c.TaskGroupName}-{c.Index ?? 0}
                          </td>
                          <td>
                            <a href={to(['volumes'], { id: c.VolumeID })}>{c.VolumeName}</a>
                          </td>
                          <td>
                            <VerbButton small verb={endClaim(c)} />
                          </td>
                        </tr>
                      ),
                  )}
                </tbody>
              </table>
            </div>
          )
        }
      </Shown>
    </Card>
  );
}

const endClaim = (c: VolumeClaim): Verb => ({
  name: 'End…',
  capability: 'host-volume-delete',
  namespace: c.Namespace,
  look: 'danger',
  cli: () => command('volume', 'claim', 'delete', ...inNS(c.Namespace), c.ID),
  ask: { consequence: `The instance ${c.TaskGroupName}-${c.Index ?? 0} of job ${c.JobID} no longer keeps the volume ${c.VolumeName}: its next allocation may get another one. The data stays.` },
  run: () => del(`/v1/volumes/claim/${encodeURIComponent(c.ID ?? '')}?namespace=${encodeURIComponent(c.Namespace ?? 'default')}`),
});
