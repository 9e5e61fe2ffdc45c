// A build service on loopback that issues OpenID Connect tokens, and signs reports of leaked tokens.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Claims = Record<string, unknown>
type Answer = (res: ServerResponse) => void

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

export type CiIssuer = Awaited<ReturnType<typeof startCiIssuer>>

/** Starts the service with one RSA key `first`. */
export async function startCiIssuer() {
  const keys = new Map<string, { privateKey: KeyObject; publicKey: KeyObject }>()
  const addKey = (kid: string): void => void keys.set(kid, generateKeyPairSync('rsa', { modulusLength: 2048 }))
  addKey('first')
  const reportKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const requests: string[] = []
  /** Replaces the response of a path. */
  const answers = new Map<string, Answer>()
  const json = (res: ServerResponse, body: unknown): void =>
    void res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const server = createServer((req, res) => {
    const path = req.url ?? ''
    requests.push(path)
    const answer = answers.get(path)
    if (answer !== undefined) return answer(res)
    if (path === '/.well-known/openid-configuration') return json(res, { issuer: url, jwks_uri: `${url}/keys` })
    if (path === '/keys') {
      const list = [...keys].map(([kid, { publicKey }]) => ({
        ...publicKey.export({ format: 'jwk' }),
        kid,
        use: 'sig',
      }))
      return json(res, { keys: list })
    }
    if (path === '/report-keys') {
      const key = reportKey.publicKey.export({ type: 'spki', format: 'pem' })
      const old = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' })
      const known = { key_identifier: 'report', key, is_current: true }
      return json(res, { public_keys: [known, { key_identifier: 'old', key: old, is_current: false }] })
    }
    res.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve).unref())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let number = 0

  /** Returns a token of a build. `header` and `key` replace parts of a valid token. */
  function token(claims: Claims = {}, { header = {}, kid = 'first' }: { header?: Claims; kid?: string } = {}): string {
    number += 1
    const body = `${encode({ alg: 'RS256', typ: 'JWT', kid, ...header })}.${encode({ iss: url, jti: `build-${number}`, ...claims })}`
    const key = keys.get(kid) ?? generateKeyPairSync('rsa', { modulusLength: 2048 })
    return `${body}.${sign('sha256', Buffer.from(body), key.privateKey).toString('base64url')}`
  }

  return {
    url,
    requests,
    answers,
    addKey,
    token,
    publicKey: () => keys.get('first')?.publicKey.export({ type: 'spki', format: 'pem' }) as string,
    signReport: (body: string): string => sign('sha256', Buffer.from(body), reportKey.privateKey).toString('base64'),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
