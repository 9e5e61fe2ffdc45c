// An upload of 200 MB through the page, as a form without scripts and as the script sends it, against the API.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDataDir, type RunningDepot } from '#test/support/processes/running-depot.ts'
import { author, makeArchive, PASSWORD, publishProjects, UPLOAD_BYTES } from './http.ts'
import { call, cpuSecondsOfAll, headers, residentMb, signIn, startBenchDepot } from './kit/servers.ts'
import { sendStreamed } from './kit/streamed-form.ts'
import { type Row, row } from './kit/table.ts'

/** The first round warms up. */
const ROUNDS = 4
const PAGE = '/mod/bench-0/versions/new'

type Upload = (number: string) => Promise<void>
type Measured = { seconds: number; growthMb: number }

export async function benchUploads(): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  const server = await startBenchDepot(dataDir)
  try {
    const token = await author(dataDir)
    const [projectId = ''] = await publishProjects(server.url, token, 1)
    const file = await makeArchive(join(dataDir, 'large.jar'), UPLOAD_BYTES)
    const page = await openPage(server.url)
    const uploads = {
      api: uploadByApi(server.url, { token, projectId, file }),
      form: uploadByForm(server.url, page, file),
      script: uploadByScript(server.url, page, file),
    }
    const rounds: Record<keyof typeof uploads, Measured>[] = []
    // In turn, so that a drifting machine slows all alike.
    for (let round = 0; round < ROUNDS; round += 1) {
      const number = (name: string) => `${name}-${round}`
      const api = await measured(server, () => uploads.api(number('api')))
      const form = await measured(server, () => uploads.form(number('form')))
      const script = await measured(server, () => uploads.script(number('script')))
      if (round > 0) rounds.push({ api, form, script })
    }
    await rm(file)
    return (['form', 'script'] as const).flatMap((name) => rowsOf(name, rounds))
  } finally {
    await server.stop()
    remove()
  }
}

const NAMES = { form: 'the form of the page', script: 'the script of the page' }

function rowsOf(name: 'form' | 'script', rounds: readonly Record<'api' | 'form' | 'script', Measured>[]): Row[] {
  const sorted = rounds
    .map((round) => ({ ratio: round[name].seconds / round.api.seconds, ...round }))
    .sort((a, b) => a.ratio - b.ratio)
  const middle = sorted[Math.floor(sorted.length / 2)]
  const detail = `${middle?.[name].seconds.toFixed(2)} s of processor time against ${middle?.api.seconds.toFixed(2)}`
  const growth = Math.max(...rounds.map((round) => round[name].growthMb))
  return [
    row(
      `upload of 200 MB by ${NAMES[name]}, of POST /v3/version`,
      middle?.ratio ?? 0,
      { atMost: 1.2 },
      ' times',
      detail,
    ),
    row('resident memory during these uploads, growth', growth, { atMost: 64 }, ' MB'),
  ]
}

/** Processor time of the server with its database, and the growth of the memory of the server. */
export async function measured({ child }: RunningDepot, upload: () => Promise<void>): Promise<Measured> {
  const memory = residentMb(child)
  let peak = memory
  const watch = setInterval(() => {
    peak = Math.max(peak, residentMb(child))
  }, 20)
  const before = cpuSecondsOfAll(child)
  await upload()
  const seconds = cpuSecondsOfAll(child) - before
  clearInterval(watch)
  return { seconds, growthMb: peak - memory }
}

export const VERSION = { release_channel: 'release', loaders: ['fabric'], game_versions: ['1.20.1'], dependencies: [] }

export function uploadByApi(
  url: string,
  { token, projectId, file }: { token: string; projectId: string; file: string },
): Upload {
  return async (number) => {
    const titles = { version_number: number, version_title: number }
    const data = { ...VERSION, ...titles, project_id: projectId, featured: false, file_parts: ['file'] }
    const { status, text } = await sendStreamed(`${url}/v3/version`, {
      headers: headers(token),
      fields: [['data', JSON.stringify(data)]],
      file: { field: 'file', filename: `${number}.jar`, path: file },
    })
    if (status !== 201) throw new Error(`POST /v3/version: ${status} ${text}`)
  }
}

type OpenPage = { cookie: string; token: string }

/** Signs in and loads the page, as a browser does. */
async function openPage(url: string): Promise<OpenPage> {
  const session = await signIn(url, { username: 'bench', password: PASSWORD })
  const shown = await call(`${url}${PAGE}`, { headers: { cookie: session, accept: 'text/html' } })
  const cookies = shown.headers.getSetCookie().map((text) => text.split(';')[0])
  const token = /name="_csrf" value="([^"]+)"/.exec(await shown.text())?.[1]
  if (token === undefined) throw new Error(`${PAGE}: ${shown.status}`)
  return { cookie: [session, ...cookies].join('; '), token }
}

/** Sends the form with its fields and the file. */
function uploadByForm(url: string, page: OpenPage, file: string): Upload {
  return async (number) => {
    const fields = [
      ['version_number', number],
      ['name', number],
      ['version_type', 'release'],
      ['loaders', 'fabric'],
      ['game_versions', '1.20.1'],
      ['do', 'publish'],
    ] as const
    await send(`${url}${PAGE}`, page, { fields, file, number })
  }
}

/** Creates a draft, sends the file to it, and loads the page to which that leads. */
function uploadByScript(url: string, page: OpenPage, file: string): Upload {
  return async (number) => {
    const draft = await call(`${url}${PAGE}`, {
      method: 'POST',
      body: new URLSearchParams({ _csrf: page.token, do: 'upload' }),
      headers: { cookie: page.cookie, accept: 'text/html' },
      redirect: 'manual',
    })
    const at = new URL(draft.headers.get('location') ?? '', url)
    const next = await send(String(at), page, { fields: [['do', 'upload']], file, number })
    await (await call(String(new URL(next, url)), { headers: { cookie: page.cookie, accept: 'text/html' } })).text()
  }
}

async function send(
  url: string,
  { cookie, token }: OpenPage,
  { fields, file, number }: { fields: readonly (readonly [string, string])[]; file: string; number: string },
): Promise<string> {
  const answer = await sendStreamed(url, {
    headers: { ...headers(), cookie, accept: 'text/html' },
    fields: [['_csrf', token], ...fields],
    file: { field: 'files', filename: `${number}.jar`, path: file },
  })
  const { location } = answer.headers
  if (answer.status !== 303 || location === undefined) throw new Error(`${url}: ${answer.status} ${answer.text}`)
  return location
}
