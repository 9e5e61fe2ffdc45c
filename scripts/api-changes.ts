// Compares the API descriptions with those of the newest recorded release, and fails if a change can break a client although
// the major version is the same: node scripts/api-changes.ts [FOLDER]. FOLDER has the descriptions (default: docs/generated).
// Needs the program oasdiff in the path, or its file in OASDIFF.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { DESCRIPTIONS, listRecordings, pathOf } from '#test/upgrades/recording.ts'

/** New values of enums in responses are permitted: docs/operators/releases.md tells clients to expect them. */
const SEVERITIES = 'response-property-enum-value-added info\n'

type Change = { id: string; level: number; operation: string; path: string; text: string }

/** Level of changes that break clients. */
const BREAKING = 3

function listBreakingChanges(base: string, changed: string, severities: string): Change[] {
  const args = ['breaking', base, changed, '--format', 'json', '--severity-levels', severities]
  const { stdout, stderr, status, error } = spawnSync(process.env['OASDIFF'] ?? 'oasdiff', args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(stderr)
  return (JSON.parse(stdout) as Change[]).filter(({ level }) => level >= BREAKING)
}

const versionOf = (description: string): string =>
  (JSON.parse(description) as { info: { version: string } }).info.version

const major = (version: string): string | undefined => version.split('.')[0]

function compare(folder: string, scratch: string): void {
  const release = listRecordings().at(-1)
  if (release === undefined) throw new Error('There is no recorded release')
  const severities = join(scratch, 'severities')
  writeFileSync(severities, SEVERITIES)
  for (const name of DESCRIPTIONS) {
    const base = brotliDecompressSync(readFileSync(join(pathOf(release), `${name}.br`)))
    writeFileSync(join(scratch, name), base)
    const changes = listBreakingChanges(join(scratch, name), join(folder, name), severities)
    for (const { operation, path, text } of changes) console.log(`${operation} ${path}: ${text}`)
    const [from, to] = [versionOf(base.toString()), versionOf(readFileSync(join(folder, name), 'utf8'))]
    console.log(`${name}, ${from} to ${to}: ${changes.length} changes that can break clients`)
    if (changes.length > 0 && major(from) === major(to)) process.exitCode = 1
  }
  if (process.exitCode === 1) {
    console.log('Make the changes compatible, or increase the major version (docs/operators/releases.md)')
  }
}

const scratch = mkdtempSync(join(tmpdir(), 'depot-api-changes-'))
try {
  compare(process.argv[2] ?? join(import.meta.dirname, '../docs/generated'), scratch)
} finally {
  rmSync(scratch, { recursive: true })
}
