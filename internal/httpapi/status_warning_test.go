// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import "testing"

func TestWarningsLeaveAgentsHealthy(t *testing.T) {
	warning := ""
	h := newHarness(t, func(c *Config) { c.Warning = func() string { return warning } })
	for _, step := range []struct{ warning, want string }{{"", "ok"}, {"certificate expires in 3 days", "certificate expires in 3 days"}} {
		warning = step.warning
		health, err := h.client.Status().Health(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if health.Server == nil || !health.Server.Ok || health.Server.Message != step.want {
			t.Errorf("with warning %q: %+v", step.warning, health.Server)
		}
	}
}
