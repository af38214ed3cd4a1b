// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/clitest"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func testNodeImages() *api.NodeImages {
	digest := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	use := func(job string, versions []uint64, allocs ...string) *api.NodeImageUser {
		return &api.NodeImageUser{Namespace: "default", JobID: job, JobVersions: versions, AllocIDs: allocs, Digest: digest}
	}
	return &api.NodeImages{
		NodeID: "51c0aaaa-0000-0000-0000-000000000000", SizeBytes: 300 << 20, DiskUsedBytes: 9 << 30, DiskTotalBytes: 10 << 30, DiskHigh: 0.85, DiskLow: 0.75,
		Prefetches: []*api.NodePrefetch{
			{Namespace: "default", JobID: "next", JobVersion: 7, Group: "g", Task: "t", Image: "registry.test/next:7", Status: api.PrefetchDone},
			{Namespace: "shop", JobID: "next", JobVersion: 8, Group: "g", Task: "t", Image: "registry.test/next:8", Status: api.PrefetchWaiting, Message: "the registry is away"},
		},
		Full: true, NextCollection: clitest.Ago(-40 * time.Second),
		Images: []*api.NodeImage{
			{Digest: digest, Names: []string{"registry.test/old@" + digest, "registry.test/old:1"}, SizeBytes: 100 << 20, ExclusiveBytes: 80 << 20, LastUsed: clitest.Ago(26 * time.Hour), Users: []*api.NodeImageUser{use("former", nil)}, Order: 1, Next: true, Reason: "not used for 26h0m0s, and the disk is too full"},
			{Digest: digest, Names: []string{"registry.test/tool@" + digest}, SizeBytes: 50 << 20, LastUsed: clitest.Ago(time.Minute), Order: 2, Reason: "used 1m0s ago, and kept for 3m0s"},
			{Digest: digest, Names: []string{"registry.test/web@" + digest}, SizeBytes: 150 << 20, LastUsed: clitest.Ago(time.Hour), Containers: 2, Held: true, Reason: "in use by x", Users: []*api.NodeImageUser{use("web", []uint64{3, 4}, "a", "b"), use("a", nil), use("b", nil), use("c", nil)}},
			{Digest: digest, SizeBytes: 1, LastUsed: clitest.Ago(time.Hour), Held: true, Reason: "job api needs it for version 1", Users: []*api.NodeImageUser{use("api", []uint64{1})}},
			{Digest: digest, SizeBytes: 1, LastUsed: clitest.Ago(time.Second), Held: true, Reason: "prefetched for job next version 7", Users: []*api.NodeImageUser{{Namespace: "default", JobID: "next", Prefetched: &api.NodeImagePrefetch{JobVersion: 7, Pending: true}}}},
		},
	}
}

func TestNodeImages(t *testing.T) {
	n := testNodeImages()
	got := func() string {
		p := &term.Page{Now: clitest.Now, Width: 400}
		NodeImages(p, n, false)
		return p.String()
	}()
	for _, want := range []string{
		"5, 300.0 MiB on the disk, no limit", "9.0 GiB of 10.0 GiB (90%)", "in 40s, because the images or the disk are above 85% of the disk",
		"registry.test/old:1", "removes it: not used for 26h0m0s, and the disk is too full", "keeps it, 2nd in the order: used 1m0s ago", "(former)",
		"keeps it: in use", "web: 2 versions, 2 allocations; (a); (b); and 1 more", "keeps it: job api needs it for version 1",
		"keeps it: prefetched for job next version 7", "next: prefetched for version 7", "registry.test/next:7", "next@shop", "waiting: the registry is away",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	n.Full, n.ServersAway = false, true
	got = func() string {
		p := &term.Page{Now: clitest.Now, Width: 400}
		NodeImages(p, n, true)
		return p.String()
	}()
	for _, want := range []string{"removes nothing now", "The servers do not answer the node", n.NodeID, "registry.test/old@" + n.Images[0].Digest + ", registry.test/old:1"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	n.Images, n.Removed, n.RemovedBytes = n.Images[1:], n.Images[:1], 80<<20
	got = func() string { p := &term.Page{Now: clitest.Now, Width: 400}; CollectedImages(p, n); return p.String() }()
	for _, want := range []string{"Removed registry.test/old:1 (sha256:0123456789ab)", "Removed 1 image, freed 80.0 MiB; 4 images stay."} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestOrdinals(t *testing.T) {
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 13: "13th", 21: "21st", 112: "112th", 122: "122nd"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
