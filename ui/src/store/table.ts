// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { effect, signal, type Signal } from '@preact/signals';
import type { Event } from '../api/schema';
import { health, login } from '../link/link';
import { mayPass, type Failure, type Login } from '../worker/protocol';
import { readList, readPage } from './list';
import { Refiner } from './refine';
import type { TableSource } from './source';
import { frozen, watch } from './watch';

export type { TableSource };

const rereadPause = 1_000;
/** The pause after a read that failed. */
export const retryPause = 2_000;
/** A list that takes long to read is read again later. */
const longestPause = 10_000;

/** A Table keeps the rows of a list true from the event stream. */
export class Table<T> {
  readonly rows = new Map<string, T>();
  /** Changes whenever rows change, at most once per frame. */
  readonly version: Signal<number> = signal(0);
  readonly error: Signal<Failure | undefined> = signal(undefined);
  readonly loading: Signal<boolean> = signal(true);
  /** Whether the list has more rows than the limit. */
  readonly more: Signal<boolean> = signal(false);
  #source: TableSource<T>;
  #base = 0;
  #early: { events: Event[]; index: number }[] = [];
  #reading = false;
  #again = false;
  #failed = false;
  #begun = 0;
  #ended = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #abort = new AbortController();

  constructor(source: TableSource<T>) {
    this.#source = source;
  }

  start(): () => void {
    const { groups, reread } = this.#source;
    const end = watch({
      topics: reread && groups ? groups.topics : this.#source.topics, // a filter may see what only a group's other events change
      events: (events, index) => this.#apply(events, index),
      ready: (after) => this.#base > 0 && after > this.#base && this.read(),
      reset: () => {
        this.#early = []; // of another history
        void this.read();
      },
    });
    const refiner =
      groups && !reread
        ? new Refiner<T>(groups, {
            page: (path, next) => readPage(this.#source, path, next, this.#abort.signal),
            readAll: () => this.read().then(() => this.rows.size),
            reading: () => this.#reading || this.#base === 0,
            ended: () => this.#abort.signal.aborted,
            replace: (changed, rows, later) => this.#replace(changed, rows, later),
          })
        : undefined;
    const endGroups = refiner ? watch({ topics: groups!.topics, events: (events) => refiner.note(events), reset: () => {} }) : () => {};
    let seen: Login | undefined; // another login may read more
    const stop = effect(() => {
      // Both signals are read on every run: an effect follows only what its last run has read.
      const now = login.value;
      const live = health.value.state === 'live';
      if (now.state !== 'open' && now.state !== 'session') return;
      if (now === seen && !(this.#failed && live)) return;
      seen = now;
      queueMicrotask(() => this.read());
    });
    const release = effect(() => {
      if (!frozen.value) this.version.value = this.version.peek() + 1;
    });
    return () => {
      end();
      endGroups();
      refiner?.end();
      stop();
      release();
      clearTimeout(this.#timer);
      this.#abort.abort();
    };
  }

  /** read reads the whole list, page by page, and replaces the rows when it is complete. */
  async read(): Promise<void> {
    if (this.#abort.signal.aborted) return;
    if (this.#reading) {
      this.#again = true;
      return;
    }
    this.#reading = true;
    this.#failed = false;
    this.#begun = Date.now();
    const list = await readList(this.#source, this.#abort.signal, (rows) => this.#base === 0 && this.#show(rows)); // The first page is useful before the last.
    if (list === undefined) return;
    if (list.failed) {
      this.#failed = mayPass(list.failed.status);
      this.error.value = list.failed.error;
      this.loading.value = false;
      this.#finish();
      this.#retry();
      return;
    }
    this.#base = list.index || 1;
    this.error.value = undefined;
    this.more.value = list.more;
    this.#show(list.rows);
    this.loading.value = false;
    this.#finish();
  }

  /** retry reads again after a while if the stream is open: then nothing else says that the servers answer. */
  #retry(): void {
    if (!this.#failed || health.peek().state !== 'live') return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.read();
    }, retryPause);
  }

  /** finish applies the events that came while the list was read. */
  #finish(): void {
    const early = this.#early;
    this.#early = [];
    this.#reading = false;
    this.#ended = Date.now();
    if (this.#base > 0) for (const { events, index } of early) this.#apply(events, index);
    if (this.#again) {
      this.#again = false;
      void this.read();
    }
  }

  /** replace takes the rows of groups that were read again, and the events after them. */
  #replace(changed: ReadonlySet<string>, fresh: T[], later: Event[]): void {
    const { key, groups } = this.#source;
    const had = new Set<string>();
    for (const [k, row] of this.rows) {
      if (!changed.has(groups!.ofRow(row))) continue;
      had.add(k);
      this.rows.delete(k);
    }
    for (const row of fresh) if (had.has(key(row)) || !this.more.peek()) this.rows.set(key(row), row);
    this.#changed();
    this.#take(later);
  }

  #show(rows: Map<string, T>): void {
    this.rows.clear();
    rows.forEach((row, k) => this.rows.set(k, row));
    this.#changed();
  }

  #apply(events: Event[], index: number): void {
    if (this.#source.reread) {
      if (index <= this.#base) return;
      this.#timer ??= setTimeout(
        () => {
          this.#timer = undefined;
          void this.read();
        },
        Math.max(0, this.#ended + Math.max(rereadPause, Math.min(longestPause, (this.#ended - this.#begun) * 10)) - Date.now()),
      );
      return;
    }
    if (this.#reading) {
      this.#early.push({ events, index });
      if (this.#base === 0) return;
    }
    // The list is newer than events up to its index.
    this.#take(events.filter((e) => (e.Index ?? 0) > this.#base));
  }

  #take(events: Event[]): void {
    const { take, keep } = this.#source;
    let changed = false;
    for (const e of events) {
      const taken = take(e);
      if (!taken) continue;
      changed = true;
      const before = this.rows.get(taken.key);
      if (taken.row === null) this.rows.delete(taken.key);
      else if (before !== undefined) this.rows.set(taken.key, keep ? keep(before, taken.row) : taken.row);
      else if (!this.more.peek()) this.rows.set(taken.key, taken.row);
    }
    if (changed) this.#changed();
  }

  #changed(): void {
    if (!frozen.peek()) this.version.value++;
  }
}
