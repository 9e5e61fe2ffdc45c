// The first steps of an operator. Whether a step is done follows from the state of the instance: nothing is stored.
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { HAS_SECOND_FACTOR } from '#features/basics/access/accounts.ts'
import { PAGE_KINDS } from '#features/basics/settings/pages/requests.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { NamedObject } from '#lib/schema/schema-parts.ts'
import type { Deps } from '#ports/deps.ts'
import { readBackupState } from './backups/backup-age.ts'
import { readGameVersions } from './game-versions.ts'
import { gameVersionProblems, type Situation } from './problems.ts'

const FIRST_STEPS = ['branding', 'pages', 'backup', 'mail', 'game_versions', 'moderator', 'two_factor'] as const

export const FirstStepView = NamedObject('FirstStep', {
  step: Type.Enum(FIRST_STEPS, {
    description:
      '`branding`: the instance has a logo. `pages`: Rules, Terms, Privacy, Imprint and Contact have a text. ' +
      '`backup`: backups are scheduled, and the first is made. `mail`: a mail server has accepted a test email. ' +
      '`game_versions`: the list is current. `moderator`: at least two accounts are moderators or admins. ' +
      '`two_factor`: all admins use two-factor sign-in',
  }),
  done: Type.Boolean(),
})
export type FirstStep = Static<typeof FirstStepView>

type FirstStepDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now' | 'taxonomy'>
type Known = { gameVersions: Situation['gameVersions']; hasBackup: boolean }

/** Returns the steps with the facts that the overview already knows. */
export async function loadFirstSteps(deps: FirstStepDeps, { gameVersions, hasBackup }: Known): Promise<FirstStep[]> {
  const { config, now } = deps
  const { mark, pages } = await getSettings(deps)
  const { staff, unprotected, isMailTested } = await readPeople(deps)
  const done: Record<FirstStep['step'], boolean> = {
    branding: mark !== null,
    pages: pages.length === PAGE_KINDS.length,
    backup: config.backup.target !== undefined && hasBackup,
    mail: config.mail.kind === 'smtp' && isMailTested,
    game_versions: gameVersionProblems({ gameVersions, now: now() }).length === 0,
    moderator: staff > 1,
    two_factor: unprotected === 0,
  }
  return FIRST_STEPS.map((step) => ({ step, done: done[step] }))
}

/** Returns the steps for the page that shows nothing else of the overview. */
export async function loadFirstStepsAlone(deps: FirstStepDeps): Promise<FirstStep[]> {
  const { lastGood } = await readBackupState(deps.db)
  return loadFirstSteps(deps, { gameVersions: await readGameVersions(deps), hasBackup: lastGood !== null })
}

type People = { staff: number; unprotected: number; isMailTested: boolean }

async function readPeople({ db, now }: Pick<Deps, 'db' | 'now'>): Promise<People> {
  const { rows } = await sql<People>`
    select count(*)::int as staff,
      (count(*) filter (where role = 'admin' and not ${HAS_SECOND_FACTOR}))::int as unprotected,
      exists (select from audit_entry where action = 'mail.tested' and details ->> 'sent' = 'true'
        and details ->> 'transport' = 'smtp') as "isMailTested"
    from account
    where role <> 'developer' and deletion_due is null
      and (suspended_at is null or suspended_until <= ${new Date(now())})`.execute(db)
  return rows[0] ?? { staff: 0, unprotected: 0, isMailTested: false }
}
