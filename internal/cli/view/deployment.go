// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// Deployments writes a list of deployments.
func Deployments(p *term.Page, list []*api.Deployment) {
	var rows [][]string
	for _, d := range list {
		rows = append(rows, []string{api.ShortID(d.ID), d.JobID, strconv.FormatUint(d.JobVersion, 10),
			deploymentStatus(p, d.Status), healthyOfWanted(d), d.StatusDescription, human.NanosAge(p.Now, d.ModifyTime)})
	}
	p.Table([]string{"ID", "Job", "Version", "Status", "Healthy", "Description", "Changed"}, rows)
}

// deploymentStatus colours a status. A running deployment has its own colour, because it
// is not complete.
func deploymentStatus(p *term.Page, status string) string {
	if status == api.DeploymentRunning {
		return p.Style.Cyan(status)
	}
	return p.Style.Status(status)
}

// healthyOfWanted returns the progress of a deployment as a fraction.
func healthyOfWanted(d *api.Deployment) string {
	healthy, total := 0, 0
	for _, g := range d.Groups {
		healthy += g.HealthyAllocs
		total += g.DesiredTotal
	}
	return fmt.Sprintf("%d/%d", healthy, total)
}

// Deployment writes one deployment and the progress of its groups.
func Deployment(p *term.Page, d *api.Deployment, wide bool) {
	id := api.ShortID(d.ID)
	if wide {
		id = d.ID
	}
	p.Fields(
		term.Field{"ID", id},
		term.Field{"Job", d.JobID + " version " + strconv.FormatUint(d.JobVersion, 10)},
		term.Field{"Status", deploymentStatus(p, d.Status)},
		term.Field{"Description", d.StatusDescription},
	)
	if len(d.Groups) == 0 {
		return
	}
	canaries := false
	for _, g := range d.Groups {
		canaries = canaries || g.DesiredCanaries > 0
	}
	heading := []string{"Group", "Desired", "Placed", "Healthy", "Unhealthy", "Progress by"}
	if canaries {
		heading = append(heading, "Canaries", "Promoted")
	}
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(d.Groups)) {
		g := d.Groups[name]
		row := []string{name, strconv.Itoa(g.DesiredTotal), strconv.Itoa(g.PlacedAllocs), strconv.Itoa(g.HealthyAllocs),
			alarming(p, g.UnhealthyAllocs), progressBy(g, d.IsActive(), p.Now)}
		if canaries {
			row = append(row, fmt.Sprintf("%d/%d", len(g.PlacedCanaries), g.DesiredCanaries), yesNo(g.Promoted))
		}
		rows = append(rows, row)
	}
	p.WriteByte('\n')
	p.Table(heading, rows)
	p.Next(deploymentNext(d)...)
}

// deploymentNext suggests the next commands for a deployment that waits for an operator.
func deploymentNext(d *api.Deployment) []string {
	if !d.IsActive() {
		return nil
	}
	id := api.ShortID(d.ID)
	if d.Status == api.DeploymentPaused {
		return []string{"Resume it:  reeve deployment resume " + id}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Groups)) {
		if g := d.Groups[name]; g.DesiredCanaries > 0 && !g.Promoted && g.HealthyAllocs >= g.DesiredCanaries && !g.AutoPromote {
			return []string{
				"The canaries are healthy. Promote them:  reeve deployment promote " + id,
				"Or revert:                               reeve deployment fail " + id,
			}
		}
	}
	return nil
}

// progressBy returns the progress deadline of a group. Only an active deployment has
// one, and none while it waits for promotion.
func progressBy(g *api.DeploymentState, active bool, now time.Time) string {
	waits := g.DesiredCanaries > 0 && !g.Promoted && g.HealthyAllocs >= g.DesiredCanaries
	if !active || waits || g.RequireProgressBy.IsZero() {
		return "-"
	}
	left := g.RequireProgressBy.Sub(now)
	if left <= 0 {
		return "overdue"
	}
	return "in " + human.Duration(left)
}
