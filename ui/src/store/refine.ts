// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Rows that show more than their events tell. The event of an instance is made of its allocation alone; the list also
// knows whether an operator paused it, and has rows of instances without an allocation. So the rows of a job are read
// again after its events.

import type { Event } from '../api/schema';
import type { Answer } from '../worker/protocol';

/** How rows are grouped, and read by group. */
export interface Groups<T> {
  /** Topics after whose events the rows of a group may differ. */
  topics: string[];
  /** The group of an event; empty if no row differs. */
  of(e: Event): string;
  ofRow(row: T): string;
  path(group: string): string;
}

/** What a Refiner needs of its table. */
export interface RefineEnv<T> {
  page(path: string, next: string): Promise<Answer<T[] | null>>;
  /** Reads the whole list, for changes of many groups. It returns the number of rows. */
  readAll(): Promise<number>;
  /** Whether the whole list is being read, which will replace all rows. */
  reading(): boolean;
  ended(): boolean;
  /** Replaces the rows of groups, and applies later events. */
  replace(groups: ReadonlySet<string>, rows: T[], later: Event[]): void;
}

const soon = 250;
const pause = 1_000;
/** With more groups, one read of the list costs less. */
const groupsAtOnce = 16;
/** The pause after a read of rows, in ms per row: 10,000 rows that change all the time are read every 20 s. */
const perRow = 2;

export class Refiner<T> {
  #groups: Groups<T>;
  #env: RefineEnv<T>;
  #stale = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running = false;
  #notBefore = 0;
  #early: Event[] | undefined;

  constructor(groups: Groups<T>, env: RefineEnv<T>) {
    this.#groups = groups;
    this.#env = env;
  }

  /** note marks the groups of events. */
  note(events: Event[]): void {
    for (const e of events) {
      const g = this.#groups.of(e);
      if (g) this.#stale.add(g);
    }
    this.#early?.push(...events);
    this.#plan();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #plan(): void {
    if (this.#timer !== undefined || this.#running || this.#stale.size === 0) return;
    this.#timer = setTimeout(() => void this.#run(), Math.max(soon, this.#notBefore - Date.now()));
  }

  async #run(): Promise<void> {
    this.#timer = undefined;
    if (this.#env.ended()) return;
    if (this.#env.reading()) return this.#plan();
    this.#running = true;
    const groups = new Set(this.#stale);
    this.#stale.clear();
    let read = 0;
    if (groups.size > groupsAtOnce) read = await this.#env.readAll();
    else {
      read = await this.#read(groups);
      if (read < 0) groups.forEach((g) => this.#stale.add(g));
    }
    this.#notBefore = Date.now() + Math.max(pause, read * perRow);
    this.#running = false;
    this.#plan();
  }

  /** read reads the rows of groups. It returns their number, or -1 if it could not. */
  async #read(groups: ReadonlySet<string>): Promise<number> {
    this.#early = [];
    const rows: T[] = [];
    const bases = new Map<string, number>();
    try {
      for (const g of groups) {
        let next = '';
        do {
          const answer = await this.#env.page(this.#groups.path(g), next);
          if (!answer.ok || this.#env.ended()) return -1;
          if (!bases.has(g)) bases.set(g, answer.index);
          rows.push(...(answer.body ?? []));
          next = answer.next;
        } while (next);
      }
      // A list that is being read replaces the rows with older ones.
      if (this.#env.reading()) return -1;
      this.#env.replace(groups, rows, this.#early.filter((e) => (e.Index ?? 0) > (bases.get(this.#groups.of(e)) ?? 0)));
      return rows.length;
    } finally {
      this.#early = undefined;
    }
  }
}
