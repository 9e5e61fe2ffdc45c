// The sign-ins of the demo: a publisher and a moderator. Their passwords are generated and shown once.

import { type DemoPerson, SIGN_INS } from '#demo/catalogue/people.ts'
import { demoId } from '#demo/ids.ts'
import { createPasswords } from '#features/people/accounts/passwords/passwords.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'

export type SignIn = { username: string; password: string; role: DemoPerson['role'] }

/** Sets and returns passwords for those sign-in accounts that have none. */
export async function giveSignIns(deps: Pick<Deps, 'db' | 'cache'>): Promise<SignIn[]> {
  const passwords = createPasswords()
  try {
    const given: SignIn[] = []
    for (const [n, { role }] of SIGN_INS.entries()) {
      const password = `${newId()}-${newId()}`
      const passwordHash = await passwords.hash(password)
      const account = await transaction(deps, async (tx, changed) => {
        changed.add('user', demoId('account', n))
        return tx
          .updateTable('account')
          .set({ password_hash: passwordHash, role, email_verified: true })
          .where('id', '=', demoId('account', n))
          .where('password_hash', 'is', null)
          .returning('username')
          .executeTakeFirst()
      })
      if (account !== undefined) given.push({ username: account.username, password, role })
    }
    return given
  } finally {
    await passwords.close()
  }
}
