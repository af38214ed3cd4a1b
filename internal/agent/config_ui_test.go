// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestSettingsOfTheUI(t *testing.T) {
	for text, want := range map[string]UI{
		``:                        {},
		`ui {}`:                   {},
		`ui { enabled = true }`:   {},
		`ui { enabled = false }`:  {Disabled: true},
		`ui { read_only = true }`: {ReadOnly: true},
	} {
		c, err := LoadConfig([]string{writeConfig(t, "a.hcl", text)})
		if err != nil || c.UI != want {
			t.Errorf("%s: %+v, %v", text, c.UI, err)
		}
	}
	off := writeConfig(t, "a.json", `{"ui": {"enabled": false, "read_only": true}}`)
	on := writeConfig(t, "b.hcl", `ui { enabled = true }`)
	if c, err := LoadConfig([]string{off, on}); err != nil || c.UI != (UI{ReadOnly: true}) {
		t.Errorf("a later file: %+v, %v", c.UI, err)
	}
}

func TestSettingsOfNomadsUIAreRefusedByName(t *testing.T) {
	for _, text := range []string{
		"content_security_policy {}", "consul { ui_url = \"https://consul.example.com/ui\" }", "vault {}", "label { text = \"prod\" }",
		"show_cli_hints = false", "enabled = \"perhaps\"",
	} {
		_, err := LoadConfig([]string{writeConfig(t, "a.hcl", fmt.Sprintf("ui {\n  %s\n}", text))})
		name, _, _ := strings.Cut(text, " ")
		var refused *api.Error
		if !errors.As(err, &refused) || len(refused.Detail) == 0 {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := strings.Join(refused.Detail, "\n"); !strings.Contains(got, "a.hcl:2:") || name != "enabled" && !strings.Contains(got, name) {
			t.Errorf("%s: %s", text, got)
		}
	}
}
