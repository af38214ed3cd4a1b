// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// childrenShown is how many of a job's children "job status" lists.
const childrenShown = 10

// startsOthers reports whether a job runs nothing itself.
func startsOthers(j *api.Job) bool { return j.IsPeriodic() || j.IsParameterized() }

// readChildren lists the jobs that a job started.
func readChildren(ctx context.Context, cl *client.Client, parent string) ([]*api.JobListStub, error) {
	q := client.QueryOptions{Prefix: parent + "/", Filter: "ParentID == " + strconv.Quote(parent)}
	children, err := listAll(ctx, q, cl.Jobs().List)
	sort.SliceStable(children, func(a, b int) bool { return children[a].SubmitTime > children[b].SubmitTime })
	return children, err
}

// starts says in one line each by what a job starts others.
func starts(now time.Time, j *api.Job) (fields []field) {
	if p := j.Periodic; p != nil {
		fields = append(fields, field{"Schedule", scheduleInWords(p)}, field{"Next start", nextStart(now, j)})
	}
	if p := j.Parameterized; p != nil && !j.Dispatched {
		fields = append(fields,
			field{"Payload", p.Payload},
			field{"Required meta", cmp.Or(strings.Join(p.MetaRequired, ", "), "none")},
			field{"Optional meta", cmp.Or(strings.Join(p.MetaOptional, ", "), "none")})
	}
	return fields
}

func scheduleInWords(p *api.Periodic) string {
	words := strings.Join(p.Expressions(), "; ")
	if p.TimeZone != "" && p.TimeZone != "UTC" {
		words += " in " + p.TimeZone
	}
	if p.ForbidsOverlap() {
		words += ", one at a time"
	}
	return words
}

// nextStart says when a periodic job is due.
func nextStart(now time.Time, j *api.Job) string {
	switch {
	case j.Stop:
		return "none: the job is stopped"
	case !j.Periodic.IsEnabled():
		return "none: enabled is false"
	}
	schedule, err := j.Periodic.Schedule()
	if err != nil {
		return err.Error()
	}
	next := schedule.Next(now)
	if next.IsZero() {
		return "none: the schedule has ended"
	}
	return dueInWords(now, next)
}

func dueInWords(now, due time.Time) string {
	return fmt.Sprintf("%s (in %s)", due.UTC().Format(time.RFC3339), shortDuration(due.Sub(now)))
}

// children writes the jobs that a job started: how many, and the newest.
func (p *page) children(parent *api.Job, summary *api.JobSummary, children []*api.JobListStub) {
	if s := summary; s != nil && s.Launches != nil && !s.Launches.LastSkipped.IsZero() {
		p.fields(field{"Passed over", fmt.Sprintf("the start at %s: the one before had not ended", s.Launches.LastSkipped.UTC().Format(time.RFC3339))})
	}
	kind := "Dispatched jobs"
	if parent.IsPeriodic() {
		kind = "Jobs it started"
	}
	p.section(kind)
	if s := summary; s != nil && s.Children != nil {
		p.fields(
			field{"Pending", strconv.FormatInt(s.Children.Pending, 10)},
			field{"Running", strconv.FormatInt(s.Children.Running, 10)},
			field{"Dead", strconv.FormatInt(s.Children.Dead, 10)},
		)
	}
	if len(children) == 0 {
		return
	}
	p.WriteByte('\n')
	shown := children[:min(len(children), childrenShown)]
	var rows [][]string
	for _, j := range shown {
		rows = append(rows, []string{j.ID, p.style.status(j.Status) + aside(j.Stop, j.Held), instancesInWords(j.JobSummary), nanosAge(p.now, j.SubmitTime)})
	}
	p.table([]string{"ID", "Status", "Instances", "Submitted"}, rows)
	if more := len(children) - len(shown); more > 0 {
		p.line("and %d older: reeve job status lists all", more)
	}
}
