// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// A noun without a topic is a decision, not an omission.
func TestTablesWithoutATopicAreKnown(t *testing.T) {
	var without []string
	for table := state.Table(0); table.String() != "unknown"; table++ {
		if topicsByTable[table] == nil {
			without = append(without, table.String())
		}
	}
	want := []string{"job versions", "scaling", "scheduler configuration", "audit records", "lifecycle sweeps", "stack jobs", "uninstalled jobs"}
	if diff := cmp.Diff(want, without); diff != "" {
		t.Errorf("tables without a topic (-want +got):\n%s", diff)
	}
}

func TestEveryTopicIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range TopicNames() {
		if !strings.Contains(string(text), "\n| `"+name+"` |") {
			t.Errorf("docs/events.md has no row for the topic %s", name)
		}
	}
}

// fieldOf is a field of each topic's payload.
var fieldOf = map[string]string{
	api.TopicNodePool: "Name", api.TopicDomain: "Name", api.TopicNamespace: "Name", api.TopicUnit: "Name",
	api.TopicPlan: "Verb", api.TopicInstance: "State", api.TopicService: "ServiceName",
}

func TestFiltersReachTheFieldsOfEveryTopic(t *testing.T) {
	for _, name := range TopicNames() {
		field := fieldOf[name]
		if field == "" {
			field = "ID"
		}
		selected := Selection{name: nil}
		f, err := ParseFilter(fmt.Sprintf(`Payload.%s.%s == "" and Topic == %q`, name, field, name), selected)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, other := range topics {
			got, err := matchesEvent(f, &api.Event{Topic: other.name, Payload: map[string]any{other.name: other.object}})
			if want := other.name == name; got != want || err != nil {
				t.Errorf("a filter on %s: an event of %s gives %t, %v; want %t", name, other.name, got, err, want)
			}
		}
		if _, err := ParseFilter(`Payload.`+name+`.Weather == "sun"`, selected); err == nil {
			t.Errorf("%s: a filter on a field that it does not have is accepted", name)
		}
	}
	if _, err := ParseFilter(`Payload.Weather.ID == "sun"`, Selection{api.TopicJob: nil}); err == nil {
		t.Error("a filter on a topic that does not exist is accepted")
	}
}

func TestSelectionsAreParsed(t *testing.T) {
	for _, tc := range []struct {
		params string
		want   Selection
		err    string
	}{
		{"", Selection{"*": nil}, ""},
		{"Job", Selection{"Job": nil}, ""},
		{"Job:a Job:b Node:*", Selection{"Job": {"a", "b"}, "Node": nil}, ""},
		{"Job:a Job Job:b", Selection{"Job": nil}, ""},
		{"ACLToken", Selection{"ACLToken": nil}, ""},
		{"Job Weather:sun Tide", nil, `topic: unknown topic "Weather", "Tide"; use Allocation, `},
	} {
		got, err := ParseSelection(strings.Fields(tc.params))
		if tc.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), tc.err) {
				t.Errorf("%q: got error %v, want %s", tc.params, err, tc.err)
			}
			continue
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", tc.params, err, diff)
		}
	}
}

func TestIDsNameThePositionAfterAnEvent(t *testing.T) {
	for _, tc := range []struct {
		id    string
		index uint64
		skip  int
		ok    bool
	}{
		{formatID(7, 0), 8, 0, true},
		{formatID(7, 2), 7, 2, true},
		{"", 0, 0, false}, {"7.", 0, 0, false}, {"7.-1", 0, 0, false}, {"-7", 0, 0, false}, {"18446744073709551615", 0, 0, false},
	} {
		index, skip, err := ParseID(tc.id)
		if index != tc.index || skip != tc.skip || (err == nil) != tc.ok {
			t.Errorf("%q: got %d, %d, %v; want %d, %d", tc.id, index, skip, err, tc.index, tc.skip)
		}
	}
}
