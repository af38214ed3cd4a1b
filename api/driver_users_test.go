// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"
)

func TestIDRangesAreParsed(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "0": "0", "0,1000-2000": "0,1000-2000", " 5 , 7-7": "5,7", "4294967295": "4294967295", "0-4294967295": "0-4294967295",
	} {
		r, err := ParseIDRanges(text)
		if err != nil || r.String() != want {
			t.Errorf("%q: %q, %v; want %q", text, r, err, want)
		}
	}
	for _, text := range []string{"x", "-1", "5-3", "1-", "-", "1,,2", "4294967296", "0x10", "1-2-3", "1.5", "+1"} {
		if r, err := ParseIDRanges(text); err == nil {
			t.Errorf("%q: %q, want an error", text, r)
		}
	}
	r, _ := ParseIDRanges("0,10-20")
	for id, want := range map[uint32]bool{0: true, 1: false, 9: false, 10: true, 20: true, 21: false, 1<<32 - 1: false} {
		if r.Contains(id) != want {
			t.Errorf("%d is in %q: %t", id, r, !want)
		}
	}
}

// TestPlacementKnowsWhatOperatorsForbid publishes the rules of a node, and asks for tasks with users. What only
// the node can know is left to it.
func TestPlacementKnowsWhatOperatorsForbid(t *testing.T) {
	uids, _ := ParseIDRanges("0,1000-2000")
	for _, test := range []struct {
		rules        DriverUsers
		user, reason string
	}{
		{DriverUsers{}, "", ""},
		{DriverUsers{}, "root", ""},
		{DriverUsers{DeniedUIDs: uids}, "root", "user id 0"},
		{DriverUsers{DeniedUIDs: uids}, "0", "user id 0"},
		{DriverUsers{DeniedUIDs: uids}, "", "user id 0"}, // the agent's user
		{DriverUsers{DeniedUIDs: uids}, "1500", "denied_host_uids in client { raw_exec { } }"},
		{DriverUsers{DeniedUIDs: uids}, "999", ""},
		{DriverUsers{DeniedUIDs: uids}, "app", ""},
		{DriverUsers{DeniedUIDs: uids}, "${NOMAD_META_user}", ""},
		{DriverUsers{DeniedGIDs: uids}, "0", ""},
		{DriverUsers{Allowed: []string{"app"}}, "app", ""},
		{DriverUsers{Allowed: []string{"app"}}, "", "allowed_users in client { raw_exec { } }"},
		{DriverUsers{Allowed: []string{"app"}}, "0", "allowed_users"},
		{DriverUsers{Allowed: []string{"app"}}, "app ", "allowed_users"},
		{DriverUsers{Allowed: []string{"app", "root"}}, "", ""},
		{DriverUsers{Allowed: []string{"root"}, DeniedUIDs: uids}, "root", "user id 0"},
	} {
		n := &Node{Attributes: map[string]string{}}
		test.rules.Publish("raw_exec", "root", n.Attributes)
		got := UserMismatch(n, &Task{Driver: "raw_exec", User: test.user})
		if (got == "") != (test.reason == "") || !strings.Contains(got, test.reason) {
			t.Errorf("%+v with user %q: %q, want %q", test.rules, test.user, got, test.reason)
		}
		if other := UserMismatch(n, &Task{Driver: "exec", User: test.user}); other != "" {
			t.Errorf("rules of another driver: %q", other)
		}
	}
}

func TestOOMScoresAreChecked(t *testing.T) {
	for value, ok := range map[any]bool{0: true, 1000: true, "500": true, int64(7): true, -1: false, 1001: false, "x": false, 1.5: false, true: false, "-5": false} {
		problems := DriverConfigProblems("raw_exec", map[string]any{"command": "x", "oom_score_adj": value})
		if (len(problems) == 0) != ok {
			t.Errorf("%v: %v", value, problems)
		}
	}
}
