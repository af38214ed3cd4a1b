// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver/container/containertest"
)

// TestContainerPullShowsItsProgress pulls an image from a slow registry: the events show how far the pull is, and
// only its end when it is over.
func TestContainerPullShowsItsProgress(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	noise := make([]byte, 4<<20)
	for n, random := 0, rand.New(rand.NewPCG(1, 2)); n < len(noise); n++ {
		noise[n] = byte(random.Uint32())
	}
	layer, err := containertest.Layer(containertest.File{Name: "noise", Mode: 0o644, Body: string(noise)})
	if err != nil {
		t.Fatal(err)
	}
	i, err := containertest.Image(nil, runtime.GOARCH, layer)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(r.host+"/large:1", name.Insecure)
	if err == nil {
		err = remote.Write(ref, i)
	}
	if err != nil {
		t.Fatal(err)
	}
	pace := make(chan struct{})
	r.pace.Store(&pace)
	m := unstarted(t)
	m.Args = []string{"-dev"}
	m.start()
	m.waitReady()
	m.register(containerJob("large", ref.Name(), 1, "wait , exit 0"))
	m.eventually("the progress", func(ctx context.Context) error {
		select {
		case pace <- struct{}{}:
		default:
		}
		list, _, err := m.Client.Jobs().Allocations(ctx, "large", false, nil)
		if err != nil || len(list) != 1 || list[0].TaskStates["task"] == nil {
			return errors.Join(err, errors.New("no state of the task"))
		}
		for _, e := range list[0].TaskStates["task"].Events {
			if e.Details[api.DetailBytesDone] != "" && strings.Contains(e.DisplayMessage, " MB of ") && strings.Contains(m.reeve("alloc", "status", list[0].ID), " of 2 layers") {
				return nil
			}
		}
		return errors.New("no progress in its events")
	})
	close(pace)
	a := m.allocations("large", "runs", running(1))[0]
	var last string
	for _, e := range a.TaskStates["task"].Events {
		if e.Details[api.DetailBytesDone] != "" {
			t.Errorf("after the pull, the event %q stays", e.DisplayMessage)
		}
		if e.Type == api.EventDriverMessage {
			last = e.DisplayMessage
		}
	}
	if !strings.HasPrefix(last, "Pulled "+ref.Name()) {
		t.Errorf("the last event of the driver is %q", last)
	}
}
