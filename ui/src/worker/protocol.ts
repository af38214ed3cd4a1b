// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// The messages between tabs and the worker. The worker holds the token and the one event stream of all tabs;
// tabs never see the token.

import type { Event, OIDCCompleteAuthRequest, UIConfig } from '../api/schema';

/** A request to the API that the worker sends for a tab. */
export interface Request {
  method: 'GET' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path below the origin with its query, such as /v1/jobs?meta. */
  path: string;
  body?: unknown;
  /** How to read the answer; json by default. */
  want?: 'json' | 'text' | 'blob' | 'bytes';
  /** Whether the server answers only when something changes. Such a request gives way to others: see GaveWay. */
  waits?: boolean;
}

/** The answer to a request. A request that got no answer has status 0. */
export interface Answer<T = unknown> {
  ok: boolean;
  status: number;
  body: T;
  /** Index of the last change that the answer contains; 0 if the answer has none. */
  index: number;
  /** Token of the next page; empty on the last page. */
  next: string;
  warnings: string;
  error?: Failure;
}

/** Why a request failed, in the words of the API. */
export interface Failure {
  status: number;
  code: string;
  message: string;
  detail: string[];
}

/** mayPass reports whether a failed request may succeed later without another change: no answer, or a server's fault. */
export const mayPass = (status: number): boolean => status === 0 || status >= 500;

/** Code of the failure of a request that waited while others wanted its connection: send it again. Only a type, because the worker shares no code with pages. */
export type GaveWay = 'gave-way';

/** What the worker knows about its login. */
export interface Login {
  /** unknown: not yet asked; needed: no request is admitted without a token. */
  state: 'unknown' | 'needed' | 'open' | 'session';
  config?: UIConfig;
  name?: string;
  accessor?: string;
  /** Time in ms at which the session ends unless it is renewed; 0: never. */
  ends?: number;
  rights?: Rights;
  /** Why the last login or session ended, for the login page. */
  notice?: string;
}

/** What the login may do. A namespace missing from Namespaces grants nothing. */
export interface Rights {
  Management: boolean;
  Cluster: string[];
  Namespaces: Record<string, string[]>;
}

/** The state of the connection to the servers. */
export interface Health {
  state: 'starting' | 'live' | 'quiet' | 'offline';
  /** Index of the newest change that was received. */
  index: number;
  /** Time in ms of the last contact. */
  since: number;
}

/** What a user logs in with. */
export type Credential =
  | { code: string }
  | { token: string }
  | { jwt: string; method: string }
  | { oidc: OIDCCompleteAuthRequest };

/** From a tab to the worker. Messages with an id are answered once. */
export type ToWorker =
  | { do: 'ask'; id: number; request: Request }
  | { do: 'abort'; id: number }
  | { do: 'watch'; topics: string[]; every: boolean }
  | { do: 'ack' }
  | { do: 'stream'; id: number; path: string; held: boolean }
  | { do: 'more'; id: number }
  | { do: 'socket'; id: number; path: string }
  | { do: 'send'; id: number; text: string }
  | { do: 'close'; id: number }
  | { do: 'login'; id: number; with: Credential }
  | { do: 'logout'; id: number }
  | { do: 'active' }
  | { do: 'retry' }
  | { do: 'bye' };

/** From the worker to a tab. */
export type FromWorker =
  | { is: 'answer'; id: number; answer: Answer }
  | { is: 'login'; login: Login }
  | { is: 'health'; health: Health }
  /** Changes, newest state per object; `every` has all events in order for tabs that asked. */
  | { is: 'events'; index: number; events: Event[]; every?: Event[] }
  /** The stream of these topics is complete after this index; lists read earlier may lack changes. */
  | { is: 'watching'; topics: string[]; after: number }
  /** Changes were missed, or the servers have another history: read everything again. */
  | { is: 'reset' }
  | { is: 'chunk'; id: number; text: string }
  | { is: 'end'; id: number; error?: Failure; code?: number };
