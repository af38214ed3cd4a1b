// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { logOut, login } from '../link/link';
import { Card, Facts, Head } from '../parts/page';
import { VerbButton } from '../parts/verbs';
import { setSingleKeys, singleKeys } from '../shell/keys';
import { setTheme, theme, type Theme } from '../shell/theme';
import { setUTC, stamp, utc } from '../words/time';

/** Settings are those of this browser: the login, the look, the keys and the time zone. */
export default function Settings() {
  const l = login.value;
  return (
    <>
      <Head title="Settings" sentence="Settings of this browser. Those of the cluster are on the page Cluster." />
      <div class="cols">
        <div class="stackv">
          <Card title="Login">
            <Facts
              of={[
                ['Login', l.state === 'session' ? l.name || 'a session of the web UI' : 'none is needed from this machine'],
                ['Accessor', l.accessor && <code>{l.accessor}</code>],
                ['Ends', l.ends ? `${stamp(l.ends)}, later if you go on` : ''],
                ['Agent', l.config?.Agent],
                ['Region', l.config?.Region],
                ['Version', l.config?.Version],
              ]}
            />
            <div class="pad btns">
              {l.state === 'session' ? (
                <VerbButton verb={{ name: 'Log out', capability: '', cli: () => 'reeve logout', run: logOut }} />
              ) : (
                <a class="b" href="/ui/login">
                  Log in with a token
                </a>
              )}
            </div>
          </Card>
          <Rights />
        </div>
        <Card title="This browser">
          <div class="pad">
            <label class="field">
              <span>Theme</span>
              <select value={theme.value} onChange={(e) => setTheme(e.currentTarget.value as Theme)}>
                <option value="auto">That of the browser</option>
                <option value="light">Light</option>
                <option value="dark">Dark</option>
              </select>
            </label>
            <label class="field">
              <span>Time zone</span>
              <select value={utc.value ? 'utc' : 'local'} onChange={(e) => setUTC(e.currentTarget.value === 'utc')}>
                <option value="local">Local</option>
                <option value="utc">UTC</option>
              </select>
            </label>
            <label class="field check">
              <span>Single keys act, such as c for continue</span>
              <input type="checkbox" checked={singleKeys.value} onChange={(e) => setSingleKeys(e.currentTarget.checked)} />
            </label>
          </div>
        </Card>
      </div>
    </>
  );
}

/** Rights lists what the token may do. */
function Rights() {
  const r = login.value.rights;
  if (!r) return null;
  return (
    <Card title="What you may do">
      {r.Management ? (
        <p class="pad">Everything: this is a management token, or a caller whom the agent trusts.</p>
      ) : (
        <Facts of={[['Cluster', r.Cluster.join(', ') || 'nothing'], ...Object.entries(r.Namespaces).map(([n, caps]): [string, string] => [`Namespace ${n}`, caps.join(', ')])]} />
      )}
    </Card>
  );
}
