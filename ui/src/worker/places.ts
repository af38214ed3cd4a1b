// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Who may hold a connection for long. Browsers allow six connections to an address over HTTP/1.1, for all tabs
// together, and let further requests wait without a word. One is the event stream's, and one at least must stay free
// for requests that are answered at once.

/** How long a holder may stay while others wait for a place, in ms. */
const turn = 2_000;

interface Holder {
  since: number;
  leave: (() => void) | undefined;
}

/** Places are connections that may be held. Those that wait come in their order; the longest holder gives way. */
export class Places {
  #free: number;
  #fixed: number;
  #queue: (() => void)[] = [];
  #holders = new Set<Holder>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** size is the number of places, fixed how many of them may be held by who does not leave when asked. */
  constructor(size: number, fixed: number) {
    this.#free = size;
    this.#fixed = fixed;
  }

  /** keep takes a place for good, and returns how to give it back; undefined if too many are kept. */
  async keep(): Promise<(() => void) | undefined> {
    if (this.#fixed === 0) return undefined;
    this.#fixed--;
    const release = await this.#take(undefined);
    return () => {
      this.#fixed++;
      release();
    };
  }

  /** take takes a place until the result is called, which leave asks for when others have waited. */
  take(leave: () => void): Promise<() => void> {
    return this.#take(leave);
  }

  async #take(leave: (() => void) | undefined): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else {
      const mine = new Promise<void>((come) => this.#queue.push(come));
      this.#press();
      await mine;
    }
    const holder = { since: Date.now(), leave };
    this.#holders.add(holder);
    if (this.#queue.length > 0) this.#press();
    return () => {
      if (!this.#holders.delete(holder)) return;
      const next = this.#queue.shift();
      if (next) next();
      else this.#free++;
    };
  }

  /** press asks the longest holder to leave when its turn is over, as long as others wait. */
  #press(): void {
    if (this.#timer !== undefined) return;
    const oldest = [...this.#holders].find((h) => h.leave);
    if (!oldest) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        if (this.#queue.length === 0) return;
        if (this.#holders.has(oldest)) {
          oldest.leave?.();
          oldest.leave = undefined;
        }
        this.#press();
      },
      Math.max(0, oldest.since + turn - Date.now()),
    );
  }
}
