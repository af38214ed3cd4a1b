// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { CatalogEntry, RouteListStub, RouterStatus, ServiceListStub, ServiceRegistration } from '../api/schema';
import { Card, Facts, Head, Tabs, when } from '../parts/page';
import type { Column } from '../parts/grid';
import { ReadGrid } from '../parts/read_grid';
import { Shape } from '../parts/shape';
import { Empty, Shown } from '../parts/states';
import { place, to, toAllocation, toJob, toNode } from '../shell/place';
import { useRead } from '../store/read';
import { bytes, count, percent } from '../words/count';
import { span } from '../words/time';

interface Row {
  name: string;
  namespace: string;
  tags: string[];
}

const toService = (r: Row) => to(['services'], { name: r.name, namespace: r.namespace === 'default' ? undefined : r.namespace });
const tabs = [
  { key: '', name: 'Services' },
  { key: 'routes', name: 'Routes' },
  { key: 'router', name: 'Traffic of this agent' },
];

const columns: Column<Row>[] = [
  { key: 'name', head: 'Service', width: 'minmax(0, 1.5fr)', by: (r) => r.name, cell: (r) => <a href={toService(r)}>{r.name}</a> },
  { key: 'namespace', head: 'Namespace', width: 'minmax(0, 1fr)', by: (r) => r.namespace, cell: (r) => r.namespace },
  { key: 'tags', head: 'Tags', width: 'minmax(0, 2fr)', wide: true, cell: (r) => <span class="clip">{r.tags.join(', ')}</span> },
];

/** Services shows which services can be called, which routes lead to which jobs, and the traffic of a router. */
export default function Services({ path }: { path: string[] }) {
  const tab = tabs.find((t) => t.key === (path[0] ?? ''))?.key ?? '';
  const name = place.value.query.get('name');
  return (
    <>
      <Head title="Services" sentence="Services and routes list only instances that get traffic." />
      <Tabs label="Services" current={tab} tabs={tabs.map((t) => ({ ...t, href: to(t.key ? ['services', t.key] : ['services']) }))} />
      {tab === 'routes' ? <Routes /> : tab === 'router' ? <Router /> : name ? <One name={name} /> : <List />}
    </>
  );
}

function List() {
  const read = useRead<ServiceListStub[]>('/v1/services?namespace=*', { on: ['Service'] });
  const rows = read.data?.flatMap((n) => (n?.Services ?? []).map((s) => ({ name: s?.ServiceName ?? '', namespace: n?.Namespace ?? '', tags: s?.Tags ?? [] })));
  return (
    <ReadGrid
      label="Services"
      one="service"
      read={{ ...read, data: rows }}
      columns={columns}
      sort="name"
      fields={['ServiceName']}
      id={(r) => `${r.namespace} ${r.name}`}
      text={(r) => `${r.name} ${r.namespace} ${r.tags.join(' ')}`}
      href={toService}
      empty={<Empty command="reeve job run examples/service.hcl">No service has an instance that gets traffic. Run a job with one:</Empty>}
    />
  );
}

function One({ name }: { name: string }) {
  const namespace = place.value.query.get('namespace') ?? 'default';
  const read = useRead<ServiceRegistration[]>(`/v1/service/${encodeURIComponent(name)}?namespace=${encodeURIComponent(namespace)}`, { on: [`Service:${name}`] });
  const entries = useRead<CatalogEntry[]>(`/v1/catalog?namespace=${encodeURIComponent(namespace)}`, { on: [`Service:${name}`] });
  const nodeOf = (alloc: string | undefined) => (entries.data ?? []).find((e) => e?.AllocID === alloc);
  return (
    <Card title={`Service ${name}`} sub={`namespace ${namespace}`}>
      <Shown read={read}>
        {(all) =>
          (all ?? []).length === 0 ? (
            <Empty>No instance of {name} gets traffic now.</Empty>
          ) : (
            <div class="scroll-x">
              <table class="plain">
                <thead>
                  <tr>
                    <th scope="col">Address</th>
                    <th scope="col">Job</th>
                    <th scope="col">Allocation</th>
                    <th scope="col">Node</th>
                    <th scope="col">Tags</th>
                    <th scope="col" class="end">
                      Weight
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {(all ?? []).map(
                    (r) =>
                      r && (
                        <tr key={r.ID}>
                          <td>
                            <code>
                              {r.Address}:{r.Port}
                            </code>
                          </td>
                          <td>
                            <a href={toJob(r.JobID ?? '', r.Namespace)}>{r.JobID}</a>
                          </td>
                          <td>
                            <a href={toAllocation(r.AllocID ?? '')}>{r.AllocID?.slice(0, 8)}</a>
                          </td>
                          <td>{r.NodeID && <a href={toNode(r.NodeID)}>{nodeOf(r.AllocID)?.NodeName ?? r.NodeID.slice(0, 8)}</a>}</td>
                          <td>{(r.Tags ?? []).join(', ')}</td>
                          <td class="end">{r.Weight}</td>
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

const routeName = (r: RouteListStub) => (r.Route?.Listen ? `tcp :${r.Route.Listen}` : `${r.Route?.Host ?? ''}${r.Route?.Path ?? ''}`);
const routeColumns: Column<RouteListStub>[] = [
  { key: 'route', head: 'Route', width: 'minmax(0, 1.5fr)', narrow: 'minmax(0, 2fr)', by: routeName, cell: (r) => <><Shape of={(r.Routable ?? 0) > 0 ? 'ok' : 'bad'} label={(r.Routable ?? 0) > 0 ? 'served' : 'nobody serves it'} /><code class="clip">{routeName(r)}</code></> },
  { key: 'job', head: 'Job', width: 'minmax(0, 1fr)', by: (r) => r.JobID ?? '', cell: (r) => <a href={toJob(r.JobID ?? '', r.Namespace)}>{r.JobID}</a> },
  { key: 'group', head: 'Group', width: 'minmax(0, 1fr)', wide: true, by: (r) => r.Group ?? '', cell: (r) => r.Group },
  { key: 'share', head: 'Share', width: '80px', narrow: '52px', end: true, by: (r) => r.Share ?? 0, cell: (r) => percent(r.Share ?? 0, 1) || '0 %' },
  { key: 'routable', head: 'Get traffic', width: '100px', narrow: '74px', end: true, by: (r) => r.Routable ?? 0, cell: (r) => `${r.Routable ?? 0} of ${r.Total ?? 0}` },
  { key: 'claim', head: 'Claim', width: 'minmax(0, 1fr)', wide: true, cell: (r) => <span class="clip" title={r.Claim}>{r.Claim}</span> },
];

function Routes() {
  const read = useRead<RouteListStub[]>('/v1/routes?namespace=*', { on: ['Service', 'Job', 'Instance', 'Shift'] });
  return (
    <ReadGrid
      label="Routes"
      one="route"
      read={read}
      columns={routeColumns}
      sort="route"
      fields={['JobID', 'Group']}
      id={(r) => `${routeName(r)} ${r.Namespace} ${r.JobID} ${r.Group} ${r.Route?.Port}`}
      text={(r) => `${routeName(r)} ${r.JobID} ${r.Group} ${r.Namespace}`}
      href={(r) => toJob(r.JobID ?? '', r.Namespace)}
      empty={<Empty command="reeve job run examples/router.hcl">No job has a route. Run one that has:</Empty>}
    />
  );
}

/** The traffic of the agent that answers is a gauge; each agent counts its own. */
function Router() {
  const read = useRead<RouterStatus>('/v1/agent/router', { every: 2_000 });
  return (
    <Shown read={read}>
      {(s) => (
        <div class="stackv">
          <Card title="Router" sub={s.Connected ? 'follows the catalog' : 'has lost the servers'}>
            <Facts
              of={[
                ['HTTP', s.HTTP && <code>{s.HTTP}</code>],
                ['HTTPS', s.HTTPS && <code>{s.HTTPS}</code>],
                ['Requests', count(s.Requests)],
                ['Without a route', s.NoRoute ? count(s.NoRoute) : ''],
                ['Refused', s.Refused ? count(s.Refused) : ''],
                ['Connections', count(s.Connections)],
                ['Updated', when(s.Updated)],
                ...(s.Problems ?? []).map((p): [string, string] => ['Problem', p]),
              ]}
            />
          </Card>
          <Card title="Traffic by route">
            {(s.Routes ?? []).length === 0 ? (
              <Empty command="reeve job run examples/router.hcl">This router serves no route.</Empty>
            ) : (
              <div class="scroll-x">
                <table class="plain">
                  <thead>
                    <tr>
                      <th scope="col">Route</th>
                      <th scope="col">Jobs</th>
                      <th scope="col" class="end">Requests</th>
                      <th scope="col" class="end">5xx</th>
                      <th scope="col" class="end">p50</th>
                      <th scope="col" class="end">p99</th>
                      <th scope="col" class="end">Sent</th>
                    </tr>
                  </thead>
                  <tbody>
                    {(s.Routes ?? []).map(
                      (r) =>
                        r && (
                          <tr key={`${r.Protocol} ${r.Host} ${r.Path} ${r.Listen}`}>
                            <th scope="row">
                              <code>{r.Listen ? `tcp :${r.Listen}` : `${r.Host}${r.Path}`}</code>
                            </th>
                            <td>{(r.Jobs ?? []).join(', ')}</td>
                            <td class="end">{count(r.Requests)}</td>
                            <td class="end">{count(r.Responses?.['5xx'])}</td>
                            <td class="end">{r.Latency?.P50 ? span(r.Latency.P50 / 1e6) : ''}</td>
                            <td class="end">{r.Latency?.P99 ? span(r.Latency.P99 / 1e6) : ''}</td>
                            <td class="end">{bytes(r.BytesOut)}</td>
                          </tr>
                        ),
                    )}
                  </tbody>
                </table>
              </div>
            )}
          </Card>
        </div>
      )}
    </Shown>
  );
}
