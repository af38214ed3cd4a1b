// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"sync"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Progress is the state of a pull.
type Progress struct {
	Bytes, TotalBytes   int64 // of compressed layers, including those that were in the store
	Layers, TotalLayers int
}

// reportEvery is the shortest time between two reports of one pull.
const reportEvery = 500 * time.Millisecond

// A tracker adds up the progress of a pull's layers.
type tracker struct {
	report func(Progress) // nil: none
	sizes  []v1.Descriptor

	mu    sync.Mutex
	state Progress
	done  []int64 // bytes of each layer
	last  time.Time
}

func newTracker(report func(Progress), layers []v1.Descriptor) *tracker {
	t := &tracker{report: report, sizes: layers, done: make([]int64, len(layers))}
	t.state.TotalLayers = len(layers)
	for _, l := range layers {
		t.state.TotalBytes += l.Size
	}
	return t
}

// read counts bytes of a layer. A layer that is unpacked again counts once.
func (t *tracker) read(layer int, n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advance(layer, min(t.done[layer]+n, t.sizes[layer].Size))
	t.tell(false)
}

// finished counts a layer that is in the store, from anywhere.
func (t *tracker) finished(layer int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advance(layer, t.sizes[layer].Size)
	t.state.Layers++
	t.tell(t.state.Layers == t.state.TotalLayers)
}

func (t *tracker) advance(layer int, to int64) {
	t.state.Bytes += to - t.done[layer]
	t.done[layer] = to
}

// tell reports the state, unless the last report is recent. The caller holds the mutex.
func (t *tracker) tell(always bool) {
	if t.report == nil || !always && time.Since(t.last) < reportEvery {
		return
	}
	t.last = time.Now()
	t.report(t.state)
}
