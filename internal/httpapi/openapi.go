// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/limit"
)

// pathParam is a variable part of a pattern.
var pathParam = regexp.MustCompile(`\{(\w+)\}`)

// parameter is one query parameter of a route.
type parameter struct{ name, kind, description string }

// commonParams are those of every route, of blocking ones, and of lists.
var (
	commonParams = []parameter{
		{"namespace", "string", "the namespace, `default` when absent; lists take `*` for all"},
		{"region", "string", "refused (400) unless it is the server's"},
		{"pretty", "boolean", "indent the answer"},
	}
	blockingParams = []parameter{
		{"index", "integer", "answer when the answer is newer than this index"},
		{"wait", "string", "answer after this long in any case: a duration such as `30s`, 5m when absent, 10m at most"},
		{"stale", "boolean", "any server may answer"},
	}
	listParams = []parameter{
		{"prefix", "string", "only ids that begin with this"},
		{"filter", "string", "only what this expression matches"},
		{"per_page", "integer", "at most this many"},
		{"next_token", "string", "the page that begins here, from `X-Nomad-NextToken` of the page before"},
		{"reverse", "boolean", "the other way round"},
	}
)

// sharedParams are the query parameters that a route shares with others.
func (r *route) sharedParams() []parameter {
	var all []parameter
	if r.List {
		all = append(all, listParams...)
	}
	if r.Tables != nil {
		all = append(all, blockingParams...)
	}
	return append(all, commonParams...)
}

func (p parameter) schema() object {
	return object{"name": p.name, "in": "query", "description": p.description, "schema": object{"type": p.kind}}
}

// noun is what a route is about: the first word of its path.
func (r *route) noun() string {
	word, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.Pattern, "/v1/"), "/"), "/")
	word = strings.TrimSuffix(word, ".json")
	if plural, ok := plurals[word]; ok {
		return plural
	}
	return word
}

var plurals = map[string]string{
	"job": "jobs", "validate": "jobs", "allocation": "allocations", "evaluation": "evaluations", "deployment": "deployments",
	"node": "nodes", "event": "events", "regions": "status", "agent": "status", "openapi": "status", "system": "status",
	"namespace": "namespaces", "restart": "restarts", ".well-known": "status", "metrics": "status",
}

// openAPI writes the table as an OpenAPI 3.1 document.
func openAPI(table []route) []byte {
	collected := schemas{}
	paths := map[string]object{}
	for i := range table {
		r := &table[i]
		if paths[r.Pattern] == nil {
			paths[r.Pattern] = object{}
		}
		paths[r.Pattern][strings.ToLower(r.Method)] = r.operation(collected)
	}
	shared := object{}
	for _, p := range slices.Concat(commonParams, blockingParams, listParams) {
		shared[p.name] = p.schema()
	}
	errors := object{
		"text/plain":       object{"schema": object{"type": "string"}},
		"application/json": object{"schema": collected.of(reflect.TypeFor[api.Error]())},
	}
	document := object{
		"openapi": "3.1.0",
		"info": object{
			"title":       "Reeve",
			"version":     "1",
			"description": "The HTTP API of Reeve. Routes that are PUT answer POST alike. Errors are text, or JSON with Code, Message and Detail for callers that accept application/json.",
			"license":     object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers": []any{object{"url": "http://127.0.0.1:4646"}},
		"paths":   paths,
		"components": object{"schemas": collected, "parameters": shared, "responses": object{
			"Error": object{"description": "The error.", "content": errors},
			"TooManyRequests": object{
				"description": "The caller sends too many requests of this class; the request was not executed.",
				"headers":     object{"Retry-After": object{"description": "Seconds after which the next request is permitted.", "schema": object{"type": "integer", "minimum": 1}}},
				"content":     errors,
			},
		}},
	}
	data, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		panic(err) // the table cannot be written: a mistake in the table
	}
	return append(data, '\n')
}

func (r *route) operation(collected schemas) object {
	parameters := []any{}
	for _, m := range pathParam.FindAllStringSubmatch(r.Pattern, -1) {
		parameters = append(parameters, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, name := range r.Params {
		parameters = append(parameters, parameter{name, "string", paramDocs[name]}.schema())
	}
	for _, p := range r.sharedParams() {
		parameters = append(parameters, object{"$ref": "#/components/parameters/" + p.name})
	}
	operation := object{
		"operationId":        r.operationID(),
		"summary":            r.Summary,
		"tags":               []string{r.noun()},
		"parameters":         parameters,
		"x-reeve-capability": string(r.Capability),
		"responses": object{
			"200":     r.answer(collected),
			"default": object{"$ref": "#/components/responses/Error"},
		},
	}
	if r.Class != limit.None {
		operation["responses"].(object)["429"] = object{"$ref": "#/components/responses/TooManyRequests"}
		operation["x-reeve-limit"] = r.Class.String()
	}
	if r.In != nil {
		operation["requestBody"] = object{
			"required": !r.BodyOK,
			"content":  object{"application/json": object{"schema": collected.of(r.In)}},
		}
	}
	return operation
}

func (r *route) answer(collected schemas) object {
	answer := object{"description": "Done."}
	content := object{}
	if r.Out != nil {
		content["schema"] = collected.of(r.Out)
	}
	answer["content"] = object{cmp.Or(r.Stream, "application/json"): content}
	if r.Tables != nil {
		answer["headers"] = object{"X-Nomad-Index": object{"description": "Index of the answer.", "schema": object{"type": "integer"}}}
	}
	return answer
}

// operationID is the route's name for generated clients: getJobIdSummary.
func (r *route) operationID() string {
	words := strings.FieldsFunc(strings.TrimPrefix(r.Pattern, "/v1"), func(c rune) bool { return !('a' <= c && c <= 'z') })
	name := strings.ToLower(r.Method)
	if r.Method == http.MethodGet && slices.Contains([]string{"stream"}, words[len(words)-1]) {
		name = "stream"
		words = words[:len(words)-1]
	}
	for _, w := range words {
		name += strings.ToUpper(w[:1]) + w[1:]
	}
	return name
}
