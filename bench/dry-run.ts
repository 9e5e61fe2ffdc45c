// Dry runs of publishing a version against the real requests.
import { makeZip } from '#test/support/factories/archives.ts'
import { makeDataDir, type RunningDepot } from '#test/support/processes/running-depot.ts'
import { author, publishProjects } from './http.ts'
import { call, cpuSecondsOfAll, headers, startBenchDepot } from './kit/servers.ts'
import { type Row, row } from './kit/table.ts'

/** The first round warms up. */
const ROUNDS = 6
const REQUESTS = 60

export async function benchDryRun(): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  const server = await startBenchDepot(dataDir)
  try {
    const token = await author(dataDir)
    const [projectId = ''] = await publishProjects(server.url, token, 1)
    const rounds: { real: number; dry: number }[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const send = (path: string, status: number) =>
        measured(server, async () => {
          for (let n = 0; n < REQUESTS; n += 1)
            await publish(server.url + path, { token, projectId, name: `${round}-${n}`, status })
        })
      // The dry run is first: the real request then publishes the same version.
      const dry = await send('/v3/version?dry_run=true', 200)
      const real = await send('/v3/version', 201)
      if (round > 0) rounds.push({ real, dry })
    }
    const sorted = rounds.map(({ real, dry }) => dry / real).sort((a, b) => a - b)
    const spread = `${sorted[0]?.toFixed(2)} to ${sorted.at(-1)?.toFixed(2)} in ${sorted.length} rounds`
    const median = sorted[Math.floor(sorted.length / 2)] ?? 0
    return [row('processor time of a dry run, of POST /v3/version', median, { atMost: 1.1 }, ' times', spread)]
  } finally {
    await server.stop()
    remove()
  }
}

async function measured({ child }: RunningDepot, act: () => Promise<void>): Promise<number> {
  const before = cpuSecondsOfAll(child)
  await act()
  return cpuSecondsOfAll(child) - before
}

async function publish(
  url: string,
  { token, projectId, name, status }: { token: string; projectId: string; name: string; status: number },
): Promise<void> {
  const form = new FormData()
  const data = {
    project_id: projectId,
    version_number: name,
    version_title: name,
    release_channel: 'release',
    loaders: ['fabric'],
    game_versions: ['1.20.1'],
    dependencies: [],
    featured: false,
    file_parts: ['file'],
  }
  form.append('data', JSON.stringify(data))
  const jar = makeZip([{ name: 'fabric.mod.json', data: JSON.stringify({ schemaVersion: 1, id: 'bench', name }) }])
  form.append('file', new Blob([Uint8Array.from(jar)]), `${name}.jar`)
  const answer = await call(url, { method: 'POST', headers: headers(token), body: form })
  if (answer.status !== status) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}
