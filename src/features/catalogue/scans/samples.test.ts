// Requests for the tests of all operations.
import { at, type Sample } from '#test/api/operations/sample.ts'

/** A version that the scanner holds. */
const heldVersion: Sample = {
  ...at('version'),
  before: async ({ t: { deps }, id }) => {
    const version_id = await id('version')
    const now = new Date(deps.now())
    await deps.db
      .insertInto('version_scan')
      .values({ version_id, state: 'quarantine', next_attempt: now, requested: now })
      .execute()
    await deps.db.updateTable('version').set({ status: 'unknown' }).where('id', '=', version_id).execute()
  },
}

export const SAMPLES: Record<string, Sample> = { releaseVersion: heldVersion, repeatVersionScan: heldVersion }
