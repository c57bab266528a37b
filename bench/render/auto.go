package main

import "context"

func (o *options) auto(ctx context.Context, work string) error { return nil }
