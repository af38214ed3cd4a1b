// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/jsondoc"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// entryFormat is the first byte of a log entry.
const entryFormat = 1

// BeginEntry returns the beginning of a log entry, to which commands are appended.
func BeginEntry() []byte { return []byte{entryFormat} }

// AppendCommand appends a command to a log entry. The results of several calls with empty
// slices may be joined in one entry, in any order.
func AppendCommand(b []byte, c Command) []byte {
	w := c.encode()
	size := w.SizeVT()
	b = slices.Grow(b, size+2*binary.MaxVarintLen64)
	b = protowire.AppendTag(b, 1, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(size))
	start := len(b)
	b = b[:start+size]
	if _, err := w.MarshalToSizedBufferVT(b[start:]); err != nil {
		panic(fmt.Sprintf("encode %s: %v", c.Name(), err))
	}
	return b
}

// EncodeCommands encodes commands as one log entry.
func EncodeCommands(commands []Command) []byte {
	b := BeginEntry()
	for _, c := range commands {
		b = AppendCommand(b, c)
	}
	return b
}

// DecodeCommands decodes a log entry.
func DecodeCommands(data []byte) ([]Command, error) {
	if len(data) == 0 || data[0] != entryFormat {
		return nil, fmt.Errorf("log entry has an unknown format")
	}
	return DecodeAppended(data[1:])
}

// DecodeAppended decodes the result of AppendCommand with an empty slice.
func DecodeAppended(body []byte) ([]Command, error) {
	var entry wire.Entry
	if err := entry.UnmarshalVT(body); err != nil {
		return nil, fmt.Errorf("decode log entry: %w", err)
	}
	commands := make([]Command, len(entry.Commands))
	for i, w := range entry.Commands {
		c, err := decodeCommand(w)
		if err != nil {
			return nil, fmt.Errorf("decode command %d of log entry: %w", i, err)
		}
		commands[i] = c
	}
	return commands, nil
}

func decodeCommand(w *wire.Command) (Command, error) {
	switch k := w.GetKind().(type) {
	case *wire.Command_RegisterJob:
		return decodeRegisterJob(k.RegisterJob)
	case *wire.Command_DeregisterJob:
		return decodeDeregisterJob(k.DeregisterJob)
	case *wire.Command_PutEvaluations:
		return decodePutEvaluations(k.PutEvaluations)
	case *wire.Command_DeleteEvaluations:
		return &DeleteEvaluations{IDs: k.DeleteEvaluations.GetIds()}, nil
	case *wire.Command_CommitPlacement:
		return decodeCommitPlacement(k.CommitPlacement)
	case *wire.Command_UpdateAllocations:
		return decodeUpdateAllocations(k.UpdateAllocations)
	case *wire.Command_SetTransition:
		return decodeSetTransition(k.SetTransition)
	case *wire.Command_RegisterNode:
		return decodeRegisterNode(k.RegisterNode)
	case *wire.Command_UpdateNodeStatus:
		return decodeUpdateNodeStatus(k.UpdateNodeStatus)
	case *wire.Command_SetNodeEligibility:
		return decodeSetNodeEligibility(k.SetNodeEligibility)
	case *wire.Command_SetNodeDrain:
		return decodeSetNodeDrain(k.SetNodeDrain)
	case *wire.Command_DeleteNode:
		return decodeDeleteNode(k.DeleteNode)
	case *wire.Command_UpdateDeployment:
		return decodeUpdateDeployment(k.UpdateDeployment)
	case *wire.Command_SetJobStability:
		s := k.SetJobStability
		return &SetJobStability{s.GetNamespace(), s.GetId(), s.GetVersion(), s.GetStable()}, nil
	case *wire.Command_ScaleJob:
		return decodeScaleJob(k.ScaleJob)
	case *wire.Command_SetSchedulerConfig:
		return decodeSetSchedulerConfig(k.SetSchedulerConfig)
	case *wire.Command_PutNodePool:
		return decodePutNodePool(k.PutNodePool)
	case *wire.Command_DeleteNodePool:
		return &DeleteNodePool{Pool: k.DeleteNodePool.GetName()}, nil
	case *wire.Command_LaunchJob:
		return decodeLaunchJob(k.LaunchJob)
	case *wire.Command_Decide:
		return decodeDecide(k.Decide)
	case *wire.Command_PutRestart:
		return decodePutRestart(k.PutRestart)
	case *wire.Command_UpdateRestart:
		return decodeUpdateRestart(k.UpdateRestart)
	case *wire.Command_PromoteDeployment:
		return decodePromoteDeployment(k.PromoteDeployment)
	case *wire.Command_SetAllocHealth:
		return decodeSetAllocHealth(k.SetAllocHealth)
	case *wire.Command_PutDomain:
		return &PutDomain{k.PutDomain.GetName(), k.PutDomain.GetFreshUntil()}, nil
	case *wire.Command_EndFreshness:
		return &EndFreshness{k.EndFreshness.GetNames(), k.EndFreshness.GetAll()}, nil
	case *wire.Command_AdoptAllocations:
		return decodeAdoptAllocations(k.AdoptAllocations)
	case *wire.Command_BeginCluster:
		return &BeginCluster{k.BeginCluster.GetId(), k.BeginCluster.GetTime()}, nil
	case *wire.Command_BeginTimeline:
		return &BeginTimeline{k.BeginTimeline.GetId()}, nil
	case *wire.Command_UpdateCallback:
		return decodeUpdateCallback(k.UpdateCallback), nil
	case *wire.Command_FailJob:
		return decodeFailJob(k.FailJob), nil
	case *wire.Command_PutObject:
		return decodePutObject(k.PutObject)
	case *wire.Command_DeleteObject:
		return decodeDeleteObject(k.DeleteObject)
	case *wire.Command_Document:
		return decodeDocument(k.Document)
	case *wire.Command_Collect:
		return decodeCollect(k.Collect)
	}
	return nil, fmt.Errorf("unknown command: it was written by a newer version of Reeve")
}

// mustJSON encodes a value from the API or the store, which always succeeds.
func mustJSON(v any) []byte {
	buffer := documentBuffers.Get().(*[]byte)
	text, err := jsondoc.Append((*buffer)[:0], v)
	if err != nil {
		panic("encode for the log: " + err.Error())
	}
	result := bytes.Clone(text)
	if cap(text) <= maxDocumentBuffer {
		*buffer = text
		documentBuffers.Put(buffer)
	}
	return result
}

// documentBuffers pools the buffers of documents, so that a document takes only its own bytes.
var documentBuffers = sync.Pool{New: func() any { return new([]byte) }}

// maxDocumentBuffer bounds the pooled buffers, in bytes.
const maxDocumentBuffer = 64 << 10

// document encodes an object as JSON; nil stays nil.
func document[T any](v *T) []byte {
	if v == nil {
		return nil
	}
	return mustJSON(v)
}

// parse decodes a document; an empty one is nil.
func parse[T any](text []byte) (*T, error) {
	if len(text) == 0 {
		return nil, nil
	}
	return decode[T](text)
}

// stored decodes the objects of the log and of snapshots. Jobs differ in their commands and
// environments, and mostly have the same policies; evaluations that wait for the same
// reasons have the same explanations. The listed objects are in memory once.
var stored = jsondoc.New(
	api.Affinity{}, api.Constraint{}, api.Disconnect{}, api.EphemeralDisk{}, api.Lifecycle{}, api.Logs{}, api.Migrate{}, api.PlacementMetrics{},
	api.Recovery{}, api.Reschedule{}, api.Resources{}, api.Restart{}, api.Spread{}, api.Update{}, restEvaluation{},
)

// decode decodes an object from its JSON.
func decode[T any](text []byte) (*T, error) {
	v, err := jsondoc.Decode[T](stored, text)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// parseJob decodes a job. Lists of a stored job never contain nil.
func parseJob(text []byte) (*api.Job, error) {
	job, err := parse[api.Job](text)
	if err != nil || job == nil {
		return nil, err
	}
	return job, checkJob(job)
}

func checkJob(job *api.Job) error {
	for _, g := range job.Groups {
		if g == nil {
			return fmt.Errorf("job %q has a group that is null", job.ID)
		}
		for _, t := range g.Tasks {
			if t == nil {
				return fmt.Errorf("job %q has a task that is null", job.ID)
			}
		}
	}
	return nil
}
