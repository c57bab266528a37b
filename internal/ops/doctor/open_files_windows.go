package doctor

func openFiles() (files uint64, limited bool, err error) { return 0, false, nil }
