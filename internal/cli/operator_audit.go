// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

const (
	auditPoll  = time.Second      // between two questions of -follow
	auditDelay = 15 * time.Second // for which -follow still expects records of earlier times
)

func operatorAuditCommand(c *cli) *command {
	var (
		q      client.RequestQuery
		since  time.Duration
		limit  int
		follow bool
	)
	return &command{
		use:   "audit",
		short: "List who sent which requests, allowed or refused",
		long: `List the records of requests that the servers received: refused requests,
writes, and reads of variables, tokens, files and output of tasks. Records
contain the caller, its address, the route and the outcome, and no secrets. Each
server stores the records of the requests that it received; this command asks
all of them. With -namespace, it lists only requests about that namespace.

Only management tokens and operators may read them.`,
		example: "reeve operator audit -refused -since 1h\nreeve operator audit -caller ana -follow",
		format:  true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&q.Refused, "refused", false, "list only refused requests")
			f.StringVar(&q.Caller, "caller", "", "list only requests of `CALLER`: a kind such as operator, the name of a token, or the beginning of its accessor id")
			f.StringVar(&q.Route, "route", "", "list only requests whose method and route, or path, contain `TEXT`")
			f.DurationVar(&since, "since", 0, "list only requests of the last `D`, such as 1h")
			f.IntVar(&limit, "limit", 100, "list the newest `N` records")
			f.BoolVar(&follow, "follow", false, "continue with new records until interrupted")
		},
		run: func(r *call) error {
			if limit < 1 || since < 0 {
				return api.Errorf(api.CodeInvalid, "-limit must be at least 1, and -since not negative")
			}
			if since > 0 {
				q.Since = c.Now().Add(-since)
			}
			l := &requestLister{call: r, cl: r.cl.WithNamespace(c.flags.namespace), seen: map[string]time.Time{}, sinks: map[string][]*api.AuditSink{}, names: map[string]string{}}
			records, err := l.list(q, limit)
			if err != nil {
				return err
			}
			if follow {
				l.tellSinks()
				return l.follow(q, records)
			}
			l.tellFailures()
			l.tellSinks()
			return r.show(records, func(p *term.Page) {
				if len(records) == 0 {
					p.Line("No records.")
				}
				view.Requests(p, records)
			})
		},
	}
}

// A requestLister reads the records of all servers.
type requestLister struct {
	*call
	cl     *client.Client
	seen   map[string]time.Time // ids of shown records, for the time of auditDelay
	failed map[string]error     // servers that did not answer, by name

	sinks map[string][]*api.AuditSink // by id of their server
	names map[string]string           // of servers, by id
}

// list returns the newest records of all servers, the oldest of them first. It fails only if no server answers.
func (l *requestLister) list(q client.RequestQuery, limit int) ([]*api.RequestRecord, error) {
	servers, err := l.cl.Servers().List(l.ctx)
	if err != nil {
		return nil, err
	}
	all := []*api.RequestRecord{}
	l.failed = map[string]error{}
	var last error
	for _, s := range servers {
		q.Member = s.ID
		l.names[s.ID] = s.Name
		records, err := l.ofServer(q, limit)
		if err != nil {
			l.failed[s.Name], last = err, err
			continue
		}
		all = append(all, records...)
	}
	if len(l.failed) == len(servers) && last != nil {
		return nil, last
	}
	slices.SortStableFunc(all, func(a, b *api.RequestRecord) int { return a.Time.Compare(b.Time) })
	return all[max(0, len(all)-limit):], nil
}

// ofServer returns the newest records of one server.
func (l *requestLister) ofServer(q client.RequestQuery, limit int) (all []*api.RequestRecord, err error) {
	for len(all) < limit {
		q.PerPage = min(limit-len(all), 1000)
		page, err := l.cl.Operator().Requests(l.ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Records...)
		if q.NextToken == "" {
			l.sinks[q.Member] = page.Sinks
		}
		if q.NextToken = page.NextToken; q.NextToken == "" {
			break
		}
	}
	return all, nil
}

// tellFailures names the servers that did not answer.
func (l *requestLister) tellFailures() {
	for name, err := range l.failed {
		fmt.Fprintf(l.Stderr, "Missing: the records of server %s: %v\n", api.Printable(name, 80), err)
	}
}

// tellSinks names the places to which servers cannot copy their records.
func (l *requestLister) tellSinks() {
	for _, id := range slices.Sorted(maps.Keys(l.sinks)) {
		for _, s := range l.sinks[id] {
			if sentence := sinkWarning(s); sentence != "" {
				fmt.Fprintf(l.Stderr, "Warning: server %s: %s\n", api.Printable(l.names[id], 80), sentence)
			}
		}
	}
}

// sinkWarning says what is wrong with a sink, and what to do; "": nothing.
func sinkWarning(s *api.AuditSink) string {
	name, target := api.Printable(s.Name, 40), api.Printable(s.Target, 200)
	switch {
	case !s.FailingSince.IsZero():
		return fmt.Sprintf("audit sink %s does not deliver to %s since %s: %s; %s wait in the audit log, which deletes its oldest file when it is full: repair the receiver, or correct the sink in the block audit of the server's configuration",
			name, target, s.FailingSince.Format(time.RFC3339), api.Printable(s.Error, 300), human.Bytes(max(0, s.WaitingBytes)))
	case s.Gaps > 0:
		return fmt.Sprintf("audit sink %s missed records %d times since the server started: the audit log deleted them before they were delivered to %s; increase files or file_mb in the block audit of the server's configuration", name, s.Gaps, target)
	}
	return ""
}

// followLimit bounds the new records of one server that follow shows at once.
const followLimit = 5000

// follow shows records, and those that come.
func (l *requestLister) follow(q client.RequestQuery, records []*api.RequestRecord) error {
	known := map[string]bool{}
	tick := time.NewTicker(auditPoll)
	defer tick.Stop()
	for {
		for name := range l.failed {
			if !known[name] {
				l.tellFailures()
			}
			known[name] = true
		}
		for name := range known {
			if l.failed[name] == nil {
				delete(known, name)
			}
		}
		if len(records) >= followLimit {
			fmt.Fprintf(l.Stderr, "Older records than these %s may be missing.\n", human.Count(len(records), "record", "records"))
		}
		if err := l.print(records); err != nil {
			return err
		}
		select {
		case <-l.ctx.Done():
			return nil
		case <-tick.C:
		}
		q.Since = l.Now().Add(-auditDelay)
		var err error
		if records, err = l.list(q, followLimit); err != nil && l.ctx.Err() == nil {
			return err
		}
	}
}

// print shows the records that were not shown yet.
func (l *requestLister) print(records []*api.RequestRecord) error {
	now := l.Now()
	fresh := slices.DeleteFunc(records, func(r *api.RequestRecord) bool {
		_, shown := l.seen[r.ID]
		l.seen[r.ID] = now
		return shown
	})
	for id, at := range l.seen {
		if now.Sub(at) > 4*auditDelay {
			delete(l.seen, id)
		}
	}
	if l.format.forPeople() {
		p := l.page()
		view.Requests(p, fresh)
		_, err := fmt.Fprint(l.Stdout, p.String())
		return err
	}
	for _, r := range fresh {
		if l.format.json {
			line, err := json.Marshal(r)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(l.Stdout, "%s\n", line); err != nil {
				return err
			}
		} else if err := l.show(r, nil); err != nil {
			return err
		}
	}
	return nil
}
