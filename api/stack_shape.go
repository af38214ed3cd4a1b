// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// StackShape returns the shape of the stack that a job describes, one of the Shape
// constants.
func (j *Job) StackShape() string {
	_, _, hasPort := j.StackPort()
	switch {
	case j.IsPeriodic():
		return ShapePeriodic
	case j.Parameterized != nil:
		return ShapeParameterized
	case hasPort:
		return ShapeService
	}
	return ShapeWorker
}

// defaultPort is the label of the port that callers of a unit use.
const defaultPort = "default"

// StackPort finds the port that callers of the job's unit use: the one with the label
// "default", or the only port of the job. It reports false if the job has no such port.
func (j *Job) StackPort() (group, label string, ok bool) {
	count := 0
	for _, g := range j.Groups {
		if g == nil {
			continue
		}
		for _, n := range g.Networks {
			if n == nil {
				continue
			}
			for _, ports := range [][]Port{n.ReservedPorts, n.DynamicPorts} {
				for _, p := range ports {
					if p.Label == defaultPort {
						return g.Name, p.Label, true
					}
					count++
					group, label = g.Name, p.Label
				}
			}
		}
	}
	return group, label, count == 1
}
