// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// Syntax is the syntax of a job file.
type Syntax string

// Syntaxes. FormatAuto decides by the file's extension, then by its content.
const (
	FormatAuto Syntax = ""
	FormatHCL  Syntax = "hcl"
	FormatJSON Syntax = "json"
	FormatYAML Syntax = "yaml"
)

// MaxSize bounds the text of a job file, in bytes.
const MaxSize = 8 << 20

// Source is the text of one job file.
type Source struct {
	Name   string // as errors show it; its extension tells the format
	Text   []byte
	Format Syntax
}

// Options are what a job file may refer to. The zero value is a file without
// variables that may not read other files.
type Options struct {
	// Vars are values for the file's variables, as given with -var name=value.
	// They win over VarFiles, which win over VarText, which wins over Env.
	Vars map[string]string
	// VarFiles are files of name = value lines (HCL, or JSON when the name ends
	// in .json), a later one winning over an earlier one.
	VarFiles []string
	// VarText is the text of one more such file, for callers that hold it in
	// memory.
	VarText string
	// Env holds NAME=value pairs as os.Environ returns them; REEVE_VAR_x and
	// NOMAD_VAR_x give variable x a value.
	Env []string
	// Strict makes a value for a variable that the file does not declare an
	// error, whether the file could not have it (JSON and YAML have no variables)
	// or only does not. A value in Env is never an error.
	Strict bool
	// AllowFS lets functions such as file() and fileset() read files; relative
	// names start at BaseDir.
	AllowFS bool
	BaseDir string
	// Context ends the evaluation of a file that nobody waits for any more; nil
	// is the background.
	Context context.Context

	sections *section // to be filled
	scarce   int      // divides the budget, so that tests reach its end soon
}

// Parse reads a job file. The job is as written: not canonicalized, not
// validated as a whole. The error is an *Error with every problem found.
func Parse(src Source, opts Options) (*api.Job, error) {
	if len(src.Text) > MaxSize {
		return nil, tooLarge(src.Name, len(src.Text))
	}
	src.Text = bytes.TrimPrefix(src.Text, []byte("\ufeff")) // a byte order mark
	format := DetectFormat(src)
	if format == FormatHCL {
		return parseHCL(src, opts)
	}
	if opts.Strict && (len(opts.Vars) > 0 || len(opts.VarFiles) > 0) {
		return nil, &Error{Problems: []Problem{{File: src.Name, Message: "only job files in HCL have variables; this one is " + strings.ToUpper(string(format))}}}
	}
	if format == FormatJSON {
		return parseJSON(src, opts)
	}
	return parseYAML(src, opts)
}

// ParseFile reads a job file from disk. Functions that read files start at its
// directory unless opts.BaseDir is set.
func ParseFile(path string, opts Options) (*api.Job, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &api.Error{Code: api.CodeInvalid, Message: "read job file: " + err.Error()}
	}
	if opts.BaseDir == "" {
		opts.BaseDir = filepath.Dir(path)
	}
	return Parse(Source{Name: path, Text: text}, opts)
}

var (
	hclLine  = regexp.MustCompile(`(?m)^[ \t]*[a-z_]+[ \t]*("[^"\n]*"[ \t]*)*\{`)
	yamlLine = regexp.MustCompile(`(?m)^[ \t]*[A-Za-z_]+:([ \t\r]|$)`)
)

// DetectFormat is the source's format: what it says, else what its extension
// says, else what its text looks like.
func DetectFormat(src Source) Syntax {
	if src.Format != FormatAuto {
		return src.Format
	}
	switch strings.ToLower(filepath.Ext(src.Name)) {
	case ".json":
		return FormatJSON
	case ".yaml", ".yml":
		return FormatYAML
	case ".hcl", ".nomad":
		return FormatHCL
	}
	text := bytes.TrimSpace(src.Text)
	switch {
	case bytes.HasPrefix(text, []byte("{")):
		return FormatJSON
	case hclLine.Match(text):
		return FormatHCL
	case yamlLine.Match(text):
		return FormatYAML
	}
	return FormatHCL
}
