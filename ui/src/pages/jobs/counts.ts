// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The counts and rollouts of the jobs in view. Counting all jobs for every change would load the servers with work
// that nobody sees.

import { signal } from '@preact/signals';
import type { Instance, JobOverview, NamespacedID } from '../../api/schema';
import { ask } from '../../link/link';
import { jobGroups } from '../../store/job_groups';
import { Table } from '../../store/table';
import { frozen, watch } from '../../store/watch';

export const keyOfJob = (j: { ID?: string | undefined; Namespace?: string | undefined }) => `${j.Namespace ?? 'default'} ${j.ID ?? ''}`;

const byJob = jobGroups(undefined, { state: 'CRASHED' });

const pause = 500;
const atMost = 100;

/** Counts keeps the overviews of the jobs in view true: it reads those that are new in view or have changed, twice a second at most. */
export class Counts {
  readonly known = new Map<string, JobOverview>();
  /** Changes when an overview does. */
  readonly version = signal(0);
  #shown: string[] = [];
  #stale = new Set<string>();
  #reading = new Set<string>();
  /** Allocations that have crashed and not started again. */
  #crashed = new Table<Instance>({
    path: '/v1/instances?namespace=*&state=CRASHED',
    topics: ['Instance'],
    key: (i) => i.Allocation ?? '',
    take: (e) => {
      if (e.Topic !== 'Instance' || e.Type === 'InstanceCrashed') return undefined;
      const i = e.Payload?.Instance as Instance | undefined;
      return { key: e.Key ?? '', row: e.Deleted || e.Type === 'InstanceRemoved' || i?.State !== 'CRASHED' ? null : i };
    },
    // A crashed allocation that another version replaced is in no list, but no event says so.
    groups: { ...byJob, of: (e) => (this.crashed(byJob.of(e)) > 0 ? byJob.of(e) : '') },
  });
  #crashedOf = { version: -1, jobs: new Map<string, number>() };
  #told = '';
  #tell: ReturnType<typeof setTimeout> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running = false;
  #last = 0;
  #ended = false;

  start(): () => void {
    this.#ended = false;
    const end = watch({
      topics: ['Job', 'Deployment', 'Instance', 'Evaluation'],
      events: (events) => {
        for (const e of events) {
          const ns = e.Namespace || 'default';
          if (e.Topic === 'Job') this.#stale.add(`${ns} ${e.Key ?? ''}`);
          else for (const k of e.FilterKeys ?? []) this.#stale.add(`${ns} ${k}`);
        }
        // Names of what is no job, and of jobs that were never read, need no mark.
        for (const k of this.#stale) if (!this.known.has(k) && !this.#reading.has(k)) this.#stale.delete(k);
        this.#plan();
      },
      // Overviews that were read before the stream began may lack changes.
      ready: () => this.#doubt(),
      reset: () => this.#doubt(),
    });
    const endCrashed = this.#crashed.start();
    const endTold = this.#crashed.version.subscribe(() => (this.#tell ??= setTimeout(() => this.#tellCrashed(), pause)));
    return () => {
      this.#ended = true;
      end();
      endCrashed();
      endTold();
      clearTimeout(this.#tell);
      this.#tell = undefined;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  /** doubt reads the overviews in view again. */
  #doubt(): void {
    for (const k of [...this.known.keys(), ...this.#reading]) this.#stale.add(k);
    this.#plan();
  }

  /** tellCrashed shows the crashes again if they differ: most events are of instances that run. */
  #tellCrashed(): void {
    this.#tell = undefined;
    this.crashed('');
    const now = JSON.stringify([...this.#crashedOf.jobs]);
    if (now === this.#told) return;
    this.#told = now;
    if (!frozen.peek()) this.version.value++;
  }

  /** crashed is the number of a job's allocations that have crashed and not started again. */
  crashed(job: string): number {
    const version = this.#crashed.version.peek();
    if (version !== this.#crashedOf.version) {
      const jobs = new Map<string, number>();
      for (const i of this.#crashed.rows.values()) {
        const key = keyOfJob({ ID: i.JobID, Namespace: i.Namespace });
        if (i.Allocation) jobs.set(key, (jobs.get(key) ?? 0) + 1);
      }
      this.#crashedOf = { version, jobs };
    }
    return this.#crashedOf.jobs.get(job) ?? 0;
  }

  /** show says which jobs are in view. */
  show(keys: string[]): void {
    this.#shown = keys;
    this.#plan();
  }

  #wanted(): string[] {
    return this.#shown.filter((k) => !this.known.has(k) || this.#stale.has(k)).slice(0, atMost);
  }

  #plan(): void {
    if (this.#running || this.#timer !== undefined || this.#ended || this.#wanted().length === 0) return;
    this.#timer = setTimeout(() => void this.#read(), Math.max(20, this.#last + pause - Date.now()));
  }

  async #read(): Promise<void> {
    this.#timer = undefined;
    const keys = this.#wanted();
    if (keys.length === 0) return;
    this.#running = true;
    this.#last = Date.now();
    keys.forEach((k) => this.#stale.delete(k));
    this.#reading = new Set(keys);
    const Jobs: NamespacedID[] = keys.map((k) => ({ Namespace: k.slice(0, k.indexOf(' ')), ID: k.slice(k.indexOf(' ') + 1) }));
    const answer = await ask<JobOverview[] | null>({ method: 'PUT', path: '/v1/jobs/statuses?namespace=*', body: { Jobs, IncludeChildren: true } });
    this.#running = false;
    this.#reading.clear();
    if (this.#ended) return;
    if (answer.ok) {
      const answered = new Map((answer.body ?? []).map((o) => [keyOfJob(o), o]));
      // A job without an answer is gone, or its instances may not be seen: an empty overview keeps it from being asked for again.
      for (const k of keys) {
        const o = answered.get(k);
        if (o) this.known.set(k, o);
        else if (!this.known.has(k)) this.known.set(k, {});
      }
      if (!frozen.peek()) this.version.value++;
    } else if (answer.status !== 403) {
      keys.forEach((k) => this.#stale.add(k));
      this.#last = Date.now() + 2_000;
    } else for (const k of keys) if (!this.known.has(k)) this.known.set(k, {});
    this.#plan();
  }
}
