// Warm reads, lists, uploads and downloads, against yardsticks measured in the same run.
import { type ChildProcess, execFile } from 'node:child_process'
import { randomFillSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeZip } from '#test/support/factories/archives.ts'
import { depot, makeDataDir, type RunningDepot } from '#test/support/processes/running-depot.ts'
import { call, countQueries, cpuSeconds, headers, load, residentMb, startBare, startBenchDepot } from './kit/servers.ts'
import { sendStreamed } from './kit/streamed-form.ts'
import { figure, type Row, row } from './kit/table.ts'

const run = promisify(execFile)
export const UPLOAD_BYTES = 200 * 1024 * 1024
export const PASSWORD = 'violet-harbour-lantern-42'

export async function benchHttp(): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  const rows: Row[] = []
  try {
    const server = await startBenchDepot(dataDir)
    try {
      const token = await author(dataDir)
      const ids = await publishProjects(server.url, token, 100)
      rows.push(...(await benchReads(server, dataDir, ids)))
      rows.push(...(await benchUpload(server, dataDir, token, ids[0] ?? '')))
      await server.stop()
      rows.push(...(await benchColdQueries(dataDir, ids)))
    } finally {
      await server.stop()
    }
  } finally {
    remove()
  }
  return rows
}

/** An admin, who has no quota, with a token of every scope. */
export const author = (dataDir: string): Promise<string> => createToken(dataDir, 'bench', ['--role', 'admin'])

/** Creates a user, and returns a token of every scope. */
export async function createToken(dataDir: string, name: string, options: string[] = []): Promise<string> {
  const user = ['--username', name, '--email', `${name}@example.org`, '--password', PASSWORD]
  await depot(dataDir, ['user', 'create', ...user, ...options])
  const { stdout } = await depot(dataDir, ['token', 'create', '--user', name, '--scopes', 'all'])
  return stdout.trim()
}

export async function publishProjects(url: string, token: string, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i += 1) {
    const form = new FormData()
    const version = {
      version_number: '1.0',
      version_title: 'One',
      release_channel: 'release',
      loaders: ['fabric'],
      game_versions: ['1.20.1'],
      dependencies: [],
      featured: false,
      file_parts: ['file'],
    }
    form.append(
      'data',
      JSON.stringify({
        name: `Bench ${i}`,
        slug: `bench-${i}`,
        summary: 'A project to measure with.',
        description: 'x'.repeat(2000),
        categories: ['magic'],
        license_id: 'MIT',
        initial_versions: [version],
      }),
    )
    form.append(
      'file',
      new Blob([Uint8Array.from(makeZip([{ name: 'fabric.mod.json', data: `{"n":${i}}` }]))]),
      'bench.jar',
    )
    const created = await call(`${url}/v3/project`, { method: 'POST', token, body: form })
    const { id } = (await created.json()) as { id: string }
    await call(`${url}/v3/project/${id}`, {
      method: 'PATCH',
      token,
      body: '{"status":"approved"}',
      headers: { 'content-type': 'application/json' },
    })
    ids.push(id)
  }
  return ids
}

async function benchReads({ url, child }: RunningDepot, dataDir: string, ids: string[]): Promise<Row[]> {
  const { port } = new URL(url)
  const body = Buffer.from(await (await call(`${url}/v3/project/bench-0`)).arrayBuffer())
  const file = join(dataDir, 'body.json')
  await writeFile(file, body)
  const bare = await startBare('memory', file)
  // Runs both concurrently, so that other load on the machine slows both equally; the first round warms up.
  const ratios: number[] = []
  let ours = 0
  let theirs = 0
  for (let round = 0; round < 6; round += 1) {
    ;[theirs, ours] = await Promise.all([
      processorMs(bare, '/', 2),
      processorMs({ port, child }, '/v3/project/bench-0', 2),
    ])
    if (round > 0) ratios.push(theirs / ours)
  }
  bare.stop()
  const ratio = ratios.sort((a, b) => a - b)[2] ?? 0
  const list = listPath(ids)
  const single = listPath(ids.slice(0, 1))
  const costMs = (path: string): Promise<number> => processorMs({ port, child }, path, 3)
  await costMs(list)
  const one = await costMs(single)
  const hundred = await costMs(list)
  return [
    row(
      'processor time of bare node:http with the same bytes, of a warm GET /v3/project/{slug}',
      ratio,
      { atLeast: 0.35 },
      '',
      `${theirs.toFixed(4)} of ${ours.toFixed(4)} ms, ${body.length} bytes`,
    ),
    row(
      'warm list of 100 projects, processor time against a list of one',
      hundred / one,
      { atMost: 5 },
      ' times',
      `${hundred.toFixed(3)} against ${one.toFixed(3)} ms`,
    ),
    ...(await benchQueries(url, ids)),
  ]
}

/** Processor time of a request, in milliseconds. */
async function processorMs(
  { port, child }: { port: string | number; child: ChildProcess },
  path: string,
  seconds: number,
): Promise<number> {
  const before = cpuSeconds(child)
  const { requests } = await load(port, [path], { seconds, connections: 8 })
  return ((cpuSeconds(child) - before) / requests) * 1000
}

async function queriesOf(url: string, path: string): Promise<number> {
  const before = await countQueries(url)
  await (await call(`${url}${path}`)).arrayBuffer()
  return (await countQueries(url)) - before
}

async function benchQueries(url: string, ids: string[]): Promise<Row[]> {
  return [
    row('queries of a warm project read', await queriesOf(url, '/v3/project/bench-0'), { atMost: 0 }),
    row('queries of a warm list of 100', await queriesOf(url, listPath(ids)), { atMost: 0 }),
  ]
}

/** A process that has just started has read nothing yet. */
async function benchColdQueries(dataDir: string, ids: string[]): Promise<Row[]> {
  const server = await startBenchDepot(dataDir)
  try {
    return [
      row('queries of a cold project read', await queriesOf(server.url, '/v3/project/bench-0'), { atMost: 1 }),
      row('queries of a cold list of 100', await queriesOf(server.url, listPath(ids)), { atMost: 1 }),
    ]
  } finally {
    await server.stop()
  }
}

const listPath = (ids: string[]): string => `/v3/projects?ids=${encodeURIComponent(JSON.stringify(ids))}`

/** An upload with its time and the highest resident memory seen during it. */
async function measuredUpload(server: RunningDepot, token: string, projectId: string, file: string, number: string) {
  const before = residentMb(server.child)
  let peak = before
  const watch = setInterval(() => {
    peak = Math.max(peak, residentMb(server.child))
  }, 20)
  const startedAt = performance.now()
  const url = await upload(server.url, token, projectId, file, number)
  const seconds = (performance.now() - startedAt) / 1000
  clearInterval(watch)
  return { url, seconds, before, peak }
}

async function benchUpload(server: RunningDepot, dataDir: string, token: string, projectId: string): Promise<Row[]> {
  const first = await measuredUpload(
    server,
    token,
    projectId,
    await makeArchive(join(dataDir, 'first.jar'), UPLOAD_BYTES),
    'first',
  )
  const file = await makeArchive(join(dataDir, 'large.jar'), UPLOAD_BYTES)
  const yardstick = await yardstickSeconds(file, dataDir)
  const { url, seconds, before, peak } = await measuredUpload(server, token, projectId, file, 'large')
  const bare = await startBare('stream', file)
  const ratios: number[] = []
  for (let round = 0; round < 3; round += 1) {
    const theirs = await downloadMbPerSecond(`http://127.0.0.1:${bare.port}/`)
    const ours = await downloadMbPerSecond(url)
    ratios.push(ours / theirs)
  }
  bare.stop()
  await rm(file)
  return [
    row(
      'upload of 200 MB, against sha512sum + sha1sum + cp',
      seconds / yardstick,
      { atMost: 2.5 },
      ' times',
      `${seconds.toFixed(2)} s against ${yardstick.toFixed(2)} s`,
    ),
    row('resident memory during that upload, growth', peak - before, { atMost: 64 }, ' MB', `from ${before} MB`),
    figure('the same during the very first upload of a process', `${first.peak - first.before} MB`),
    row('download of it, of node:fs through bare node:http', ratios.sort((a, b) => a - b)[1] ?? 0, { atLeast: 0.5 }),
  ]
}

/** A mod archive of about this size whose content does not compress. */
export async function makeArchive(path: string, bytes: number): Promise<string> {
  const noise = randomFillSync(Buffer.alloc(bytes))
  writeFileSync(
    path,
    makeZip([
      { name: 'fabric.mod.json', data: '{}' },
      { name: 'noise.bin', data: noise, stored: true },
    ]),
  )
  return path
}

async function upload(url: string, token: string, projectId: string, file: string, number: string): Promise<string> {
  const data = {
    project_id: projectId,
    version_number: number,
    version_title: number,
    release_channel: 'release',
    loaders: ['fabric'],
    game_versions: ['1.20.1'],
    dependencies: [],
    featured: false,
    file_parts: ['file'],
  }
  const { status, text } = await sendStreamed(`${url}/v3/version`, {
    headers: headers(token),
    fields: [['data', JSON.stringify(data)]],
    file: { field: 'file', filename: `${number}.jar`, path: file },
  })
  if (status !== 201) throw new Error(`upload: ${status} ${text}`)
  return (JSON.parse(text) as { files: { url: string }[] }).files[0]?.url ?? ''
}

async function yardstickSeconds(file: string, dataDir: string): Promise<number> {
  const copy = join(dataDir, 'copy.jar')
  const startedAt = performance.now()
  await run('sha512sum', [file])
  await run('sha1sum', [file])
  await run('cp', [file, copy])
  const seconds = (performance.now() - startedAt) / 1000
  await rm(copy)
  return seconds
}

async function downloadMbPerSecond(url: string): Promise<number> {
  const startedAt = performance.now()
  const bytes = await new Promise<number>((resolve, reject) => {
    let size = 0
    request(url, { headers: headers() }, (res) => {
      res.on('data', (chunk: Buffer) => {
        size += chunk.length
      })
      res.on('end', () => resolve(size)).on('error', reject)
    })
      .on('error', reject)
      .end()
  })
  return bytes / 1024 / 1024 / ((performance.now() - startedAt) / 1000)
}
