// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/reeve-run/reeve/internal/node/driver/container/containertest"
	"github.com/reeve-run/reeve/internal/testbed"
)

const (
	pullLayers = 10
	layerFiles = 500
	layerFile  = 100_000 // bytes
	pullRounds = 3
)

// pulling measures the pull of an image of 500 MB from a registry of this machine, beside that of a Docker
// daemon. The image is removed before each pull.
func pulling(ctx context.Context, b *bench) error {
	dir, err := os.MkdirTemp("", "pull")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Mkdir(filepath.Join(dir, "blobs"), 0o700); err != nil {
		return err
	}
	image, served, stop, err := largeImage(dir)
	if err != nil {
		return fmt.Errorf("make the image: %w", err)
	}
	defer stop()
	m, _, err := b.containerMachine(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	d, err := startDockerd(ctx, filepath.Join(dir, "d"))
	if err != nil {
		return err
	}
	defer d.stop()
	var ours, theirs times
	for round := range pullRounds {
		took, err := m.pull(ctx, fmt.Sprintf("pull-%d", round), image)
		if err != nil {
			return err
		}
		ours = append(ours, took)
		if round == pullRounds-1 {
			before := served.Load()
			if _, err := m.pull(ctx, "second", image); err != nil {
				return err
			}
			b.add("bytes of layers that the second job with an image fetches", "0", "%d", served.Load()-before)
		}
		if err := m.forget(ctx, fmt.Sprintf("pull-%d", round)); err != nil {
			return err
		}
		if took, err = d.pull(ctx, image); err != nil {
			return err
		}
		theirs = append(theirs, took)
	}
	b.add("500 MB image of 10 layers: register -> its process started", ">= 0.9 x the speed of docker pull", "%s, docker pull %s: %.2f x", ms(ours.at(0.5)), ms(theirs.at(0.5)), float64(theirs.at(0.5))/float64(ours.at(0.5)))
	return nil
}

// pull returns the time from a job's registration to the start of its process.
func (m *machine) pull(ctx context.Context, id, image string) (time.Duration, error) {
	begin := time.Now()
	if err := register(ctx, m, testbed.Job(id, "container", 1, map[string]any{"image": image, "args": []string{"sleep"}})); err != nil {
		return 0, err
	}
	if err := m.allRunning(ctx, id, 1); err != nil {
		return 0, fmt.Errorf("%s: %w", id, err)
	}
	list, _, err := m.Client.Jobs().Allocations(ctx, id, true, nil)
	if err != nil {
		return 0, err
	}
	return list[0].TaskStates["task"].StartedAt.Sub(begin), nil
}

// forget stops the job, and removes its image from the node.
func (m *machine) forget(ctx context.Context, id string) error {
	if _, err := m.Client.Jobs().Deregister(ctx, id, purge); err != nil {
		return err
	}
	if id == fmt.Sprintf("pull-%d", pullRounds-1) {
		return nil
	}
	return m.poll(ctx, func(ctx context.Context) error {
		list, err := m.Client.Nodes().CollectImages(ctx, "")
		if err == nil && len(list.Images) > 0 {
			err = fmt.Errorf("the node keeps the image: %s", list.Images[0].Reason)
		}
		return err
	})
}

// largeImage serves an image whose files are half random and half repetitive, as programs and libraries are.
func largeImage(dir string) (image string, served *atomic.Int64, stop func(), err error) {
	var layers []v1.Layer
	random := rand.New(rand.NewPCG(1, 1))
	for n := range pullLayers {
		files := make([]containertest.File, 0, layerFiles)
		for f := range layerFiles {
			body := make([]byte, layerFile)
			for at := 0; at < layerFile/2; at++ {
				body[at] = byte(random.Uint32())
			}
			copy(body[layerFile/2:], strings.Repeat(fmt.Sprintf("layer %d file %d\n", n, f), layerFile/20))
			files = append(files, containertest.File{Name: fmt.Sprintf("data/%d/%d", n, f), Mode: 0o644, Body: string(body)})
		}
		l, err := containertest.Layer(files...)
		if err != nil {
			return "", nil, nil, err
		}
		layers = append(layers, l)
	}
	i, err := containertest.Image(nil, runtime.GOARCH, layers...)
	if err != nil {
		return "", nil, nil, err
	}
	served = new(atomic.Int64)
	content := registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithBlobHandler(registry.NewDiskBlobHandler(filepath.Join(dir, "blobs"))))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/blobs/") {
			w = &countingWriter{w, served}
		}
		content.ServeHTTP(w, r)
	}))
	ref, err := name.ParseReference(strings.TrimPrefix(s.URL, "http://")+"/large:1", name.Insecure)
	if err == nil {
		err = remote.Write(ref, i)
	}
	if err != nil {
		s.Close()
		return "", nil, nil, err
	}
	return ref.Name(), served, s.Close, nil
}

type countingWriter struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (w *countingWriter) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.n.Add(int64(n))
	return n, err
}
