// An authenticator in software (WebAuthn Level 3), for tests over HTTP. Browser tests use the virtual one of the browser.
import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import type { LightMyRequestResponse as InjectResponse } from 'fastify'
import type { TestApp } from '../app/test-app.ts'

const ORIGIN = 'https://depot.test'
const [USER_PRESENT, USER_VERIFIED, HAS_CREDENTIAL] = [0x01, 0x04, 0x40]

type Created = { challenge: string; user: { id: string } }
type Asked = { challenge: string }
/** Differences of a dishonest or broken authenticator or browser. */
type Twist = { origin?: string; rpId?: string; isUnverified?: boolean; counter?: number }

const base64url = (bytes: Buffer | string): string => Buffer.from(bytes).toString('base64url')

/** Returns an authenticator with one passkey for the test application. Its counter rises with each signature. */
export function softAuthenticator({ counts = true }: { counts?: boolean } = {}) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const credentialId = randomBytes(16)
  let counter = 0
  const authData = (twist: Twist, extra = Buffer.alloc(0), flags = 0): Buffer => {
    counter = counts ? counter + 1 : 0
    const head = Buffer.alloc(5)
    head[0] = USER_PRESENT | (twist.isUnverified === true ? 0 : USER_VERIFIED) | flags
    head.writeUInt32BE(twist.counter ?? counter, 1)
    const rpIdHash = createHash('sha256')
      .update(twist.rpId ?? 'depot.test')
      .digest()
    return Buffer.concat([rpIdHash, head, extra])
  }
  const clientData = (type: 'create' | 'get', challenge: string, { origin = ORIGIN }: Twist): string =>
    JSON.stringify({ type: `webauthn.${type}`, challenge, origin, crossOrigin: false })
  const common = { id: base64url(credentialId), rawId: base64url(credentialId), type: 'public-key' as const }
  return {
    /** The result of `navigator.credentials.create()` as JSON. */
    create({ challenge }: Created, twist: Twist = {}) {
      const length = Buffer.from([0, credentialId.length])
      const credential = Buffer.concat([Buffer.alloc(16), length, credentialId, coseKey(publicKey)])
      const data = authData(twist, credential, HAS_CREDENTIAL)
      const attestation = Buffer.concat([
        Buffer.from('a363666d74646e6f6e656761747453746d74a0686175746844617461', 'hex'),
        Buffer.from([0x58, data.length]),
        data,
      ])
      return {
        ...common,
        response: {
          clientDataJSON: base64url(clientData('create', challenge, twist)),
          attestationObject: base64url(attestation),
          transports: ['internal'],
        },
      }
    },
    /** The result of `navigator.credentials.get()` as JSON. */
    get({ challenge }: Asked, twist: Twist = {}) {
      const json = clientData('get', challenge, twist)
      const data = authData(twist)
      const signed = Buffer.concat([data, createHash('sha256').update(json).digest()])
      return {
        ...common,
        response: {
          clientDataJSON: base64url(json),
          authenticatorData: base64url(data),
          signature: base64url(sign('sha256', signed, privateKey)),
        },
      }
    },
  }
}
export type SoftAuthenticator = ReturnType<typeof softAuthenticator>

/** Returns a key in COSE form (RFC 9053): ES256 on P-256. */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  const [head, middle] = [Buffer.from('a5010203262001215820', 'hex'), Buffer.from('225820', 'hex')]
  return Buffer.concat([head, Buffer.from(x, 'base64url'), middle, Buffer.from(y, 'base64url')])
}

const PASSKEYS = '/_internal/auth/passkeys'

export const passkeyOptions = async (t: TestApp): Promise<{ challenge: string }> =>
  (await t.anyone.post(`${PASSKEYS}/options`)).json()

/** Returns the response of an authenticator to new options. */
export const passkeyAnswer = async (t: TestApp, authenticator: SoftAuthenticator) =>
  authenticator.get(await passkeyOptions(t))

/** Adds a passkey to an account whose session is confirmed. */
export async function addPasskey(t: TestApp, member: { token: string }, authenticator = softAuthenticator()) {
  const options = (await t.as(member).post(`${PASSKEYS}/start`)).json()
  const answer = await t.as(member).post(PASSKEYS, { name: 'My phone', credential: authenticator.create(options) })
  assert.equal(answer.statusCode, 201, answer.body)
  const { passkey, backup_codes: backupCodes } = answer.json()
  return { authenticator, id: passkey.id as string, backupCodes: backupCodes as string[] | null }
}

export async function signInWithPasskey(
  t: TestApp,
  authenticator: SoftAuthenticator,
  more: object = {},
): Promise<InjectResponse> {
  return t.anyone.post('/_internal/auth/login/passkey', { credential: await passkeyAnswer(t, authenticator), ...more })
}
