// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"

	"github.com/reeve-run/reeve/internal/state/wire"
)

// deflateFrom is the size from which documents are compressed: a sweep that gives 10,000 stacks new
// verdicts has 3.5 MB of JSON, most of it repeated.
const deflateFrom = 64 << 10

// documentCommand encodes a rare command as its canonical JSON.
func documentCommand(c Command) *wire.Command {
	text, err := json.Marshal(c)
	if err != nil {
		panic("state: encode " + c.Name() + ": " + err.Error()) // the types hold only what JSON has
	}
	d := &wire.Document{Name: c.Name(), Json: text}
	if len(text) >= deflateFrom {
		d.Json, d.JsonDeflated = nil, deflate(text)
	}
	return &wire.Command{Kind: &wire.Command_Document{Document: d}}
}

func deflate(text []byte) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("state: compress a document: " + err.Error()) // a buffer takes everything
	}
	return b.Bytes()
}

func decodeDocument(w *wire.Document) (Command, error) {
	var c Command
	switch w.GetName() {
	case "SweepStacks":
		c = new(SweepStacks)
	case "DeployStacks":
		c = new(DeployStacks)
	case "BeginShift":
		c = new(BeginShift)
	case "RevokeMember":
		c = new(RevokeMember)
	case "StageRestore":
		c = new(StageRestore)
	case "DiscardRestore":
		c = new(DiscardRestore)
	case "RestoreState":
		c = new(RestoreState)
	case "ReportVolumes":
		c = new(ReportVolumes)
	case "PinImage":
		c = new(PinImage)
	case "RaiseLevel":
		c = new(RaiseLevel)
	default:
		return nil, unknownNoun(w.GetName())
	}
	text := w.GetJson()
	if deflated := w.GetJsonDeflated(); len(deflated) > 0 {
		var err error
		if text, err = io.ReadAll(flate.NewReader(bytes.NewReader(deflated))); err != nil {
			return nil, fmt.Errorf("decompress %s: %w", w.GetName(), err)
		}
	}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, err
	}
	if raise, ok := c.(*RaiseLevel); ok {
		return c, checkLevel(raise.Level, raise.Version)
	}
	return c, nil
}
