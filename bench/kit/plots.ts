// The results of benchmarks as plots and tables for docs/operators/performance.md, made by `npm run gen` from `bench/results/`.
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { escapeXml } from '#lib/text/xml.ts'
import type { Machine } from './machine.ts'
import type { Row } from './table.ts'

const RESULTS = join(import.meta.dirname, '../results')

type Result = {
  title: string
  time: string
  machine: Machine
  load: { before: number[]; after: number[] }
  rows: Row[]
}

const LINE = 26
const BAR = 14
const LABELS = 430
const BARS = 300
const VALUES = 90
/** A bar ends here if its value is further from the goal. */
const LONGEST = 2

/** Returns the stored results by subject. */
export function readResults(): Record<string, Result> {
  const files = globSync(join(RESULTS, '*.json')).sort()
  return Object.fromEntries(files.map((file) => [basename(file, '.json'), JSON.parse(readFileSync(file, 'utf8'))]))
}

/**
 * Returns an SVG document with a bar for each row that has a goal: the value as a share of the goal, which is a vertical
 * line. The text names the subject for people who cannot see it.
 */
export function plot({ title, rows }: Result): string | undefined {
  const shown = rows.filter(({ value, bound }) => value !== undefined && bound !== undefined && bound > 0)
  if (shown.length === 0) return undefined
  const height = shown.length * LINE + LINE
  const goal = LABELS + BARS / LONGEST
  const bars = shown.map(({ what, value = 0, bound = 1, reached }, n) => {
    const share = Math.min(value / bound, LONGEST)
    const [y, width] = [n * LINE, Math.max(1, Math.round((share / LONGEST) * BARS))]
    const middle = y + LINE / 2 + 4
    const number = Math.abs(value) < 10 ? value.toFixed(2) : value.toFixed(0)
    return [
      `<text x="${LABELS - 8}" y="${middle}" text-anchor="end">${escapeXml(what)}</text>`,
      `<rect class="${reached ? 'reached' : 'missed'}" x="${LABELS}" y="${y + (LINE - BAR) / 2}" width="${width}" height="${BAR}"/>`,
      `<text x="${LABELS + BARS + 8}" y="${middle}">${number}</text>`,
    ].join('\n')
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LABELS + BARS + VALUES} ${height}" role="img" aria-label="${escapeXml(title)}">
<style>
svg { background: #fff; font: 12px sans-serif }
text { fill: #222 }
.reached { fill: #2a7d4f }
.missed { fill: #b4471f }
</style>
${bars.join('\n')}
<line x1="${goal}" x2="${goal}" y1="0" y2="${height - LINE + 4}" stroke="#222"/>
<text x="${goal}" y="${height - 8}" text-anchor="middle">goal</text>
</svg>
`
}

/** Returns the chapter of a subject: when and where it was measured, the plot, and all rows. */
export function chapter(subject: string, result: Result, image: string | undefined): string {
  const { title, time, machine, load, rows } = result
  const lines = rows.map(
    ({ what, measured, wanted, reached }) =>
      `| ${what} | ${measured} | ${wanted} | ${reached === undefined ? '' : reached ? 'yes' : '**no**'} |`,
  )
  return [
    `### ${title}`,
    `\`npm run bench -- ${subject}\`, ${time.slice(0, 10)}, commit ${machine.commit}, ${machine.cores} cores (${machine.processor}), Node.js ${machine.node}, load ${load.before[0]} before and ${load.after[0]} after.`,
    ...(image === undefined ? [] : [`![${title}: each value as a share of its goal](${image})`]),
    ['| | measured | goal | reached |', '|---|---|---|---|', ...lines].join('\n'),
  ].join('\n\n')
}
