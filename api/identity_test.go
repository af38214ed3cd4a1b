// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"
	"time"
)

func TestIdentitiesOfTasksAreChecked(t *testing.T) {
	for says, all := range map[string][]*Identity{
		"": {{Env: true, File: true}, {Name: "vault", Audience: []string{"vault.io"}, File: true, TTL: time.Hour, ChangeMode: "signal", ChangeSignal: "SIGHUP"},
			{Name: "aws", Audience: []string{"sts"}, Filepath: "secrets/aws/token"}, {Name: "x", Audience: []string{"x"}, Env: true, TTL: time.Hour, ChangeMode: "restart"}},
		"the name occurs twice":                          {{Env: true}, {Name: "default", File: true}},
		"a name must be 1 to 128 letters":                {{Name: "a b", Audience: []string{"x"}}},
		"aud is missing":                                 {{Name: "a"}},
		"give the identity a name to set its audience":   {{Audience: []string{"x"}}},
		"must have 1 to 256 bytes":                       {{Name: "a", Audience: []string{strings.Repeat("x", 257)}}},
		"aud: has 17 entries":                            {{Name: "a", Audience: make([]string, 17)}},
		"ttl 1s: must be at least 1m0s":                  {{Name: "a", Audience: []string{"x"}, TTL: time.Second}},
		"ttl -1h0m0s: must be at least":                  {{Name: "a", Audience: []string{"x"}, TTL: -time.Hour}},
		"needs change_mode = \"signal\"":                 {{Name: "a", Audience: []string{"x"}, ChangeSignal: "SIGHUP"}},
		"change_signal \"\" is not a signal":             {{Name: "a", Audience: []string{"x"}, ChangeMode: "signal"}},
		"change_mode \"reload\": must be noop, signal":   {{Name: "a", Audience: []string{"x"}, ChangeMode: "reload"}},
		"a variable of a running task does not change":   {{Name: "a", Audience: []string{"x"}, Env: true, TTL: time.Hour}},
		"filepath \"../../etc/x\": must be below":        {{Name: "a", Audience: []string{"x"}, Filepath: "../../etc/x"}},
		"filepath \"/etc/x\": must be below":             {{Name: "a", Audience: []string{"x"}, Filepath: "/etc/x"}},
		"filepath \"secrets/../x\": must be below":       {{Name: "a", Audience: []string{"x"}, Filepath: "secrets/../x"}},
		"filepath \"secrets\": must be below":            {{Name: "a", Audience: []string{"x"}, Filepath: "secrets"}},
		"another identity has the same file":             {{Name: "a", Audience: []string{"x"}, Filepath: "secrets/t"}, {Name: "b", Audience: []string{"x"}, Filepath: "secrets/./t"}},
		"service_name is not supported":                  {{Name: "a", Audience: []string{"x"}, ServiceName: "s"}},
		"extra_claims are not supported":                 {{Name: "a", Audience: []string{"x"}, ExtraClaims: []string{"s"}}},
		"has 17 identity blocks; at most 16 are allowed": make17(),
	} {
		var c complaints
		(&Task{Identities: all}).validateIdentities(&c, "task")
		got := strings.Join(c, "\n")
		if (says == "") != (got == "") || !strings.Contains(got, says) {
			t.Errorf("%q is not in %q", says, got)
		}
	}
}

func make17() (all []*Identity) {
	for i := range 17 {
		all = append(all, &Identity{Name: string(rune('a' + i)), Audience: []string{"x"}})
	}
	return all
}

func TestPoliciesOfTasksMatchExactly(t *testing.T) {
	full := &JobACL{Namespace: "dev", JobID: "web", Group: "g", Task: "t"}
	for what, c := range map[string]struct {
		acl                         *JobACL
		namespace, job, group, task string
		want                        bool
	}{
		"no JobACL":      {nil, "dev", "web", "g", "t", false},
		"namespace":      {&JobACL{Namespace: "dev"}, "dev", "any", "any", "any", true},
		"other":          {&JobACL{Namespace: "dev"}, "dev2", "web", "g", "t", false},
		"task":           {full, "dev", "web", "g", "t", true},
		"longer task":    {full, "dev", "web", "g", "t2", false},
		"longer job":     {full, "dev", "web2", "g", "t", false},
		"shorter job":    {full, "dev", "we", "g", "t", false},
		"another group":  {full, "dev", "web", "h", "t", false},
		"case of a name": {full, "dev", "Web", "g", "t", false},
	} {
		if got := c.acl.Matches(c.namespace, c.job, c.group, c.task); got != c.want {
			t.Errorf("%s: %t, want %t", what, got, c.want)
		}
	}
}
