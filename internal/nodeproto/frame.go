// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodeproto

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/allocset"
)

// Media is the media type of a node's stream and of its reports in this
// encoding.
const Media = "application/vnd.reeve.node.v1+protobuf"

// maxFrame limits the size of a message that a reader accepts.
const maxFrame = 1 << 30

// SignOfLife is an empty message, which tells that the stream lives.
var SignOfLife = []byte{0}

// A Message is one message of a node's stream, as a server has it. The reader gets
// api.NodeAllocations.
type Message struct {
	Complete    bool              // all of the node's allocations, not only changes
	Index       uint64            // log index of the content
	ClusterID   string            // of complete messages
	Timeline    string            // "": as before
	Rewound     bool              // reports whether the history lacks the node's position
	Allocations []*api.Allocation // as stored
	Jobs        [][]byte          // JSON of every version that runs
	Removed     []string          // ids of allocations
	HasVolumes  bool              // reports whether Volumes has all dynamic volumes of the node
	Volumes     [][]byte          // JSON
	// HasPrefetches reports whether Prefetches has all prefetches of the node.
	HasPrefetches bool
	Prefetches    [][]byte // JSON
}

// AppendFrame appends a message of a node's stream, with its length.
func AppendFrame(b []byte, m *Message) ([]byte, error) { return AppendMessage(b, m.encode()) }

func (m *Message) encode() *NodeAllocations {
	w := &NodeAllocations{Complete: m.Complete, Index: m.Index, ClusterId: m.ClusterID, Timeline: m.Timeline, Rewound: m.Rewound, JobsJson: m.Jobs, Volumes: m.HasVolumes, VolumesJson: m.Volumes, Prefetches: m.HasPrefetches, PrefetchesJson: m.Prefetches}
	for _, id := range m.Removed {
		w.Removed = append(w.Removed, allocset.PackID(id))
	}
	if len(m.Allocations) > 0 {
		e := allocset.NewEncoder(len(m.Allocations))
		e.ForNode = true
		for _, a := range m.Allocations {
			e.Add(a)
		}
		w.Allocations = e.Set()
	}
	return w
}

// ReadFrame reads the next message of a node's stream; nil is a sign of life.
// io.EOF means that the stream ended between two messages.
func ReadFrame(r *bufio.Reader) (*api.NodeAllocations, error) {
	size, err := binary.ReadUvarint(r)
	if err != nil || size == 0 {
		return nil, err
	}
	if size > maxFrame {
		return nil, fmt.Errorf("read a message of %d bytes: it is larger than %d", size, maxFrame)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, fmt.Errorf("the stream ends inside a message: %w", err)
	}
	var m NodeAllocations
	if err := m.UnmarshalVT(body); err != nil {
		return nil, err
	}
	return m.decode()
}

func (m *NodeAllocations) decode() (*api.NodeAllocations, error) {
	out := &api.NodeAllocations{Complete: m.Complete, Index: m.Index, ClusterID: m.ClusterId, Timeline: m.Timeline, Rewound: m.Rewound, HasVolumes: m.Volumes, HasPrefetches: m.Prefetches}
	for _, text := range m.VolumesJson {
		v := new(api.HostVolume)
		if err := json.Unmarshal(text, v); err != nil {
			return nil, fmt.Errorf("decode a volume: %w", err)
		}
		out.Volumes = append(out.Volumes, v)
	}
	for _, text := range m.PrefetchesJson {
		p := new(api.Prefetch)
		if err := json.Unmarshal(text, p); err != nil {
			return nil, fmt.Errorf("decode a prefetch: %w", err)
		}
		out.Prefetches = append(out.Prefetches, p)
	}
	for _, text := range m.JobsJson {
		job := new(api.Job)
		if err := json.Unmarshal(text, job); err != nil {
			return nil, fmt.Errorf("decode a job: %w", err)
		}
		out.Jobs = append(out.Jobs, job)
	}
	for _, id := range m.Removed {
		out.Removed = append(out.Removed, allocset.UnpackID(id))
	}
	allocations, err := allocset.Decode(m.Allocations)
	if err != nil {
		return nil, err
	}
	if len(allocations) == 0 {
		return out, nil
	}
	out.Allocations = make([]*api.NodeAllocation, len(allocations))
	list := make([]api.NodeAllocation, len(allocations))
	for i, a := range allocations {
		list[i] = api.NodeAllocation{Allocation: a, JobVersion: a.JobVersion()}
		if a.Job != nil {
			list[i].JobCreateIndex = a.Job.CreateIndex
		}
		a.Job = nil
		out.Allocations[i] = &list[i]
	}
	return out, nil
}
