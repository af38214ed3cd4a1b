// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"sync"
	"weak"

	"github.com/reeve-run/reeve/api"
)

// A Census counts the objects of one snapshot after another. Published pages never change,
// so it counts only those that the last snapshot did not contain: a census of 100,000
// jobs, of which some changed, reads those and their neighbours.
type Census struct {
	mu          sync.Mutex
	jobs        pageSums[*jobRow, jobCensus]
	deployments pageSums[deploymentRow, statusCensus]
	nodes       pageSums[nodeRow, statusCensus]
}

// A Total is the result of a census.
type Total struct {
	Jobs, Deployments, Nodes map[string]int   // by status
	Groups                   api.GroupSummary // of all groups of all jobs
	Active                   int              // number of active groups; see GroupCount
}

// Take counts the objects of a snapshot.
func (c *Census) Take(v *Snapshot) Total {
	c.mu.Lock()
	defer c.mu.Unlock()
	jobs := jobCensus{statuses: statusCensus{}}
	c.jobs.visit(&v.jobs.rows, countJobs, jobs.add)
	total := Total{Jobs: jobs.statuses, Deployments: map[string]int{}, Nodes: map[string]int{}, Groups: jobs.groups, Active: jobs.active}
	c.deployments.visit(&v.deployments.rows, countDeployments, statusCensus(total.Deployments).add)
	c.nodes.visit(&v.nodes.rows, countNodes, statusCensus(total.Nodes).add)
	return total
}

// pageSums keeps a sum for each page of the last snapshot, but not the page.
type pageSums[T, S any] struct {
	sums    map[weak.Pointer[page[T]]]S
	counted int // number of pages that were counted, for tests
}

// visit calls add with the sum of each page.
func (p *pageSums[T, S]) visit(rows *pages[T], count func(*page[T]) S, add func(S)) {
	sums := make(map[weak.Pointer[page[T]]]S, len(p.sums))
	for _, d := range rows.dirs {
		if d == nil {
			continue
		}
		for _, pg := range d.pages {
			if pg == nil {
				continue
			}
			key := weak.Make(pg)
			sum, known := p.sums[key]
			if !known {
				sum = count(pg)
				p.counted++
			}
			sums[key] = sum
			add(sum)
		}
	}
	p.sums = sums
}

// A statusCensus counts objects by status.
type statusCensus map[string]int

func (s statusCensus) add(page statusCensus) {
	for status, n := range page {
		s[status] += n
	}
}

type jobCensus struct {
	statuses statusCensus
	groups   api.GroupSummary
	active   int
}

func (c *jobCensus) add(page jobCensus) {
	c.statuses.add(page.statuses)
	c.groups.Add(&page.groups)
	c.active += page.active
}

func countJobs(pg *page[*jobRow]) jobCensus {
	c := jobCensus{statuses: statusCensus{}}
	for _, row := range &pg.rows {
		if row == nil || row.job == nil {
			continue
		}
		c.statuses[row.job.Status]++
		for _, g := range row.job.Groups {
			count := row.groupCount(g)
			c.groups.Add(&count.GroupSummary)
			if count.IsActive() {
				c.active++
			}
		}
	}
	return c
}

func countDeployments(pg *page[deploymentRow]) statusCensus {
	c := statusCensus{}
	for i := range pg.rows {
		if d := pg.rows[i].deployment; d != nil {
			c[d.Status]++
		}
	}
	return c
}

func countNodes(pg *page[nodeRow]) statusCensus {
	c := statusCensus{}
	for i := range pg.rows {
		if n := pg.rows[i].node; n != nil {
			c[n.Status]++
		}
	}
	return c
}
