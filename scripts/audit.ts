// `npm run audit`: reports known vulnerabilities of the packages of a release, also of those that an installation can leave out:
// fails for high and critical ones, lists the others. An unreachable registry, or one without audits, is not a failure. Also fails
// for packages that their publishers have declared obsolete, which package-lock.json records.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { partOfLock, readCompleteManifest, readLock } from './release/lock-part.ts'

const ROOT = join(import.meta.dirname, '..')
const manifest = readCompleteManifest(ROOT)
const part = partOfLock(readLock(ROOT), manifest)

type Report = {
  metadata?: { vulnerabilities?: unknown }
  vulnerabilities: Record<string, { name: string; severity: string; range: string }>
}

const obsolete = Object.entries(part.packages).filter(([, entry]) => entry.deprecated !== undefined)
for (const [path, entry] of obsolete) console.log(`obsolete: ${path}: ${entry.deprecated}`)
const report = audit()
let grave = 0
if (report?.metadata?.vulnerabilities === undefined) {
  console.log('The registry does not answer audits here: left out')
} else {
  const found = Object.values(report.vulnerabilities)
  for (const one of found) console.log(`${one.severity}: ${one.name} ${one.range}`)
  grave = found.filter(({ severity }) => severity === 'high' || severity === 'critical').length
  console.log(`${found.length} packages with known vulnerabilities, ${grave} of them high or critical`)
}
process.exitCode = grave + obsolete.length > 0 ? 1 : 0

function audit(): Report | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'depot-audit-'))
  try {
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(part))
    const words = ['audit', '--json', '--fetch-retries=0', '--fetch-timeout=20000']
    return JSON.parse(spawnSync('npm', words, { cwd: folder, encoding: 'utf8', timeout: 60_000 }).stdout)
  } catch {
    return undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
