// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { Event } from '../api/schema';
import type { FromWorker } from './protocol';

/** Events that a tab which shows all of them may lag behind. */
const everyLimit = 5_000;
const frame = 16;

/**
 * A Tab is one connected page. Changes are coalesced per object, and a batch follows only when the tab has taken
 * the last one: a hidden tab, whose timers the browser slows down, never gets a backlog.
 */
export class Tab {
  readonly port: { postMessage(m: FromWorker): void };
  topics: string[] = [];
  every = false;
  readonly aborts = new Map<number, () => void>();
  readonly sockets = new Map<number, { send(text: string): void }>();
  readonly credits = new Map<number, () => void>();
  #pending = new Map<string, Event>();
  #all: Event[] = [];
  #index = 0;
  #busy = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(port: { postMessage(m: FromWorker): void }) {
    this.port = port;
  }

  say(m: FromWorker): void {
    this.port.postMessage(m);
  }

  /** add queues the events of one index that the tab watches. */
  add(events: Event[], index: number): void {
    this.#index = index;
    for (const e of events) {
      if (!this.#wants(e)) continue;
      this.#pending.set(`${e.Topic} ${e.Namespace} ${e.Key}`, e);
      if (this.every) this.#all.push(e);
    }
    if (this.#all.length > everyLimit) this.#all.splice(0, this.#all.length - everyLimit);
    if (this.#pending.size > 0) this.#schedule();
  }

  #wants(e: Event): boolean {
    return this.topics.some((t) => {
      const at = t.indexOf(':');
      if (at < 0) return t === '*' || t === e.Topic;
      const key = t.slice(at + 1);
      return t.slice(0, at) === e.Topic && (key === e.Key || (e.FilterKeys?.includes(key) ?? false));
    });
  }

  /** taken reports that the tab has applied the last batch. */
  taken(): void {
    this.#busy = false;
    if (this.#pending.size > 0) this.#schedule();
  }

  #schedule(): void {
    if (this.#busy || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#flush(), frame);
  }

  #flush(): void {
    this.#timer = undefined;
    const events = [...this.#pending.values()];
    this.#pending.clear();
    const every = this.every ? this.#all : undefined;
    this.#all = [];
    this.#busy = true;
    this.say({ is: 'events', index: this.#index, events, every });
  }

  /** clear drops what is queued: the tab reads everything again. */
  clear(): void {
    this.#pending.clear();
    this.#all = [];
  }

  /** end stops everything that the tab started. */
  end(): void {
    clearTimeout(this.#timer);
    for (const abort of this.aborts.values()) abort();
    this.aborts.clear();
  }
}
