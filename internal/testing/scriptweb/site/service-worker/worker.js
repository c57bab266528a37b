addEventListener('install', event => event.waitUntil(skipWaiting()))
addEventListener('activate', event => event.waitUntil(clients.claim()))
addEventListener('fetch', event => {
  if (event.request.url.endsWith('/service-worker/data')) event.respondWith(new Response('answered by the service worker'))
})
