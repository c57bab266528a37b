const number = location.pathname.split('/').pop()
fetch(`/api/app/${number}`).then(r => r.json()).then(item => {
  document.title = item.name
  document.getElementById('root').innerHTML = `<h1>${item.name}</h1><p>${item.text}</p><a href="${item.href}">reviews</a>`
})
