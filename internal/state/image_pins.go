// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
)

const (
	imagePinsName = "image-pins"
	pinsImages    = "pin images"
)

var imagePins = declare(noun[api.ImagePin]{
	name: imagePinsName, singular: "image pin", verb: "ImagePin", frame: 40,
	key:    pinKey,
	stamp:  func(p *api.ImagePin) (create, modify *uint64) { return &p.CreateIndex, &p.ModifyIndex },
	groups: func(p *api.ImagePin) []string { return []string{ofJob + jobName(p.Namespace, p.JobID)} },
	since:  func(*api.ImagePin) (int, string) { return 3, pinsImages },
})

// TableImagePins holds *api.ImagePin.
var TableImagePins = imagePins.table

// pinsPerTask bounds the pins of a task in one version. A task has several if its image contains
// variables, such as the architecture of the node.
const pinsPerTask = 64

func pinKey(p *api.ImagePin) string {
	return strings.Join([]string{jobName(p.Namespace, p.JobID), strconv.FormatUint(p.JobCreateIndex, 10), strconv.FormatUint(p.JobVersion, 10), p.TaskGroup, p.Task, p.Image}, "\x00")
}

// storedPins returns the noun to functions that a declaration refers to.
func storedPins() *noun[api.ImagePin] { return nounNamed(imagePinsName).(*noun[api.ImagePin]) }

// ImagePin returns the pin of an image in a task of the allocation; nil if it has none.
func (c *content) ImagePin(a *api.Allocation, task, image string) *api.ImagePin {
	if a.Job == nil {
		return nil
	}
	return storedPins().find(c, pinKey(pinOf(a, task, image)))
}

// pinOf returns a pin without digest.
func pinOf(a *api.Allocation, task, image string) *api.ImagePin {
	return &api.ImagePin{
		Namespace: a.Namespace, JobID: a.JobID, JobVersion: a.Job.Version, JobCreateIndex: a.Job.CreateIndex,
		TaskGroup: a.Group, Task: task, Image: image,
	}
}

// ImagePins yields all pins, ordered by job.
func (c *content) ImagePins() iter.Seq[*api.ImagePin] { return storedPins().all(c, "") }

// ImagePinsOf returns the pins of a job's versions, the newest version first.
func (c *content) ImagePinsOf(namespace, jobID string) []*api.ImagePin {
	return slices.SortedStableFunc(storedPins().ofGroup(c, ofJob+jobName(namespace, jobID)), func(a, b *api.ImagePin) int {
		return cmp.Or(cmp.Compare(b.JobCreateIndex, a.JobCreateIndex), cmp.Compare(b.JobVersion, a.JobVersion))
	})
}

// ImagePinsOfAllocation returns the pins of an allocation's tasks.
func (c *content) ImagePinsOfAllocation(a *api.Allocation) (pins []*api.ImagePin) {
	if a.Job == nil {
		return nil
	}
	for p := range storedPins().ofGroup(c, ofJob+jobName(a.Namespace, a.JobID)) {
		if isPinnedBy(p, a.Job) && p.TaskGroup == a.Group {
			pins = append(pins, p)
		}
	}
	return pins
}

func isPinnedBy(p *api.ImagePin, job *api.Job) bool {
	return p.JobVersion == job.Version && p.JobCreateIndex == job.CreateIndex
}

// carryPins gives the version of an allocation that is updated in place the images of its version until
// now: the instance keeps its image, and so all instances of the version run it.
func (t *txn) carryPins(old *api.Allocation, job *api.Job) {
	if old.Job == nil || old.Job == job || old.Job.Version == job.Version && old.Job.CreateIndex == job.CreateIndex {
		return
	}
	t.copyPins(old.Job, job, old.Group)
}

// copyPins copies the pins of a version to another one that has none for the same image. The group "" is
// all groups.
func (t *txn) copyPins(from, to *api.Job, group string) {
	pins := storedPins()
	for _, p := range slices.Collect(pins.ofGroup(t.content, ofJob+jobName(from.Namespace, from.ID))) {
		if !isPinnedBy(p, from) || group != "" && p.TaskGroup != group || !usesImage(to, p.TaskGroup, p.Task, p.Image) {
			continue
		}
		c := *p
		c.JobVersion, c.JobCreateIndex = to.Version, to.CreateIndex
		if pins.find(t.content, pinKey(&c)) == nil {
			pins.put(t, &c)
		}
	}
}

// usesImage reports whether a task of the job can have the image. Variables can become anything.
func usesImage(job *api.Job, group, task, image string) bool {
	g := job.Group(group)
	if g == nil || g.Task(task) == nil {
		return false
	}
	name, _ := g.Task(task).Config["image"].(string)
	literal, _, variable := strings.Cut(name, "${")
	return image == name || variable && strings.HasPrefix(image, literal)
}

// renewPins deletes the pins of versions that no longer exist. A version with the content of an
// earlier one, as after a rollback, gets the images of that one.
func (t *txn) renewPins(row *jobRow, old, job *api.Job) {
	pins := t.ImagePinsOf(job.Namespace, job.ID)
	if len(pins) == 0 {
		return
	}
	for _, p := range pins {
		is := func(j *api.Job) bool { return isPinnedBy(p, j) }
		if !slices.ContainsFunc(row.versions, func(v jobVersion) bool { return is(v.job) }) && !slices.ContainsFunc(row.used, func(u usedVersion) bool { return is(u.job) }) {
			storedPins().delete(t, pinKey(p))
		}
	}
	if old == nil || old.Stop {
		return
	}
	for _, v := range row.versions[1:] {
		if v.job.Stop == job.Stop && api.SpecEqual(v.job, job) {
			t.copyPins(v.job, job, "")
			return
		}
	}
}

// endPinsOf deletes the pins of a deleted job.
func (t *txn) endPinsOf(namespace, jobID string) {
	for _, p := range t.ImagePinsOf(namespace, jobID) {
		storedPins().delete(t, pinKey(p))
	}
}
