import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fromBuffer, type ZipFile } from 'yauzl'
import { demoArchive } from '#demo/catalogue/archive.ts'
import { demoCatalogue } from '#demo/catalogue/catalogue.ts'
import { LOADER_FILES } from '#demo/catalogue/words.ts'
import { validateFile } from '#features/catalogue/versions/files/file-rules.ts'
import { checkFilename } from '#features/catalogue/versions/files/filename.ts'
import { withPackLoaders } from '#features/catalogue/versions/files/pack-loaders.ts'
import { fileContext } from '#features/catalogue/versions/publish/prepare-files.ts'
import { inspectArchive } from '#platform/archives/inspect-archive.ts'
import { loadTaxonomy } from '#taxonomy/taxonomy.ts'

const { taxonomy, fileRules } = loadTaxonomy()
const options = { taxonomy, projects: 100, seed: 3, until: new Date('2025-09-01T00:00:00Z') }
const projects = [...demoCatalogue(options).projects]

function readZip(bytes: Buffer): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  return new Promise((resolve, reject) => {
    const read = (error: Error | null, zip: ZipFile) => {
      if (error) return reject(error)
      zip.on('error', reject)
      zip.on('end', () => resolve(files))
      zip.on('entry', (entry) => {
        zip.openReadStream(entry, async (problem, stream) => {
          if (problem) return reject(problem)
          files.set(entry.fileName, Buffer.concat(await stream.toArray()).toString())
          zip.readEntry()
        })
      })
      zip.readEntry()
    }
    fromBuffer(bytes, { lazyEntries: true, validateEntrySizes: true, strictFileNames: true }, read)
  })
}

test('every archive can be read, and holds the files of each of its loaders', async () => {
  const checked = new Set<string>()
  for (const project of projects) {
    const version = project.versions.at(-1)
    assert.ok(version)
    const files = await readZip(demoArchive(project, version))
    for (const loader of version.loaders) {
      for (const name of LOADER_FILES[loader] ?? []) assert.ok(files.has(name), `${project.slug}: ${name}`)
      checked.add(loader)
    }
    for (const [name, text] of files) if (/\.(json|mcmeta|info)$/.test(name)) JSON.parse(text)
  }
  assert.ok(checked.size > 10)
})

test('the bytes are the same on every call, and different for each version of each project', () => {
  const seen = new Set<string>()
  for (const project of projects.slice(0, 30)) {
    for (const version of project.versions) {
      const bytes = demoArchive(project, version)
      assert.ok(bytes.equals(demoArchive(project, version)))
      assert.ok(bytes.length < 8192)
      seen.add(bytes.toString('latin1'))
    }
  }
  assert.equal(
    seen.size,
    projects.slice(0, 30).reduce((sum, project) => sum + project.versions.length, 0),
  )
})

test('every file passes the rules for uploads', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'demo-files-'))
  t.after(() => rm(folder, { recursive: true }))
  const origin = { baseUrl: 'https://depot.example.org' }
  const config = { files: origin, http: origin } as Parameters<typeof fileContext>[0]['config']
  const path = join(folder, 'file')
  for (const [index, project] of projects.entries()) {
    // The rules of old and new versions differ.
    const version = project.versions.at(-(index % 2))
    assert.ok(version)
    await writeFile(path, demoArchive(project, version))
    const name = checkFilename(fileRules, 'file', version.fileName)
    const file = { part: version.fileName, name, fileType: null, archive: await inspectArchive(path) }
    const context = fileContext({ taxonomy, config }, { columns: version, fields: version.fields })
    const { result, reason, packLoaders = [] } = await validateFile(fileRules, file, context)
    assert.equal(result, 'pass', `${version.fileName} for ${version.loaders}: ${reason}`)
    assert.equal(withPackLoaders(version.fields, packLoaders), version.fields, version.fileName)
  }
})
