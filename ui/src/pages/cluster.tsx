// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Attention, CAStatus, RootKey, SchedulerConfigResponse, ServerStatus, SnapshotSchedule } from '../api/schema';
import { ask, del, put } from '../link/link';
import { CopyLine } from '../parts/copy';
import { Card, Facts, Head, Time, when } from '../parts/page';
import { Shape } from '../parts/shape';
import { Empty, Shown } from '../parts/states';
import { useVerbs, type Verb } from '../parts/verb';
import { VerbButton } from '../parts/verbs';
import { useRead } from '../store/read';
import { command } from '../words/command';
import { bytes, count, plural } from '../words/count';
import { ms, span } from '../words/time';

/** Cluster shows the servers, what waits for an operator, certificates, keys and snapshots. */
export default function Cluster() {
  const collect: Verb = {
    name: 'Collect garbage…',
    capability: 'management',
    cli: () => command('system', 'gc'),
    ask: { consequence: 'All ended jobs, evaluations, allocations and deployments are deleted now, instead of after their thresholds.' },
    run: () => put('/v1/system/gc'),
  };
  const transfer: Verb = {
    name: 'Transfer leadership…',
    capability: 'operator:write',
    cli: () => command('server', 'transfer'),
    ask: { consequence: 'Another server becomes the leader. Writes wait for a moment; tasks do not notice.' },
    run: () => put('/v1/operator/raft/transfer-leadership'),
  };
  useVerbs([transfer, collect]);
  return (
    <>
      <Head title="Cluster" sentence="The servers, with their certificates, keys, snapshots and settings.">
        <VerbButton verb={transfer} />
        <VerbButton verb={collect} />
      </Head>
      <div class="stackv">
        <WaitsForYou />
        <Servers />
        <div class="cols">
          <div class="stackv">
            <Snapshots />
            <Keys />
          </div>
          <div class="stackv">
            <Certificates />
            <Scheduler />
          </div>
        </div>
      </div>
    </>
  );
}

function WaitsForYou() {
  const read = useRead<Attention[]>('/v1/operator/attention', { every: 10_000 });
  if (read.error?.status === 403 || (read.data ?? []).length === 0) return null;
  return (
    <Card title="Waiting for you">
      <ul class="rows">
        {(read.data ?? []).map(
          (a) =>
            a && (
              <li key={`${a.Kind} ${a.Message}`}>
                <Shape of="you" />
                <span>
                  {a.Message} {a.Next && <CopyLine text={a.Next} />}
                </span>
                <Time of={a.Since} />
              </li>
            ),
        )}
      </ul>
    </Card>
  );
}

/** The health of servers is a gauge: it is no change of the state, so no event tells it. */
function Servers() {
  const read = useRead<ServerStatus[]>('/v1/servers', { every: 2_000 });
  const newest = Math.max(0, ...(read.data ?? []).map((s) => s?.LastIndex ?? 0));
  return (
    <Card title="Servers" sub={read.data ? plural(read.data.length, 'server') : undefined}>
      <Shown read={read}>
        {(servers) => (
          <div class="scroll-x">
            <table class="plain">
              <thead>
                <tr>
                  <th scope="col">Server</th>
                  <th scope="col">Role</th>
                  <th scope="col">Address</th>
                  <th scope="col" class="end">
                    Behind
                  </th>
                  <th scope="col" class="end">
                    Last contact
                  </th>
                  <th scope="col">Version</th>
                  <th scope="col">Certificate ends</th>
                  <th scope="col">Verbs</th>
                </tr>
              </thead>
              <tbody>
                {(servers ?? []).map(
                  (s) =>
                    s && (
                      <tr key={s.ID}>
                        <th scope="row">
                          <span class="status">
                            <Shape of={s.Healthy ? 'ok' : 'bad'} label={s.Healthy ? 'healthy' : 'unhealthy'} />
                            {s.Name}
                          </span>
                        </th>
                        <td>{s.Leader ? 'leader' : s.Voter ? 'voter' : 'waits to vote'}</td>
                        <td>
                          <code>{s.Address}</code>
                        </td>
                        <td class="end">{count(newest - (s.LastIndex ?? 0))}</td>
                        <td class="end">{s.Leader ? '' : span((s.LastContact ?? 0) / 1e6)}</td>
                        <td>{s.Version}</td>
                        <td>
                          <Time of={s.Expires} />
                        </td>
                        <td>
                          <div class="btns">
                            {serverVerbs(s).map((v) => (
                              <VerbButton key={v.name} verb={v} small />
                            ))}
                          </div>
                        </td>
                      </tr>
                    ),
                )}
              </tbody>
            </table>
          </div>
        )}
      </Shown>
    </Card>
  );
}

function serverVerbs(s: ServerStatus): Verb[] {
  const id = encodeURIComponent(s.ID ?? '');
  const verbs: Verb[] = [
    {
      name: 'Leave…', capability: 'operator:write', blocked: s.Leader ? 'The leader cannot leave: transfer leadership first.' : '',
      cli: () => command('server', 'leave', s.Name),
      ask: { consequence: `${s.Name} leaves the replicated log. It remains a member and may join again.` },
      run: () => put(`/v1/server/${id}/leave`),
    },
    {
      name: 'Remove…', capability: 'operator:write', look: 'danger', blocked: s.Leader ? 'The leader cannot be removed: transfer leadership first.' : '',
      cli: (g) => command('server', 'remove', s.Name, ...(g.reason ? ['-reason', g.reason] : [])),
      ask: { consequence: `${s.Name} is removed and excluded permanently: this machine never joins again with its certificate.`, reason: 'required', type: s.Name },
      run: (g) => del(`/v1/server/${id}?reason=${encodeURIComponent(g.reason)}`),
    },
  ];
  if (!s.Voter) verbs.unshift({ name: 'Let it vote', capability: 'operator:write', cli: () => command('server', 'promote', s.Name), run: () => put(`/v1/server/${id}/promote`) });
  return verbs;
}

function Snapshots() {
  const read = useRead<SnapshotSchedule[]>('/v1/operator/snapshot/schedule', { every: 30_000 });
  return (
    <Card title="Snapshots">
      <Shown read={read}>
        {(all) => (
          <>
            {(all ?? []).map(
              (s) =>
                s && (
                  <Facts
                    key={s.Server}
                    of={[
                      ['Server', s.Name],
                      ['Schedule', s.Enabled ? `each ${span((s.Interval ?? 0) / 1e6)}, the last ${s.Retain} are kept${s.LeaderOnly ? ', by the leader' : ''}` : 'none: configure server { snapshots { } }'],
                      ['Newest', s.Last && ms(s.Last.Time) > 0 && <>{bytes(s.Last.Bytes)}, index {count(s.Last.Index)}, <Time of={s.Last.Time} /></>],
                      ['Failure', s.Failure && <span class="bad">{s.Failure}</span>],
                    ]}
                  />
                ),
            )}
            <div class="pad">
              <CopyLine text="reeve operator snapshot save backup.snap" />
            </div>
          </>
        )}
      </Shown>
    </Card>
  );
}

function Keys() {
  const read = useRead<RootKey[]>('/v1/operator/keyring/keys', { block: true });
  const rotate: Verb = {
    name: 'Rotate the key…',
    capability: 'keyring-rotate',
    cli: () => command('keyring', 'rotate', '-full'),
    ask: { consequence: 'A new root key encrypts from now on. All variables are encrypted again in the background.' },
    run: () => put('/v1/operator/keyring/rotate?full'),
  };
  return (
    <Card title="Keys of variables">
      <Shown read={read}>
        {(keys) => (
          <>
            <div class="scroll-x">
              <table class="plain">
                <thead>
                  <tr>
                    <th scope="col">Key</th>
                    <th scope="col">State</th>
                    <th scope="col" class="end">
                      Variables
                    </th>
                    <th scope="col">Created</th>
                  </tr>
                </thead>
                <tbody>
                  {(keys ?? []).map(
                    (k) =>
                      k && (
                        <tr key={k.KeyID}>
                          <td>
                            <code>{k.KeyID?.slice(0, 8)}</code>
                          </td>
                          <td class={k.Problem ? 'bad' : ''}>{k.Problem || k.State}</td>
                          <td class="end">{count(k.Variables)}</td>
                          <td>
                            <Time of={k.CreateTime} />
                          </td>
                        </tr>
                      ),
                  )}
                </tbody>
              </table>
            </div>
            <div class="pad">
              <VerbButton verb={rotate} />
            </div>
          </>
        )}
      </Shown>
    </Card>
  );
}

function Certificates() {
  const read = useRead<CAStatus>('/v1/cluster/ca/status', { every: 30_000 });
  const rotate: Verb = {
    name: 'Rotate the root…',
    capability: 'operator:write',
    cli: () => command('cluster', 'ca', 'rotate'),
    ask: { consequence: 'A new root certifies the members. They renew their certificates by themselves; the old root counts until all have.' },
    run: () => ask({ method: 'PUT', path: '/v1/cluster/ca/rotate', body: {} }),
  };
  if (read.error?.status === 404 || read.error?.status === 400) {
    return (
      <Card title="Certificates">
        <Empty>This agent runs alone, without a certificate authority.</Empty>
      </Card>
    );
  }
  return (
    <Card title="Certificates">
      <Shown read={read}>
        {(ca) => (
          <>
            <Facts
              of={[
                ['Cluster', <code>{ca.ClusterID}</code>],
                ['Roots', plural((ca.Roots ?? []).length, 'root')],
                ['Root ends', when(ca.Expires)],
                ['Wait for a certificate', (ca.Waiting ?? []).map((m) => m?.Name).join(', ')],
              ]}
            />
            <div class="pad">
              <VerbButton verb={rotate} />
            </div>
          </>
        )}
      </Shown>
    </Card>
  );
}

function Scheduler() {
  const read = useRead<SchedulerConfigResponse>('/v1/operator/scheduler/configuration', { block: true });
  return (
    <Card title="Scheduler">
      <Shown read={read}>
        {({ SchedulerConfig: c }) => (
          <Facts
            of={[
              ['Algorithm', c?.SchedulerAlgorithm],
              ['Memory oversubscription', c?.MemoryOversubscriptionEnabled ? 'enabled' : 'disabled'],
              ['Evaluations', c?.PauseEvalBroker ? <span class="you">paused</span> : 'processed'],
              ['Registrations', c?.RejectJobRegistration ? 'only by operators' : 'by everyone who may submit jobs'],
              ['Attribute of zones', c?.ZoneAttribute],
            ]}
          />
        )}
      </Shown>
    </Card>
  );
}
