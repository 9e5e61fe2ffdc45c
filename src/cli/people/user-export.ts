// `depot user export`: writes everything that Depot stores about a user to a file or to standard output.
import { writeFile } from 'node:fs/promises'
import { readArguments } from '#cli/kit/arguments.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { exportAccount } from '#features/community/personal-data/export-data.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { OperatorError } from '#lib/operator-error.ts'

export async function userExport(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { json: 'boolean' }, { min: 1, max: 2 })
  const [name = '', file = '-'] = words
  await withDeps(env, async (deps) => {
    const account = await getAccountByName(deps.db, name, { withLeaving: true })
    const { id, username } = account
    const data = await exportAccount(deps, account)
    if (file !== '-') await writeNew(file, data)
    await recordAudit(deps.db, { action: 'account.data_exported', actor: COMMAND, subject: { kind: 'user', id } })
    if (file === '-') return void process.stdout.write(`${data.toString()}\n`)
    const text = `Wrote the data of ${username} (${data.length} bytes) to ${file}`
    print({ json: { id, username, file, bytes: data.length }, text }, values.json)
  })
}

/** Only the owner of the file can read it. */
async function writeNew(file: string, data: Buffer): Promise<void> {
  await writeFile(file, data, { flag: 'wx', mode: 0o600, flush: true }).catch((cause: NodeJS.ErrnoException) => {
    const problem = cause.code === 'EEXIST' ? 'already exists' : `cannot be written: ${cause.message}`
    throw new OperatorError(`${file} ${problem}. Choose another file name.`, { cause })
  })
}
