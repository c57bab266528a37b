package extract

// program is one that fields have evaluated for each item, and how many results they take.
type program struct {
	query *query
	most  int
}

// maxAhead is how many items are looked at before the fields of the first one are found.
const maxAhead = 100

// programsOf returns the programs that fields apply to an item itself, and that a worker must evaluate.
func programsOf(fields []*field) (out []program) {
	for _, f := range fields {
		if f.value != nil || f.from != "" || f.selector.jq == nil || !f.selector.bare() || f.selector.jq.path != nil {
			continue
		}
		most := 1
		if f.all || f.key != nil {
			most = maxAsked
		}
		out = append(out, program{f.selector.jq, most})
	}
	return out
}

// allAhead yields what a selector finds. The programs of fields are evaluated for many items at once: a worker takes a program in
// less time than it takes to wake it.
func (j jqRun) allAhead(s *selector, in item, fields []*field, yield func(item) bool) error {
	programs := programsOf(fields)
	if len(programs) == 0 {
		return s.all(j.run, in, yield)
	}
	var items []item
	more := true
	flush := func() bool {
		j.askAhead(items, programs)
		for i := 0; i < len(items) && more; i++ {
			more = yield(items[i])
		}
		items = items[:0]
		return more
	}
	err := s.all(j.run, in, func(i item) bool {
		items = append(items, i)
		return len(items) < maxAhead || flush()
	})
	if !flush() {
		return nil
	}
	return err
}

// askAhead evaluates programs for items. What it does not find out is left for later, also an error.
func (j jqRun) askAhead(items []item, programs []program) {
	for len(items) > 0 {
		w, err := j.interpreter()
		if err != nil {
			return
		}
		n := 0
		for n < len(items) && len(w.request) < maxBatch {
			v, ok, err := j.value(items[n])
			if n++; err == nil && ok && !tooLarge(v) && j.spend(1+w.give(v)/bytesAWork) == nil {
				items[n-1].ahead = make(map[*query]*batch, len(programs))
				for _, p := range programs {
					w.begin(p.query.text, j.level)
					w.next(j.level, p.most)
				}
			}
		}
		answers := w.exchange()
		for i := range items[:n] {
			for _, p := range programs {
				if items[i].ahead != nil && len(answers) > 0 {
					items[i].ahead[p.query], answers = answers[0], answers[1:]
				}
			}
		}
		items = items[n:]
	}
}
