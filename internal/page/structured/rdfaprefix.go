package structured

import (
	"maps"
	"strings"
)

// initialPrefixes is the initial context of RDFa 1.1
// (https://www.w3.org/2011/rdfa-context/rdfa-1.1).
var initialPrefixes = map[string]string{
	"as": "https://www.w3.org/ns/activitystreams#", "cc": "http://creativecommons.org/ns#",
	"csvw": "http://www.w3.org/ns/csvw#", "ctag": "http://commontag.org/ns#",
	"dc": "http://purl.org/dc/terms/", "dc11": "http://purl.org/dc/elements/1.1/",
	"dcat": "http://www.w3.org/ns/dcat#", "dcterms": "http://purl.org/dc/terms/",
	"dqv": "http://www.w3.org/ns/dqv#", "duv": "https://www.w3.org/ns/duv#",
	"foaf": "http://xmlns.com/foaf/0.1/", "gr": "http://purl.org/goodrelations/v1#",
	"grddl": "http://www.w3.org/2003/g/data-view#", "ical": "http://www.w3.org/2002/12/cal/icaltzd#",
	"jsonld": "http://www.w3.org/ns/json-ld#", "ldp": "http://www.w3.org/ns/ldp#",
	"ma": "http://www.w3.org/ns/ma-ont#", "oa": "http://www.w3.org/ns/oa#",
	"odrl": "http://www.w3.org/ns/odrl/2/", "og": "http://ogp.me/ns#", "org": "http://www.w3.org/ns/org#",
	"owl": "http://www.w3.org/2002/07/owl#", "prov": "http://www.w3.org/ns/prov#",
	"qb": "http://purl.org/linked-data/cube#", "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
	"rdfa": "http://www.w3.org/ns/rdfa#", "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
	"rev": "http://purl.org/stuff/rev#", "rif": "http://www.w3.org/2007/rif#", "rr": "http://www.w3.org/ns/r2rml#",
	"schema": "http://schema.org/", "sd": "http://www.w3.org/ns/sparql-service-description#",
	"sioc": "http://rdfs.org/sioc/ns#", "skos": "http://www.w3.org/2004/02/skos/core#",
	"skosxl": "http://www.w3.org/2008/05/skos-xl#", "sosa": "http://www.w3.org/ns/sosa/",
	"ssn": "http://www.w3.org/ns/ssn/", "time": "http://www.w3.org/2006/time#",
	"v": "http://rdf.data-vocabulary.org/#", "vcard": "http://www.w3.org/2006/vcard/ns#",
	"void": "http://rdfs.org/ns/void#", "wdr": "http://www.w3.org/2007/05/powder#",
	"wdrs": "http://www.w3.org/2007/05/powder-s#", "xhv": "http://www.w3.org/1999/xhtml/vocab#",
	"xml": "http://www.w3.org/XML/1998/namespace", "xsd": "http://www.w3.org/2001/XMLSchema#",
}

// prefixes has the prefixes in force at one element of a walk, in lower case. At the element that
// declares one, push records the former meaning, and pop restores it.
type prefixes map[string]string

func newPrefixes() prefixes {
	return maps.Clone(initialPrefixes)
}

// binding is a prefix and its former meaning.
type binding struct{ prefix, iri string }

// push declares the prefixes of a prefix attribute: "name: iri name: iri".
func (p prefixes) push(attribute string, undo []binding) []binding {
	fields := strings.Fields(attribute)
	for i := 0; i+1 < len(fields); i += 2 {
		if name, ok := strings.CutSuffix(fields[i], ":"); ok {
			undo = p.declare(name, fields[i+1], undo)
		}
	}
	return undo
}

func (p prefixes) declare(name, iri string, undo []binding) []binding {
	name = strings.ToLower(name)
	undo = append(undo, binding{name, p[name]})
	p[name] = iri
	return undo
}

func (p prefixes) pop(undo []binding) {
	for i := len(undo) - 1; i >= 0; i-- {
		if undo[i].iri == "" {
			delete(p, undo[i].prefix)
		} else {
			p[undo[i].prefix] = undo[i].iri
		}
	}
}

// curie expands prefix:reference. It returns false if the prefix is not declared.
func (p prefixes) curie(s string) (string, bool) {
	prefix, reference, ok := strings.Cut(s, ":")
	if !ok || strings.HasPrefix(reference, "//") {
		return "", false
	}
	iri := p[strings.ToLower(prefix)]
	return iri + reference, iri != ""
}

// name expands a type or property: a CURIE, an absolute IRI, or a term in the vocabulary in force.
// It returns false for terms without a vocabulary and undeclared prefixes.
func (p prefixes) name(s, vocab string) (string, bool) {
	if iri, ok := p.curie(s); ok {
		return iri, true
	}
	if strings.Contains(s, "://") {
		return s, true
	}
	return vocab + s, vocab != "" && !strings.Contains(s, ":")
}
