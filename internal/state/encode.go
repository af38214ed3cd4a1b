// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"encoding/json"
	"fmt"
)

type envelope struct {
	Name string
	Body json.RawMessage
}

// entryFormat is the first byte of a log entry.
const entryFormat = 1

// BeginEntry returns the beginning of a log entry, to which commands are
// appended.
func BeginEntry() []byte { return []byte{entryFormat} }

// AppendCommand appends a command to a log entry. What several calls appended
// to empty slices may be put together in one entry.
func AppendCommand(b []byte, c Command) []byte {
	body, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("encode %s: %v", c.Name(), err))
	}
	data, _ := json.Marshal(envelope{c.Name(), body})
	return append(append(b, data...), '\n')
}

// EncodeCommands packs commands into one log entry.
func EncodeCommands(commands []Command) []byte {
	b := BeginEntry()
	for _, c := range commands {
		b = AppendCommand(b, c)
	}
	return b
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
	if len(data) == 0 || data[0] != entryFormat {
		return nil, fmt.Errorf("log entry has an unknown format")
	}
	var commands []Command
	d := json.NewDecoder(bytes.NewReader(data[1:]))
	for d.More() {
		var e envelope
		if err := d.Decode(&e); err != nil {
			return nil, fmt.Errorf("decode log entry: %w", err)
		}
		make := commandTypes[e.Name]
		if make == nil {
			return nil, fmt.Errorf("decode log entry: unknown command %q", e.Name)
		}
		c := make()
		if err := json.Unmarshal(e.Body, c); err != nil {
			return nil, fmt.Errorf("decode %s: %w", e.Name, err)
		}
		commands = append(commands, c)
	}
	return commands, nil
}
