export const view = words => `<p>${words.join(' ')}</p><a href="/leaf/template-modules">more</a>`
