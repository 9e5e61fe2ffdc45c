import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { statuses } from '#test/support/http/account-steps.ts'
import { form, projectData } from '#test/support/http/forms.ts'

const { t, make } = await teamApp()

const remove = (who: { token: string }, name: string) => t.as(who).delete(`/v3/user/${name}`)
const read = async (path: string) => (await t.anyone.get(path)).json()

test('counters are correct after an account is deleted twice while users follow and unfollow the same projects', async () => {
  const people = await t.make.people(6)
  const projects = await Promise.all(Array.from({ length: 4 }, () => make.project(undefined)))
  const [first, second, ...others] = people
  for (const who of [first, second]) for (const { id } of projects) await t.as(who).post(`/v3/project/${id}/follow`)
  const acts = [
    () => remove(first, first.id),
    () => remove(first, first.id),
    () => remove(second, second.id),
    ...projects.map(
      ({ id }) =>
        () =>
          t.as(first).delete(`/v3/project/${id}/follow`),
    ),
    ...others.flatMap((who) =>
      projects.map(
        ({ id }) =>
          () =>
            t.as(who).post(`/v3/project/${id}/follow`),
      ),
    ),
  ]
  const answers = await Promise.all(acts.map((act) => act()))
  assert.ok(
    answers.every(({ statusCode }) => statusCode < 500),
    statuses(answers).join(' '),
  )
  assert.equal(statuses(answers.slice(0, 2))[0], 204)
  for (const { id } of projects) assert.equal((await read(`/v3/project/${id}`)).followers, others.length)
})

test('an ownership that is handed to an account while it is deleted ends with one owner', async () => {
  for (const kind of ['project', 'organization'] as const) {
    for (let round = 0; round < 3; round += 1) {
      const [owner, heir] = await Promise.all([t.make.account(), t.make.account()])
      const { teamId } = await make[kind](owner)
      await make.member(teamId, heir)
      const answers = await Promise.all([
        t.as(owner).patch(`/v3/team/${teamId}/owner`, { user_id: heir.id }),
        remove(heir, heir.id),
      ])
      assert.ok(
        answers.every(({ statusCode }) => statusCode < 500),
        statuses(answers).join(' '),
      )
      const owners = await t.deps.db
        .selectFrom('team_member')
        .select('account_id')
        .where('team_id', '=', teamId)
        .where('is_owner', '=', true)
        .execute()
      assert.equal(owners.length, 1)
      assert.ok([owner.id, PLACEHOLDER_ID].includes(owners[0]?.account_id ?? ''))
    }
  }
})

test('an account that is deleted while it creates resources gets no server error', async () => {
  for (let round = 0; round < 6; round += 1) {
    const [who, other] = await t.make.people(2)
    const { id: project } = await t.make.project({ owner: other })
    const me = t.as(who)
    const send = await form(projectData(`race-${round}-${who.id.toLowerCase()}`))
    const creates = [
      () =>
        me.post('/_internal/pat', { name: 'Builder', scopes: 2, expires: new Date(t.deps.now() + 1e8).toISOString() }),
      () => me.post('/_internal/oauth/app', { name: 'Program', max_scopes: 2, redirect_uris: ['https://x.example/y'] }),
      () => me.post('/v3/collection', { name: 'Things', projects: [project] }),
      () =>
        me.post('/v3/organization', {
          name: 'People',
          slug: `people-${round}-${who.id}`,
          description: 'A group of people',
        }),
      () => me.post('/v3/report', { report_type: 'spam', item_id: project, item_type: 'project', body: 'Look' }),
      () => me.post(`/v3/project/${project}/follow`),
      () => me.post('/v3/project', send.payload, { headers: send.headers }),
      () => me.post('/_internal/auth/2fa/get_secret'),
      () => me.patch('/_internal/auth/email', { email: `moved-${who.id}@example.org` }),
      () => t.as(other).post(`/v3/team/none/members`, { user_id: who.id }),
    ]
    const answers = await Promise.all(
      [...creates.slice(0, 5), () => remove(who, who.id), ...creates.slice(5), ...creates].map((act) => act()),
    )
    for (const answer of answers) assert.ok(answer.statusCode < 500, answer.body)
  }
})
