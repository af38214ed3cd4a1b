// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// TestContainerImagesAreExplained runs two jobs, stops one, and collects: only the image that nothing needs goes.
func TestContainerImagesAreExplained(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	m := unstarted(t)
	m.Args = []string{"-dev"}
	m.start()
	m.waitReady()
	for _, job := range []string{"kept", "former"} {
		image, _ := r.push(job+":1", job)
		m.register(containerJob(job, image, 1, "wait , exit 0"))
		m.allocations(job, "runs", running(1))
	}
	images := func() (list api.NodeImages) {
		t.Helper()
		if err := json.Unmarshal([]byte(m.reeve("node", "images", "-json")), &list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	m.eventually("both images are in use", func(context.Context) error {
		list := images()
		for _, i := range list.Images {
			if !i.Held || i.Containers != 1 || len(i.Users) != 1 || len(i.Users[0].JobVersions) != 1 || len(i.Users[0].AllocIDs) != 1 {
				return fmt.Errorf("image %+v", i)
			}
		}
		if len(list.Images) != 2 {
			return fmt.Errorf("%d images", len(list.Images))
		}
		return nil
	})
	if _, err := m.Client.Jobs().Deregister(t.Context(), "former", client.DeregisterOptions{}); err != nil {
		t.Fatal(err)
	}
	m.eventually("nothing needs one of them", func(context.Context) error {
		for _, i := range images().Images {
			if !i.Held && i.Order == 1 && strings.Contains(i.Names[0], "/former") {
				return nil
			}
		}
		return fmt.Errorf("the list is\n%s", m.reeve("node", "images"))
	})
	node := images().NodeID
	if got := m.reeve("node", "images", "gc", "-node", node[:8]); !strings.Contains(got, "/former (sha256:") || !strings.Contains(got, "Removed 1 image, freed ") || !strings.Contains(got, "1 image stays") {
		t.Errorf("the collection says\n%s", got)
	}
	if got := m.reeve("node", "images"); !strings.Contains(got, "/kept") || !strings.Contains(got, "keeps it: in use") || strings.Contains(got, "/former") {
		t.Errorf("afterwards\n%s", got)
	}
	m.allocations("kept", "still runs", running(1))
}
