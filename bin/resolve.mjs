// Resolves imports between the modules of Depot. Node.js would look for the package of every file and for symbolic links,
// which takes a sixth of the time of a start.
import { registerHooks } from 'node:module'

const SOURCE = new URL('../src/', import.meta.url).href
/** The release consists of JavaScript files. Its imports that begin with # keep the names of the TypeScript files. */
const isRelease = import.meta.resolve('#cli/main.ts').endsWith('.js')
const [extension, format] = isRelease ? ['.js', 'module'] : ['.ts', 'module-typescript']
/** Names of folders outside `src`, whose imports Node.js resolves. */
const OTHERS = /^#(?:test|demo|client)\//

const NO_SETTINGS = { url: new URL('no-settings.cjs', import.meta.url).href, format: 'commonjs', shortCircuit: true }

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'cosmiconfig') return NO_SETTINGS
    const url = urlOf(specifier, context.parentURL)
    return url === undefined ? next(specifier, context) : { url, format, shortCircuit: true }
  },
})

/** Returns undefined if the import is not one of a module of Depot by another. */
function urlOf(specifier, parent) {
  if (specifier.startsWith('#') && specifier.endsWith('.ts') && !OTHERS.test(specifier))
    return `${SOURCE}${specifier.slice(1, -3)}${extension}`
  if (specifier.startsWith('.') && specifier.endsWith(extension) && parent?.startsWith(SOURCE))
    return new URL(specifier, parent).href
}
