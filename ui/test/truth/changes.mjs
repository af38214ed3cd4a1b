// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Random changes of a cluster, from a seed: what users and machines do to jobs, instances, nodes, variables and
// namespaces, without regard to pages that show them.

/** random returns a generator of numbers below n that repeats for the same seed. */
export function random(seed) {
  let a = seed >>> 0;
  return (n) => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * n);
  };
}

const behaviours = [
  'run_for = "8760h"',
  'run_for = "8760h"',
  'run_for = "1s"\n        exit_code = 1',
  'run_for = "700ms"',
];

/** jobFile is a job of the driver mock. What it wants may exceed the node, so that instances wait for a place. */
export function jobFile(id, namespace, { count, version, cpu, behaviour, type = 'service', held = false }) {
  return `
job "${id}" {
  namespace = "${namespace}"
  type      = "${type}"
  meta { version = "${version}" }
  group "web" {
    count = ${count}
    restart {
      attempts = 1
      interval = "1m"
      delay    = "500ms"
      mode     = "fail"
    }
    network {
      port "http" {}
    }
    service {
      name = "${id}"
      port = "http"
      tags = ["v${version}"]
    }
    ${type === 'service' ? `update {
      max_parallel     = 2
      min_healthy_time = "100ms"
      ${held ? 'canary = 1' : ''}
    }` : ''}
    task "t" {
      driver = "mock"
      config {
        ${behaviours[behaviour]}
      }
      env { VERSION = "${version}" }
      resources {
        cpu    = ${cpu}
        memory = 16
      }
    }
  }
}`;
}

const verbs = ['register', 'register', 'register', 'scale', 'scale', 'stop', 'purge', 'pause', 'resume', 'restart', 'kill', 'kill', 'restartInstance', 'replace', 'eligibility', 'variable', 'variable', 'namespace', 'revert', 'collect'];

/** kinds is the number of kinds of changes. */
export const kinds = new Set(verbs).size;

/** A Changer changes a cluster. A request that the servers refuse, because the state forbids it, is no fault. */
export class Changer {
  constructor(agent, seed) {
    this.agent = agent;
    this.next = random(seed);
    this.version = 0;
    this.refused = new Map();
    this.done = new Map();
  }

  one(list) {
    return list[this.next(list.length)];
  }

  /** change makes one random change and returns its name. */
  async change() {
    const verb = this.one(verbs);
    try {
      await this[verb]();
      this.done.set(verb, (this.done.get(verb) ?? 0) + 1);
    } catch (e) {
      if (!/: (4\d\d|500|503) /.test(e.message)) throw e;
      this.refused.set(verb, e.message);
    }
    return verb;
  }

  async register() {
    const id = `job-${this.next(8)}`;
    const namespace = this.next(4) === 0 ? 'team' : 'default';
    const type = this.next(5) === 0 ? 'batch' : 'service';
    await this.agent.run(
      jobFile(id, namespace, { count: this.next(4) + 1, version: ++this.version, cpu: this.next(6) === 0 ? 900_000 : 20, behaviour: type === 'batch' ? 3 : this.next(3), type, held: this.next(3) === 0 }),
    );
  }

  async job() {
    const all = (await this.agent.ask('GET', '/v1/jobs?namespace=*')) ?? [];
    if (all.length === 0) await this.register();
    const j = all.length > 0 ? this.one(all) : (await this.agent.ask('GET', '/v1/jobs?namespace=*'))[0];
    return { path: `/v1/job/${j.ID}`, ns: `namespace=${j.Namespace}`, j };
  }

  async scale() {
    const { path, ns, j } = await this.job();
    await this.agent.ask('PUT', `${path}/scale?${ns}`, { Target: { Group: 'web' }, Count: this.next(6), Namespace: j.Namespace });
  }

  async stop() {
    const { path, ns, j } = await this.job();
    if (j.ID !== 'steady') await this.agent.ask('DELETE', `${path}?${ns}`);
  }

  async purge() {
    const { path, ns, j } = await this.job();
    if (j.ID !== 'steady') await this.agent.ask('DELETE', `${path}?${ns}&purge=true`);
  }

  async restart() {
    const { path, ns } = await this.job();
    await this.agent.ask('PUT', `${path}/restart?${ns}`, {});
  }

  async revert() {
    const { path, ns, j } = await this.job();
    await this.agent.ask('PUT', `${path}/revert?${ns}`, { JobID: j.ID, JobVersion: 0 });
  }

  async onInstance(method, verb, first = () => true) {
    let all = ((await this.agent.ask('GET', '/v1/instances?namespace=*')) ?? []).filter((i) => i.Allocation);
    if (all.length === 0) return;
    if (all.some(first)) all = all.filter(first);
    const i = this.one(all);
    await this.agent.ask(method, `/v1/job/${i.JobID}/instance/${i.Name}${verb}?namespace=${i.Namespace}`, method === 'PUT' ? {} : undefined);
  }

  kill() {
    return this.onInstance('DELETE', '');
  }

  pause() {
    return this.onInstance('PUT', '/pause');
  }

  resume() {
    return this.onInstance('PUT', '/resume', (i) => i.Paused);
  }

  restartInstance() {
    return this.onInstance('PUT', '/restart');
  }

  replace() {
    return this.onInstance('PUT', '/replace');
  }

  async eligibility() {
    const nodes = await this.agent.ask('GET', '/v1/nodes');
    const n = this.one(nodes);
    await this.agent.ask('PUT', `/v1/node/${n.ID}/eligibility`, { Eligibility: n.SchedulingEligibility === 'eligible' ? 'ineligible' : 'eligible' });
  }

  async variable() {
    const path = `app/v${this.next(5)}`;
    if (this.next(3) === 0) await this.agent.ask('DELETE', `/v1/var/${path}`);
    else await this.agent.ask('PUT', `/v1/var/${path}`, { Path: path, Namespace: 'default', Items: { n: String(++this.version) } });
  }

  async namespace() {
    const name = `space-${this.next(4)}`;
    if (this.next(2) === 0) await this.agent.ask('DELETE', `/v1/namespace/${name}`);
    else await this.agent.ask('PUT', '/v1/namespace', { Name: name, Description: `change ${++this.version}` });
  }

  collect() {
    return this.agent.ask('PUT', '/v1/system/gc', {});
  }
}
