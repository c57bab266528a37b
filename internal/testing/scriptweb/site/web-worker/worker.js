fetch('/web-worker/words.json').then(r => r.json()).then(words => postMessage(`<p>${words.join(' ')}</p><a href="/leaf/web-worker">more</a>`))
