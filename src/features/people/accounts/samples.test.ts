// Requests for the tests of all operations.

import { SYSTEM } from '#features/basics/audit/actor.ts'
import { publishPage } from '#features/basics/settings/pages/publish-page.ts'
import { hideAccount } from '#features/community/personal-data/hide-account.ts'
import { suspendAccount } from '#features/people/accounts/administration/suspend-account.ts'
import { createInvitation } from '#features/people/accounts/invitations/create-invitation.ts'
import { toInvitation } from '#features/people/accounts/invitations/requests.ts'
import { insertFlow } from '#features/people/accounts/mail/flows.ts'
import { getAccount } from '#features/people/users/queries.ts'
import { newId } from '#lib/ids.ts'
import {
  at,
  type Declared,
  entry,
  inDays,
  ownUser,
  PROOF,
  type Sample,
  send,
  slug,
  theAnswer,
  viewAt,
} from '#test/api/operations/sample.ts'
import { nextRange, type World } from '#test/api/operations/world.ts'
import {
  enableTwoFactor,
  type Member,
  OTHER_PASSWORD,
  PASSWORD,
  signIn,
  totpCode,
} from '#test/support/http/account-steps.ts'
import { addPasskey, passkeyAnswer, softAuthenticator } from '#test/support/http/authenticator.ts'
import { buildService } from '#test/support/stand-ins/build-service.ts'

const newAccount = () => {
  const username = slug()
  // The first version, if another operation has published the Terms.
  return { username, email: `${username}@example.org`, password: PASSWORD, terms_version: 1 }
}
const BLOCKS = '/_internal/admin/sign-up-blocks'
async function aBlock(w: World): Promise<string> {
  const by = w.t.as(await w.person('admin'))
  await by.post(BLOCKS, { address_ranges: [nextRange()] })
  return (await by.get(BLOCKS)).json().blocks[0].id
}
type Block = { email_domain: string | null; address_range: string | null; note: string; created: string }
/** The blocks of the newest request as its body. */
const newestBlocks: Declared['view'] = async (read) => {
  const { blocks } = (await read(BLOCKS)) as { blocks: Block[] }
  const newest = blocks.filter(({ created }) => created === blocks[0]?.created)
  return {
    ...newest[0],
    email_domains: newest.flatMap(({ email_domain }) => email_domain ?? []),
    address_ranges: newest.flatMap(({ address_range }) => address_range ?? []),
  }
}
/** The owner as an account that can sign in. */
const asMember = async (w: World): Promise<Member> => ({ ...(await w.person('owner')), sessionId: '' })
const mailedFlow = async (w: World) => {
  const { id: accountId, email } = await w.person('owner')
  return insertFlow(w.t.deps.db, { kind: 'verify_email', accountId, data: { email }, now: w.t.deps.now() })
}
const secondFactor = async (w: World) => {
  const owner = await asMember(w)
  const { secret } = await enableTwoFactor(w.t, owner)
  const asked = await signIn(w.t, owner.username)
  return { flow: asked.json().flow, code: totpCode(w.t, secret) }
}
/** The ID of a new passkey of the owner. */
const ownPasskey = async (w: World) => (await addPasskey(w.t, await w.person('owner'))).id
const usedPasskey = async (w: World) => {
  const { authenticator } = await addPasskey(w.t, await w.person('owner'))
  return { credential: await passkeyAnswer(w.t, authenticator) }
}
const newPasskey = async (w: World) => {
  const options = await w.t.as(await w.person('owner')).post('/_internal/auth/passkeys/start')
  return { name: 'My phone', credential: softAuthenticator().create(options.json()) }
}
const firstCode = async (w: World) => {
  const answer = await w.t.as(await w.person('owner')).post('/_internal/auth/2fa/get_secret')
  const { flow, secret } = answer.json()
  return { flow, code: totpCode(w.t, secret) }
}

export const SAMPLES: Record<string, Sample> = {
  createSignUpBlocks: { body: () => ({ address_ranges: [nextRange()] }) },
  deleteSignUpBlock: { at: { id: aBlock } },
  createAccount: { body: newAccount },
  validateNewAccount: { body: newAccount },
  agreeToTerms: {
    body: { version: 1 },
    before: (w) => publishPage(w.t.deps, SYSTEM, { kind: 'terms', text: 'Our terms' }),
  },
  signIn: { body: async (w) => ({ username: (await w.person('owner')).username, password: PASSWORD }) },
  signInWithSecondFactor: { body: secondFactor },
  requestPasswordReset: { body: async (w) => ({ username: (await w.person('owner')).username }) },
  changePassword: { body: { old_password: PASSWORD, new_password: OTHER_PASSWORD, end_tokens: false } },
  changeEmail: { body: () => ({ email: `${slug()}@example.org` }) },
  resendVerification: {
    before: async ({ t, id }) =>
      t.deps.db
        .updateTable('account')
        .set({ email_verified: false })
        .where('id', '=', await id('owner'))
        .execute(),
  },
  undoEmailChange: { body: { flow: 'unknown' } },
  verifyEmail: { body: async (w) => ({ flow: await mailedFlow(w) }) },
  enableTwoFactor: { body: firstCode },
  disableTwoFactor: { body: async (w) => ({ code: (await enableTwoFactor(w.t, await asMember(w))).backupCodes[0] }) },
  unlinkSignInProvider: {
    at: { provider: () => 'github' },
    body: {},
    before: async ({ t, id }) => {
      const link = { account_id: await id('owner'), provider: 'github', subject: newId(), name: 'Mira' }
      await t.deps.db.insertInto('account_provider').values(link).execute()
    },
  },
  renewBackupCodes: { before: async (w) => void (await ownPasskey(w)), body: {} },
  signInWithPasskey: { body: usedPasskey },
  confirmWithPasskey: { body: usedPasskey },
  addPasskey: { body: newPasskey },
  renamePasskey: { at: { id: ownPasskey }, body: { name: 'Old phone' } },
  deletePasskey: { at: { id: ownPasskey }, body: {} },
  linkCodeHost: { body: async (w) => ({ token: `ghp_${await w.id('owner')}` }) },
  createAccessToken: { body: () => ({ name: 'For my program', scopes: ['PROJECT_READ'], expires: inDays(365) }) },
  updateAccessToken: { body: { name: 'For another program' } },
  revokeLeakedToken: { body: async (w) => ({ token: (await w.t.make.pat(await w.person('owner'))).token }) },
  reportLeakedTokens: {
    raw: async () => {
      const payload = JSON.stringify([{ token: 'dpp_unknown', type: 'depot', url: 'https://code.example/file' }])
      const signature = (await buildService()).signReport(payload)
      const signed = { 'github-public-key-identifier': 'report', 'github-public-key-signature': signature }
      return { payload: Buffer.from(payload), headers: { 'content-type': 'application/json', ...signed } }
    },
  },
  suspendUser: { ...at('stranger'), body: { reason: 'Advertising in every project' } },
  unsuspendUser: {
    ...at('stranger'),
    body: {},
    before: async (w) =>
      suspendAccount(w.t.deps, SYSTEM, { name: await w.id('stranger'), reason: 'Advertising', until: null }),
  },
  restoreUser: {
    ...at('stranger'),
    body: {},
    before: async (w) => {
      const { deps } = w.t
      const config = { ...deps.config, accounts: { ...deps.config.accounts, deletionDays: 7 } }
      const account = await getAccount(deps.db, await w.id('stranger'))
      await hideAccount({ ...deps, config }, account, { actor: SYSTEM, byOwner: true })
    },
  },
  createInvitation: { body: { uses: 2 } },
  revokeInvitation: {
    at: { id: async (w) => (await createInvitation(w.t.deps, SYSTEM, toInvitation({}, w.t.deps.now()))).id },
  },
  endUserSession: {
    at: {
      id: async (w) => (await w.person('stranger')).id,
      session: async (w) => {
        const { id } = await w.person('stranger')
        await w.t.make.session(id)
        const session = w.t.deps.db.selectFrom('session').select('id').where('account_id', '=', id)
        return (await session.orderBy('created', 'desc').limit(1).executeTakeFirstOrThrow()).id
      },
    },
    body: {},
  },
  signOutUser: { ...at('stranger'), body: {} },
  resetTwoFactor: {
    ...at('stranger'),
    body: { reason: 'Recognised on a call' },
    before: async ({ t, id }) => {
      const account = t.deps.db.updateTable('account').set({ totp_secret: 'A'.repeat(32) })
      await account.where('id', '=', await id('stranger')).execute()
    },
  },
  setUserEmail: { ...at('stranger'), body: () => ({ email: `${newId()}@example.org`, verified: true }) },
  makePasswordLink: { ...at('stranger'), body: {} },
  setUserLimits: { ...at('stranger'), body: { projects: 7 } },
}

export const DECLARED: Record<string, Declared> = {
  createSignUpBlocks: {
    by: 'operator',
    view: newestBlocks,
    fields: {
      email_domains: send(['declared.example']),
      address_ranges: send(['198.51.100.0/24']),
      note: send('A wave of spam'),
      ends: send('2056-01-02T03:04:05.000Z'),
    },
  },
  createAccount: {
    by: 'admin',
    view: async (read, world) => {
      const newest = await world.t.deps.db
        .selectFrom('account')
        .select('id')
        .orderBy('created', 'desc')
        .limit(1)
        .executeTakeFirstOrThrow()
      return read(`/v3/user/${newest.id}`)
    },
    fields: { username: send(slug), email: send(() => `${slug()}@example.org`), language: send('de') },
    unseen: {
      email_key: 'proves that the user reads the email address',
      terms_version: 'is visible to the new user only; terms.test.ts has it',
      password: 'is a secret; sign-up.test.ts signs in with it',
      challenge: 'is the answer to the captcha, and spent',
      invitation: 'is a secret; invitations.test.ts signs up with it',
      account_consent: 'is set by automated programs only, and rejected',
    },
  },
  changePassword: {
    view: viewAt('/v3/user', 'owner'),
    unseen: {
      flow: 'proves that the user reads the email address',
      end_tokens: 'ends tokens, which the view does not list',
      old_password: 'is a secret',
      ...PROOF,
      new_password: 'is a secret; password.test.ts signs in with it',
    },
  },
  changeEmail: { view: ownUser, fields: { email: send(() => `${slug()}@example.org`) }, unseen: PROOF },
  addPasskey: {
    view: theAnswer,
    unseen: {
      name: 'is in the answer below `passkey`',
      credential: 'is stored as a key, which no view shows',
      ...PROOF,
    },
  },
  renamePasskey: {
    view: async (read, world) => {
      const { passkeys } = (await read('/_internal/auth/passkeys')) as { passkeys: { name: string }[] }
      return passkeys.at(-1) ?? world
    },
    fields: { name: send('Old phone') },
  },
  createAccessToken: {
    view: entry('/_internal/pat'),
    fields: {
      name: send('For a third program'),
      scopes: send(4),
      expires: send(() => inDays(30)),
      limits: {
        send: { addresses: ['192.0.2.0/24'] },
        shows: { projects: null, organizations: null, addresses: ['192.0.2.0/24'] },
      },
    },
    unseen: PROOF,
  },
  updateAccessToken: {
    view: entry('/_internal/pat', 'pat'),
    fields: { name: send('For a third program'), expires: send(() => inDays(30)) },
    unseen: {
      ...PROOF,
      scopes: 'is refused: other scopes need another token',
      limits: 'is refused, like other scopes',
    },
  },
  makePasswordLink: { view: theAnswer, unseen: PROOF },
  createInvitation: {
    by: 'operator',
    view: entry('/_internal/admin/invitations'),
    fields: {
      uses: send(7),
      expires: send(() => inDays(1)),
      email: send('mira@example.org'),
      note: send('For the translators'),
    },
  },
}
