import type { Updateable } from 'kysely'
import { hasSecondFactor, lockAccount } from '#features/basics/access/accounts.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { validationError } from '#lib/errors.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { InstanceSettings } from '#platform/db/schema.ts'
import type { Deps } from '#ports/deps.ts'
import { insertPageVersion } from './pages/queries.ts'
import { type SettingsPatch, toSettingsColumns } from './requests.ts'
import { getSettingsRow, SETTINGS_ID } from './settings-cache.ts'
import { upsertSettings } from './upsert-settings.ts'

/**
 * Changes settings in one transaction. They take effect immediately in this process and within one second in the others.
 * @throws ApiError `validation_error` naming the setting.
 */
export async function updateSettings(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  actor: Actor,
  patch: SettingsPatch,
): Promise<void> {
  const values = toSettingsColumns(patch)
  const fields = Object.keys(values)
  if (fields.length === 0) return
  await transaction(deps, async (tx, changed) => {
    await checkTimes(tx, values)
    if (patch.require_staff_two_factor === true) await checkOwnTwoFactor(tx, actor)
    await upsertSettings(tx, values, deps.now())
    if (values.rules !== undefined) {
      const text = isBlank(values.rules ?? '') ? '' : (values.rules ?? '')
      await insertPageVersion(tx, { kind: 'rules', text, asksAgain: false, actor, now: deps.now() })
    }
    const { registration, read_only, name, require_staff_two_factor } = values
    const recorded = { registration, read_only, name, require_staff_two_factor }
    const changes = Object.entries(recorded).filter(([, value]) => value !== undefined)
    await recordAudit(tx, { action: 'settings.changed', actor, details: { fields, ...Object.fromEntries(changes) } })
    changed.add('settings', SETTINGS_ID)
  })
}

/** @throws ApiError `validation_error` if the announcement would end before it begins. */
async function checkTimes(tx: Tx, values: Updateable<InstanceSettings>): Promise<void> {
  if (values.announcement_start === undefined && values.announcement_end === undefined) return
  const row = { ...(await getSettingsRow(tx)), ...values }
  const [start, end] = [row.announcement_start, row.announcement_end].map((time) => (time ? new Date(time) : null))
  if (start && end && end <= start) {
    const field = values.announcement_end === undefined ? 'announcement_start' : 'announcement_end'
    throw validationError(field, 'the announcement must end after it begins')
  }
}

/** Admins would otherwise lose their role with this request. @throws ApiError `validation_error` */
async function checkOwnTwoFactor(tx: Tx, actor: Actor): Promise<void> {
  if (actor.kind !== 'account') return
  const account = await lockAccount(tx, actor.id)
  if (!hasSecondFactor(account))
    throw validationError('require_staff_two_factor', 'turn on two-factor sign-in for your own account first')
}
