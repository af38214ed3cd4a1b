// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// withReasons are commands with reasons, by the name of the golden file.
func withReasons() map[string]Command {
	return map[string]Command{
		"CommitPlacement-reasons": &CommitPlacement{&Placement{
			EvalID: "e", Job: &api.Job{Namespace: "default", ID: "web", Version: 2, CreateIndex: 3, JobModifyIndex: 4},
			Place: []*api.Allocation{migrated()},
			Stop: []Stop{
				{ID: "a", Reason: api.ReasonUpdated, Description: api.ReasonUpdated.Text()},
				{ID: "b", Reason: api.ReasonGivenUp, Description: "given up by ann@laptop"},
			},
			Time: 10,
		}},
		"CommitPlacement-status": &CommitPlacement{&Placement{
			EvalID: "e", Job: &api.Job{Namespace: "default", ID: "web", Version: 2, CreateIndex: 3, JobModifyIndex: 4},
			DeploymentUpdates: []DeploymentUpdate{{ID: "d", Status: "successful", Reason: api.ReasonDeploymentSuccessful, Description: api.ReasonDeploymentSuccessful.Text()}},
			Evaluations: []*api.Evaluation{
				{ID: "e", Status: "blocked", StatusReason: api.ReasonEvalNoRoom, StatusDescription: api.ReasonEvalNoRoom.Text()},
				{ID: "f", Status: "complete", StatusReason: api.ReasonEvalJoined, StatusDescription: "with e"},
			},
			Time: 10,
		}},
		"UpdateDeployment-reason": &UpdateDeployment{ID: "d", Status: "failed", Reason: api.ReasonDeploymentDeadline, Description: "and reverted", Time: 12},
		"Promote-reason":          &PromoteDeployment{ID: "d", Groups: []string{"web"}, Reason: api.ReasonDeploymentRunning, Description: api.ReasonDeploymentRunning.Text(), Time: 12},
		"SetAllocHealth-reason":   &SetAllocHealth{DeploymentID: "d", Unhealthy: []string{"b"}, Status: "failed", Reason: api.ReasonDeploymentUnhealthy, Description: api.ReasonDeploymentUnhealthy.Text(), Time: 12},
	}
}

// migrated is an allocation that the servers have told to stop.
func migrated() *api.Allocation {
	a := steered()
	a.ID, a.Launches = "99999999-0000-4000-8000-000000000009", nil
	a.DesiredStatus, a.DesiredReason, a.DesiredDescription = api.AllocDesiredStop, api.ReasonMigrated, api.ReasonMigrated.Text()
	return a
}

// rewritten holds the entries that this version reads and writes differently than the first
// one, by name, with the name of the golden file of today: it finds a reason in a sentence, and
// it ignores the secrets of nodes.
var rewritten = map[string]string{"UpdateRestart": "UpdateRestart-reason", "RegisterNode": "RegisterNode-identified"}

// TestEarlierEntriesAreRead reads entries that have the sentence of a reason and not the
// reason, and entries with the secret of a node.
func TestEarlierEntriesAreRead(t *testing.T) {
	for name := range rewritten {
		decoded, err := DecodeCommands(unhex(t, filepath.Join("testdata", "commands", "v1", name+".hex")))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]Command{goldens()[rewritten[name]]}, decoded); diff != "" {
			t.Errorf("%s (-want +read):\n%s", name, diff)
		}
	}
}
