// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// CurrentImages selects the pins of a job's current version, and of versions with instances that run.
func CurrentImages(job *api.Job, allocations []*api.AllocationListStub, pins []*api.ImagePin) []*api.ImagePin {
	used := map[uint64]bool{job.Version: true}
	for _, a := range allocations {
		if a.ClientStatus == api.AllocClientRunning || a.ClientStatus == api.AllocClientPending {
			used[a.JobVersion] = true
		}
	}
	return slices.DeleteFunc(pins, func(p *api.ImagePin) bool { return p.JobCreateIndex != job.CreateIndex || !used[p.JobVersion] })
}

// imageTable writes the digests that a job's versions run.
func imageTable(p *term.Page, pins []*api.ImagePin) {
	if len(pins) == 0 {
		return
	}
	p.Section("Images")
	var rows [][]string
	for _, pin := range pins {
		rows = append(rows, []string{strconv.FormatUint(pin.JobVersion, 10), pin.TaskGroup, pin.Task, pin.Image, pin.Digest, human.NanosAge(p.Now, pin.Time)})
	}
	p.TableLess([]string{"Version", "Group", "Task", "Image", "Digest", "Pinned"}, rows, "Pinned", "Group")
}

// pinnedImages lists the digests of a task's images; "" without one.
func pinnedImages(a *api.Allocation, task string) string {
	var list []string
	for _, p := range a.Images {
		if p.Task == task {
			list = append(list, p.Image+"@"+p.Digest)
		}
	}
	return strings.Join(list, ", ")
}
