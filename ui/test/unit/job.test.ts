// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Deployment, Event, Job, JobDiff, Phase, Plan } from '../../src/api/schema';
import { jobSentence, moment, wantedOf } from '../../src/words/job';

const now = Date.parse('2026-11-24T14:00:00Z');
const then = moment(now - 240_000, now);
const at = (msAgo: number) => (now - msAgo) * 1e6;
const job = (j: Partial<Job>): Job => ({ ID: 'shop', Namespace: 'default', Type: 'service', Version: 8, Status: 'running', SubmitTime: at(240_000), TaskGroups: [{ Name: 'web', Count: 9 }], ...j });
const instances = (up: number, other: number, version = 8) => [
  ...Array.from({ length: up }, () => ({ State: 'RUNNING', Routable: true, JobVersion: version })),
  ...Array.from({ length: other }, () => ({ State: 'CRASHED', Routable: false, JobVersion: version })),
];
const deploy = (p: Partial<Plan> = {}): Plan => ({ Name: 'deploy', Status: 'IN_PROGRESS', Total: 9, Completed: 4, ...p });
const say = (j: Partial<Job>, plans: Plan[] = [], all = instances(7, 2), by?: string) => jobSentence({ job: job(j), plans, instances: all, by, now });

test('the sentence of a rollout names both versions, who caused it, and what gets traffic', () => {
  const all = [...instances(4, 2, 8), ...instances(3, 0, 7), ...instances(0, 0, 6)];
  assert.equal(say({}, [deploy()], all, 'ana'), `Service, version 8 rolls out over version 7, by ana, ${then}. 7 of 9 instances get traffic.`);
});

test('the first rollout is over no version, and one instance gets traffic', () => {
  assert.equal(say({ Version: 0 }, [deploy()], instances(1, 0, 0)), `Service, version 0 rolls out, ${then}. 1 of 9 instances gets traffic.`);
});

test('a job whose plan waits for an operator still rolls out', () => {
  assert.match(say({ Held: true, HeldReason: 'phase web waits' }, [deploy({ Status: 'WAITING' })]), /^Service, version 8 rolls out/);
  assert.equal(say({ Held: true, HeldReason: 'uses db' }), 'Service, version 8 is held: uses db.');
});

test('a failed rollout says that it failed', () => {
  assert.match(say({}, [deploy({ Status: 'ERROR' })]), /the rollout of version 8 failed/);
});

test('a stopped job names what still runs', () => {
  assert.equal(say({ Stop: true }, [], instances(1, 0), 'ana'), `Service, stopped, by ana, ${then}. 1 instance still runs.`);
  assert.equal(say({ Stop: true }, [], []), `Service, stopped, ${then}. No instance runs.`);
});

test('jobs that start others say when', () => {
  assert.equal(say({ Type: 'batch', Version: 0, Periodic: { Spec: '0 3 * * *' } }), `Batch, version 0 starts a child job on the schedule 0 3 * * *. Registered ${then}.`);
  assert.match(say({ Type: 'batch', ParameterizedJob: { Payload: 'optional' } }), /at each dispatch/);
  assert.equal(wantedOf(job({ ParameterizedJob: {}, Dispatched: true })), 9);
  assert.equal(wantedOf(job({ ParameterizedJob: {} })), 0);
});

test('batch jobs run; they get no traffic', () => {
  assert.equal(say({ Type: 'batch', TaskGroups: [{ Name: 'a', Count: 2 }] }, [], instances(1, 0)), `Batch, version 8, registered ${then}. 1 of 2 instances runs.`);
  assert.equal(say({ Type: 'batch', Status: 'dead', StatusDescription: 'all tasks are complete' }), `Batch, version 8, registered ${then}, has ended. all tasks are complete.`);
});

test('a moment does not age: it is a time of day, with the date on another day', () => {
  assert.match(moment(now - 3_000, now), /^at \d\d:\d\d:\d\d$/);
  assert.match(moment(now - 3 * 86_400_000, now), /^on 2026-11-21 /);
});

// Pure parts of the page. They import the shell, which expects a browser's storage.
(globalThis as Record<string, unknown>).localStorage = { getItem: () => null, setItem: () => {} };
const { rowsOf, find, saidOf } = await import('../../src/pages/job/plan_rows');
const { planQuestions, restartQuestion } = await import('../../src/pages/job/questions');
const { planVerbs, parameters, isActive } = await import('../../src/pages/job/plan_verbs');
const { notStarted } = await import('../../src/words/job');
const { nanoseconds, jobVerbs } = await import('../../src/pages/job/job_verbs');
const { diffLines } = await import('../../src/pages/job/diff');
const { addLine, limitOf, lineOf, linesKept } = await import('../../src/pages/job/happened');
const { timeline } = await import('../../src/pages/job/timeline');
const { nextOf, headOf } = await import('../../src/pages/job/troubles');
const { sharesOf } = await import('../../src/pages/job/strip');

const ref = { id: 'shop', namespace: 'default' };
const step = (n: number, status: string, more = {}) => ({ ID: `s${n}`, Name: `web-${n}:[server]`, Status: status, Group: 'web', Index: n, ...more });
const web = (p: Partial<Phase> = {}): Phase => ({ ID: 'p-web', Name: 'web', Strategy: 'serial-canary', Status: 'WAITING', Completed: 1, Total: 3, Steps: [step(0, 'COMPLETE'), step(1, 'WAITING'), step(2, 'PENDING')], ...p });
const plan = (p: Partial<Plan> = {}): Plan => ({ ID: 'd', Name: 'deploy', JobVersion: 8, Strategy: 'serial', Status: 'WAITING', Run: 'r', Completed: 4, Total: 6, Phases: [{ ID: 'p-store', Name: 'store', Strategy: 'serial', Status: 'COMPLETE', Completed: 3, Total: 3, Steps: [step(9, 'COMPLETE')] }, web()], ...p });
const given = { reason: '', values: {} };

test('a tree opens what is at work, and hides what is done', () => {
  assert.deepEqual(rowsOf(plan(), new Map()).map((r) => r.key), ['p-store', 'p-web', 's0', 's1', 's2']);
  assert.deepEqual(rowsOf(plan(), new Map([['p-store', true], ['p-web', false]])).map((r) => r.key), ['p-store', 's9', 'p-web']);
});

test('typing finds the next row by its name, and wraps', () => {
  const rows = rowsOf(plan(), new Map());
  assert.equal(find(rows, 'WEB-2', 0), 4);
  assert.equal(find(rows, 'st', 3), 0);
  assert.equal(find(rows, 'nothing', 0), -1);
});

test('a row says its errors before its message, and who forced it', () => {
  const row = (s: object) => ({ key: 'x', level: 2 as const, phase: web(), step: step(0, 'ERROR', s), pos: 1, size: 1 });
  assert.equal(saidOf(row({ Errors: ['a', 'b'], Message: 'm' })), 'a; b');
  assert.equal(saidOf(row({ Forced: { By: 'ana', Reason: 'node gone' } })), 'forced by ana: node gone');
});

test('what happened says how far back it goes, unless that is the first event', () => {
  const line = { key: 'Job:shop 1 JobRegistered', at: 1, of: 'go' as const, text: 'version 0 registered' };
  assert.equal(limitOf({ lines: [line], depth: 0, missed: false }), '');
  assert.equal(limitOf({ lines: [line], depth: 20_000, missed: true }), 'The servers keep no older events.');
  assert.equal(limitOf({ lines: [], depth: 20_000, missed: false }), 'This page began with the last 20,000 changes of the cluster.');
  assert.equal(limitOf({ lines: Array(linesKept).fill(line), depth: 300, missed: true }), '');
});

test('a canary asks first for one instance, and then for the rest', () => {
  const second = planQuestions(ref, plan(), undefined, []);
  assert.equal(second[0]!.title, 'web-0 of version 8 is up and healthy. Let the rest of web go?');
  assert.equal(second[0]!.verbs[0]!.cli(given), 'reeve plan continue shop deploy web');
  const first = planQuestions(ref, plan({ Phases: [web({ Completed: 0, Steps: [step(0, 'WAITING'), step(1, 'WAITING')] })] }), undefined, []);
  assert.match(first[0]!.title, /Let web-0 go first\?/);
});

test('a rollout that reverts by itself offers to fail', () => {
  const d: Deployment = { ID: 'abcdef0123', Status: 'running', JobVersion: 8, TaskGroups: { web: { AutoRevert: true } } };
  const [q] = planQuestions(ref, plan(), d, []);
  assert.deepEqual(q!.verbs.map((v) => v.name), ['Continue', 'Fail and revert']);
  assert.equal(q!.verbs[1]!.cli(given), 'reeve deployment fail abcdef01');
});

test('an interrupted plan asks once, with who and why; a plan that nobody started asks nothing', () => {
  const decisions = [{ Verb: 'interrupt', Plan: 'deploy', By: 'ana', Reason: 'lunch', Time: 5e9 }];
  const all = planQuestions(ref, plan({ Interrupted: true }), undefined, decisions);
  assert.equal(all.length, 1);
  assert.match(all[0]!.detail, /^By ana: lunch\. 2 steps are left\./);
  const backup = plan({ Name: 'backup', Run: undefined });
  assert.ok(notStarted(backup) && !isActive(backup));
  assert.deepEqual(planQuestions(ref, backup, undefined, []), []);
  assert.deepEqual(planVerbs(ref, { plan: backup }).map((v) => v.name), ['Start']);
});

test('a paused restart asks to be resumed', () => {
  const q = restartQuestion(ref, { ID: 'r1', Status: 'paused', StatusDescription: 'too many are unhealthy' });
  assert.equal(q!.verbs[0]!.cli(given), 'reeve job restart -resume r1');
  assert.equal(restartQuestion(ref, { ID: 'r1', Status: 'running' }), undefined);
});

test('commands quote what a shell would read', () => {
  const v = planVerbs({ id: 'a b', namespace: 'x' }, { plan: plan(), phase: web(), step: step(1, 'WAITING') }).find((x) => x.name === 'Interrupt')!;
  assert.equal(v.cli({ reason: "it's late", values: {} }), `reeve plan interrupt -namespace x -reason 'it'\\''s late' 'a b' deploy web 'web-1:[server]'`);
});

test('durations and parameters are read strictly', () => {
  assert.equal(nanoseconds('1m30s'), 90e9);
  assert.equal(nanoseconds('0'), 0);
  assert.equal(nanoseconds('soon'), undefined);
  assert.equal(nanoseconds('-5s'), undefined);
  assert.deepEqual(parameters('A=1=2\nbad\n B = x'), { A: '1=2', B: ' x' });
});

test('verbs follow the kind of a job, and a purge wants the name', () => {
  const names = (j: Partial<Job>) => jobVerbs(ref, job(j)).map((v) => v.name);
  assert.deepEqual(names({}), ['Restart…', 'Scale…', 'Revert to 7', 'Stop…', 'Purge…']);
  assert.deepEqual(names({ Version: 0, ParameterizedJob: {} }), ['Dispatch…', 'Stop…', 'Purge…']);
  assert.deepEqual(names({ Version: 0, Periodic: {} }), ['Start now', 'Stop…', 'Purge…']);
  assert.deepEqual(names({ Stop: true }), ['Revert to 7', 'Purge…']);
  assert.equal(jobVerbs(ref, job({})).at(-1)!.ask!.type, 'shop');
});

test('a difference lists only what changed', () => {
  const d: JobDiff = { Type: 'Edited', Fields: [{ Type: 'None', Name: 'ID' }, { Type: 'Edited', Name: 'Priority', Old: '50', New: '60' }], TaskGroups: [{ Type: 'Edited', Name: 'web', Tasks: [{ Type: 'Edited', Name: 'server', Objects: [{ Type: 'Added', Name: 'Env', Fields: [{ Type: 'Added', Name: 'A', New: '1' }] }] }] }, { Type: 'None', Name: 'same' }] };
  assert.deepEqual(diffLines(d).map((l) => `${l.depth} ${l.kind} ${l.name} ${l.from ?? ''}>${l.to ?? ''}`), ['0 edited Priority 50>60', '0 part group web >', '1 part task server >', '2 part Env >', '3 added A >1']);
});

test('lines of events are bounded, in order, and do not repeat', () => {
  const e = (type: string, i: object): Event => ({ Topic: 'Instance', Type: type, Key: 'a', Payload: { Instance: { Name: 'web-0', NodeName: 'n', ...i } } });
  assert.equal(lineOf(e('InstanceCrashed', { CrashReason: 'exit code 17' }))!.text, 'web-0 crashed: exit code 17');
  assert.equal(lineOf(e('InstanceChanged', { State: 'CLAIMED' })), undefined);
  assert.equal(lineOf({ Topic: 'Plan', Type: 'PlanDecided', Payload: { Plan: { Verb: 'continue', Plan: 'deploy', Phase: 'web', By: 'ana' } } })!.text, 'ana: continue deploy web');
  const said = new Map<string, string>();
  let lines = addLine([], { key: 'a 1', at: 100, of: 'ok', text: 'x' }, said);
  lines = addLine(lines, { key: 'a 2', at: 50, of: 'ok', text: 'x' }, said);
  assert.equal(lines.length, 1);
  lines = addLine(lines, { key: 'b 3', at: 50, of: 'ok', text: 'y' }, said);
  assert.equal(lines[0]!.at, 100);
  for (let n = 0; n < 200; n++) lines = addLine(lines, { key: `c${n} 1`, at: n, of: 'ok', text: 'z' }, said);
  const kept = lines;
  lines = addLine(lines, { key: 'a 4', at: 300, of: 'ok', text: 'x' }, said);
  assert.equal(lines, kept, 'what is said again after many others is no news either');
  for (let n = 0; n < 6_000; n++) addLine([], { key: `d${n} 1`, at: n, of: 'ok', text: 'z' }, said);
  assert.ok(said.size <= 5_000);
  assert.equal(lines.length, linesKept);
});

test('the time line mixes four kinds, newest first', () => {
  const t = timeline([{ ID: 'e', CreateTime: 1e9, Status: 'complete', TriggeredBy: 'job-register' }], [{ ID: 'd', CreateTime: 3e9, Status: 'failed', JobVersion: 2 }], [{ ID: 'r', StartedAt: '1970-01-01T00:00:02Z', Status: 'paused' }], [{ ID: 'x', Time: 4e9, Verb: 'continue', Plan: 'deploy', By: 'ana' }]);
  assert.deepEqual(t.map((m) => m.kind), ['decision', 'deployment', 'restart', 'evaluation']);
});

test('a trouble names its next command', () => {
  assert.equal(nextOf(ref, { Kind: 'exited', Log: 'stderr', Task: 'main', Allocation: '0123456789', Instance: 'web-0' }), 'reeve alloc logs -stderr -task main 01234567');
  assert.equal(nextOf(ref, { Kind: 'no_room', Obstacles: [{ Nodes: 1 }] }), 'reeve job explain shop');
  assert.equal(headOf({ Instance: 'web-0', Instances: 3 }), 'web-0 and 2 others');
});

test('shares count only instances that get traffic', () => {
  const i = (v: number, Routable: boolean) => ({ State: 'RUNNING', Routable, JobVersion: v, Group: 'web' });
  assert.deepEqual(sharesOf([i(7, true), i(7, true), i(7, true), i(8, true), i(8, false)], 'web'), [{ version: 7, share: 0.75 }, { version: 8, share: 0.25 }]);
  assert.deepEqual(sharesOf([i(7, true)], 'other'), []);
});
