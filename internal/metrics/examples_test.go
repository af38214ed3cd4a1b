// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/reeve-run/reeve/internal/metrics"
)

var seriesName = regexp.MustCompile(`\b(?:nomad|reeve)_\w+`)

// checkExpression verifies the names of series and the labels of an expression.
func checkExpression(t *testing.T, where, expr string) {
	t.Helper()
	names := seriesName.FindAllString(expr, -1)
	if len(names) == 0 {
		t.Errorf("%s: %q names no series", where, expr)
	}
	for _, name := range names {
		if !slices.ContainsFunc(metrics.All(), func(s *metrics.Series) bool {
			p := s.Prometheus()
			return name == p || s.Kind == metrics.Summary && (name == p+"_sum" || name == p+"_count")
		}) {
			t.Errorf("%s: there is no series %s", where, name)
		}
	}
	for _, pair := range []string{"()", "[]", "{}"} {
		if strings.Count(expr, pair[:1]) != strings.Count(expr, pair[1:]) {
			t.Errorf("%s: %q has unbalanced %s", where, expr, pair)
		}
	}
}

func TestDashboardUsesSeriesThatExist(t *testing.T) {
	text, err := os.ReadFile("../../examples/grafana/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	if len(dashboard.Panels) < 10 {
		t.Errorf("%d panels, want more", len(dashboard.Panels))
	}
	for _, p := range dashboard.Panels {
		if len(p.Targets) == 0 {
			t.Errorf("panel %s shows nothing", p.Title)
		}
		for _, target := range p.Targets {
			checkExpression(t, p.Title, target.Expr)
		}
	}
}

func TestAlertRulesUseSeriesThatExist(t *testing.T) {
	text, err := os.ReadFile("../../examples/grafana/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Groups) != 1 || len(file.Groups[0].Rules) < 10 {
		t.Fatalf("%d groups of rules, want one with at least 10 rules", len(file.Groups))
	}
	for _, r := range file.Groups[0].Rules {
		checkExpression(t, r.Alert, r.Expr)
		if r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
			t.Errorf("%s does not say what is wrong and what to do", r.Alert)
		}
	}
}
