// An upload of 499 MiB by tus in parts of 64 MiB, with its version, against the form of POST /v3/version.
import { open, rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { makeDataDir } from '#test/support/processes/running-depot.ts'
import { author, makeArchive, publishProjects } from './http.ts'
import { call, headers, startBenchDepot } from './kit/servers.ts'
import { type Row, row } from './kit/table.ts'
import { measured, uploadByApi, VERSION } from './uploads.ts'

const MIB = 1024 * 1024
const FILE_BYTES = 499 * MIB
const PART_BYTES = 64 * MIB
/** The first round warms up. */
const ROUNDS = 4

export async function benchTus(): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  const server = await startBenchDepot(dataDir)
  try {
    const token = await author(dataDir)
    const [projectId = ''] = await publishProjects(server.url, token, 1)
    const file = await makeArchive(join(dataDir, 'large.jar'), FILE_BYTES)
    const form = uploadByApi(server.url, { token, projectId, file })
    const rounds: { ratio: number; tus: number; form: number; growthMb: number }[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const byForm = await measured(server, () => form(`form-${round}`))
      const byTus = await measured(server, () =>
        uploadByTus(server.url, { token, projectId, file, number: `tus-${round}` }),
      )
      const { seconds, growthMb } = byTus
      if (round > 0) rounds.push({ ratio: seconds / byForm.seconds, tus: seconds, form: byForm.seconds, growthMb })
    }
    await rm(file)
    rounds.sort((a, b) => a.ratio - b.ratio)
    const middle = rounds[Math.floor(rounds.length / 2)]
    const detail = `${middle?.tus.toFixed(2)} s of processor time against ${middle?.form.toFixed(2)}`
    const growth = Math.max(...rounds.map(({ growthMb }) => growthMb))
    return [
      row('499 MiB by tus in parts of 64 MiB, of the form', middle?.ratio ?? 0, { atMost: 1.3 }, ' times', detail),
      row('resident memory during these uploads, growth', growth, { atMost: 64 }, ' MB'),
    ]
  } finally {
    await server.stop()
    remove()
  }
}

async function uploadByTus(
  url: string,
  { token, projectId, file, number }: { token: string; projectId: string; file: string; number: string },
): Promise<void> {
  const handle = await open(file)
  const { size } = await handle.stat()
  const common = { ...headers(token), 'tus-resumable': '1.0.0' }
  const metadata = `filename ${Buffer.from(`${number}.jar`).toString('base64')}`
  const created = await call(`${url}/v3/upload`, {
    method: 'POST',
    headers: { ...common, 'upload-length': String(size), 'upload-metadata': metadata },
  })
  const path = created.headers.get('location') ?? ''
  for (let offset = 0; offset < size; offset += PART_BYTES) {
    const end = Math.min(size, offset + PART_BYTES)
    const part = { 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' }
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const req = request(url + path, {
        method: 'PATCH',
        headers: { ...common, ...part, 'content-length': String(end - offset) },
      })
      req.on('response', resolve).on('error', reject)
      handle.createReadStream({ start: offset, end: end - 1, autoClose: false, highWaterMark: MIB }).pipe(req)
    })
    answer.resume()
    if (answer.statusCode !== 204) throw new Error(`PATCH ${path}: ${answer.statusCode}`)
  }
  await handle.close()
  const titles = { version_number: number, version_title: number }
  const data = { ...VERSION, ...titles, project_id: projectId, file_parts: [`upload:${path.split('/').at(-1)}`] }
  const made = await call(`${url}/v3/version`, {
    method: 'POST',
    headers: { ...headers(token), 'content-type': 'application/json' },
    body: JSON.stringify(data),
  })
  if (made.status !== 201) throw new Error(`POST /v3/version: ${made.status} ${await made.text()}`)
  await made.arrayBuffer()
}
