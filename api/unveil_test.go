// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestUnveilIsParsed(t *testing.T) {
	got, err := ParseUnveil([]any{"r:/etc/ssl", "rwxc:/srv/a:b", "cw:/", "${meta.mode}:relative"})
	want := []Unveil{{"r", "/etc/ssl"}, {"rwxc", "/srv/a:b"}, {"cw", "/"}, {"${meta.mode}", "relative"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if got, err := ParseUnveil([]any{}); err != nil || len(got) != 0 {
		t.Errorf("an empty list: %v, %v", got, err)
	}
}

func TestUnveilProblemsQuoteTheEntry(t *testing.T) {
	many := make([]any, 10000)
	for i := range many {
		many[i] = fmt.Sprintf("r:/etc/%d", i)
	}
	for want, list := range map[string]any{
		"has 10000 entries, and may have 256":                                          many,
		`entry 2, "/etc": write the modes before the path, such as "r:/etc/ssl"`:       []any{"r:/a", "/etc"},
		`entry 1, "": write the modes`:                                                 []any{""},
		`entry 1, ":/etc": write the modes`:                                            []any{":/etc"},
		`"rq" has an unknown mode; modes are r (read), w (write)`:                      []any{"rq:/etc"},
		`"d" has an unknown mode`:                                                      []any{"d:rwx:/etc"},
		`"rwr" has a mode twice`:                                                       []any{"rwr:/etc"},
		`entry 1, "r:": the path is missing`:                                           []any{"r:"},
		`the path must be absolute, as the task sees it`:                               []any{"r:local/x"},
		`write the path without "..", "." and double or final slashes: "/shadow"`:      []any{"r:/etc/../shadow"},
		`write the path without "..", "." and double or final slashes: "/etc"`:         []any{"r:/etc/"},
		`write the path without "..", "." and double or final slashes: "/etc/ssl"`:     []any{"r://etc/ssl"},
		`the path contains a zero byte`:                                                []any{"r:/etc\x00"},
		`it has more than 4096 bytes`:                                                  []any{"r:/" + strings.Repeat("a", 5000)},
		`must be a list of strings, such as ["r:/etc/ssl"], not "r:/etc"`:              "r:/etc",
		`must be a list of strings, such as ["r:/etc/ssl"], not "[1]"`:                 []any{1},
		`must be a list of strings, such as ["r:/etc/ssl"], not "map[read:[/etc/ssl]]`: map[string]any{"read": []any{"/etc/ssl"}},
	} {
		problems := DriverConfigProblems("exec", map[string]any{"command": "x", "unveil": list})
		if len(problems) != 1 || !strings.HasPrefix(problems[0], "unveil ") || !strings.Contains(problems[0], want) || len(problems[0]) > 600 {
			t.Errorf("problems %.700q, want %q", problems, want)
		}
	}
	if p := DriverConfigProblems(DriverJava, map[string]any{"class": "x", "unveil": []any{}}); len(p) != 1 {
		t.Errorf("unveil of java: %v, want an unknown key", p)
	}
}

func TestNodesWithoutLandlockDoNotUnveil(t *testing.T) {
	task := &Task{Name: "web", Driver: "exec", Config: map[string]any{"unveil": []any{}}}
	for attribute, want := range map[string]string{"v7": "", LandlockUnavailable: "needs Landlock, which the node's kernel lacks", "": "upgrade the node's agent"} {
		n := &Node{Attributes: map[string]string{}}
		if attribute != "" {
			n.Attributes[NodeAttrLandlock] = attribute
		}
		got := UnveilMismatch(n, task)
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("attribute %q: %q, want %q", attribute, got, want)
		}
		for _, other := range []*Task{{Driver: "exec"}, {Driver: "raw_exec", Config: task.Config}} {
			if got := UnveilMismatch(n, other); got != "" {
				t.Errorf("a task without unveil: %q", got)
			}
		}
	}
}
