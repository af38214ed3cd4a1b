// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/allocdir"
	"github.com/reeve-run/reeve/internal/node/artifact"
)

// Artifacts places a fetched artifact in a directory of a task.
type Artifacts interface {
	Place(ctx context.Context, a *api.Artifact, into artifact.Target) error
}

// fetchArtifacts places the artifacts of the task, once per allocation: a restart keeps the files
// that the task may have changed.
func (t *task) fetchArtifacts(ctx context.Context, a *api.Allocation, g *api.Group, s *api.Task, owner allocdir.Owner) *api.TaskEvent {
	t.r.mu.Lock()
	done := t.fetched
	t.r.mu.Unlock()
	if done || len(s.Artifacts) == 0 {
		return nil
	}
	if t.r.host.Artifacts == nil {
		return setupFailure(errors.New("this node does not fetch artifacts"))
	}
	t.add(event(api.EventDownloading, "Fetching artifacts"))
	env := t.r.host.env(a, g, s, t.r.host.Dirs.Task(a.ID, s.Name))
	plain := t.r.host.env(a, g, s, t.r.host.Dirs.Task(a.ID, s.Name))
	env.AddSecrets(t.secrets)
	for i, block := range s.Artifacts {
		whole, shown := env.ReplaceArtifact(block), plain.ReplaceArtifact(block)
		whole.Source, whole.Destination = shown.Source, shown.Destination // events show them
		if err := t.fetchArtifact(ctx, a, s, whole, owner); err != nil {
			if ctx.Err() != nil {
				return nil // the task was told to end
			}
			return artifactFailure(i, len(s.Artifacts), err)
		}
	}
	t.r.mu.Lock()
	t.fetched = true
	t.r.mu.Unlock()
	return nil
}

func (t *task) fetchArtifact(ctx context.Context, a *api.Allocation, s *api.Task, block *api.Artifact, owner allocdir.Owner) error {
	h := t.r.host
	view := h.Dirs.Task(a.ID, s.Name)
	if d := h.Drivers[s.Driver]; d != nil {
		view = d.View(view)
	}
	destination := cmp.Or(block.Destination, "local/")
	if block.Mode == api.ArtifactModeFile && strings.HasSuffix(destination, "/") {
		source, err := api.ParseArtifact(block)
		if err != nil {
			return &artifact.Failure{Text: err.Error()}
		}
		destination += source.Filename
	}
	place, err := h.Dirs.Locate(a.ID, s.Name, destination, view)
	if err != nil {
		return &artifact.Failure{Text: fmt.Sprintf("destination %q: %v", destination, err), Hint: "name a directory below local/"}
	}
	into := artifact.Target{}
	if block.Mode == api.ArtifactModeFile {
		place, into.Name = place.Split()
	}
	if block.Chown {
		into.Owner.UID, into.Owner.GID, into.Owner.Set = owner.IDs()
	}
	if into.Dir, err = h.Dirs.Open(place, owner); err != nil {
		return &artifact.Failure{Text: fmt.Sprintf("destination %q: %v", destination, err)}
	}
	defer into.Dir.Close()
	return h.Artifacts.Place(ctx, block, into)
}

// artifactFailure makes the event of an artifact that could not be placed.
func artifactFailure(i, of int, err error) *api.TaskEvent {
	what := "An artifact was not fetched: "
	if of > 1 {
		what = fmt.Sprintf("Artifact %d of %d was not fetched: ", i+1, of)
	}
	e := event(api.EventDownloadFailed, what+err.Error())
	var f *artifact.Failure
	e.DownloadError, e.FailsTask = err.Error(), errors.As(err, &f) && !f.Temporary
	return e
}

// add adds an event to the task.
func (t *task) add(e *api.TaskEvent) {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	t.addEvent(e)
	t.r.host.Changed(t.r, true)
}
