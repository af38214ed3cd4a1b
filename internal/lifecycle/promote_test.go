// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

// promote returns what becomes of the warming stacks of inventory 1.x, of which the given versions are healthy.
func (f *fleet) promote(healthy string) []string {
	var out []string
	for _, p := range f.index().Promote("dev", "inventory", 1, func(s *api.Stack) lifecycle.Warmth {
		if strings.Contains(" "+healthy+" ", " "+s.Version.String()+" ") {
			return lifecycle.Warmth{Passing: 3, Failing: 2}
		}
		return lifecycle.Warmth{Passing: 2, Failing: 2}
	}) {
		text := p.Stack.Version.String() + " "
		switch {
		case p.Overtaken:
			_, v, _, _ := api.ParseStackName(p.Other)
			text += fmt.Sprintf("overtaken by %s", v)
		case p.Wait != "":
			text += "waits: " + string(p.Wait)
		case p.Target:
			text += "target"
		case p.Lower:
			text += "ready without traffic"
		case p.ShiftFrom != nil:
			text += "shift from " + p.ShiftFrom.Version.String()
		default:
			text += "ready"
		}
		out = append(out, text)
	}
	return out
}

func TestWarmingStacksArePromoted(t *testing.T) {
	warming := status(api.StackWarming)
	for _, test := range []struct {
		name    string
		build   func(f *fleet)
		healthy string
		want    []string
	}{
		{"first stack of its major version", func(f *fleet) { f.stack("inventory 1.0.0", warming) }, "1.0.0", []string{"1.0.0 target"}},
		{"half of the instances are healthy", func(f *fleet) { f.stack("inventory 1.0.0", warming) }, "", []string{"1.0.0 waits: health"}},
		{"newer than the target", func(f *fleet) { f.stack("inventory 1.0.0"); f.stack("inventory 1.1.0", warming) }, "1.1.0", []string{"1.1.0 shift from 1.0.0"}},
		{"the target's version again", func(f *fleet) { f.stack("inventory 1.1.0"); f.stack("inventory 1.1.0", warming) }, "1.1.0", []string{"1.1.0 shift from 1.1.0"}},
		{"older than the target", func(f *fleet) { f.stack("inventory 1.1.0"); f.stack("inventory 1.0.7", warming) }, "1.0.7", []string{"1.0.7 ready without traffic"}},
		{"overtakes a broken one", func(f *fleet) {
			f.stack("inventory 1.0.0")
			f.stack("inventory 1.1.0", warming)
			f.stack("inventory 1.1.1", warming)
		}, "1.1.1", []string{"1.1.0 overtaken by 1.1.1", "1.1.1 shift from 1.0.0"}},
		{"overtaken by a fix that is ready", func(f *fleet) {
			f.stack("inventory 1.1.0", warming)
			f.stack("inventory 1.1.1")
		}, "", []string{"1.1.0 overtaken by 1.1.1"}},
		{"in the order of versions", func(f *fleet) {
			f.stack("inventory 1.1.1", warming)
			f.stack("inventory 1.1.0", warming)
		}, "1.1.0 1.1.1", []string{"1.1.0 target", "1.1.1 waits: earlier"}},
		{"while a shift runs", func(f *fleet) {
			f.shift(f.stack("inventory 1.0.0"), f.stack("inventory 1.1.0"), 0.5)
			f.stack("inventory 1.2.0", warming)
			f.stack("inventory 1.0.3", warming)
		}, "1.2.0", []string{"1.0.3 waits: health", "1.2.0 waits: shift"}},
		{"a deprecated version", func(f *fleet) {
			f.stack("inventory 1.0.0")
			f.stack("inventory 1.1.2", warming)
			f.deprecate("inventory", "1.1")
		}, "1.1.2", []string{"1.1.2 ready without traffic"}},
		{"policy none", func(f *fleet) {
			f.stack("inventory 1.0.0")
			f.stack("inventory 1.1.0", warming, func(s *api.Stack) { s.Spec.Shift = &api.ShiftSpec{Policy: api.ShiftNone} })
		}, "1.1.0", []string{"1.1.0 ready"}},
		{"a stack of another major version", func(f *fleet) { f.stack("inventory 2.0.0"); f.stack("inventory 1.0.0", warming) }, "1.0.0", []string{"1.0.0 target"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFleet(t)
			test.build(f)
			if diff := cmp.Diff(test.want, f.promote(test.healthy)); diff != "" {
				t.Errorf("promotions (-want +got):\n%s", diff)
			}
		})
	}
}
