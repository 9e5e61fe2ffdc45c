// The exchange of a build's token, and requests with a fine-grained token against those with an unlimited one.
import { DAY_MS } from '#lib/time.ts'
import { makeDataDir, type RunningDepot } from '#test/support/processes/running-depot.ts'
import { type CiIssuer, startCiIssuer } from '#test/support/stand-ins/ci-issuer.ts'
import { author, PASSWORD, publishProjects } from './http.ts'
import { call, cpuSeconds, cpuSecondsOfAll, headers, load, startBenchDepot } from './kit/servers.ts'
import { type Row, row } from './kit/table.ts'

const EXCHANGES = 300
/** The first round warms up. */
const ROUNDS = 7
const SECONDS = 2

export async function benchTokens(): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  const issuer = await startCiIssuer()
  const issuers = [{ issuer: issuer.url, kind: 'generic', name: 'Builds' }]
  const server = await startBenchDepot(dataDir, { CI_ISSUERS: JSON.stringify(issuers) })
  try {
    const token = await author(dataDir)
    const [project = ''] = await publishProjects(server.url, token, 1)
    const session = await signIn(server.url)
    const limited = await createToken(server.url, session, { projects: [project] })
    const unlimited = await createToken(server.url, session, null)
    return [
      await exchanges(server, { issuer, session, project }),
      await compare(server, '/v3/user', { limited, unlimited }),
      await compare(server, `/v3/project/${project}/version`, { limited, unlimited }),
    ]
  } finally {
    issuer.close()
    await server.stop()
    remove()
  }
}

async function json(url: string, token: string | undefined, body: unknown): Promise<Record<string, string>> {
  const all = { ...headers(token), 'content-type': 'application/json' }
  const answer = await call(url, { method: 'POST', headers: all, body: JSON.stringify(body) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`)
  return JSON.parse(text)
}

async function signIn(url: string): Promise<string> {
  return (
    (await json(`${url}/_internal/auth/login`, undefined, { username: 'bench', password: PASSWORD }))['session'] ?? ''
  )
}

async function createToken(url: string, session: string, limits: unknown): Promise<string> {
  const fields = { name: 'bench', scopes: ['USER_READ', 'PROJECT_READ', 'VERSION_READ'], limits }
  const expires = new Date(Date.now() + DAY_MS).toISOString()
  return (await json(`${url}/_internal/pat`, session, { ...fields, expires }))['access_token'] ?? ''
}

/** Processor time of Depot and its database for one exchange, with cached keys. */
async function exchanges(
  { url, child }: RunningDepot,
  { issuer, session, project }: { issuer: CiIssuer; session: string; project: string },
): Promise<Row> {
  const repository = 'lanterns/lamp'
  const publisher = { issuer: issuer.url, repository, workflow: 'release.yml' }
  await json(`${url}/v3/project/${project}/trusted-publisher`, session, publisher)
  const { audience } = (await (await call(`${url}/.well-known/depot-publishing`, { headers: headers() })).json()) as {
    audience: string
  }
  const seconds = Math.floor(Date.now() / 1000)
  const workflow_ref = `${repository}/.github/workflows/release.yml@refs/tags/v1`
  const build = { repository, repository_id: '1', workflow_ref, ref: 'refs/tags/v1', event_name: 'push', sha: 'ab' }
  const tokens = Array.from({ length: EXCHANGES + 30 }, () =>
    issuer.token({ aud: audience, iat: seconds, exp: seconds + 800, ...build }),
  )
  const exchange = (token: string) => json(`${url}/_internal/oidc/token`, undefined, { token })
  for (const token of tokens.splice(0, 30)) await exchange(token)
  const before = cpuSecondsOfAll(child)
  for (const token of tokens) await exchange(token)
  const ms = ((cpuSecondsOfAll(child) - before) * 1000) / EXCHANGES
  return row('processor time of an exchange, with its database', ms, { atMost: 5 }, ' ms')
}

/** Processor time of a request with either token, in alternating rounds. */
async function compare(
  { url, child }: RunningDepot,
  path: string,
  tokens: { limited: string; unlimited: string },
): Promise<Row> {
  const cost = async (token: string): Promise<number> => {
    const before = cpuSeconds(child)
    const { requests } = await load(new URL(url).port, [path], {
      seconds: SECONDS,
      connections: 8,
      headers: { authorization: token },
    })
    return (cpuSeconds(child) - before) / requests
  }
  const ratios: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const unlimited = await cost(tokens.unlimited)
    const limited = await cost(tokens.limited)
    if (round > 0) ratios.push(limited / unlimited)
  }
  ratios.sort((a, b) => a - b)
  const spread = `${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)} in ${ratios.length} rounds`
  const median = ratios[Math.floor(ratios.length / 2)] ?? 0
  const name = path.replace(/project\/\w+/, 'project/{id}')
  return row(
    `processor time of GET ${name} with a fine-grained token, of an unlimited one`,
    median,
    { atMost: 1.05 },
    ' times',
    spread,
  )
}
