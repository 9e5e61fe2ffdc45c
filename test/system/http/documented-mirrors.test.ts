// Runs the commands of docs/operators/mirrors.md against two real instances.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { makeZip } from '#test/support/factories/archives.ts'
import { checkOutput, notInstalled, openShell, readSteps } from '#test/support/processes/documented-steps.ts'
import { freePort } from '#test/support/processes/free-port.ts'
import { depot, ENTRY, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

const first = makeDataDir()
const second = makeDataDir()
after(first.remove)
after(second.remove)

/** Runs a command and returns its result. */
async function run(dataDir: string, ...args: string[]): Promise<ReturnType<typeof JSON.parse>> {
  const { code, stdout, stderr } = await depot(dataDir, [...args, '--json'])
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

type SourceFile = { filename: string; size: number; hashes: { sha1: string; sha512: string } }

/** Writes a pack with this file. */
async function writePack(path: string, { filename, size, hashes }: SourceFile): Promise<void> {
  const downloads = [`https://cdn.modrinth.com/data/${filename}`]
  const index = {
    ...{ formatVersion: 1, game: 'minecraft', versionId: '1.0.0', name: 'Documented pack' },
    files: [{ path: `mods/${filename}`, hashes, downloads, fileSize: size }],
    dependencies: { minecraft: '1.20.1', 'fabric-loader': '0.15.0' },
  }
  await writeFile(path, makeZip([{ name: 'modrinth.index.json', data: JSON.stringify(index) }]))
}

test('the commands that copy and export a catalogue work as written', {
  skip: notInstalled(['bash', 'gunzip']),
}, async () => {
  await run(first.dataDir, 'seed', '--projects', '8')
  await run(second.dataDir, 'seed', '--projects', '0')
  const password = 'glow-worms in the harbour'
  await run(second.dataDir, 'user', 'create', '--username', 'ada', '--email', 'ada@example.org', '--password', password)
  const { token } = await run(second.dataDir, 'token', 'create', '--user', 'ada', '--scopes', 'all')
  const port = await freePort()
  // The addresses of files have the host of the source.
  const source = await startDepot(first.dataDir, { PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
  const copy = await startDepot(second.dataDir)
  const shell = openShell(second.dataDir)
  try {
    const made = await fetch(`${copy.url}/v3/organization`, {
      method: 'POST',
      headers: { 'user-agent': 'depot-test', authorization: token, 'content-type': 'application/json' },
      body: JSON.stringify({ slug: 'copies', name: 'Copies', description: 'Copies of other instances' }),
    })
    assert.equal(made.status, 201, await made.text())
    const random = await fetch(`${source.url}/v3/projects_random?count=50`, { headers: { 'user-agent': 'depot-test' } })
    const projects = (await random.json()) as { slug: string; project_types: string[]; versions: string[] }[]
    // Packs of the demo have no valid index, so an import refuses them.
    const mods = projects.filter(({ project_types, versions }) => project_types.join() === 'mod' && versions.length > 0)
    const [mod, packed] = mods
    assert.ok(mod !== undefined && packed !== undefined)
    const read = await fetch(`${source.url}/v3/version/${packed.versions[0]}`, {
      headers: { 'user-agent': 'depot-test' },
    })
    const [file] = ((await read.json()) as { files: SourceFile[] }).files
    assert.ok(file !== undefined)
    const pack = join(first.dataDir, 'documented.mrpack')
    await writePack(pack, file)
    await shell.run(`export DATA_DIR=${second.dataDir}
SOURCE=http://127.0.0.1:${port} BASE=${copy.url} ORG=copies
FROM=${first.dataDir} TO=${second.dataDir} PROJECT=${mod.slug} PACK=${pack}
depot() { ${process.execPath} ${ENTRY} "$@"; }
node() { ${process.execPath} "$@"; }
`)
    for (const chapter of ['Move one project', 'Import a pack', 'Copy and follow', 'Export the catalogue']) {
      for (const { script, expected } of readSteps('docs/operators/mirrors.md', chapter))
        checkOutput(await shell.run(script), expected, script)
    }
  } finally {
    await shell.end()
    await source.stop()
    await copy.stop()
  }
})
