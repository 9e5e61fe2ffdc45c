// Runs depot-publish in this process against the application, in an empty folder.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '#client/command/run.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import { form, projectData } from '#test/support/http/forms.ts'
import { type StandIn, standIn } from './stand-in.ts'

export type Outcome = { code: number; result: string; notes: string }

export const MANIFEST = {
  schemaVersion: 1,
  id: 'lantern',
  version: '1.2.0',
  name: 'Lantern',
  depends: { minecraft: '1.20.1', glow: '*' },
}

export type Publisher = Awaited<ReturnType<typeof openPublisher>>

export async function openPublisher(env: Record<string, string> = {}) {
  const t: TestApp = await testApp({ env })
  const url = await t.app.listen({ host: '127.0.0.1', port: 0 })
  const person = await t.make.account()
  const { token } = await t.make.pat(person)
  const folder = mkdtempSync(join(tmpdir(), 'depot-publish-'))
  let projects = 0
  return {
    t,
    url,
    person,
    token,
    folder,
    async publish(
      args: readonly string[],
      env: Record<string, string> = { DEPOT_TOKEN: token },
      signal?: AbortSignal,
    ): Promise<Outcome> {
      const results: string[] = []
      const notes: string[] = []
      const code = await run(args, {
        env: { DEPOT_URL: url, XDG_CACHE_HOME: join(folder, 'cache'), ...env },
        cwd: folder,
        result: (text) => results.push(text),
        note: (text) => notes.push(text),
        ...(signal === undefined ? {} : { signal }),
      })
      return { code, result: results.join('\n'), notes: notes.join('\n') }
    },
    /** Creates a project. @returns its slug. */
    async newProject({ isPublic = true } = {}): Promise<string> {
      const slug = `lantern-${++projects}`
      const { payload, headers } = await form(projectData(slug))
      const made = await t.as(person).post('/v3/project', payload, { headers })
      assert.equal(made.statusCode, 201, made.body)
      if (isPublic) {
        const moderator = await t.make.account({ role: 'moderator' })
        await t.as(moderator).patch(`/v3/project/${slug}`, { status: 'approved' })
      }
      return slug
    },
    /** Writes an archive whose content is new each time. */
    writeJar(name: string, manifest: Record<string, unknown> = MANIFEST): string {
      const salted = { ...manifest, custom: { salt: `${name} ${Math.random()}` } }
      writeFileSync(join(folder, name), makeZip([{ name: 'fabric.mod.json', data: JSON.stringify(salted) }]))
      return name
    },
    clear(): void {
      rmSync(folder, { recursive: true })
      mkdirSync(join(folder, 'build/libs'), { recursive: true })
    },
    async close(): Promise<void> {
      rmSync(folder, { recursive: true, force: true })
      await t.close()
    },
  }
}

export type Instance = StandIn & { exchanged: unknown[] }

/**
 * An instance whose exchange is a stand-in: everything else goes to the application.
 * @param ignores whether a request gets no response.
 */
export async function openInstance(
  { url, token }: Pick<Publisher, 'url' | 'token'>,
  accept: (jwt: string) => boolean,
  ignores: (path: string) => boolean = () => false,
): Promise<Instance> {
  const exchanged: unknown[] = []
  const server = await standIn(async (request, response, body) => {
    const json = (status: number, value: unknown): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (ignores(request.url ?? '')) return
    if (request.url === '/.well-known/depot-publishing') {
      const endpoint = 'https://depot.example/_internal/oidc/token'
      return json(200, { audience: 'https://depot.example', token_endpoint: endpoint })
    }
    if (request.url === '/_internal/oidc/token') {
      if (request.method === 'DELETE') {
        exchanged.push(`revoked ${request.headers.authorization === `Bearer ${token}`}`)
        return void response.writeHead(204).end()
      }
      const sent = JSON.parse(body.toString())
      exchanged.push(sent)
      if (accept(sent.token)) return json(200, { access_token: token, token_type: 'Bearer', expires_in: 900 })
      const details = { code: 'no_publisher', message: 'workflow is ci.yml, expected release.yml' }
      return json(400, { error: 'invalid_input', description: 'No publisher', details })
    }
    const { host: _, connection: __, 'content-length': ___, 'transfer-encoding': ____, ...headers } = request.headers
    const answer = await fetch(`${url}${request.url}`, {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(body.length > 0 ? { body: Uint8Array.from(body) } : {}),
    })
    for (const name of ['content-type', 'location', 'upload-offset']) {
      const value = answer.headers.get(name)
      if (value !== null) response.setHeader(name, value)
    }
    response.writeHead(answer.status)
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  return { ...server, exchanged }
}
