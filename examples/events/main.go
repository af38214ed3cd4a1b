// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Command events maintains a list of all services, and prints its changes, like
// the configuration of a load balancer. It can run indefinitely: after a restart
// of the server it continues after the last event, and after missed events the
// server sends all objects again. It never requests a list.
//
//	reeve dev examples/in-place.hcl
//	go run ./examples/events            # in another terminal
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := follow(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func follow(ctx context.Context) error {
	cl, err := client.New(client.Config{Address: os.Getenv("REEVE_ADDR")})
	if err != nil {
		return err
	}
	defer cl.Close()
	services := map[string]string{} // id of the registration: what is shown of it
	var before map[string]string    // while a snapshot is read, what there was before it
	for batch, err := range cl.Events().Follow(ctx, client.EventOptions{
		Topics: map[string][]string{api.TopicService: nil}, Snapshot: true,
		OnBreak: func(err error) { fmt.Println("!", err) },
	}) {
		if err != nil {
			return err
		}
		if m := batch.Missed; m != nil {
			fmt.Printf("! missed events from index %d to %d\n", m.From, m.To)
		}
		if batch.Snapshot == api.SnapshotBegin {
			before, services = services, map[string]string{}
		}
		for _, e := range batch.Events {
			shown, err := show(e)
			if err != nil {
				return err
			}
			switch {
			case e.Deleted:
				fmt.Println("-", services[e.Key])
				delete(services, e.Key)
			case before == nil && services[e.Key] != shown, before != nil && before[e.Key] != shown:
				fmt.Println("+", shown)
				fallthrough
			default:
				services[e.Key] = shown
			}
		}
		if batch.Snapshot == api.SnapshotEnd {
			for id, shown := range before {
				if services[id] == "" {
					fmt.Println("-", shown)
				}
			}
			before = nil
			fmt.Printf("= %d services at index %d\n", len(services), batch.Index)
		}
	}
	return nil
}

// show is what matters of a registration.
func show(e *api.Event) (string, error) {
	text, err := json.Marshal(e.Payload[api.TopicService])
	if err != nil {
		return "", err
	}
	var r api.ServiceRegistration
	if err := json.Unmarshal(text, &r); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s:%d %v", r.ServiceName, r.Address, r.Port, r.Tags), nil
}
