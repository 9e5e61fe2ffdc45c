// Prints the lines of the product per part, and the difference to the newest recorded release: node scripts/product-lines.ts.
// The product is the TypeScript of `src` without tests and generated files.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listRecordings, pathOf } from '#test/upgrades/recording.ts'

const ROOT = join(import.meta.dirname, '..')
const GENERATED = 'src/platform/db/schema.ts'

/** Returns the lines by part, such as `features/people`. */
export function productLines(): Map<string, number> {
  const lines = new Map<string, number>()
  for (const file of globSync('src/**/*.ts', { cwd: ROOT })) {
    if (file.endsWith('.test.ts') || file === GENERATED) continue
    const [, layer = '', part = ''] = file.split('/')
    const name = layer === 'features' || layer === 'web' ? `${layer}/${part}` : layer
    const count = readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1
    lines.set(name, (lines.get(name) ?? 0) + count)
  }
  return lines
}

export const totalOf = (lines: Map<string, number>): number =>
  [...lines.values()].reduce((sum, count) => sum + count, 0)

/** File of a recording with the number of lines at the release. */
export const LINES_FILE = 'product-lines.txt'

if (import.meta.main) {
  const lines = productLines()
  for (const [name, count] of [...lines].sort(([, a], [, b]) => b - a))
    console.log(`${String(count).padStart(8)}  ${name}`)
  const release = listRecordings().at(-1) ?? ''
  const difference = totalOf(lines) - Number(readFileSync(join(pathOf(release), LINES_FILE), 'utf8'))
  const sign = difference > 0 ? '+' : ''
  console.log(`${String(totalOf(lines)).padStart(8)}  in all, ${sign}${difference} since ${release}`)
}
