// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { Head, Tabs } from '../../parts/page';
import { to } from '../../shell/place';
import { Audit } from './audit';
import { Login } from './login';
import { Policies } from './policies';
import { Tokens } from './tokens';

const tabs = [
  { key: 'tokens', name: 'Tokens' },
  { key: 'policies', name: 'Policies' },
  { key: 'login', name: 'Roles and logins' },
  { key: 'audit', name: 'Audit' },
];

/** Access shows who may do what: tokens, policies, logins, and the records of requests. */
export default function Access({ path }: { path: string[] }) {
  const tab = tabs.find((t) => t.key === path[0])?.key ?? 'tokens';
  return (
    <>
      <Head title="Access" sentence="Who may do what, and who did what." />
      <Tabs label="Access" current={tab} tabs={tabs.map((t) => ({ ...t, href: to(['access', t.key]) }))} />
      {tab === 'tokens' && <Tokens />}
      {tab === 'policies' && <Policies />}
      {tab === 'login' && <Login />}
      {tab === 'audit' && <Audit />}
    </>
  );
}
