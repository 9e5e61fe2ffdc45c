// `depot invitation create|list|revoke`.

import { duration, readArguments, wholeNumber } from '#cli/kit/arguments.ts'
import { table } from '#cli/kit/table.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { createInvitation, revokeInvitation } from '#features/people/accounts/invitations/create-invitation.ts'
import { getInvitation, listInvitations } from '#features/people/accounts/invitations/queries.ts'
import { toInvitation, USES_MAX } from '#features/people/accounts/invitations/requests.ts'
import { toInvitationView } from '#features/people/accounts/invitations/views.ts'

const LIST_MAX = 10_000

export async function invitationCreate(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, {
    uses: 'string',
    expires: 'string',
    email: 'string',
    note: 'string',
    json: 'boolean',
  })
  const uses = wholeNumber(values.uses ?? '1', 'uses', 1, USES_MAX)
  const lifetimeMs = duration(values.expires ?? '14d', 'expires')
  await withDeps(env, async (deps) => {
    const now = deps.now()
    const expires = new Date(now + lifetimeMs).toISOString()
    const { email = null, note = '' } = values
    const invitation = await createInvitation(deps, COMMAND, toInvitation({ uses, expires, email, note }, now))
    const { registration } = await getSettings(deps)
    const hint = `\nRegistration is ${registration}. To require invitations, run \`depot settings set registration invitation\`.`
    const sent = invitation.mailed ? `\nSent the link to ${email}` : unsent(email, deps.config.mail.kind)
    const text = `${invitation.url}${sent}${registration === 'invitation' ? '' : hint}`
    print({ json: invitation, text }, values.json)
  })
}

function unsent(email: string | null, mail: 'smtp' | 'outbox'): string {
  if (email === null) return ''
  const reason =
    mail === 'smtp' ? 'The mail server did not accept the email' : 'Emails are not sent, because SMTP_URL is not set'
  return `\n${reason}. Send the link to ${email} yourself.`
}

export async function invitationList(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean' })
  await withDeps(env, async ({ db }) => {
    const invitations = (await listInvitations(db, { limit: LIST_MAX, offset: 0 })).map(toInvitationView)
    const rows = invitations.map((one) => {
      return [one.id, `${one.used} of ${one.uses}`, one.expires.slice(0, 10), one.email ?? '', one.note]
    })
    const text = rows.length === 0 ? 'No invitations' : table(['ID', 'USED', 'EXPIRES', 'FOR', 'NOTE'], rows)
    print({ json: { invitations }, text }, values.json)
  })
}

export async function invitationRevoke(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { 'dry-run': 'boolean', json: 'boolean' }, 1)
  const [id = ''] = words
  await withDeps(env, async (deps) => {
    if (values['dry-run'] === true) {
      const { used, uses } = toInvitationView(await getInvitation(deps.db, id))
      const text = `Would be revoked: the invitation ${id}, used ${used} of ${uses} times`
      return print({ json: { dry_run: true, id, used, uses }, text }, values.json)
    }
    await revokeInvitation(deps, COMMAND, id)
    print({ json: { id }, text: `Revoked the invitation ${id}` }, values.json)
  })
}
