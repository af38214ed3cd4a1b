// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"runtime"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/allocset"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// ahead reads a snapshot's frames in advance and decodes them in parallel. The loader's own
// work, which is done in the order of the frames, is the smaller part.
type ahead struct {
	queue chan *aheadFrame // in order; ends with a frame that has an error or is frameEnd
	done  chan struct{}    // closed to stop
}

type aheadFrame struct {
	kind    byte
	payload []byte
	err     error
	decoded chan decodedFrame // nil if the loader decodes the frame
}

// A decodedFrame holds the decoded objects of a frame.
type decodedFrame struct {
	load func(*loader) error // stores the objects
	err  error
}

func readAhead(f *frameReader) *ahead {
	// The queue's length bounds the number of frames in memory.
	a := &ahead{queue: make(chan *aheadFrame, 2*runtime.GOMAXPROCS(0)), done: make(chan struct{})}
	go func() {
		defer close(a.queue)
		for {
			frame := new(aheadFrame)
			frame.kind, frame.payload, frame.err = f.next()
			if decode := decoderOf(frame.kind); frame.err == nil && decode != nil {
				decoded := make(chan decodedFrame, 1)
				payload := frame.payload
				frame.payload, frame.decoded = nil, decoded
				go func() { decoded <- decode(payload) }()
			}
			select {
			case a.queue <- frame:
			case <-a.done:
				if frame.decoded != nil {
					<-frame.decoded
				}
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

// decoderOf returns the decoder of a kind of frames with many objects; nil if the kind has
// none.
func decoderOf(kind byte) func(payload []byte) decodedFrame {
	switch kind {
	case frameJobs:
		return func(payload []byte) decodedFrame {
			return decodeEach(payload, (*loader).loadJob, func(end *endRecord) *int { return &end.Jobs })
		}
	case frameNodes:
		return func(payload []byte) decodedFrame {
			return decodeEach(payload, (*loader).loadNode, func(end *endRecord) *int { return &end.Nodes })
		}
	case frameDeployments:
		return func(payload []byte) decodedFrame {
			return decodeEach(payload, (*loader).loadDeployment, func(end *endRecord) *int { return &end.Deployments })
		}
	case frameEvaluations:
		return decodeEvaluationFrame
	case frameAllocations:
		return decodeAllocationFrame
	}
	return nil
}

// decodeEach decodes a frame's objects, which load stores and seen counts.
func decodeEach[T any](payload []byte, load func(*loader, *T) error, seen func(*endRecord) *int) decodedFrame {
	objects, err := decode[[]*T](payload)
	if err != nil {
		return decodedFrame{err: err}
	}
	return decodedFrame{load: func(l *loader) error {
		return loadEach(*objects, seen(&l.seen), func(o *T) error { return load(l, o) })
	}}
}

func decodeEvaluationFrame(payload []byte) decodedFrame {
	var set wire.Evaluations
	if err := set.UnmarshalVT(payload); err != nil {
		return decodedFrame{err: err}
	}
	evaluations, err := decodeEvaluations(set.Evaluations)
	return decodedFrame{load: func(l *loader) error {
		return loadEach(evaluations, &l.seen.Evaluations, l.loadEvaluation)
	}, err: err}
}

func decodeAllocationFrame(payload []byte) decodedFrame {
	var set allocset.Allocations
	if err := set.UnmarshalVT(payload); err != nil {
		return decodedFrame{err: err}
	}
	allocations, err := allocset.Decode(&set)
	return decodedFrame{load: func(l *loader) error {
		return loadEach(allocations, &l.seen.Allocations, l.loadVersionOf)
	}, err: err}
}

// loadVersionOf stores an allocation with the version of its job that it names.
func (l *loader) loadVersionOf(a *api.Allocation) error {
	if a.Job == nil {
		return fmt.Errorf("allocation %s has no job", a.ID)
	}
	return l.loadAllocation(a, a.Job.Version, a.Job.CreateIndex)
}
