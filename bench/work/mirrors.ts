// A mirror of a source on the same machine: the time of the first run, and the requests and the time of a run without
// changes. node bench/main.ts mirrors
import { freePort } from '#test/support/processes/free-port.ts'
import { depot, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'
import { author, publishProjects } from '../http.ts'
import { BENCH_ENVIRONMENT, call, startBenchDepot } from '../kit/servers.ts'
import { figure, type Row, row } from '../kit/table.ts'

const PROJECTS = 100
/** A run without changes reads the keys and one page of the change feed. */
const REQUESTS_MAX = 5

type Report = { projects: number; versions: number; files: number; skipped: number; requests: number }

export async function benchMirrors(): Promise<Row[]> {
  const [first, second] = [makeDataDir(), makeDataDir()]
  try {
    // A mirror sends no header with its address.
    const { CLIENT_ADDRESS_HEADER: _, ...env } = BENCH_ENVIRONMENT
    // The addresses of files have the host of the source.
    const port = await freePort()
    const address = `http://127.0.0.1:${port}`
    const source = await startDepot(first.dataDir, { ...env, PORT: String(port), BASE_URL: address })
    const copy = await startBenchDepot(second.dataDir)
    try {
      await publishProjects(address, await author(first.dataDir), PROJECTS)
      const token = await author(second.dataDir)
      const made = await call(`${copy.url}/v3/organization`, {
        method: 'POST',
        token,
        body: JSON.stringify({ slug: 'copies', name: 'Copies', description: 'Copies of another instance' }),
        headers: { 'content-type': 'application/json' },
      })
      if (made.status !== 201) throw new Error(`The organization was not created: ${await made.text()}`)
      const words = ['mirror', address, '--all', '--owner', 'copies', '--json']
      return rowsOf(await timed(second.dataDir, words), await timed(second.dataDir, words))
    } finally {
      await source.stop()
      await copy.stop()
    }
  } finally {
    first.remove()
    second.remove()
  }
}

type Timed = Report & { seconds: number }

function rowsOf(first: Timed, again: Timed): Row[] {
  const { projects, versions, files, skipped, requests, seconds } = first
  const copied = `${projects} projects, ${versions} versions and ${files} files, ${skipped} skipped`
  if (again.projects + again.versions > 0) throw new Error('A run without changes has copied something')
  return [
    figure('first run', `${seconds.toFixed(1)} s and ${requests} requests for ${copied}`),
    row('requests of a run without changes', again.requests, { atMost: REQUESTS_MAX }),
    figure('run without changes', `${again.seconds.toFixed(1)} s, of which most is the start of the command`),
  ]
}

async function timed(dataDir: string, words: string[]): Promise<Timed> {
  const startedAt = performance.now()
  const report: Report = JSON.parse(await succeed(dataDir, words))
  return { ...report, seconds: (performance.now() - startedAt) / 1000 }
}

async function succeed(dataDir: string, words: string[]): Promise<string> {
  const { code, stdout, stderr } = await depot(dataDir, words)
  if (code !== 0) throw new Error(`depot ${words.join(' ')}: ${stderr}`)
  return stdout
}
