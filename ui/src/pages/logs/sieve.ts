// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The pattern that keeps or hides lines. It runs in a worker, which is ended when it takes too long.

import { workerURL } from '../../link/link';
import type { Line } from './lines';

const patience = 1_500;
// Starting the worker takes time on a busy machine.
const firstPatience = 5_000;
const batch = 4_000;
const tested = 4 << 10;

/** wrongIn says why a pattern is not one; empty if it is. */
export function wrongIn(pattern: string): string {
  try {
    new RegExp(pattern, 'i');
    return '';
  } catch (e) {
    return (e as Error).message.replace(/^Invalid regular expression: /, '');
  }
}

/** A Sieve remembers for each line whether a pattern is found in it. */
export class Sieve {
  readonly pattern: string;
  /** Why the pattern was stopped. */
  slow = '';
  #verdicts = new Map<number, boolean>();
  #worker: Worker | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #started = false;
  #pending: Line[] = [];
  #changed: () => void;

  constructor(pattern: string, changed: () => void) {
    this.pattern = pattern;
    this.#changed = changed;
  }

  /** found reports whether the pattern is in a line; undefined while it is not known. */
  found(l: Line): boolean | undefined {
    return this.#verdicts.get(l.seq);
  }

  /** test queues lines. Verdicts of lines before the first are forgotten. */
  test(lines: Line[], first: number): void {
    if (this.slow) return;
    this.#pending.push(...lines);
    if (this.#verdicts.size > 2 * 50_000) for (const seq of this.#verdicts.keys()) if (seq < first) this.#verdicts.delete(seq);
    if (!this.#timer) this.#next();
  }

  #next(): void {
    const lines = this.#pending.splice(0, batch);
    if (lines.length === 0) return;
    this.#worker ??= new Worker(workerURL('sieve.js'), { type: 'module' });
    this.#worker.onmessage = (e: MessageEvent<{ found: Uint8Array }>) => {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#started = true;
      lines.forEach((l, i) => this.#verdicts.set(l.seq, e.data.found[i] === 1));
      this.#changed();
      this.#next();
    };
    this.#timer = setTimeout(() => {
      this.end();
      this.slow = 'The pattern takes too long on these lines, and was stopped. Simplify it: nested repeats such as (a+)+ are the usual cause.';
      this.#changed();
    }, this.#started ? patience : firstPatience);
    this.#worker.postMessage({ id: 0, pattern: this.pattern, lines: lines.map((l) => l.text.slice(0, tested)) });
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pending = [];
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}
