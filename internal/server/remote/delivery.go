// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/broker"
	"github.com/reeve-run/reeve/internal/state"
)

// Values of Delivery.blocked.
const (
	noneBlocked = iota
	lastBlocked
	newestBlocked
)

// encodeDelivery returns the message of a delivery.
func encodeDelivery(token uint64, d *broker.Delivery) *Delivery {
	m := &Delivery{Token: token, MinIndex: d.MinIndex, Attempt: uint32(d.Attempt)}
	list := append([]*api.Evaluation{d.Evaluation}, d.Riders...)
	switch {
	case d.Blocked == nil:
	case d.Blocked == d.Evaluation:
		m.Blocked = newestBlocked
	default:
		m.Blocked = lastBlocked
		list = append(list, d.Blocked)
	}
	m.Evaluations = state.AppendCommand(nil, &state.PutEvaluations{Evaluations: list})
	return m
}

// decodeDelivery is the inverse of encodeDelivery.
func decodeDelivery(m *Delivery) (*broker.Delivery, error) {
	list, err := decodeEvaluations(m.Evaluations)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || m.Blocked == lastBlocked && len(list) < 2 {
		return nil, fmt.Errorf("delivery %d has %d evaluations", m.Token, len(list))
	}
	d := &broker.Delivery{Evaluation: list[0], MinIndex: m.MinIndex, Attempt: int(m.Attempt)}
	rest := list[1:]
	switch m.Blocked {
	case newestBlocked:
		d.Blocked = d.Evaluation
	case lastBlocked:
		d.Blocked, rest = rest[len(rest)-1], rest[:len(rest)-1]
	}
	if len(rest) > 0 {
		d.Riders = rest
	}
	return d, nil
}

// decodeEvaluations decodes evaluations from a command of the log, all of one job.
func decodeEvaluations(b []byte) ([]*api.Evaluation, error) {
	commands, err := state.DecodeAppended(b)
	if err != nil {
		return nil, err
	}
	if len(commands) != 1 {
		return nil, fmt.Errorf("%d commands, want one", len(commands))
	}
	return evaluationsOf(commands[0])
}

func evaluationsOf(c state.Command) ([]*api.Evaluation, error) {
	put, ok := c.(*state.PutEvaluations)
	if !ok {
		return nil, fmt.Errorf("command %s, want evaluations", c.Name())
	}
	for _, e := range put.Evaluations {
		switch {
		case e == nil || e.ID == "":
			return nil, fmt.Errorf("an evaluation without an id")
		case e.JobKey() != put.Evaluations[0].JobKey():
			return nil, fmt.Errorf("evaluation %q is of another job", e.ID)
		}
	}
	return put.Evaluations, nil
}
