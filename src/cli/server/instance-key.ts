// `depot key show`, `rotate`, `export` and `import`.
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { readArguments, UsageError } from '#cli/kit/arguments.ts'
import { table } from '#cli/kit/table.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { getCurrentKey, listInstanceKeys, openPrivateKey } from '#features/basics/instance-key/instance-keys.ts'
import { parsePrivateKey, privateKeyText, publicKeyText } from '#features/basics/instance-key/key-texts.ts'
import { rotateKey } from '#features/basics/instance-key/rotate-key.ts'
import { toInstanceKeysView } from '#features/basics/instance-key/views.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { withoutMark } from '#lib/text/byte-order-mark.ts'
import type { Deps } from '#ports/deps.ts'

const KEY_FILE_MAX = 4096

export async function keyShow(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean' })
  await withDeps(env, async (deps) => {
    const view = toInstanceKeysView(await listInstanceKeys(deps), deps.config.http.baseUrl)
    const rows = view.keys.map(({ public_key, since, until }) => [public_key, since, until ?? 'current'])
    const verifiers = view.keys.map(({ verifier_key }) => verifier_key).join('\n')
    print({ json: view, text: `${table(['KEY', 'SINCE', 'UNTIL'], rows)}\n\n${verifiers}` }, values.json)
  })
}

export async function keyRotate(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean' })
  await withDeps(env, (deps) => replaceKey(deps, values.json))
}

export async function keyImport(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { json: 'boolean' }, { min: 1, max: 1 })
  const seed = await readPrivateKey(words[0] ?? '-')
  await withDeps(env, (deps) => replaceKey(deps, values.json, seed))
}

async function replaceKey(deps: Deps, asJson: boolean | undefined, seed?: Buffer): Promise<void> {
  await rotateKey(deps, COMMAND, seed)
  const view = toInstanceKeysView(await listInstanceKeys(deps), deps.config.http.baseUrl)
  const [current, previous] = view.keys
  const ends = previous?.until == null ? '' : `. The previous key stays valid until ${previous.until}`
  print({ json: view, text: `The instance signs with ${current?.public_key}${ends}` }, asJson)
}

export async function keyExport(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean' })
  if (process.stdout.isTTY)
    throw new OperatorError('Standard output is a terminal. Redirect the private key to a file or a program.')
  await withDeps(env, async (deps) => {
    const key = await getCurrentKey(deps)
    const privateKey = privateKeyText(await openPrivateKey(deps, key))
    const publicKey = publicKeyText(key.public_key)
    await recordAudit(deps.db, { action: 'instance_key.exported', actor: COMMAND, details: { public_key: publicKey } })
    print({ json: { private_key: privateKey, public_key: publicKey }, text: privateKey }, values.json)
  })
}

/** @throws UsageError if the file has no private key. The message does not quote the file. */
async function readPrivateKey(path: string): Promise<Buffer> {
  const content =
    path === '-'
      ? await text(process.stdin)
      : await readFile(path, 'utf8').catch((error: Error) => {
          throw new UsageError(`Cannot read the file ${path}: ${error.message}`)
        })
  const seed = content.length > KEY_FILE_MAX ? undefined : parsePrivateKey(withoutMark(content))
  if (seed === undefined) throw new UsageError(`${path} does not contain a private key of \`depot key export\``)
  return seed
}
