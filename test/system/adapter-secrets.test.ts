// The keys of the object store and the password of the mail server stay in the process that needs them, even if these
// services fail and quote them: they do not appear in the log, a response, a metric, or the output of a failed start.
import assert from 'node:assert/strict'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { newId } from '#lib/ids.ts'
import { testDatabase } from '#test/support/app/database.ts'
import { PASSWORD } from '#test/support/http/account-steps.ts'
import { PNG } from '#test/support/http/forms.ts'
import { depot, makeDataDir, type RunningDepot, startDepot } from '#test/support/processes/running-depot.ts'

const ADMIN_KEY = 'planted-admin-key-0123456789abcdefgh'
const KEY_ID = 'PLANTEDKEYIDENTIFIER'
const STORE_KEY = 'planted/secret+of=the/object/store'
const MAIL_PASSWORD = 'planted:password of the mail server'
const SECRETS = { STORE_KEY, MAIL_PASSWORD, MAIL_LOGIN: Buffer.from(`\0depot\0${MAIL_PASSWORD}`).toString('base64') }

/** Every form in which a text quotes a secret: as it is, in an address, in a JSON string, in base64. */
function found(text: string): string[] {
  return Object.entries(SECRETS).flatMap(([name, secret]) =>
    [secret, encodeURIComponent(secret), encodeURI(secret), Buffer.from(secret).toString('base64')]
      .filter((form) => text.includes(form))
      .map((form) => `${name}: …${text.slice(Math.max(0, text.indexOf(form) - 200), text.indexOf(form) + 40)}`),
  )
}

let refusesKeys = false
let broken = false
const asked = { files: 0, logins: 0 }

const objects = new Map<string, Buffer>()

/** As much of a store as a start asks for, until it fails and quotes the request. */
async function answerStore(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const body = await buffer(req)
  if (refusesKeys || broken) {
    asked.files += 1
    const quoted = JSON.stringify(req.headers).replaceAll(/[<&]/g, '')
    const [status, code] = refusesKeys ? [403, 'SignatureDoesNotMatch'] : [500, 'InternalError']
    res.writeHead(status, { 'content-type': 'application/xml' })
    res.end(`<Error><Code>${code}</Code><Message>Refused: ${quoted}</Message></Error>`)
    return
  }
  const [path = ''] = String(req.url).split('?')
  if (req.method === 'PUT') objects.set(path, body)
  if (req.method === 'DELETE') objects.delete(path)
  const isBucket = /^\/planted\/?$/.test(path)
  const found = objects.get(path)
  const isThere = isBucket || req.method === 'PUT' || req.method === 'DELETE' || found !== undefined
  res.writeHead(isThere ? 200 : 404, { 'content-length': found?.length ?? 0 })
  res.end(req.method === 'GET' ? found : undefined)
}

/** A mail server that rejects every password and repeats it, encoded and in clear. */
const mailServer = createServer((socket) => {
  socket.on('error', () => undefined)
  socket.write('220 mail.example ESMTP\r\n')
  socket.on('data', (data) => {
    const line = data.toString().trim()
    if (line.startsWith('EHLO')) socket.write('250-mail.example\r\n250 AUTH PLAIN\r\n')
    else if (line.startsWith('AUTH PLAIN')) {
      asked.logins += 1
      const login = Buffer.from(line.slice('AUTH PLAIN '.length), 'base64').toString().replaceAll('\0', ' ')
      socket.write(`535 5.7.8 Bad credentials in "${line}" (${login})\r\n`)
    } else socket.write('221 Bye\r\n')
  })
})
const store = createHttpServer((req, res) => void answerStore(req, res))

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const { dataDir, remove } = makeDataDir()
let env: Record<string, string>
let server: RunningDepot
let database: Awaited<ReturnType<typeof testDatabase>>

before(async () => {
  database = await testDatabase()
  const [storePort, mailPort] = [await listen(store), await listen(mailServer)]
  env = {
    DATABASE_URL: database.connectionString,
    ADMIN_KEY,
    LOG_LEVEL: 'debug',
    BASE_URL: 'https://depot.test',
    S3_BUCKET: 'planted',
    S3_ENDPOINT: `http://127.0.0.1:${storePort}`,
    AWS_ACCESS_KEY_ID: KEY_ID,
    AWS_SECRET_ACCESS_KEY: STORE_KEY,
    SMTP_URL: `smtp://depot:${encodeURIComponent(MAIL_PASSWORD)}@127.0.0.1:${mailPort}`,
    MAIL_FROM: 'depot@example.org',
    REQUIRE_VERIFIED_EMAIL: 'false',
  }
  server = await startDepot(dataDir, env)
})
after(async () => {
  await server?.stop('SIGKILL')
  for (const each of [store, mailServer]) each.close()
  store.closeAllConnections()
  remove()
  await database?.close()
})

const post = (path: string, body: object) =>
  send(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

const send = async (path: string, init: RequestInit = {}): Promise<{ status: number; text: string }> => {
  const headers = { 'user-agent': 'depot-tests/1.0', ...init.headers }
  const answer = await fetch(server.url + path, { ...init, headers })
  return { status: answer.status, text: JSON.stringify([...answer.headers]) + (await answer.text()) }
}

test('while the store and the mail server fail', async () => {
  const username = `lantern-${newId().toLowerCase()}`
  const person = { username, email: `${username}@example.org`, password: PASSWORD }
  const made = await post('/_internal/auth/create', person)
  assert.equal(made.status, 201, made.text)
  const authorization = /"session":"([^"]+)"/.exec(made.text)?.[1] ?? ''
  const icon = () =>
    send(`/v3/user/${username}/icon?ext=png`, {
      method: 'PATCH',
      headers: { authorization, 'content-type': 'image/png' },
      body: PNG,
    })
  const answers: { status: number; text: string }[] = []
  broken = true
  answers.push(await icon())
  broken = false
  refusesKeys = true
  answers.push(await icon())
  for (const { status, text } of answers) assert.ok(status >= 424, text)
  assert.ok(asked.files > 1, 'the store was not asked')
  assert.equal((await post('/_internal/auth/password/reset', { username })).status, 204)
  while (!/A job failed/.test(server.output()))
    await new Promise((resolve) => server.child.stdout?.once('data', resolve))
  assert.ok(asked.logins > 0, 'the mail server was not asked')
  answers.push(await send('/ready'), await send('/metrics', { headers: { authorization: ADMIN_KEY } }))
  assert.match(server.output(), /535 5\.7\.8/, 'the log says why')
  assert.deepEqual(found(answers.map(({ text }) => text).join('\n') + server.output()), [])
})

test('a start that the store rejects, and a look at the configuration', async () => {
  refusesKeys = true
  // The next start uses the same data folder.
  await server.stop()
  for (const command of ['serve', 'check']) {
    const { stdout, stderr } = await depot(dataDir, [command], env)
    assert.match(stdout + stderr, /planted/, 'it does not name the bucket')
    assert.deepEqual(found(stdout + stderr), [], command)
  }
})
