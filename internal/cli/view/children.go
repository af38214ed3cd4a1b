// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// childrenShown limits the child jobs that "job status" lists.
const childrenShown = 10

// StartsOthers reports whether a job runs no tasks itself, but starts child jobs.
func StartsOthers(j *api.Job) bool { return j.IsPeriodic() || j.IsParameterized() }

// starts returns fields about the causes that start a job's children.
func starts(now time.Time, j *api.Job) (fields []term.Field) {
	if p := j.Periodic; p != nil {
		fields = append(fields, term.Field{"Schedule", scheduleInWords(p)}, term.Field{"Next start", NextStart(now, j)})
	}
	if p := j.Parameterized; p != nil && !j.Dispatched {
		fields = append(fields,
			term.Field{"Payload", p.Payload},
			term.Field{"Required meta", cmp.Or(strings.Join(p.MetaRequired, ", "), "none")},
			term.Field{"Optional meta", cmp.Or(strings.Join(p.MetaOptional, ", "), "none")})
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

// NextStart returns the time of a periodic job's next start, or the reason why it has
// none.
func NextStart(now time.Time, j *api.Job) string {
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
	return fmt.Sprintf("%s (in %s)", due.UTC().Format(time.RFC3339), human.Duration(due.Sub(now)))
}

// children writes the number of a job's children, and the newest ones.
func children(p *term.Page, parent *api.Job, summary *api.JobSummary, children []*api.JobListStub) {
	if s := summary; s != nil && s.Launches != nil && !s.Launches.LastSkipped.IsZero() {
		p.Fields(term.Field{"Skipped", fmt.Sprintf("the start at %s: the previous job had not ended", s.Launches.LastSkipped.UTC().Format(time.RFC3339))})
	}
	kind := "Dispatched jobs"
	if parent.IsPeriodic() {
		kind = "Child jobs"
	}
	p.Section(kind)
	if s := summary; s != nil && s.Children != nil {
		p.Fields(
			term.Field{"Pending", strconv.FormatInt(s.Children.Pending, 10)},
			term.Field{"Running", strconv.FormatInt(s.Children.Running, 10)},
			term.Field{"Dead", strconv.FormatInt(s.Children.Dead, 10)},
		)
	}
	if len(children) == 0 {
		return
	}
	p.WriteByte('\n')
	shown := children[:min(len(children), childrenShown)]
	var rows [][]string
	for _, j := range shown {
		rows = append(rows, []string{j.ID, p.Style.Status(j.Status) + aside(j.Stop, j.Held), instancesInWords(j.JobSummary), human.NanosAge(p.Now, j.SubmitTime)})
	}
	p.Table([]string{"ID", "Status", "Instances", "Submitted"}, rows)
	if more := len(children) - len(shown); more > 0 {
		p.Line("and %d older jobs; \"reeve job status\" lists all jobs", more)
	}
}
