// Depot's own version, apart from what boots it, so that `depot --version` loads nothing else.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** As package.json has it. */
export const VERSION: string = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')).version
