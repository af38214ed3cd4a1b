// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
)

// deployments writes a list of deployments.
func (p *page) deployments(list []*api.Deployment) {
	var rows [][]string
	for _, d := range list {
		rows = append(rows, []string{api.ShortID(d.ID), d.JobID, strconv.FormatUint(d.JobVersion, 10),
			p.deploymentStatus(d.Status), healthyOfWanted(d), d.StatusDescription, nanosAge(p.now, d.ModifyTime)})
	}
	p.table([]string{"ID", "Job", "Version", "Status", "Healthy", "Description", "Changed"}, rows)
}

// deploymentStatus colours a status; running is not the end yet.
func (p *page) deploymentStatus(status string) string {
	if status == api.DeploymentRunning {
		return p.style.cyan(status)
	}
	return p.style.status(status)
}

// healthyOfWanted is a deployment's progress as a fraction.
func healthyOfWanted(d *api.Deployment) string {
	healthy, total := 0, 0
	for _, g := range d.Groups {
		healthy += g.HealthyAllocs
		total += g.DesiredTotal
	}
	return fmt.Sprintf("%d/%d", healthy, total)
}

// deployment writes one deployment and its groups' progress.
func (p *page) deployment(d *api.Deployment, wide bool) {
	id := api.ShortID(d.ID)
	if wide {
		id = d.ID
	}
	p.fields(
		field{"ID", id},
		field{"Job", d.JobID + " version " + strconv.FormatUint(d.JobVersion, 10)},
		field{"Status", p.deploymentStatus(d.Status)},
		field{"Description", d.StatusDescription},
	)
	if len(d.Groups) == 0 {
		return
	}
	canaries := false
	for _, g := range d.Groups {
		canaries = canaries || g.DesiredCanaries > 0
	}
	heading := []string{"Group", "Wanted", "Placed", "Healthy", "Unhealthy", "Progress by"}
	if canaries {
		heading = append(heading, "Canaries", "Promoted")
	}
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(d.Groups)) {
		g := d.Groups[name]
		row := []string{name, strconv.Itoa(g.DesiredTotal), strconv.Itoa(g.PlacedAllocs), strconv.Itoa(g.HealthyAllocs),
			p.alarming(g.UnhealthyAllocs), progressBy(g, d.IsActive(), p.now)}
		if canaries {
			row = append(row, fmt.Sprintf("%d/%d", len(g.PlacedCanaries), g.DesiredCanaries), yesNo(g.Promoted))
		}
		rows = append(rows, row)
	}
	p.WriteByte('\n')
	p.table(heading, rows)
	p.next(deploymentNext(d)...)
}

// deploymentNext suggests what a deployment that waits for somebody needs.
func deploymentNext(d *api.Deployment) []string {
	if !d.IsActive() {
		return nil
	}
	id := api.ShortID(d.ID)
	if d.Status == api.DeploymentPaused {
		return []string{"Go on:  reeve deployment resume " + id}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Groups)) {
		if g := d.Groups[name]; g.DesiredCanaries > 0 && !g.Promoted && g.HealthyAllocs >= g.DesiredCanaries && !g.AutoPromote {
			return []string{
				"The canaries are healthy. Promote them:  reeve deployment promote " + id,
				"Or go back:                              reeve deployment fail " + id,
			}
		}
	}
	return nil
}

// progressBy says when a group must have made progress; only a deployment that
// goes on has such a deadline, and none while it waits for promotion.
func progressBy(g *api.DeploymentState, active bool, now time.Time) string {
	waits := g.DesiredCanaries > 0 && !g.Promoted && g.HealthyAllocs >= g.DesiredCanaries
	if !active || waits || g.RequireProgressBy.IsZero() {
		return "-"
	}
	left := g.RequireProgressBy.Sub(now)
	if left <= 0 {
		return "overdue"
	}
	return "in " + shortDuration(left)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
