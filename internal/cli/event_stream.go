// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func eventStreamCommand(c *cli) *command {
	var (
		o      client.EventOptions
		topics []string
	)
	return &command{
		use:   "stream",
		short: "Print events until interrupted",
		long: `Print one line per event until interrupted. With -json each line is a JSON
object; with -t each event is printed through the template. The command
reconnects automatically and continues after the last event.

Topics are Job, Evaluation, Allocation, Deployment, Node, NodePool, Plan
(decisions of operators), Restart, Domain, Instance (states of instances),
Service (addresses that receive traffic) and Step (states of plans, phases and
steps; only if -topic names it). "TOPIC:KEY" selects one object of a topic, or
the objects of a job.

With -snapshot the command first prints all objects of the topics, as events
whose type ends in Snapshot, and then every later change. A filter is an
expression over the event, whose object is Payload.TOPIC.

The command reports on standard error if events are missing, because they are
too old or too many. With -snapshot it then prints all objects again; with
-complete it fails.`,
		example: `reeve event stream
reeve event stream -topic Deployment -topic Job:web
reeve event stream -snapshot -topic Instance:web
reeve event stream -topic Allocation -filter 'Payload.Allocation.ClientStatus == "failed"'
reeve event stream -json -index 100`,
		format: true,
		flags: func(f *pflag.FlagSet) {
			f.StringArrayVar(&topics, "topic", nil, "print only events of `TOPIC[:KEY]`; repeatable")
			f.StringVar(&o.Filter, "filter", "", "print only events that match `EXPRESSION`")
			f.Uint64Var(&o.Index, "index", 0, "start at index `N`, if the servers still keep it")
			f.BoolVar(&o.Snapshot, "snapshot", false, "start with all objects of the topics")
			f.BoolVar(&o.Complete, "complete", false, "fail if events are missing")
		},
		run: func(r *call) error {
			o.Topics, o.Namespace = parseTopics(topics), c.namespace()
			return c.streamEvents(r.ctx, r.cl, o, r.format)
		},
	}
}

// parseTopics reads TOPIC and TOPIC:KEY.
func parseTopics(list []string) map[string][]string {
	if len(list) == 0 {
		return nil
	}
	topics := make(map[string][]string, len(list))
	for _, t := range list {
		topic, key, _ := strings.Cut(t, ":")
		if key == "" {
			key = "*"
		}
		topics[topic] = append(topics[topic], key)
	}
	return topics
}

func (c *cli) streamEvents(ctx context.Context, cl *client.Client, o client.EventOptions, f format) error {
	said := false
	o.OnBreak = func(err error) {
		if !said {
			said = true
			c.tell("%s\nReconnecting; Ctrl-C ends this command only.", c.stderrStyle().Yellow(lost(cl, err)))
		}
	}
	o.OnResume = func() {
		said = false
		c.tell("Connected again.")
	}
	for batch, err := range cl.Events().Follow(ctx, o) {
		if errors.Is(err, context.Canceled) {
			return nil
		}
		if err != nil {
			return err
		}
		if m := batch.Missed; m != nil {
			fmt.Fprintf(c.Stderr, "events from index %d to %d are missing\n", m.From, m.To)
		}
		for _, e := range batch.Events {
			if err := c.writeEvent(e, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *cli) writeEvent(e *api.Event, f format) error {
	switch {
	case f.json:
		line, err := templateJSON(e)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(c.Stdout, line)
		return err
	case f.template != "":
		return c.writeTemplate(f.template, e)
	}
	key := e.Key
	if len(key) == term.IDWidth {
		key = api.ShortID(key)
	}
	_, err := fmt.Fprintf(c.Stdout, "%-8d  %-10s  %-30s  %-10s  %s\n", e.Index, e.Topic, e.Type, key, eventSubject(e))
	return err
}

// eventSubject describes the object of an event.
func eventSubject(e *api.Event) string {
	for _, object := range e.Payload {
		fields, ok := object.(map[string]any)
		if !ok {
			continue
		}
		var parts []string
		for _, name := range []string{"Name", "JobID", "TriggeredBy", "DesiredStatus", "ClientStatus", "Status", "StatusDescription", "ServiceName", "State", "CrashReason"} {
			if name == "CrashReason" && fields["State"] != api.InstanceCrashed {
				continue // it has reconnected since
			}
			if s, ok := fields[name].(string); ok && s != "" && s != e.Key {
				parts = append(parts, s)
			}
		}
		if total, ok := fields["Total"].(float64); ok && e.Topic == api.TopicStep {
			completed, _ := fields["Completed"].(float64)
			parts = append(parts, fmt.Sprintf("%g of %g steps", completed, total))
		}
		if why, ok := fields["Message"].(string); ok && why != "" && e.Topic == api.TopicStep {
			parts = append(parts, why)
		}
		if routable, ok := fields["Routable"].(bool); ok && fields["State"] == api.InstanceRunning {
			parts = append(parts, map[bool]string{true: "traffic", false: "no traffic"}[routable])
			if why, ok := fields["Message"].(string); ok && why != "" {
				parts[len(parts)-1] += ": " + why
			}
		}
		return strings.Join(parts, ", ")
	}
	return ""
}
