// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArgumentsComeFromTheSynopsis(t *testing.T) {
	for _, test := range []struct {
		use  string
		args []string
		want string // error; "" for none
	}{
		{"list", nil, ""},
		{"list", []string{"web"}, `unexpected argument "web"`},
		{"show JOB [PLAN]", nil, "missing argument JOB"},
		{"show JOB [PLAN]", []string{"web"}, ""},
		{"show JOB [PLAN]", []string{"web", "deploy", "x"}, `unexpected argument "x"`},
		{"scale JOB [GROUP] COUNT", []string{"web"}, "missing argument COUNT"},
		{"scale JOB [GROUP] COUNT", []string{"web", "3"}, ""},
		{"continue JOB PLAN [PHASE [STEP]]", []string{"web", "deploy", "a", "b"}, ""},
		{"continue JOB PLAN [PHASE [STEP]]", []string{"web", "deploy", "a", "b", "c"}, `unexpected argument "c"`},
		{"stop JOB...", nil, "missing argument JOB"},
		{"stop JOB...", []string{"a", "b", "c"}, ""},
		{"fmt [PATH...]", nil, ""},
		{"kill JOB INSTANCE", []string{"web"}, ""}, // resolveArguments lists the instances
	} {
		got := ""
		if err := checkArguments(argumentsOf(test.use), test.args, false); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q with %q (-want +got):\n%s", test.use, test.args, diff)
		}
	}
}

// TestEveryCommandWorksOrHasVerbs checks the declarations that no other test calls.
func TestEveryCommandWorksOrHasVerbs(t *testing.T) {
	for _, cmd := range documented(testRoot()) {
		if cmd.RunE == nil {
			t.Errorf("%s: has neither a run function nor verbs", cmd.CommandPath())
		}
	}
}
