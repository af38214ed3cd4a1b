// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"runtime"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/allocset"
)

// ahead reads a snapshot's frames in advance and decodes frames of allocations in
// parallel. The loader's own work is the smaller part.
type ahead struct {
	queue chan *aheadFrame // in order; ends with a frame that has an error or is frameEnd
	done  chan struct{}    // closed to stop
}

type aheadFrame struct {
	kind    byte
	payload []byte
	err     error
	decoded chan decodedAllocations // results for frameAllocations
}

type decodedAllocations struct {
	allocations []*api.Allocation
	err         error
}

func readAhead(f *frameReader) *ahead {
	// The queue's length bounds the number of frames in memory.
	a := &ahead{queue: make(chan *aheadFrame, 2*runtime.GOMAXPROCS(0)), done: make(chan struct{})}
	go func() {
		defer close(a.queue)
		for {
			frame := new(aheadFrame)
			frame.kind, frame.payload, frame.err = f.next()
			if frame.err == nil && frame.kind == frameAllocations {
				frame.decoded = make(chan decodedAllocations, 1)
				go func() { frame.decoded <- decodeFrame(frame.payload) }()
			}
			select {
			case a.queue <- frame:
			case <-a.done:
				return
			}
			if frame.err != nil || frame.kind == frameEnd {
				return
			}
		}
	}()
	return a
}

// stop waits until all reading and decoding has ended.
func (a *ahead) stop() {
	close(a.done)
	for frame := range a.queue {
		if frame.decoded != nil {
			<-frame.decoded
		}
	}
}

func decodeFrame(payload []byte) (d decodedAllocations) {
	var set allocset.Allocations
	if d.err = set.UnmarshalVT(payload); d.err == nil {
		d.allocations, d.err = allocset.Decode(&set)
	}
	return d
}
