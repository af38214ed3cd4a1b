// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSingleDashFlagsWorkEverywhere(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"job run -detach -var a=b web.hcl", "job run --detach --var a=b web.hcl"},
		{"job run -var=a=b web.hcl", "job run --var=a=b web.hcl"},
		{"job run --detach web.hcl", "job run --detach web.hcl"},
		{"job run -check-index 0 -", "job run --check-index 0 -"},
		{"job status -json web", "job status --json web"},
		{"job status -t {{.ID}} web", "job status -t {{.ID}} web"},
		{"job status -help", "job status --help"},
		{"job status -h", "job status -h"},
		{"-address http://x job status", "--address http://x job status"},
		{"job run -var -odd -detach web.hcl", "job run --var -odd --detach web.hcl"},
		{"alloc logs -f -n 5 -stderr 3f2a", "alloc logs -f -n 5 --stderr 3f2a"},
		{"alloc logs -n -5 3f2a", "alloc logs -n -5 3f2a"},
		{"alloc exec -task web 3f2a ls -la -json", "alloc exec --task web 3f2a ls -la -json"},
		{"exec -t=false 3f2a ls -la", "exec -t=false 3f2a ls -la"},
		{"job stop -- -detach", "job stop -- -detach"},
		{"run -detach web.hcl", "run --detach web.hcl"},
		{"__complete job run -var a=b web", "__complete job run --var a=b web"},
		{"job status job -json", "job status job --json"},
	} {
		c := &cli{Process: Process{Getenv: func(string) string { return "" }}}
		got := normaliseArgs(c.root(), strings.Fields(test.args))
		if diff := cmp.Diff(strings.Fields(test.want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.args, diff)
		}
	}
}
