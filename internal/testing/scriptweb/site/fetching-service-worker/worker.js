addEventListener('install', event => event.waitUntil(skipWaiting()))
addEventListener('activate', event => event.waitUntil(clients.claim()))
addEventListener('fetch', event => {
  if (event.request.url.endsWith('/fetching-service-worker/data')) event.respondWith(fetch('/fetching-service-worker/real.txt'))
})
