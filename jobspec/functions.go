// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"maps"
	"sync"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// functions returns the functions of job files. Those that read files depend on the options.
func functions(opts Options) map[string]function.Function {
	fs := maps.Clone(pureFunctions())
	maps.Copy(fs, fileFunctions(opts))
	return fs
}

var pureFunctions = sync.OnceValue(func() map[string]function.Function {
	fs := map[string]function.Function{}
	for _, group := range []map[string]function.Function{
		numberFunctions(), textFunctions(), collectionFunctions(), typeFunctions(),
		encodingFunctions(), hashFunctions(), networkFunctions(), timeFunctions(),
	} {
		maps.Copy(fs, group)
	}
	return fs
})

func numberFunctions() map[string]function.Function {
	return map[string]function.Function{
		"abs":      stdlib.AbsoluteFunc,
		"ceil":     stdlib.CeilFunc,
		"floor":    stdlib.FloorFunc,
		"log":      stdlib.LogFunc,
		"max":      stdlib.MaxFunc,
		"min":      stdlib.MinFunc,
		"parseint": stdlib.ParseIntFunc,
		"pow":      stdlib.PowFunc,
		"signum":   stdlib.SignumFunc,
		"sum":      sumFunc,
	}
}

func textFunctions() map[string]function.Function {
	return map[string]function.Function{
		"chomp":         stdlib.ChompFunc,
		"endswith":      endsWithFunc,
		"format":        boundedFormat(stdlib.FormatFunc),
		"formatlist":    boundedFormat(stdlib.FormatListFunc),
		"indent":        boundedIndent,
		"join":          stdlib.JoinFunc,
		"lower":         stdlib.LowerFunc,
		"regex":         stdlib.RegexFunc,
		"regex_replace": stdlib.RegexReplaceFunc,
		"regexall":      stdlib.RegexAllFunc,
		"replace":       stdlib.ReplaceFunc,
		"split":         stdlib.SplitFunc,
		"startswith":    startsWithFunc,
		"strcontains":   containsTextFunc,
		"strlen":        stdlib.StrlenFunc,
		"strrev":        stdlib.ReverseFunc,
		"substr":        stdlib.SubstrFunc,
		"title":         stdlib.TitleFunc,
		"trim":          stdlib.TrimFunc,
		"trimprefix":    stdlib.TrimPrefixFunc,
		"trimspace":     stdlib.TrimSpaceFunc,
		"trimsuffix":    stdlib.TrimSuffixFunc,
		"upper":         stdlib.UpperFunc,
	}
}

func collectionFunctions() map[string]function.Function {
	return map[string]function.Function{
		"alltrue":                allTrueFunc,
		"anytrue":                anyTrueFunc,
		"chunklist":              stdlib.ChunklistFunc,
		"coalesce":               stdlib.CoalesceFunc,
		"coalescelist":           stdlib.CoalesceListFunc,
		"compact":                stdlib.CompactFunc,
		"concat":                 stdlib.ConcatFunc,
		"contains":               stdlib.ContainsFunc,
		"distinct":               stdlib.DistinctFunc,
		"element":                stdlib.ElementFunc,
		"flatten":                stdlib.FlattenFunc,
		"hasindex":               stdlib.HasIndexFunc,
		"index":                  indexFunc,
		"keys":                   stdlib.KeysFunc,
		"length":                 lengthFunc,
		"list":                   listFunc,
		"lookup":                 stdlib.LookupFunc,
		"map":                    mapFunc,
		"merge":                  stdlib.MergeFunc,
		"one":                    oneFunc,
		"range":                  stdlib.RangeFunc,
		"reverse":                stdlib.ReverseListFunc,
		"setintersection":        stdlib.SetIntersectionFunc,
		"setproduct":             boundedProduct,
		"setsubtract":            stdlib.SetSubtractFunc,
		"setsymmetricdifference": stdlib.SetSymmetricDifferenceFunc,
		"setunion":               stdlib.SetUnionFunc,
		"slice":                  stdlib.SliceFunc,
		"sort":                   stdlib.SortFunc,
		"values":                 stdlib.ValuesFunc,
		"zipmap":                 stdlib.ZipmapFunc,
	}
}

func typeFunctions() map[string]function.Function {
	return map[string]function.Function{
		"can":      tryfunc.CanFunc,
		"convert":  typeexpr.ConvertFunc,
		"tobool":   stdlib.MakeToFunc(cty.Bool),
		"tolist":   stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
		"tomap":    stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)),
		"tonumber": stdlib.MakeToFunc(cty.Number),
		"toset":    stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
		"tostring": stdlib.MakeToFunc(cty.String),
		"try":      tryfunc.TryFunc,
	}
}
