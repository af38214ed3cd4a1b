// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"fmt"
	"os"
	"reflect"
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
	want := []string{"job versions", "scaling", "scheduler configuration", "acl_policies", "acl_roles", "acl_tokens", "audit records", "auth_methods", "binding_rules", "autopilot", "restore-parts", "lifecycle sweeps", "image-pins", "introductions", "root_keys", "recovery_keys", "one_time_tokens", "quotas", "renewals", "revocations", "servers", "stack jobs", "trust", "uninstalled jobs", "variables", "volume-claims"}
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

// TestObjectsOfANamespaceHaveEventsOfIt covers every stored object with a namespace: without it in the event, the
// subscribers of all namespaces would receive the object.
func TestObjectsOfANamespaceHaveEventsOfIt(t *testing.T) {
	tested := 0
	for _, topic := range topics {
		if topic.describe == nil || reflect.TypeOf(topic.object).Elem().Kind() != reflect.Struct {
			continue
		}
		object := reflect.New(reflect.TypeOf(topic.object).Elem())
		field := object.Elem().FieldByName("Namespace")
		if !field.IsValid() {
			continue
		}
		tested++
		field.SetString("dev")
		for _, op := range []state.Op{state.Put, state.Delete} {
			c := state.Change{Op: op, New: object.Interface()}
			if op == state.Delete {
				c.Old, c.New = c.New, nil
			}
			e := topic.event(1, c)
			for namespace, want := range map[string]bool{"dev": true, "prod": false, "dev/sandbox": false, "*": true} {
				q := &Query{Namespace: namespace, Topics: Selection{topic.name: nil}}
				if got, err := q.admits(e); got != want || err != nil {
					t.Errorf("%s of namespace dev (%v): a subscriber of namespace %s receives it: %v (%v), want %v", topic.name, op, namespace, got, err, want)
				}
			}
		}
	}
	if tested < 8 {
		t.Errorf("%d topics have objects in namespaces, want at least those of jobs, allocations, stacks, units and shifts", tested)
	}
}

func TestRulesOfAllNamespacesConcernEachSubscriber(t *testing.T) {
	topic := topicsByTable[state.TableUnits]
	e := topic.event(1, state.Change{Op: state.Put, New: &api.Unit{Namespace: api.AnyNamespace, Name: "inventory"}})
	for _, namespace := range []string{"dev", "*"} {
		q := &Query{Namespace: namespace, Topics: Selection{api.TopicUnit: nil}}
		if got, err := q.admits(e); !got || err != nil {
			t.Errorf("a subscriber of namespace %s receives the rules for all namespaces: %v (%v), want true", namespace, got, err)
		}
	}
}
