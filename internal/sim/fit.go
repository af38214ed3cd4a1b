// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	_ "embed"
)

// Template is a scenario to start from.
//
//go:embed template.yaml
var Template string

// LoadFit loads the nodes of a scenario and job files, to find out whether the jobs fit on the
// nodes: tasks never end, and no events happen.
func LoadFit(fleet string, jobs []string) (*Scenario, error) {
	s, err := Load(fleet)
	if err != nil {
		return nil, err
	}
	s.Jobs, s.Events, s.Stacks, s.Tasks = nil, nil, nil, Tasks{Forever: true}
	for _, file := range jobs {
		if err := s.AddJob(file); err != nil {
			return nil, err
		}
	}
	return s, nil
}
