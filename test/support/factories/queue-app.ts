// The application of a test file about the queue of moderators: two moderators, an owner, and projects that wait.
import { after, beforeEach } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { type Visitor, visitor } from '#test/support/http/visitor.ts'
import type { MadeProject, Person } from './factories.ts'

/** Starts an application, which ends after the tests of the file. The queue is empty before each test. */
export async function queueApp() {
  const t = await testApp()
  after(() => t.close())
  const mira = await t.make.account({ role: 'moderator', username: 'mira' })
  const jon = await t.make.account({ role: 'moderator', username: 'jon' })
  const owner = await t.make.account({ username: 'ida-marsh' })
  beforeEach(async () => {
    await t.deps.db.updateTable('project').set({ status: 'draft' }).where('status', '=', 'processing').execute()
    await t.deps.db.deleteFrom('project_decision').execute()
  })
  let minute = 0
  /** A project in the queue, after those made before. */
  const waiting = async (name = 'Lantern', of = owner): Promise<MadeProject> => {
    minute += 1
    const project = await t.make.project({ owner: of, name, status: 'processing' })
    await t.make.version({ project, version_number: '1.0.0' })
    await t.deps.db
      .updateTable('project')
      .set({ approved: null, queued: new Date(Date.UTC(2026, 0, 1, 0, minute)) })
      .where('id', '=', project.id)
      .execute()
    return project
  }
  const reviewOf = ({ id }: { id: string }): string => `/moderation/project/${id}`
  const statusOf = async ({ id }: { id: string }): Promise<string> =>
    (await t.as(mira).get(`/v3/project/${id}`)).json().status
  const as = (person: Person): Visitor => visitor(t, person.token)
  return { t, mira, jon, owner, waiting, reviewOf, statusOf, as }
}
