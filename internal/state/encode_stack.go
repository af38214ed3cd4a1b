// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/json"
	"errors"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/reasons"
)

// decodeStack reads a stack. Earlier versions wrote a sentence as its StatusReason.
func decodeStack(text []byte) (*api.Stack, error) {
	var s *api.Stack
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	if s == nil {
		return nil, errors.New("a stack is null")
	}
	if s.StatusReason != 0 || s.StatusDescription != "" {
		return s, nil
	}
	var earlier struct{ StatusReason string }
	if err := json.Unmarshal(text, &earlier); err != nil {
		return nil, err
	}
	s.StatusReason, s.StatusDescription = reasons.Stack(earlier.StatusReason)
	return s, nil
}

// parseStack reads a stack of a command that may have none.
func parseStack(text []byte) (*api.Stack, error) {
	if len(text) == 0 {
		return nil, nil
	}
	return decodeStack(text)
}

// storedStack is a stack in a command that is stored as JSON.
type storedStack struct{ *api.Stack }

// UnmarshalJSON implements json.Unmarshaler.
func (s *storedStack) UnmarshalJSON(text []byte) (err error) {
	if string(text) != "null" {
		s.Stack, err = decodeStack(text)
	}
	return err
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *DeployStacks) UnmarshalJSON(text []byte) error {
	type plain DeployStacks
	stored := struct {
		*plain
		Stacks []storedStack
	}{plain: (*plain)(c)}
	if err := json.Unmarshal(text, &stored); err != nil {
		return err
	}
	for _, s := range stored.Stacks {
		c.Stacks = append(c.Stacks, s.Stack)
	}
	return nil
}
