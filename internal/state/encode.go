// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/json"
	"fmt"
)

type envelope struct {
	Name string
	Body json.RawMessage
}

// EncodeCommands packs commands into one log entry.
func EncodeCommands(commands []Command) []byte {
	out := make([]envelope, len(commands))
	for i, c := range commands {
		body, err := json.Marshal(c)
		if err != nil {
			panic(fmt.Sprintf("encode %s: %v", c.Name(), err))
		}
		out[i] = envelope{c.Name(), body}
	}
	data, _ := json.Marshal(out)
	return data
}

var commandTypes = map[string]func() Command{
	"RegisterJob":        func() Command { return new(RegisterJob) },
	"DeregisterJob":      func() Command { return new(DeregisterJob) },
	"PutEvaluations":     func() Command { return new(PutEvaluations) },
	"DeleteEvaluations":  func() Command { return new(DeleteEvaluations) },
	"CommitPlacement":    func() Command { return new(CommitPlacement) },
	"UpdateAllocations":  func() Command { return new(UpdateAllocations) },
	"SetTransition":      func() Command { return new(SetTransition) },
	"RegisterNode":       func() Command { return new(RegisterNode) },
	"UpdateNodeStatus":   func() Command { return new(UpdateNodeStatus) },
	"SetNodeEligibility": func() Command { return new(SetNodeEligibility) },
	"DeleteNode":         func() Command { return new(DeleteNode) },
	"UpdateDeployment":   func() Command { return new(UpdateDeployment) },
	"SetJobStability":    func() Command { return new(SetJobStability) },
	"ScaleJob":           func() Command { return new(ScaleJob) },
	"Collect":            func() Command { return new(Collect) },
}

// DecodeCommands unpacks a log entry.
func DecodeCommands(data []byte) ([]Command, error) {
	var in []envelope
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("decode log entry: %w", err)
	}
	commands := make([]Command, len(in))
	for i, e := range in {
		make := commandTypes[e.Name]
		if make == nil {
			return nil, fmt.Errorf("decode log entry: unknown command %q", e.Name)
		}
		commands[i] = make()
		if err := json.Unmarshal(e.Body, commands[i]); err != nil {
			return nil, fmt.Errorf("decode %s: %w", e.Name, err)
		}
	}
	return commands, nil
}
