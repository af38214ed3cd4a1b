// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

func (s *tester) namespaces(prefix string) string {
	var names []string
	for n := range s.Snapshot().NamespacesPrefix(prefix) {
		names = append(names, n.Name)
	}
	return strings.Join(names, " ")
}

func TestNamespacesNest(t *testing.T) {
	s := newTester(t)
	s.refuse(api.CodeInvalid, "reeve namespace apply dev", PutNamespace(&api.Namespace{Name: "dev/sandbox"}, nil))
	s.do(PutNamespace(&api.Namespace{Name: "dev"}, nil))
	s.do(PutNamespace(&api.Namespace{Name: "dev/sandbox"}, nil))
	s.do(PutNamespace(&api.Namespace{Name: "dev-2"}, nil))
	for prefix, want := range map[string]string{"": "default dev dev-2 dev/sandbox", "dev": "dev dev-2 dev/sandbox", "dev/": "dev/sandbox", "x": ""} {
		if got := s.namespaces(prefix); got != want {
			t.Errorf("prefix %q: %q, want %q", prefix, got, want)
		}
	}
	s.refuse(api.CodeConflict, "reeve namespace delete dev/sandbox", DeleteNamespace("dev", nil))
	s.do(DeleteNamespace("dev/sandbox", nil))
	s.do(DeleteNamespace("dev", nil))
	if got := s.namespaces(""); got != "default dev-2" {
		t.Errorf("namespaces are %q", got)
	}
}

func TestDefaultNamespaceAlwaysExists(t *testing.T) {
	s := newTester(t)
	before := s.Snapshot().Namespace(api.DefaultNamespace)
	s.refuse(api.CodeInvalid, "built in", DeleteNamespace(api.DefaultNamespace, nil))
	s.refuse(api.CodeConflict, "modify index 1, not 7", PutNamespace(&api.Namespace{Name: api.DefaultNamespace}, ptr(uint64(7))))
	s.do(PutNamespace(&api.Namespace{Name: api.DefaultNamespace, Description: "changed"}, ptr(before.ModifyIndex)))
	want := &api.Namespace{Name: api.DefaultNamespace, Description: "changed", CreateIndex: 1, ModifyIndex: s.Index()}
	if diff := cmp.Diff(want, s.Snapshot().Namespace(api.DefaultNamespace)); diff != "" {
		t.Errorf("namespace (-want +got):\n%s", diff)
	}
	if before.Description == "changed" {
		t.Error("the change is visible in an earlier snapshot")
	}
	s.refuse(api.CodeInvalid, "built in", DeleteNamespace(api.DefaultNamespace, nil))
}

// Names in DNS do not distinguish case.
func TestNamespacesDifferInMoreThanCase(t *testing.T) {
	s := newTester(t)
	s.do(PutNamespace(&api.Namespace{Name: "dev"}, nil))
	s.refuse(api.CodeConflict, `differs from "dev" only in case`, PutNamespace(&api.Namespace{Name: "Dev"}, nil))
	s.do(PutNamespace(&api.Namespace{Name: "dev", Description: "changed"}, nil))
}

// Not even a registration that a server admitted before the deletion was applied gets into
// a namespace that no longer exists.
func TestJobsNeedTheirNamespace(t *testing.T) {
	s := newTester(t)
	job := testJob("web")
	job.Namespace = "dev"
	s.refuse(api.CodeInvalid, "unknown namespace", &RegisterJob{Job: job})
	s.do(PutNamespace(&api.Namespace{Name: "dev"}, nil))
	s.do(&RegisterJob{Job: job})
	s.refuse(api.CodeConflict, "reeve job stop -namespace dev web", DeleteNamespace("dev", nil))
	s.do(&DeregisterJob{Namespace: "dev", ID: "web", Purge: true, Time: 1})
	s.do(DeleteNamespace("dev", nil))
	s.refuse(api.CodeInvalid, "unknown namespace", &RegisterJob{Job: job})
}
