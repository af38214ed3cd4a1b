// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// A plan and the events of its steps. The event of a step has all of its state except what follows from the steps
// before it: "comes after" some other step, which would change with every step. The tree shows steps in their order,
// and omits these messages.

import type { Event, Phase, Plan, Step } from '../../api/schema';

const comesAfter = 'comes after ';

type Said = { Message?: string | undefined };

/** unqueued omits the messages that name what comes before. */
export function unqueued(plan: Plan): Plan {
  const said = <T extends Said>(of: T): T => {
    if (!of.Message?.startsWith(comesAfter)) return of;
    const { Message: _, ...others } = of;
    return others as T;
  };
  return { ...plan, Phases: (plan.Phases ?? []).filter((p) => p !== null).map((p) => ({ ...said(p), Steps: (p.Steps ?? []).filter((s) => s !== null).map(said) })) };
}

/** StepState is what an event tells of a plan, a phase or a step. */
type StepState = Pick<Plan, 'Run'> & Omit<Step, 'Forced'> & { Forced?: boolean; Completed?: number; Total?: number };

/** keysOf are the keys of the events of a phase's steps: a name that several steps have does not suffice. */
function keysOf(phaseKey: string, steps: readonly (Step | null)[]): string[] {
  const count = new Map<string | undefined, number>();
  for (const s of steps) count.set(s?.Name, (count.get(s?.Name) ?? 0) + 1);
  return steps.map((s) => `${phaseKey}/${s?.Name}${count.get(s?.Name)! > 1 ? `@${s?.Allocation || s?.Node || ''}` : ''}`);
}

/** changed returns an object with the fields of a state; a field that the state lacks is not set. */
function changed<T extends object>(of: T, state: StepState, fields: readonly (keyof T & keyof StepState)[]): T {
  const out = { ...of };
  for (const f of fields) {
    if (state[f] === undefined) delete out[f];
    else out[f] = state[f] as never;
  }
  return out;
}

const planFields = ['Status', 'Interrupted', 'Message', 'Since', 'Until'] as const;
const phaseFields = ['Status', 'Interrupted', 'Message', 'Since', 'Group'] as const;
const stepFields = ['Status', 'Interrupted', 'Message', 'Since', 'Until', 'Group', 'Node', 'Allocation', 'Recovery', 'Errors'] as const;

/** followSteps returns the plan after events of its steps, or undefined if they do not tell all: then it must be read. */
export function followSteps(plan: Plan, events: Iterable<Event>): Plan | undefined {
  const states = new Map<string, StepState>();
  let whole = false;
  for (const e of events) {
    const state = e.Payload?.Step as StepState | undefined;
    if (!state || e.Deleted || e.Type === 'StepCreated') return undefined;
    whole ||= e.Type === 'StepSnapshot';
    states.set(e.Key ?? '', state);
  }
  if (states.size === 0) return plan;
  const size = states.size;
  const take = (key: string) => {
    const state = states.get(key);
    states.delete(key);
    return state;
  };
  const planKey = `${plan.JobID}/${plan.Name}`;
  let told = true;
  let parts = 1;
  const before = plan.Phases ?? [];
  const phases = before.map((p) => {
    const phaseKey = `${planKey}/${p?.Name}`;
    const state = take(phaseKey);
    const keys = keysOf(phaseKey, p?.Steps ?? []);
    let moved = false;
    const steps = (p?.Steps ?? []).map((s, i) => {
      const is = take(keys[i]!);
      parts++;
      if (!is) return s;
      // An event says that a decision forced the step, and not which one.
      if (Boolean(is.Forced) !== Boolean(s?.Forced)) told = false;
      moved = true;
      return { ...changed(s as Step, is, stepFields), Index: is.Index ?? 0, JobVersion: is.JobVersion ?? 0 };
    });
    parts++;
    if (!state && !moved) return p;
    const phase: Phase = state ? { ...changed(p as Phase, state, phaseFields), Completed: state.Completed ?? 0, Total: state.Total ?? 0 } : { ...p };
    phase.Steps = steps;
    const own = steps.flatMap((s) => (s?.Errors ?? []).map((e) => `${s?.Name}: ${e}`));
    setErrors(phase, own.length > 0 ? own : state ? (state.Errors ?? []) : (p?.Steps ?? []).some((s) => s?.Errors?.length) ? [] : (p?.Errors ?? []));
    return phase;
  });
  const state = take(planKey);
  // The job's version decides what a plan is, and its run which parameters it has.
  if (state && (state.JobVersion !== plan.JobVersion || (state.Run ?? '') !== (plan.Run ?? ''))) told = false;
  if (!told || states.size > 0 || (whole && size !== parts)) return undefined;
  const next: Plan = state ? { ...changed(plan, state, planFields), Completed: state.Completed ?? 0, Total: state.Total ?? 0 } : { ...plan };
  next.Phases = phases;
  const ofPhases = new Set(before.flatMap((p) => p?.Errors ?? []));
  const own = state ? (state.Errors ?? []) : (plan.Errors ?? []).filter((e) => !ofPhases.has(e));
  setErrors(next, [...own, ...phases.flatMap((p) => p?.Errors ?? [])]);
  return next;
}

function setErrors(of: { Errors?: string[] | null }, errors: string[]): void {
  if (errors.length > 0) of.Errors = errors;
  else delete of.Errors;
}
