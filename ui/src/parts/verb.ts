// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Verbs: what a person may do with what the page shows. Each has the capability that it needs, the command line that
// does the same, and for what stops work a question with its consequence.

import { computed, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { login } from '../link/link';
import { useKeys } from '../shell/keys';
import type { Answer } from '../worker/protocol';
import { announce } from './announce';
import { endAsked, markAsked } from './asked';
import { copy } from './copy';

/** A Field is one value that a verb asks for. */
export interface Field {
  name: string;
  label: string;
  kind: 'text' | 'number' | 'select' | 'check' | 'area';
  value?: string;
  options?: { value: string; label: string }[];
  hint?: string;
  required?: boolean;
  min?: number;
}

/** Question is what a verb asks before it acts. */
export interface Question {
  /** What will happen, naming what stops. */
  consequence?: string;
  /** Whether a reason is asked for; it is recorded with who and when. */
  reason?: 'optional' | 'required';
  /** A name that must be typed, for what cannot be undone. */
  type?: string;
  fields?: Field[];
}

/** The answers to a question. */
export interface Given {
  reason: string;
  values: Record<string, string>;
}

export interface Verb {
  /** Imperative, such as Continue. */
  name: string;
  key?: string;
  /** The capability of the route, such as operate-plan or node:write. */
  capability: string;
  namespace?: string;
  /** The command line that does the same; with what was given once the question is answered. */
  cli(g: Given): string;
  ask?: Question;
  /** primary: the answer to a question of the page. danger: it stops work. */
  look?: 'primary' | 'danger';
  /** Why the verb has no effect now. */
  blocked?: string;
  run(g: Given): Promise<Answer>;
}

export const nothingGiven: Given = { reason: '', values: {} };

const ofCluster = /^(node|agent|operator|quota|node_pool):|^(keyring|snapshot)-|^management$/;

/** isOfCluster reports whether a capability is not one of a namespace. */
const isOfCluster = (capability: string): boolean => ofCluster.test(capability);

/** refusal says why the login may not use a capability; empty if it may. */
export function refusal(capability: string, namespace = 'default'): string {
  const l = login.value;
  if (!l.rights || l.rights.Management || capability === '') return '';
  const has = isOfCluster(capability) ? l.rights.Cluster : (l.rights.Namespaces[namespace] ?? []);
  if (has.includes(capability)) return '';
  const where = isOfCluster(capability) ? '' : ` in namespace ${namespace}`;
  return `Your token lacks the capability ${capability}${where}.`;
}

/** grantedIn lists the namespaces in which the login may use a capability; undefined if it may in all. */
export function grantedIn(capability: string): string[] | undefined {
  const { rights } = login.value;
  if (!rights || rights.Management) return undefined;
  return Object.entries(rights.Namespaces).flatMap(([name, has]) => (has.includes(capability) ? [name] : [])).sort();
}

/** readOnly reports whether the agent hides everything that changes something. */
export const readOnly = computed(() => login.value.config?.ReadOnly ?? false);

/** asking is the verb whose question is open. */
export const asking = signal<Verb | undefined>(undefined);

/** failed is the last verb that failed, with its answer. */
export const failedVerb = signal<{ verb: Verb; answer: Answer } | undefined>(undefined);

/** start asks the verb's question, or runs it. */
export function start(v: Verb): void {
  if (readOnly.peek() || v.blocked || refusal(v.capability, v.namespace)) {
    announce(v.blocked || refusal(v.capability, v.namespace) || 'This UI is read-only');
    return;
  }
  if (v.ask) asking.value = v;
  else void run(v, nothingGiven);
}

/** run sends the verb. The page changes when the servers report the effect. */
export async function run(v: Verb, g: Given): Promise<Answer> {
  const id = verbID(v);
  markAsked(id);
  const answer = await v.run(g);
  if (!answer.ok) failedVerb.value = { verb: v, answer };
  else announce(`${v.name}: asked`);
  endAsked(id, answer);
  return answer;
}

export const verbID = (v: Verb) => v.cli(nothingGiven);

const offered = signal<Verb[]>([]);
/** pageVerbs are the verbs of what the page shows, for the palette and the verb menu. */
export const pageVerbs = offered;

/** useVerbs offers verbs with their keys while the component is shown. */
export function useVerbs(verbs: Verb[]): void {
  const newest = useRef(verbs);
  newest.current = verbs;
  useKeys(verbs.filter((v) => v.key).map((v) => ({ key: v.key!, name: v.name.replace('…', ''), shown: true, act: () => start(v) })));
  const ids = verbs.map((v) => `${verbID(v)}${v.blocked ?? ''}`).join('\n');
  useEffect(() => {
    const mine = newest.current;
    offered.value = [...offered.peek(), ...mine];
    return () => {
      offered.value = offered.peek().filter((v) => !mine.includes(v));
    };
  }, [ids]);
}

/** copyCommand copies the command line of the first verb of the page. */
export function copyCommand(): void {
  const v = offered.peek()[0];
  if (v) void copy(v.cli(nothingGiven));
}
