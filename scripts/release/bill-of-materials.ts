// Writes the bill of materials of a release (CycloneDX) by `npm sbom`, with the packages that an installation can leave out.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { partOfLock, readCompleteManifest, readLock } from './lock-part.ts'

export function writeBillOfMaterials(root: string, file: string): void {
  const manifest = readCompleteManifest(root)
  const scratch = mkdtempSync(join(tmpdir(), 'depot-sbom-'))
  try {
    // npm uses the name of the folder.
    const folder = join(scratch, manifest.name)
    mkdirSync(folder)
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(partOfLock(readLock(root), manifest)))
    const words = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--sbom-type=application']
    const output = execFileSync('npm', words, { cwd: folder, encoding: 'utf8', maxBuffer: Number.POSITIVE_INFINITY })
    writeFileSync(file, `${JSON.stringify(reproducible(JSON.parse(output)), null, 2)}\n`)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

type Bill = { serialNumber: string; metadata: { timestamp: string } }

/** npm writes the present time and a random number. */
function reproducible(bill: Bill): Bill {
  const seconds = Number(process.env['SOURCE_DATE_EPOCH'])
  const metadata = { ...bill.metadata, timestamp: new Date(seconds * 1000).toISOString() }
  const hash = createHash('sha256')
    .update(JSON.stringify({ ...bill, metadata, serialNumber: '' }))
    .digest('hex')
  const parts = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ]
  return { ...bill, metadata, serialNumber: `urn:uuid:${parts.join('-')}` }
}
