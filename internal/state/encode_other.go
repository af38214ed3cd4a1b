// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/wire"
)

func (c *PutEvaluations) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_PutEvaluations{PutEvaluations: &wire.PutEvaluations{
		Evaluations: encodeEvaluations(c.Evaluations),
	}}}
}

func decodePutEvaluations(w *wire.PutEvaluations) (_ *PutEvaluations, err error) {
	c := &PutEvaluations{}
	c.Evaluations, err = decodeEvaluations(w.Evaluations)
	return c, err
}

func (c *DeleteEvaluations) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_DeleteEvaluations{DeleteEvaluations: &wire.DeleteEvaluations{Ids: c.IDs}}}
}

func (c *RegisterNode) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_RegisterNode{RegisterNode: &wire.RegisterNode{
		NodeJson: document(c.Node), Evaluations: encodeEvaluations(c.Evaluations),
	}}}
}

func decodeRegisterNode(w *wire.RegisterNode) (_ *RegisterNode, err error) {
	c := &RegisterNode{}
	if c.Node, err = parse[api.Node](w.NodeJson); err != nil {
		return nil, err
	}
	c.Evaluations, err = decodeEvaluations(w.Evaluations)
	return c, err
}

func (c *UpdateNodeStatus) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_UpdateNodeStatus{UpdateNodeStatus: &wire.UpdateNodeStatus{
		NodeId: c.NodeID, Status: c.Status, Description: c.Description, Time: c.Time, SilentSince: c.SilentSince,
		Evaluations: encodeEvaluations(c.Evaluations),
	}}}
}

func decodeUpdateNodeStatus(w *wire.UpdateNodeStatus) (_ *UpdateNodeStatus, err error) {
	c := &UpdateNodeStatus{NodeID: w.NodeId, Status: w.Status, Description: w.Description, Time: w.Time, SilentSince: w.SilentSince}
	c.Evaluations, err = decodeEvaluations(w.Evaluations)
	return c, err
}

func (c *SetNodeEligibility) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_SetNodeEligibility{SetNodeEligibility: &wire.SetNodeEligibility{
		NodeId: c.NodeID, Eligibility: c.Eligibility, Message: c.Message, Time: c.Time, Evaluations: encodeEvaluations(c.Evaluations),
	}}}
}

func decodeSetNodeEligibility(w *wire.SetNodeEligibility) (_ *SetNodeEligibility, err error) {
	c := &SetNodeEligibility{NodeID: w.NodeId, Eligibility: w.Eligibility, Message: w.Message, Time: w.Time}
	c.Evaluations, err = decodeEvaluations(w.Evaluations)
	return c, err
}

func (c *DeleteNode) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_DeleteNode{DeleteNode: &wire.DeleteNode{
		Ids: c.IDs, Evaluations: encodeEvaluations(c.Evaluations),
	}}}
}

func decodeDeleteNode(w *wire.DeleteNode) (_ *DeleteNode, err error) {
	c := &DeleteNode{IDs: w.Ids}
	c.Evaluations, err = decodeEvaluations(w.Evaluations)
	return c, err
}

func (c *SetNodeDrain) encode() *wire.Command {
	w := &wire.SetNodeDrain{
		NodeId: c.NodeID, Status: c.Status, MarkEligible: c.MarkEligible, Message: c.Message, Time: c.Time,
		StrategyJson: document(c.Strategy), Evaluations: encodeEvaluations(c.Evaluations),
	}
	if c.Meta != nil {
		w.MetaJson = document(&c.Meta)
	}
	return &wire.Command{Kind: &wire.Command_SetNodeDrain{SetNodeDrain: w}}
}

func decodeSetNodeDrain(w *wire.SetNodeDrain) (_ *SetNodeDrain, err error) {
	c := &SetNodeDrain{NodeID: w.NodeId, Status: w.Status, MarkEligible: w.MarkEligible, Message: w.Message, Time: w.Time}
	if c.Strategy, err = parse[api.DrainStrategy](w.StrategyJson); err != nil {
		return nil, err
	}
	meta, err := parse[map[string]string](w.MetaJson)
	if err != nil {
		return nil, err
	}
	if meta != nil {
		c.Meta = *meta
	}
	c.Evaluations, err = decodeEvaluations(w.Evaluations)
	return c, err
}

func (c *Collect) encode() *wire.Command {
	w := &wire.Collect{Evaluations: c.Evaluations, Allocations: c.Allocations, Deployments: c.Deployments, Nodes: c.Nodes, Restarts: c.Restarts}
	for _, j := range c.Jobs {
		w.Jobs = append(w.Jobs, &wire.JobName{Namespace: j.Namespace, Id: j.ID})
	}
	return &wire.Command{Kind: &wire.Command_Collect{Collect: w}}
}

func decodeCollect(w *wire.Collect) (*Collect, error) {
	c := &Collect{Evaluations: w.Evaluations, Allocations: w.Allocations, Deployments: w.Deployments, Nodes: w.Nodes, Restarts: w.Restarts}
	for _, j := range w.Jobs {
		c.Jobs = append(c.Jobs, api.NamespacedID{Namespace: j.GetNamespace(), ID: j.GetId()})
	}
	return c, nil
}
