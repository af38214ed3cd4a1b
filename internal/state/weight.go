// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"unsafe"

	"github.com/reeve-run/reeve/api"
)

// weight estimates the bytes of all objects from their number.
func (c *content) weight() int {
	return 4096*(c.jobs.len()+c.nodes.len()) + 1024*(c.evaluations.len()+c.deployments.len()+c.allocations.len())
}

// weight estimates how many bytes a batch keeps alive beyond the state.
func (b *Batch) weight() (bytes int) {
	for i := range b.Changes {
		bytes += int(unsafe.Sizeof(Change{}))
		switch old := b.Changes[i].Old.(type) {
		case *api.Allocation:
			bytes += 512 + 768*len(old.TaskStates)
		case *api.Evaluation:
			bytes += 640 + 512*len(old.FailedGroups) + 64*len(old.ClassEligibility)
		case *api.Job:
			newer, _ := b.Changes[i].New.(*api.Job)
			bytes += jobWeight(old, newer)
		case *api.Node:
			bytes += 1024 + 128*len(old.Attributes)
		case nil:
		default:
			bytes += 1024
		}
	}
	return bytes
}

// jobWeight estimates how many bytes of an old job are not shared with its successor,
// which may be nil. A job may contain megabytes of templates, and so may each of its
// versions.
func jobWeight(old, newer *api.Job) int {
	bytes := 1024 + len(old.Annotation) + len(old.Payload) + textsWeight(old.Meta)
	for i, g := range old.Groups {
		if newer != nil && i < len(newer.Groups) && newer.Groups[i] == g {
			continue
		}
		bytes += 2048 + textsWeight(g.Meta)
		for _, t := range g.Tasks {
			bytes += textsWeight(t.Meta) + textsWeight(t.Env) + configWeight(t.Config)
			for _, tmpl := range t.Templates {
				bytes += len(tmpl.EmbeddedTmpl)
			}
		}
	}
	return bytes
}

func textsWeight(texts map[string]string) (bytes int) {
	for name, text := range texts {
		bytes += len(name) + len(text)
	}
	return bytes
}

func configWeight(value any) (bytes int) {
	switch value := value.(type) {
	case string:
		return len(value)
	case []any:
		for _, v := range value {
			bytes += 16 + configWeight(v)
		}
	case map[string]any:
		for name, v := range value {
			bytes += 32 + len(name) + configWeight(v)
		}
	}
	return bytes
}
