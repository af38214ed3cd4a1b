// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// Quotas writes a list of quotas.
func Quotas(p *term.Page, list []*api.Quota) {
	var rows [][]string
	for _, q := range list {
		var limits []string
		for _, room := range q.Rooms() {
			for _, d := range room.Dimensions(api.QuotaUse{}) {
				if room.NodePool == "" && d.Limit != 0 {
					limits = append(limits, d.Name+" "+quotaAmount(d.Limit, d.Unit))
				}
			}
			if room.NodePool != "" {
				limits = append(limits, "pool "+room.NodePool)
			}
		}
		rows = append(rows, []string{q.Name, human.Dash(strings.Join(limits, ", ")), human.Dash(q.Description)})
	}
	p.Table([]string{"Name", "Limits", "Description"}, rows)
}

// Quota writes one quota with what counts against it.
func Quota(p *term.Page, q *api.Quota, u *api.QuotaUsage) {
	p.Fields(
		term.Field{"Name", q.Name},
		term.Field{"Description", q.Description},
		term.Field{"Namespaces", orWord(strings.Join(u.Namespaces, ", "), "none")},
		term.Field{"Jobs", strconv.Itoa(u.JobCount)},
		term.Field{"Modify index", strconv.FormatUint(q.ModifyIndex, 10)})
	p.Section("Limits")
	var rows [][]string
	for _, room := range q.Rooms() {
		for _, d := range room.Dimensions(u.In(room.NodePool)) {
			if d.Limit != 0 || d.Used != 0 && room.NodePool == "" {
				rows = append(rows, []string{orWord(room.NodePool, "every"), d.Name, fmt.Sprintf("%d%s", d.Used, d.Unit), quotaAmount(d.Limit, d.Unit), quotaShare(d)})
			}
		}
	}
	p.Table([]string{"Node pool", "Resource", "Used", "Limit", "Share"}, rows)
	if len(u.Jobs) == 0 {
		return
	}
	p.Section("Jobs")
	rows = nil
	for _, j := range u.Jobs {
		rows = append(rows, []string{
			j.Namespace, j.JobID, j.NodePool, strconv.FormatInt(j.Allocations, 10), fmt.Sprintf("%d MHz", j.CPU), strconv.FormatInt(j.Cores, 10),
			human.Megabytes(j.MemoryMB), human.Megabytes(j.DiskMB),
		})
	}
	p.Table([]string{"Namespace", "Job", "Node pool", "Allocations", "CPU", "Cores", "Memory", "Disk"}, rows)
	if more := u.JobCount - len(u.Jobs); more > 0 {
		p.Line("%s not listed.", human.Count(more, "further job is", "further jobs are"))
	}
}

func quotaAmount(limit int64, unit string) string {
	switch {
	case limit == 0:
		return "unlimited"
	case limit < 0:
		return "none allowed"
	}
	return fmt.Sprintf("%d%s", limit, unit)
}

// quotaShare returns how much of a limit is used.
func quotaShare(d api.QuotaDimension) string {
	if d.Limit <= 0 {
		return "-"
	}
	return fmt.Sprintf("%d%%", d.Used*100/d.Limit)
}
