// The sign-ins of the demo: a publisher and a moderator. Their passwords are generated and shown once.

import { type DemoPerson, SIGN_INS } from '#demo/catalogue/people.ts'
import { demoId } from '#demo/ids.ts'
import { giveSignIn } from '#demo/seed/people.ts'
import { createPasswords } from '#features/people/accounts/passwords/passwords.ts'
import { newId } from '#lib/ids.ts'
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
      const username = await giveSignIn(deps, { id: demoId('account', n), role, passwordHash })
      if (username !== undefined) given.push({ username, password, role })
    }
    return given
  } finally {
    await passwords.close()
  }
}
