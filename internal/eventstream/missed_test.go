// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"bytes"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// TestAMissedRangeIsReportedOnce makes the hub fall behind after a stream has reported the same range: the
// stream has missed nothing more, and says nothing.
func TestAMissedRangeIsReportedOnce(t *testing.T) {
	store := state.New()
	for index := range uint64(3) {
		if errs := store.Apply(index+1, []state.Command{&state.PutNodePool{Pool: &api.NodePool{Name: "pool"}}}); errs[0] != nil {
			t.Fatal(errs[0])
		}
	}
	for _, query := range []Query{{}, {Snapshot: true}, {Complete: true}} {
		var w bytes.Buffer
		s := &Stream{Query: query, store: store, after: 1}
		s.out = newEncoder(&w, &s.Query)
		err := s.sendMissed()
		if (err == errMissed) != query.Complete || strings.Count(w.String(), `"Missed":{"From":2,"To":3}`) != 1 {
			t.Errorf("%+v: %v, %s", query, err, &w)
		}
		w.Reset()
		if err := s.sendMissed(); err != nil || w.Len() > 0 || s.after != 3 {
			t.Errorf("%+v: again %v, %s", query, err, &w)
		}
		s.out.release()
	}
}
