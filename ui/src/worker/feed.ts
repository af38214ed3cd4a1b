// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The one event stream of all tabs.
//
// Its topics are the union of what tabs show. When the union changes, the stream is opened again at the index
// after the last one received, so nothing is lost for the topics that stay. For new topics the stream is
// complete after the index that the server reports; a tab compares it with the index of its lists.

import type { Event, EventBatch } from '../api/schema';
import { failureOf, headers } from './ask';
import { linesOf } from './lines';
import type { Failure, Health } from './protocol';

/** What the feed needs from its owner. */
export interface FeedEnv {
  topics(): string[];
  deliver(events: Event[], index: number): void;
  watching(topics: string[], after: number): void;
  reset(): void;
  health(h: Health): void;
  refused(f: Failure): void;
}

const firstPause = 250;
const longestPause = 5_000;
const indexPause = 250;
/** A server sends at least a heartbeat every 10 s. */
const silenceLimit = 25_000;

export class Feed {
  #env: FeedEnv;
  #open: AbortController | undefined;
  #topics = '';
  #index = 0;
  #timeline = '';
  /** Whether changes were missed of which tabs do not know yet. */
  #missed = false;
  #pause = firstPause;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #indexTimer: ReturnType<typeof setTimeout> | undefined;
  #health: Health = { state: 'starting', index: 0, since: Date.now() };

  constructor(env: FeedEnv) {
    this.#env = env;
  }

  get health(): Health {
    return this.#health;
  }

  /** follow opens the stream for the topics that tabs show now, unless it is open for them. */
  follow(): void {
    const topics = this.#env.topics();
    const key = topics.join(' ');
    if (this.#open && key === this.#topics) {
      this.#env.watching(topics, this.#index);
      return;
    }
    this.stop();
    if (topics.length === 0) return;
    this.#topics = key;
    void this.#run(topics);
  }

  /** stop ends the stream. A later follow continues at the same index. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#open?.abort();
    this.#open = undefined;
    this.#topics = '';
  }

  /** forget also ends the history: the next stream begins now. */
  forget(): void {
    this.stop();
    this.#index = 0;
    this.#timeline = '';
    this.#missed = false;
  }

  /** retry connects at once instead of after the pause. */
  retry(): void {
    this.#pause = firstPause;
    this.stop();
    this.follow();
  }

  async #run(topics: string[]): Promise<void> {
    const open = new AbortController();
    this.#open = open;
    let watchdog: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => open.abort(), silenceLimit);
      this.#tell('live');
    };
    let failed: Failure | undefined;
    try {
      watchdog = setTimeout(() => open.abort(), silenceLimit);
      const r = await fetch(this.#address(topics), { headers: headers(), signal: open.signal, credentials: 'omit', cache: 'no-store', redirect: 'error' });
      if (!r.ok || !r.body) {
        failed = await failureOf(r);
      } else {
        const timeline = r.headers.get('X-Reeve-Timeline') ?? '';
        const after = Number(r.headers.get('X-Reeve-Events-After') ?? 0);
        this.#timeline = timeline;
        if (this.#index === 0) this.#index = after;
        this.#pause = firstPause;
        heard();
        // In this order tabs know, when they read again, from where on the new stream is complete.
        if (this.#missed) this.#env.reset();
        this.#missed = false;
        this.#env.watching(topics, after);
        for await (const line of linesOf(r.body)) {
          if (this.#open !== open) return;
          heard();
          this.#receive(JSON.parse(line) as EventBatch);
        }
      }
    } catch {
      // The connection broke, or a newer stream replaced this one.
    } finally {
      clearTimeout(watchdog);
    }
    if (this.#open !== open) return;
    this.#open = undefined;
    this.#topics = '';
    this.#end(failed);
  }

  #address(topics: string[]): string {
    const q = new URLSearchParams();
    for (const t of topics) q.append('topic', t);
    q.set('namespace', '*');
    q.set('progress', '');
    if (this.#index > 0) {
      q.set('index', String(this.#index + 1));
      if (this.#timeline) q.set('timeline', this.#timeline);
    }
    return `/v1/event/stream?${q}`;
  }

  #receive(b: EventBatch): void {
    if (b.Missed) this.#env.reset();
    const index = b.Index ?? 0;
    if (index > this.#index) this.#index = index;
    this.#tellIndex();
    if (b.Events?.length) this.#env.deliver(b.Events.filter((e) => e !== null), index);
  }

  /** end decides what follows a stream that ended. */
  #end(failed: Failure | undefined): void {
    if (failed && (failed.status === 401 || failed.status === 403)) {
      this.#env.refused(failed);
      return;
    }
    if (failed && failed.status >= 400 && failed.status < 500) {
      // Another history, or an index that is no longer kept.
      this.#index = 0;
      this.#timeline = '';
      this.#missed = true;
    }
    if (!failed || failed.status >= 500) this.#tell('offline');
    this.#timer = setTimeout(() => this.follow(), this.#pause);
    this.#pause = Math.min(this.#pause * 2, longestPause);
  }

  /** tellIndex tells the newest index, a few times per second at most, and always the last one. */
  #tellIndex(): void {
    this.#indexTimer ??= setTimeout(() => {
      this.#indexTimer = undefined;
      if (this.#health.state === 'live') this.#tell('live');
    }, indexPause);
  }

  #tell(state: Health['state']): void {
    const now = Date.now();
    const changed = state !== this.#health.state || this.#health.index !== this.#index || now - this.#health.since > 1000;
    if (state === 'offline' && this.#health.state === 'offline') return; // since: when the contact was lost
    if (!changed) return;
    this.#health = { state, index: this.#index, since: now };
    this.#env.health(this.#health);
  }
}
