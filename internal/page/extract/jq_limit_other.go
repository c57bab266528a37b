//go:build !linux

package extract

func limitWorker(jqLimits) {}
