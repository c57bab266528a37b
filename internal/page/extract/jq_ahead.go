package extract

// maxAhead is the number of items selected before the fields of the first one are evaluated.
// maxBatch is the size in bytes above which a request or its answers are split.
const (
	maxAhead = 100
	maxBatch = 64 << 10
)

// programsOf returns the programs that fields apply to the item itself and that a worker must
// evaluate.
func programsOf(fields []*field) (out []*query) {
	for _, f := range fields {
		if f.value == nil && f.from == "" && f.selector.jq != nil && f.selector.bare() && f.selector.jq.path == nil {
			out = append(out, f.selector.jq)
		}
	}
	return out
}

// allAhead yields the matches of a selector. It evaluates the programs of fields for many items at
// once: a worker evaluates a program in less time than it takes to wake the worker.
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

// askAhead evaluates programs for items. Missing results and errors are left to the later
// evaluation.
func (j jqRun) askAhead(items []item, programs []*query) {
	tasks := make([]jqProgram, len(programs))
	for i, q := range programs {
		tasks[i] = jqProgram{Text: q.text, Most: maxAsked}
		if q.first {
			tasks[i].Most = 1
		}
	}
	for len(items) > 0 {
		request, asked, size := jqRequest{Most: maxBatch}, []*item(nil), 0
		for len(items) > 0 && size < maxBatch {
			if v, ok, err := j.value(items[0]); err == nil && ok && !tooLarge(v) {
				text := appendValue(nil, v)
				size += len(text)
				request.Tasks, asked = append(request.Tasks, jqTask{Value: text, Programs: tasks}), append(asked, &items[0])
			}
			items = items[1:]
		}
		if len(asked) == 0 {
			return
		}
		w, err := j.interpreter()
		if err != nil || j.spend(1+size/bytesAWork) != nil {
			return
		}
		for i, answer := range w.exchange(&request) {
			of := asked[i/len(programs)]
			if of.ahead == nil {
				of.ahead = make(map[*query]*batch, len(programs))
			}
			of.ahead[programs[i%len(programs)]] = answer
		}
	}
}
