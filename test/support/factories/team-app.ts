// The application of a test file about teams, reports or threads, with the factories of their rows.
import { after } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { conversationFactories } from './conversation-factories.ts'
import { type MemberView, teamFactories } from './team-factories.ts'

/** Starts an application, which ends after the tests of the file. */
export async function teamApp() {
  const t = await testApp()
  after(() => t.close())
  /** The members of a team, as a user sees them. */
  const membersFor = async (viewer: { token: string }, teamId: string): Promise<MemberView[]> =>
    (await t.as(viewer).get(`/v3/team/${teamId}/members`)).json()
  return { t, make: teamFactories(t.deps.db), talk: conversationFactories(t.deps.db), membersFor }
}
