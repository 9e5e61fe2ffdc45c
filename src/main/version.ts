// Depot's version, in a separate module so that `depot --version` loads nothing else.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const VERSION: string = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')).version
