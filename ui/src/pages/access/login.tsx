// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import type { ACLAuthMethodStub, ACLBindingRuleStub, ACLRole } from '../../api/schema';
import { Card } from '../../parts/page';
import { Empty, Shown } from '../../parts/states';
import { useRead } from '../../store/read';
import { list } from '../../words/count';

/** Login lists roles, auth methods and binding rules: how users of an identity provider get rights. */
export function Login() {
  const roles = useRead<ACLRole[]>('/v1/acl/roles', { block: true });
  const methods = useRead<ACLAuthMethodStub[]>('/v1/acl/auth-methods', { block: true });
  const rules = useRead<ACLBindingRuleStub[]>('/v1/acl/binding-rules', { block: true });
  return (
    <div class="stackv">
      <Card title="Roles">
        <Shown read={roles}>
          {(all) => (
            <Rows heads={['Name', 'Policies', 'Description']} rows={(all ?? []).map((r) => [r.Name, list((r.Policies ?? []).map((p) => p?.Name ?? '')), r.Description])} none="reeve acl role create -name deployers -policy deploy">
              No role yet. Create one:
            </Rows>
          )}
        </Shown>
      </Card>
      <Card title="Auth methods">
        <Shown read={methods}>
          {(all) => (
            <Rows heads={['Name', 'Type', 'Default']} rows={(all ?? []).map((m) => [m.Name, m.Type, m.Default ? 'yes' : ''])} none="reeve acl auth-method create -name corp -type OIDC -config corp.json">
              No identity provider is configured. Add one:
            </Rows>
          )}
        </Shown>
      </Card>
      <Card title="Binding rules">
        <Shown read={rules}>
          {(all) => (
            <Rows heads={['Rule', 'Auth method', 'Description']} rows={(all ?? []).map((r) => [r.ID?.slice(0, 8), r.AuthMethod, r.Description])} none="reeve acl binding-rule create -auth-method corp -bind-type role -bind-name deployers">
              No binding rule yet: users of identity providers get no rights. Create one:
            </Rows>
          )}
        </Shown>
      </Card>
    </div>
  );
}

function Rows({ heads, rows, none, children }: { heads: string[]; rows: (string | undefined)[][]; none: string; children: string }) {
  if (rows.length === 0) return <Empty command={none}>{children}</Empty>;
  return (
    <div class="scroll-x">
      <table class="plain">
        <thead>
          <tr>
            {heads.map((h) => (
              <th key={h} scope="col">
                {h}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((r, i) => (
            <tr key={i}>
              {r.map((c, n) => (
                <td key={n}>{c}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
