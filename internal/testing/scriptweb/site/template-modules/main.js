import { view } from './view.js'

const { words } = await import('./words.js') // as a bundler splits code
document.getElementById('root').innerHTML = view(words)
