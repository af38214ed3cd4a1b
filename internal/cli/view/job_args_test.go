// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import "testing"

func TestJobArgsNameOtherNamespaces(t *testing.T) {
	for _, tc := range []struct{ namespace, job, want string }{
		{"", "web", "web"},
		{"default", "web", "web"},
		{"dev/sandbox", "web", "-namespace dev/sandbox web"},
		{"dev", "my job's", `-namespace dev 'my job'\''s'`},
	} {
		if got := JobArgs(tc.namespace, tc.job); got != tc.want {
			t.Errorf("job %q of namespace %q: %s, want %s", tc.job, tc.namespace, got, tc.want)
		}
	}
}
