import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { SYSTEM } from '#features/basics/audit/actor.ts'
import { DAY_MS } from '#lib/time.ts'
import { testDatabase } from '#test/support/app/database.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { commandHere } from '#test/support/processes/command-here.ts'
import { listInstanceKeys, openPrivateKey, signWithInstanceKey } from './instance-keys.ts'
import {
  parsePrivateKey,
  privateKeyText,
  publicKeyOf,
  publicKeyText,
  rotationText,
  signWith,
  verifierKey,
} from './key-texts.ts'
import { rotateKey } from './rotate-key.ts'
import { openSecret, SecretLostError, sealSecret } from './seal-secret.ts'
import type { InstanceKeysView } from './views.ts'

const t = await testApp()
after(() => t.close())
// Each test begins without a key, as a new instance does.
beforeEach(async () => {
  await t.deps.db.deleteFrom('instance_key').execute()
  await t.deps.db.deleteFrom('instance_secret').execute()
})

const SEED = Buffer.from(Array.from({ length: 32 }, (_, i) => i))

async function readKeys(): Promise<InstanceKeysView['keys']> {
  const answer = await t.anyone.get('/v3/instance/key')
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<InstanceKeysView>().keys
}

/** Checks a signature with the public key as the API shows it. */
function isSigned(bytes: Buffer, signature: Buffer, publicKey: string): boolean {
  const x = Buffer.from(publicKey.replace('whpk_', ''), 'base64').toString('base64url')
  return verify(null, bytes, createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }), signature)
}

const signed = `evt_AABBCCDDEEFFGGHH.1772366400.{"type":"version.published","timestamp":"2026-03-01T12:00:00.000Z","data":{"project_id":"AABBCCDD","version_id":"EEFFGGHH"}}`

test('text forms and signatures are those of Standard Webhooks and of signed notes', () => {
  const key = publicKeyOf(SEED)
  assert.equal(publicKeyText(key), 'whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=')
  assert.equal(
    verifierKey('https://depot.example', key),
    'depot.example/files+d0f475ab+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4',
  )
  assert.match(verifierKey('http://127.0.0.1:8080/hub', key), /^127\.0\.0\.1:8080\/hub\/files\+[0-9a-f]{8}\+AQOh/)
  const expected = 'lI7M1SDDZfETYPSg+LtTNAf/tRNiqI9P8AOjL6pfJjIuKKsJgkoyvOf9xdUhoXRISxvuSfiG1Isx29jK6GnmCA=='
  assert.equal(signWith(SEED, Buffer.from(signed)).toString('base64'), expected)
  assert.deepEqual(parsePrivateKey(`${privateKeyText(SEED)}\n`), SEED)
  for (const text of ['', 'whsk_', 'whsk_AAAA', privateKeyText(SEED).slice(0, -2), publicKeyText(key)])
    assert.equal(parsePrivateKey(text), undefined, text)
})

test('the instance creates one key, publishes it and signs with it, also when many requests need it', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, readKeys))
  const [key] = answers[0] ?? []
  assert.ok(key !== undefined)
  assert.deepEqual(Object.keys(key), ['public_key', 'verifier_key', 'since', 'until'])
  assert.equal(key.until, null)
  for (const keys of answers) assert.deepEqual(keys, [key])
  const bytes = Buffer.from('hello')
  assert.ok(isSigned(bytes, await signWithInstanceKey(t.deps, bytes), key.public_key))
  assert.equal((await t.anyone.get('/v2/instance/key')).statusCode, 404)
})

test('a new key is signed by the previous one, which stays valid for 90 days', async () => {
  const [first] = await readKeys()
  t.advance(1000)
  await rotateKey(t.deps, SYSTEM)
  const [second, previous, ...others] = await readKeys()
  assert.ok(first && second?.signature !== undefined && previous && others.length === 0)
  assert.deepEqual({ ...previous, until: null }, first)
  const text = Buffer.from(`depot instance key\n${second.public_key}\n`)
  assert.deepEqual(rotationText(Buffer.from(second.public_key.slice(5), 'base64')), text)
  assert.ok(isSigned(text, Buffer.from(second.signature, 'base64'), first.public_key))
  assert.ok(isSigned(text, await signWithInstanceKey(t.deps, text), second.public_key))
  t.advance(90 * DAY_MS - 60_000)
  assert.equal((await readKeys()).length, 2)
  t.advance(60_000)
  assert.deepEqual(await readKeys(), [second])
})

test('rotations at the same time happen one after the other', async () => {
  await Promise.all([1, 2, 3, 4].map(() => rotateKey(t.deps, SYSTEM)))
  const keys = await readKeys()
  assert.deepEqual([keys.length, keys.filter(({ until }) => until === null).length], [5, 1])
  const isSignedByOther = ({ public_key, signature }: (typeof keys)[number]) =>
    keys.some((other) =>
      isSigned(
        Buffer.from(`depot instance key\n${public_key}\n`),
        Buffer.from(signature ?? '', 'base64'),
        other.public_key,
      ),
    )
  assert.equal(keys.filter(isSignedByOther).length, 4)
})

test('a sealed secret opens only in its context, unchanged, and with the key of this database', async () => {
  const plain = Buffer.from('a secret')
  const sealed = await sealSecret(t.deps, plain, 'webhook:1')
  assert.ok(!sealed.includes(plain))
  assert.notDeepEqual(await sealSecret(t.deps, plain, 'webhook:1'), sealed)
  assert.deepEqual(await openSecret(t.deps, sealed, 'webhook:1'), plain)
  await assert.rejects(openSecret(t.deps, sealed, 'webhook:2'), (error) => !(error instanceof SecretLostError))
  for (const at of [9, 21, sealed.length - 1]) {
    const changed = Buffer.from(sealed)
    changed[at] = (changed[at] ?? 0) ^ 1
    await assert.rejects(openSecret(t.deps, changed, 'webhook:1'), (error) => !(error instanceof SecretLostError))
  }
  await assert.rejects(openSecret(t.deps, Buffer.from([9]), 'webhook:1'), /format/)
  await t.deps.db.deleteFrom('instance_secret').where('name', '=', 'secrets').execute()
  await assert.rejects(openSecret(t.deps, sealed, 'webhook:1'), SecretLostError)
})

test('a key that was lost is replaced without a signature', async () => {
  await readKeys()
  await t.deps.db.deleteFrom('instance_secret').where('name', '=', 'secrets').execute()
  await assert.rejects(signWithInstanceKey(t.deps, Buffer.from('a')), SecretLostError)
  await rotateKey(t.deps, SYSTEM)
  const [current] = await readKeys()
  assert.equal(current?.signature, undefined)
  assert.equal((await signWithInstanceKey(t.deps, Buffer.from('a'))).length, 64)
})

test('the commands show, replace, export and import the key, and the audit log names it', async () => {
  const database = await testDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'depot-key-'))
  const env = {
    DATABASE_URL: database.connectionString,
    DATA_DIR: join(folder, 'data'),
    BASE_URL: 'https://depot.example',
  }
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await commandHere(args, env)
    assert.equal(code, 0, stderr)
    return stdout
  }
  try {
    await run('migrate')
    const exported = JSON.parse(await run('key', 'export', '--json'))
    const shown = JSON.parse(await run('key', 'show', '--json'))
    assert.equal(shown.keys[0].public_key, exported.public_key)
    assert.match(await run('key', 'show'), /whpk_.+ current\n\ndepot\.example\/files\+/)
    assert.match(
      await run('key', 'rotate'),
      /^The instance signs with whpk_.+\. The previous key stays valid until .+Z\n$/,
    )
    const file = join(folder, 'key')
    await writeFile(file, `${exported.private_key}\n`)
    const imported = JSON.parse(await run('key', 'import', file, '--json'))
    assert.deepEqual([imported.keys.length, imported.keys[0].public_key], [2, exported.public_key])
    assert.deepEqual(JSON.parse(await run('key', 'import', file, '--json')), imported, 'the same again changes nothing')
    await writeFile(file, 'secret text')
    const wrong = await commandHere(['key', 'import', file], env)
    assert.deepEqual([wrong.code, /does not contain a private key/.test(wrong.stderr)], [2, true])
    assert.doesNotMatch(wrong.stderr, /secret text/)
    const missing = await commandHere(['key', 'import', join(folder, 'none')], env)
    assert.match(missing.stderr, /Cannot read the file/)
    const entries = await database.db.selectFrom('audit_entry').select(['action', 'details']).orderBy('id').execute()
    const about = entries.filter(({ action }) => action.startsWith('instance_key.'))
    assert.deepEqual(
      about.map(({ action }) => action),
      ['instance_key.exported', 'instance_key.rotated', 'instance_key.rotated'],
    )
    assert.ok(!JSON.stringify(about).includes(exported.private_key.slice(5, 40)))
    assert.equal((await readFile(file, 'utf8')).length, 11)
  } finally {
    await database.close()
    await rm(folder, { recursive: true, force: true })
  }
})

test('private keys are stored encrypted', async () => {
  const [row] = await listInstanceKeys(t.deps)
  assert.ok(row !== undefined)
  const seed = await openPrivateKey(t.deps, row)
  assert.deepEqual(publicKeyOf(seed), row.public_key)
  assert.ok(!row.private_key.includes(seed))
})
