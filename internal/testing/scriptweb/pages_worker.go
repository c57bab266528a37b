package scriptweb

// workerPages get their data from workers.
func workerPages() []Page {
	return []Page{
		at("service-worker", Page{
			Text: []string{"answered by the service worker"}, Asked: []string{"/service-worker/worker.js"},
			NotAsked: []string{"/service-worker/data"},
		}),
		at("fetching-service-worker", Page{
			Text: []string{"fetched by the service worker"}, Asked: []string{"/fetching-service-worker/real.txt"},
			NotAsked: []string{"/fetching-service-worker/data"},
		}),
		at("web-worker", Page{
			Text: []string{"computed by a worker"}, Links: []string{"/leaf/web-worker"}, Asked: []string{"/web-worker/words.json"},
		}),
		at("shared-worker", Page{Text: []string{"sent by the shared worker"}}),
		at("blob-worker", Page{Text: []string{"sent by the blob worker"}}),
		at("busy-worker", Page{Text: []string{"shown beside a busy worker"}}),
	}
}
