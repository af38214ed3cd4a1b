// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// A large cluster that does not exist: lists of thousands of rows and a stream with a thousand changes per second, in
// the format of the API. A machine that also runs the browser cannot make as many by real work. Every other request
// goes to a real agent.

import { createServer, request } from 'node:http';

const perJob = 100;
const tick = 20;
const id = (kind, i) => `${kind}0000000-0000-0000-0000-${String(i).padStart(12, '0')}`;
const jobOf = (i) => `job-${String(Math.floor(i / perJob)).padStart(5, '0')}`;

/** A Fake is a cluster with so many of each. */
export class Fake {
  static async start({ agent, instances = 10_000, jobs = 100, nodes = 10_000, stacks = 200, changes = 1_000 }) {
    const f = new Fake();
    Object.assign(f, { agent: new URL(agent), n: { instances, jobs, nodes, stacks }, changes, index: 1_000_000, sent: 0, streams: new Set(), version: new Uint32Array(instances) });
    f.server = createServer((req, res) => f.#answer(req, res));
    await new Promise((r) => f.server.listen(0, '127.0.0.1', r));
    f.base = `http://127.0.0.1:${f.server.address().port}`;
    let last = Date.now();
    f.timer = setInterval(() => {
      const now = Date.now();
      f.#change(Math.round(((now - last) * f.changes) / 1000));
      last = now;
    }, tick);
    return f;
  }

  stop() {
    clearInterval(this.timer);
    this.server.closeAllConnections();
    this.server.close();
  }

  instance(i) {
    const v = this.version[i];
    const crashed = (i + v) % 50 === 7;
    return {
      Namespace: 'default', JobID: jobOf(i), Name: `web-${i % perJob}`, Group: 'web', Index: i % perJob, Presence: 'ordinary', Paused: false,
      State: crashed ? 'CRASHED' : 'RUNNING', Routable: !crashed && v % 2 === 0, CrashCount: crashed ? v : 0, CrashReason: crashed ? 'task "t": ended with code 1' : '',
      Message: !crashed && v % 2 === 1 ? 'check "ready" has not passed yet' : '', Allocation: id('a', i), NodeID: id('c', i % this.n.nodes), NodeName: `node-${i % this.n.nodes}`,
      JobVersion: v, Since: new Date(1_790_000_000_000 + v * 1000).toISOString(), Address: '10.0.0.1', Ports: [{ Label: 'http', ContainerPort: 80, HostPort: 20_000 + (i % 10_000) }],
      ModificationTag: { Epoch: id('a', i), Index: this.index },
    };
  }

  job(i) {
    return { ID: `job-${String(i).padStart(5, '0')}`, Name: `job-${i}`, Namespace: 'default', Type: i % 9 === 0 ? 'batch' : 'service', Status: 'running', Priority: 50, Version: 1, SubmitTime: 1.79e18, ModifyIndex: 10, JobSummary: { Summary: { web: { Running: perJob } } } };
  }

  node(i) {
    return { ID: id('c', i), Name: `node-${i}`, Datacenter: `dc${i % 2}`, NodePool: 'default', NodeClass: i % 10 ? '' : 'large', Status: i % 200 ? 'ready' : 'down', SchedulingEligibility: 'eligible', Version: '1.0.0', Drain: false };
  }

  topology() {
    const n = this.n.nodes;
    const numbers = (f) => Array.from({ length: n }, (_, i) => f(i));
    const of = (Values, code) => ({ Values, Codes: numbers(code) });
    return {
      ID: numbers((i) => id('c', i)), Name: numbers((i) => `node-${i}`), Datacenter: of(['dc0', 'dc1'], (i) => i % 2), Zone: of(['a', 'b', 'c'], (i) => i % 3), NodeClass: of(['', 'large'], (i) => (i % 10 ? 0 : 1)),
      NodePool: of(['default'], () => 0), Status: of(['ready', 'down'], (i) => (i % 200 ? 0 : 1)), Eligibility: of(['eligible', 'ineligible'], (i) => (i % 50 === 1 ? 1 : 0)), Draining: numbers((i) => i % 300 === 2), Silent: numbers(() => false),
      CPU: numbers(() => 4000), CPUUsed: numbers((i) => (i * 37) % 4000), MemoryMB: numbers(() => 8192), MemoryUsed: numbers((i) => (i * 131) % 8192), DiskMB: numbers(() => 100_000), DiskUsed: numbers(() => 0), Allocations: numbers((i) => i % 17),
    };
  }

  graph() {
    const of = (i) => ({ ID: id('f', i), Name: `unit-${i % 80}-${Math.floor(i / 80)}`, Unit: `unit-${i % 80}`, Namespace: 'default', Status: 'running', Shown: 'running', Version: { Major: 1, Minor: Math.floor(i / 80), Patch: 0 }, Share: 1 });
    const Nodes = Array.from({ length: this.n.stacks }, (_, i) => of(i));
    return { Nodes, Edges: Nodes.flatMap((s, i) => (i === 0 ? [] : [{ From: s.Name, To: Nodes[Math.floor(i / 3)].Name, Namespace: 'default', Kind: 'stack', Want: '^1' }])) };
  }

  /** change changes some instances and tells the streams. */
  #change(count) {
    if (count <= 0 || this.streams.size === 0) return;
    this.index++;
    const Events = [];
    for (let k = 0; k < count; k++) {
      const i = (this.sent * 7919) % this.n.instances;
      this.sent++;
      this.version[i]++;
      const Instance = this.instance(i);
      Events.push({ Topic: 'Instance', Type: 'InstanceChanged', Key: Instance.Allocation, Namespace: 'default', FilterKeys: [Instance.JobID, Instance.Name, Instance.NodeID], Index: this.index, Payload: { Instance } });
    }
    const of = { Instance: JSON.stringify({ Index: this.index, Events }), other: JSON.stringify({ Index: this.index }) };
    for (const s of this.streams) s.res.write(`${s.instances ? of.Instance : of.other}\n`);
  }

  #answer(req, res) {
    const { pathname, searchParams: q } = new URL(req.url, 'http://localhost');
    const send = (body, more = {}) => res.writeHead(200, { 'Content-Type': 'application/json', 'X-Reeve-Index': String(this.index), ...more }).end(JSON.stringify(body));
    const page = (n, row, from = 0) => {
      const at = Math.max(from, Number(q.get('next_token') ?? from));
      const end = Math.min(n, at + Number(q.get('per_page') ?? n));
      send(Array.from({ length: end - at }, (_, k) => row(at + k)), end < n ? { 'X-Nomad-NextToken': String(end) } : {});
    };
    switch (pathname) {
      case '/v1/event/stream': {
        res.writeHead(200, { 'Content-Type': 'application/json', 'X-Reeve-Timeline': 'bench', 'X-Reeve-Events-After': String(this.index) });
        res.flushHeaders();
        const s = { res, instances: q.getAll('topic').some((t) => t.startsWith('Instance')) };
        this.streams.add(s);
        res.on('close', () => this.streams.delete(s));
        return;
      }
      case '/v1/instances': {
        if (q.get('state') === 'CRASHED') return send([]);
        const filter = q.get('filter');
        if (filter) return send(this.#filtered(filter).slice(0, Number(q.get('per_page') ?? 1_000)));
        const from = q.get('job') ? Number(q.get('job').slice(4)) * perJob : 0;
        return page(q.get('job') ? Math.min(this.n.instances, from + perJob) : this.n.instances, (i) => this.instance(i), from);
      }
      case '/v1/jobs':
        return page(this.n.jobs, (i) => this.job(i));
      case '/v1/jobs/statuses': {
        let text = '';
        req.on('data', (d) => (text += d));
        req.on('end', () => send((JSON.parse(text).Jobs ?? []).map((j) => ({ ...j, GroupCountSum: perJob, Routable: perJob, Allocs: Array.from({ length: perJob }, () => ({ ClientStatus: 'running', JobVersion: 1 })) }))));
        return;
      }
      case '/v1/nodes':
        return page(this.n.nodes, (i) => this.node(i));
      case '/v1/topology':
        return send(this.topology());
      case '/v1/stacks/graph':
        return send(this.graph());
      case '/v1/stacks':
        return send(this.graph().Nodes);
    }
    const up = request({ host: this.agent.hostname, port: this.agent.port, path: req.url, method: req.method, headers: { ...req.headers, host: this.agent.host, ...(req.headers.origin && { origin: this.agent.origin }) } }, (answer) => {
      res.writeHead(answer.statusCode, answer.headers);
      answer.pipe(res);
    });
    up.on('error', () => res.destroy());
    res.on('close', () => up.destroy());
    req.pipe(up);
  }

  /** filtered are the instances that contain all texts which an expression names: enough for what the pages ask. */
  #filtered(filter) {
    const parts = [...filter.matchAll(/"([^"]*)"/g)].map((m) => m[1].replace('(?i)', '').replaceAll('\\', '').toLowerCase());
    const out = [];
    for (let i = 0; i < this.n.instances && out.length < 1_000; i++) {
      const r = this.instance(i);
      const text = `${r.Name} ${r.JobID} ${r.NodeName} ${r.State} ${r.Allocation}`.toLowerCase();
      if (parts.every((p) => text.includes(p))) out.push(r);
    }
    return out;
  }
}
