// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// bombs are texts that ask for far more work than they are long. Each is the
// value of a meta key, or, with job, a whole file; K and L are locals of 1,000
// and 2,000 elements.
var bombs = map[string]string{
	"loops in loops":            `[for a in local.K: [for b in local.K: [for c in local.K: "${a}${b}${c}"]]]`,
	"loops that fail":           `[for a in local.K: [for b in local.K: [for c in local.K: c.nothing]]]`,
	"loops that may fail":       `[for a in local.K: try([for b in local.K: try([for c in local.K: [for d in local.K: d]], 1)], 2)]`,
	"loops that can":            `[for a in local.K: can([for b in local.K: can([for c in local.K: c])])]`,
	"maps of maps":              `{for a in local.K: a => {for b in local.K: b => {for c in local.K: c => "x"}}}`,
	"loops with a condition":    `[for a in local.K: 1 if length([for b in local.K: 1 if length([for c in local.K: c if c > 2000]) > 0]) > 0]`,
	"templates":                 `"%{for a in local.K}%{for b in local.K}%{for c in local.K}x%{endfor}%{endfor}%{endfor}"`,
	"splats":                    `[for a in local.K: local.L[*]]`,
	"splats of splats":          `[for a in local.K: [for b in local.K: local.L[*][*]]]`,
	"bare loops":                `[for a in local.L: [for b in local.L: b]]`,
	"conditions":                `[for a in local.L: true ? [for b in local.L: 1 > 2 ? 1 : 2] : []]`,
	"functions of much":         `[for a in local.L: length(join(",", local.L))]`,
	"join":                      `join(join("", [for a in local.L: "0123456789"]), local.L)`,
	"replace":                   `replace(join("", local.L), "1", join("", local.L))`,
	"replace nothing":           `replace(join("", local.L), "", join("", local.L))`,
	"regex_replace":             `regex_replace(join("", local.L), "[0-9]", join("", local.L))`,
	"format":                    `format(join("", [for a in local.L: "%[1]s"]), join("", local.L))`,
	"formatlist":                `formatlist(join("", [for a in local.K: "%[1]s"]), join("", local.L), local.L)`,
	"format a number":           `format("%d", "1e999999999")`,
	"a number as text":          `"${tonumber("1e999999999")}"`,
	"an argument as a number":   `tostring(abs("1e999999999"))`,
	"a product of numbers":      `"${1e1000 * 1e1000 * 1e1000 * 1e1000 * 1e1000}"`,
	"indent":                    `indent(1000, join("\n", [for a in local.L: join("", ["\n", "\n", "\n", "\n"])]))`,
	"setproduct":                `[for a in local.K: setproduct([1,2,3,4,5,6,7,8,9,10], [1,2,3,4,5,6,7,8,9,10], [1,2,3,4,5,6,7,8,9,10])]`,
	"range":                     `[for a in local.L: range(1000)]`,
	"flatten":                   `flatten([for a in local.L: local.L])`,
	"concat":                    `length(concat(` + strings.Repeat(`local.L, `, 900) + `local.L))`,
	"split":                     `[for a in local.L: split("", join("", local.L))]`,
	"merge":                     `[for a in local.L: merge({for b in local.K: b => a}, {for b in local.K: "x${b}" => a})]`,
	"hashes":                    `[for a in local.L: sha512(join("", local.L))]`,
	"bcrypt":                    `[for a in local.K: bcrypt("x", 15)]`,
	"deep JSON":                 `jsondecode(join("", [for a in local.L: "[[[[[[[[[["]))`,
	"deep YAML":                 `yamldecode(join("", [for a in local.L: "[[[[[[[[[["]))`,
	"YAML that multiplies":      `yamldecode("a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]")`,
	"csvdecode":                 `[for a in local.K: csvdecode(join("\n", local.L))]`,
	"texts that double":         `[for a in local.K: join("", [for b in local.L: join("", local.K)])]`,
	"one text many times":       `[for a in local.L: local.S]`,
	"a type of many types":      `[for a in local.K: {for b in local.K: "${a}${b}" => {"${a}" = b}}]`,
	"comparing what is large":   `[for a in local.L: local.L == local.L]`,
	"an index of what is large": `[for a in local.L: [local.L, local.L][0]]`,
}

const bombLocals = `locals {
  T = range(1000)
  K = [for i in range(1000): i]
  L = flatten([for a in range(4): [for b in range(500): "${a}${b}"]])
  S = join("", [for a in local.L: "0123456789"])
}
`

// explode parses a bomb; it fails unless the text is refused, with a place, soon,
// and without much memory.
func explode(t *testing.T, text string) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	_, err := Parse(Source{Name: "job.hcl", Text: []byte(text)}, Options{scarce: 8})
	runtime.ReadMemStats(&after)
	var e *Error
	if !errors.As(err, &e) || e.Problems[0].Line < 1 {
		t.Errorf("%v; want a refusal with a line", err)
	}
	if len(fmt.Sprint(err)) > 64<<10 {
		t.Errorf("the refusal has %d bytes", len(fmt.Sprint(err)))
	}
	if grown := int64(after.Sys) - int64(before.Sys); grown > 700<<20 {
		t.Errorf("took %d MB from the system", grown>>20)
	}
}

func TestNoExpressionTakesMoreThanItsBudget(t *testing.T) {
	for name, expr := range bombs {
		t.Run(name, func(t *testing.T) {
			explode(t, bombLocals+"job \"b\" {\n  meta = {\n    x = jsonencode("+expr+")\n  }\n}\n")
		})
	}
}

func TestNoFileTakesMoreThanItsBudget(t *testing.T) {
	group := func(inner string) string {
		return `dynamic "group" {
    for_each = local.L
    labels   = ["g${group.value}"]
    content {
` + inner + `
    }
  }`
	}
	task := "task \"t\" {\n driver = \"mock\"\n}"
	for name, text := range map[string]string{
		"blocks in blocks":       bombLocals + "job \"b\" {\n" + group("dynamic \"task\" {\n for_each = local.L\n labels = [\"t${task.value}\"]\n content {\n driver = \"mock\"\n meta { x = local.S }\n }\n}") + "\n}\n",
		"a large text in blocks": bombLocals + "job \"b\" {\n" + strings.Replace(group(task+"\n meta { x = local.S }"), "local.L", "local.K", 1) + "\n}\n",
		"a long text in blocks":  bombLocals + "job \"b\" {\n" + strings.Replace(group(task+"\n meta {\n x = \""+strings.Repeat("y", 1<<20)+"\"\n}"), "local.L", "local.K", 1) + "\n}\n",
		"mistakes in blocks":     bombLocals + "job \"b\" {\n" + group(task+"\n cuont = 1") + "\n}\n",
		"locals": "locals {\n a0 = \"0123456789\"\n" + strings.Join(func() (lines []string) {
			for i := range 200 {
				lines = append(lines, fmt.Sprintf(" a%d = \"${local.a%d}${local.a%d}\"", i+1, i, i))
			}
			return lines
		}(), "\n") + "\n}\njob \"b\" {\n}\n",
		"a variable":   "variable \"v\" {\n default = [for a in range(1000): [for b in range(1000): [for c in range(1000): c]]]\n}\njob \"b\" {\n}\n",
		"a validation": "variable \"v\" {\n default = 1\n validation {\n condition = length([for a in range(1000): [for b in range(1000): [for c in range(1000): c]]]) > 1\n}\n}\njob \"b\" {\n}\n",
	} {
		t.Run(name, func(t *testing.T) { explode(t, text) })
	}
}

// Aliases multiply texts, too.
func TestYAMLMultipliesNoText(t *testing.T) {
	text := "id: b\nmeta:\n  a: &a " + strings.Repeat("x", 1<<20) + "\n"
	for i := range 100 {
		text += fmt.Sprintf("  k%d: *a\n", i)
	}
	_, err := Parse(Source{Name: "job.yaml", Text: []byte(text)}, Options{})
	var e *Error
	if !errors.As(err, &e) || e.Problems[0].Line < 3 || !strings.Contains(e.Problems[0].Message, "aliases multiply") {
		t.Errorf("%.200v; want a refusal with a line", err)
	}
}

// A file is not evaluated for somebody who has left.
func TestEvaluationEndsWithItsRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text := bombLocals + "job \"b\" {\n meta = { x = jsonencode([for a in local.K: [for b in local.K: b]]) }\n}\n"
	_, err := Parse(Source{Name: "job.hcl", Text: []byte(text)}, Options{Context: ctx})
	if err == nil || !strings.Contains(err.Error(), "has left") {
		t.Errorf("%v; want that nobody waits for it", err)
	}
}

// What people write is far below the budget.
func TestALargeFileFitsItsBudget(t *testing.T) {
	text := `locals {
  zones = [for i in range(100): "zone-${i}"]
}
job "large" {
  dynamic "group" {
    for_each = local.zones
    labels   = [group.value]
    content {
      count = 3
      dynamic "task" {
        for_each = range(10)
        labels   = ["task-${task.value}"]
        content {
          driver = "mock"
          env {
            NAME  = upper("${group.value}-${task.value}")
            PEERS = join(",", [for z in local.zones: z if z != group.value])
          }
        }
      }
    }
  }
}
`
	job, err := Parse(Source{Name: "job.hcl", Text: []byte(text)}, Options{})
	if err != nil || len(job.Groups) != 100 || len(job.Groups[99].Tasks) != 10 {
		t.Fatalf("%v; want 100 groups of 10 tasks", err)
	}
}
