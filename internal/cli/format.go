// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/template"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// show prints v in the selected format: for people, as JSON, or through a template.
func (c *cli) show(f format, v any, people func(*term.Page)) error {
	switch {
	case f.json && f.template != "":
		return usagef("choose either -json or -t")
	case f.json:
		return writeJSON(c.Stdout, v)
	case f.template != "":
		return c.writeTemplate(f.template, v)
	}
	p := c.page()
	people(p)
	_, err := p.WriteTo(c.Stdout)
	return err
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	return e.Encode(v)
}

func (c *cli) writeTemplate(text string, v any) error {
	t, err := template.New("-t").Funcs(c.templateFuncs()).Parse(text)
	if err != nil {
		return fmt.Errorf("run template -t: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return fmt.Errorf("run template -t: %w", err)
	}
	if b.Len() > 0 && !bytes.HasSuffix(b.Bytes(), []byte("\n")) {
		b.WriteByte('\n')
	}
	_, err = c.Stdout.Write(b.Bytes())
	return err
}

// templateFuncs returns the functions of templates. docs/cli.md lists them.
func (c *cli) templateFuncs() template.FuncMap {
	return template.FuncMap{
		"json":  templateJSON,
		"short": api.ShortID,
		"join":  func(sep string, list []string) string { return strings.Join(list, sep) },
		"upper": strings.ToUpper,
		"lower": strings.ToLower,
		"time":  func(nanos int64) string { return time.Unix(0, nanos).Format(time.RFC3339) },
		"age":   func(nanos int64) string { return human.Age(c.Now(), time.Unix(0, nanos)) },
		"addresses": func(a *api.Allocation) []string {
			return view.Addresses(a)
		},
	}
}

func templateJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}
