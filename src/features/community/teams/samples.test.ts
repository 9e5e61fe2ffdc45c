// Requests for the tests of all operations.
import { type Declared, type Sample, send, thing } from '#test/api/operations/sample.ts'
import type { Thing, World } from '#test/api/operations/world.ts'

const memberOf =
  (team: Thing): Declared['view'] =>
  async (read, world) => {
    const member = await world.id('member')
    const members = (await read(`/v3/team/${await world.id(team)}/members`)) as { user: { id: string } }[]
    return members.find(({ user }) => user.id === member)
  }

export const SAMPLES: Record<string, Sample> = {
  inviteTeamMember: { body: async (w) => ({ user_id: await w.id('stranger') }) },
  updateTeamMember: { body: { role: 'Artist' } },
  updateTeamMembers: { body: async (w) => ({ members: [{ user_id: await w.id('member'), role: 'Artist' }] }) },
  joinTeam: {
    before: async ({ t, id }) =>
      t.deps.db
        .updateTable('team_member')
        .set({ accepted: false })
        .where('account_id', '=', await id('member'))
        .execute(),
  },
  transferTeamOwnership: { body: async (w) => ({ user_id: await w.id('member') }) },
}

export const DECLARED: Record<string, Declared> = {
  updateTeamMember: {
    view: memberOf('team'),
    fields: {
      role: send('Artist'),
      permissions: send(4),
      payouts_split: send(50),
      ordering: send(3),
      organization_permissions: send(2, {
        url: async (w: World) => `/v3/team/${await w.id('organizationTeam')}/members/${await w.id('member')}`,
        view: memberOf('organizationTeam'),
      }),
    },
  },
  updateTeamMembers: {
    view: memberOf('team'),
    fields: {
      members: send(async (w: World) => [{ user_id: await w.id('member'), role: 'Artist' }], {
        at: 'role',
        shows: 'Artist',
      }),
    },
  },
  transferTeamOwnership: {
    view: async (read, world) => {
      const members = (await read(`/v3/team/${await world.id('team')}/members`)) as {
        is_owner: boolean
        user: { id: string }
      }[]
      return { owner: members.find(({ is_owner }) => is_owner)?.user.id }
    },
    fields: { user_id: send(thing('member'), { at: 'owner' }) },
  },
}
