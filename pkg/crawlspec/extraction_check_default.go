package crawlspec

import (
	"encoding/json"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
)

// checkDefault reports a default that has another type than the field's values: readers of records
// expect one type in a column.
func (f *Field) checkDefault(p *Problems, path string) {
	if f.Default == nil {
		return
	}
	if f.Required {
		p.Addf(path+".required", "has no meaning beside default")
	}
	path += ".default"
	var v any
	if jsontext.Unmarshal(f.Default, &v) != nil || v == nil {
		return // the rule compiler reports it; null is the value of a field without a default
	}
	isObject := f.Map != nil || len(f.Fields) > 0
	if f.All || f.Split != "" {
		var list []json.RawMessage
		if jsontext.Unmarshal(f.Default, &list) != nil {
			p.Addf(path, "%s: must be a list, since all and split make one, as in [%[1]s]", messages.Clip(string(f.Default)))
			return
		}
		for _, member := range list {
			f.checkOneDefault(p, path, member, isObject)
		}
		return
	}
	f.checkOneDefault(p, path, json.RawMessage(f.Default), isObject)
}

// checkOneDefault reports a value that the field could not have.
func (f *Field) checkOneDefault(p *Problems, path string, text json.RawMessage, isObject bool) {
	wants := ""
	switch {
	case isObject && !strings.HasPrefix(string(text), "{"):
		wants = "an object, as the field has beside map and fields"
	case !isObject:
		wants = unlike(f.As, text)
	}
	if wants != "" {
		p.Addf(path, "%s: must be %s", messages.Clip(string(text)), wants)
	}
}

// unlike describes the values that As makes, if a JSON value is not one of them, "" otherwise.
func unlike(as string, text json.RawMessage) string {
	isText := text[0] == '"'
	isNumber := text[0] == '-' || '0' <= text[0] && text[0] <= '9'
	var s string
	if isText {
		_ = jsontext.Unmarshal(text, &s) // it is valid
	}
	switch {
	case as == "number" && !isNumber:
		return "a number, as: number"
	case as == "integer" && !(isNumber && isWhole(string(text))):
		return "a whole number, as: integer"
	case as == "boolean" && string(text) != "true" && string(text) != "false":
		return "true or false, as: boolean"
	case as == "date" && !(isText && isDate(s)):
		return `a date, as in "2006-01-02" or "2006-01-02T15:04:05Z"`
	case as == "url" && !(isText && isAbsolute(s)):
		return "an absolute URL, as: url"
	case as == "text" && !isText:
		return "a text, as: text; put it into quotes"
	}
	return ""
}

func isWhole(number string) bool {
	if !strings.ContainsAny(number, ".eE") {
		return true
	}
	f, err := strconv.ParseFloat(number, 64)
	return err == nil && f == math.Trunc(f)
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	if err != nil {
		_, err = time.Parse(time.RFC3339Nano, s)
	}
	return err == nil
}

func isAbsolute(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.IsAbs()
}
