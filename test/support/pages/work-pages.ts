// Every page for publishers, moderators and operators, with the data that it shows: for the browser suite and the tests of
// size and statements.
import type { TestApp } from '../app/test-app.ts'
import type { Person } from '../factories/factories.ts'
import { makeAnalyticsPages } from './analytics-pages.ts'
import { makeGroupPages } from './group-pages.ts'
import { makeModerationPages } from './moderation-pages.ts'
import { makeOperatorPages } from './operator-pages.ts'
import { makePersonalPages } from './personal-pages.ts'
import { makePublishPages } from './publish-pages.ts'
import { makeReportPages } from './report-pages.ts'
import { makeSettingsPages } from './settings-pages.ts'
import type { ShownPage } from './shown-page.ts'

/** The users of the pages. */
export type WorkPeople = Record<'owner' | 'reader' | 'reporter' | 'moderator' | 'admin', Person>

export const LONG_NAME = 'Lantern-of-the-unbreakable-and-unreasonably-long-name-without-a-single-space'

/** The pages by the browser test that looks at them. */
const PARTS = {
  publish: [makeSettingsPages, makePublishPages],
  groups: [makeGroupPages, makeAnalyticsPages, makePersonalPages],
  moderate: [makeModerationPages, makeReportPages],
  operate: [makeOperatorPages],
}

/** Creates the users and the data of some parts, and lists the pages. */
export async function makeWorkPages(
  t: TestApp,
  parts: readonly (keyof typeof PARTS)[] = ['publish', 'groups', 'moderate', 'operate'],
): Promise<{ pages: ShownPage[]; people: WorkPeople }> {
  const people: WorkPeople = {
    owner: await t.make.account({ username: 'ida-marsh' }),
    reader: await t.make.account({ username: 'hollis' }),
    reporter: await t.make.account({ username: 'nils70' }),
    moderator: await t.make.account({ role: 'moderator', username: 'mira' }),
    admin: await t.make.account({ role: 'admin', username: 'olga' }),
  }
  const pages: ShownPage[] = []
  for (const makePart of parts.flatMap((part) => PARTS[part])) pages.push(...(await makePart(t, people)))
  await t.searchable()
  return { pages, people }
}
