package parser_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"

	"seine/pkg/stages/parser"
)

// priceList reads price lists: each line has the number and the price of a product.
type priceList struct{}

func (priceList) Matches(d *parser.Document) bool { return d.MediaType == "text/csv" }

func (priceList) Extract(_ context.Context, d *parser.Document) (*parser.Extract, error) {
	lines, err := csv.NewReader(bytes.NewReader(d.Body)).ReadAll()
	if err != nil {
		return nil, err // the page goes to DEAD with this reason
	}
	x := &parser.Extract{Title: "Price list"}
	for _, line := range lines {
		x.Records = append(x.Records, parser.ExtractRecord{Kind: "product", Key: line[0], Fields: map[string]any{"price": line[1]}})
	}
	return x, nil
}

// An extractor makes records of documents that the parser cannot read. A parser program with this
// extractor only calls command.Parser(priceList{}) in its main function.
func ExampleExtractor() {
	d := &parser.Document{URL: "https://shop.example/prices.csv", MediaType: "text/csv", Body: []byte("7,12.50\n8,3.20\n")}
	var reader parser.Extractor = priceList{}
	if !reader.Matches(d) {
		return
	}
	x, err := reader.Extract(context.Background(), d)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range x.Records {
		fmt.Println(r.Kind, r.Key, r.Fields)
	}
	// Output:
	// product 7 map[price:12.50]
	// product 8 map[price:3.20]
}
