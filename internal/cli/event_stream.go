// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

func eventStreamCommand(c *cli) *cobra.Command {
	var (
		f      format
		topics []string
		index  uint64
	)
	cmd := &cobra.Command{
		Use:   "stream",
		Short: "Print events as they happen, until interrupted",
		Long: `Prints one line per event, until it is interrupted. With -json each line is the
event as a JSON object; with -t each event goes through the template.

Topics are Job, Evaluation, Allocation, Deployment, Node, NodePool, Plan (what
operators decide) and Restart; "TOPIC:KEY" is one object of a topic.`,
		Example: `reeve event stream
reeve event stream -topic Deployment -topic Job:web
reeve event stream -json -index 100`,
		Args: exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			o := client.EventOptions{Topics: parseTopics(topics), Index: index, Namespace: c.namespace()}
			return c.streamEvents(cmd.Context(), cl, o, f)
		},
	}
	f.addTo(cmd.Flags())
	cmd.Flags().StringArrayVar(&topics, "topic", nil, "only events of `TOPIC[:KEY]`; may be given several times")
	cmd.Flags().Uint64Var(&index, "index", 0, "begin with what happened at index `N`, when that is still known")
	return cmd
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
	for batch, err := range cl.Events().Stream(ctx, o) {
		if errors.Is(err, context.Canceled) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range batch.Events {
			if err := c.writeEvent(e, f); err != nil {
				return err
			}
		}
	}
	return errors.New("the server ended the stream: begin again, with -index to leave nothing out")
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
	if len(key) == fullID {
		key = api.ShortID(key)
	}
	_, err := fmt.Fprintf(c.Stdout, "%-8d  %-10s  %-30s  %-10s  %s\n", e.Index, e.Topic, e.Type, key, eventSubject(e))
	return err
}

// eventSubject says what an event is about, from its object.
func eventSubject(e *api.Event) string {
	for _, object := range e.Payload {
		fields, ok := object.(map[string]any)
		if !ok {
			continue
		}
		var parts []string
		for _, name := range []string{"Name", "JobID", "TriggeredBy", "DesiredStatus", "ClientStatus", "Status", "StatusDescription"} {
			if s, ok := fields[name].(string); ok && s != "" && s != e.Key {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, ", ")
	}
	return ""
}
